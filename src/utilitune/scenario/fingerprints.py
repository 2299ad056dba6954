"""Whether program and instances are still what they were when a run began.

A promise is about one program and certain instances. If one of them changes, runs before and after the change
are runs of different things. A file is known by its size, the moments of its last change (the one that
programs may set, and the kernel's own) and its number on the disk, which cost a microsecond to ask for. Only
where these differ is its content looked at. A file that was only touched, or copied back, is the same file.

* An **instance** that has changed or gone ends the run before anything is run on it: nothing false is stored,
  and restoring the file lets the run go on.
* A **program** that has changed does not end the run, since nobody can tell whether the change matters. The
  promise says that it rests on that.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from utilitune.errors import ScenarioError
from utilitune.errors.outside import is_file
from utilitune.scenario.model import CommandSpec, FunctionSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from utilitune.scenario.model import Scenario


Known = Callable[[], "Mapping[str, Fingerprint]"]
"""Gives fingerprints by name."""


class InputChangedError(ScenarioError):
    """An instance is not what it was when the run began.

    Args:
        name: The instance.
        gone: Whether it is not there any more.
    """

    def __init__(self, name: str, *, gone: bool) -> None:
        self.happened = f"the instance {name!r} {'is gone' if gone else 'has changed'} since this run began"
        super().__init__(
            f"{self.happened}: nothing is run on it any more, and all runs until then are kept; restore it "
            "and start again to go on, or start afresh in another folder"
        )

    def condition(self) -> str:
        """What the promise rests on from now on."""
        return f"This is about the instances as they were when the run began: {self.happened}."


class Fingerprint(NamedTuple):
    """What a file is known by: size, last change and number on the disk, and its content."""

    size: int
    changed_ns: int
    booked_ns: int
    number: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> Fingerprint:
        """The fingerprint of a file or folder as it is now; an `OSError` if it cannot be read."""
        seen = _seen(path)
        return cls(*seen, content_digest(path))

    def still_of(self, path: str) -> Fingerprint | None:
        """The same content under its present circumstances; None if the content is another one."""
        if _seen(path) == self[:4]:
            return self
        now = Fingerprint.of(Path(path))
        return now if now.digest == self.digest else None


class FileWatch:
    """Instances that are files, each as it was when it was first used.

    Args:
        directory: Where relative names begin.
        known: Gives fingerprints that were taken before; asked when the first instance is used.
    """

    def __init__(self, directory: Path, known: Known | None = None) -> None:
        self._directory = os.fspath(directory)
        self._before = known
        self._known: dict[str, Fingerprint] = {}

    def require_unchanged(self, name: str) -> None:
        """Refuse an instance that is not what it was.

        Raises:
            InputChangedError: It has changed, or is gone.
        """
        path = os.path.join(self._directory, name)  # noqa: PTH118 - asked twice for every run
        if self._before is not None:
            self._known, self._before = {**self._before(), **self._known}, None
        try:
            known = self._known.get(name)
            now = Fingerprint.of(Path(path)) if known is None else known.still_of(path)
        except OSError:
            raise InputChangedError(name, gone=True) from None
        if now is None:
            raise InputChangedError(name, gone=False)
        self._known[name] = now


class ProgramWatch:
    """The files of a program, as they were when the run began.

    Args:
        directory: Where relative names begin.
        known: Fingerprints by name.
    """

    def __init__(self, directory: Path, known: Mapping[str, Fingerprint]) -> None:
        self._known = dict(known)
        self._paths = {name: os.fspath(directory / name) for name in known}

    @classmethod
    def of(cls, scenario: Scenario) -> ProgramWatch:
        """Look at the program of a scenario."""
        known = {}
        for name in program_files(scenario):
            try:
                known[name] = Fingerprint.of(scenario.directory / name)
            except OSError:
                continue  # whoever runs it will say so
        return cls(scenario.directory, known)

    def stored(self) -> dict[str, list[Any]]:
        """What a run folder keeps of it."""
        return {name: list(known) for name, known in self._known.items()}

    def differs_from(self, stored: object) -> tuple[str, ...]:
        """The files that were others at an earlier start, of which `stored` is what was kept."""
        if not isinstance(stored, dict):
            return ()
        before = {name: fields[-1] for name, fields in stored.items() if isinstance(fields, list) and fields}
        now = {name: known.digest for name, known in self._known.items()}
        return tuple(name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name))

    def changes(self) -> tuple[str, ...]:
        """The files that have changed since the last look."""
        found = []
        for name, known in self._known.items():
            path = self._paths[name]
            try:
                now = known.still_of(path)
                self._known[name] = now or Fingerprint.of(Path(path))
            except OSError:
                continue  # it is just being replaced, or gone for good, which the next run will say
            if now is None:
                found.append(name)
        return tuple(found)


def program_condition(names: Sequence[str], when: str) -> str:
    """What a promise rests on where files of the program have changed."""
    shown = ", ".join(names)
    return (
        f"The program ({shown}) was changed {when}, and runs before and after that count alike: this holds "
        "if the change makes no difference to them."
    )


def program_files(scenario: Scenario) -> tuple[str, ...]:
    """The files that are plainly part of the program: what is started, and files that its command names."""
    return tuple(dict.fromkeys(_program_files(scenario)))


def _program_files(scenario: Scenario) -> Iterator[str]:
    from utilitune.scenario.instances import program_path

    target, directory = scenario.target, scenario.directory
    if isinstance(target, FunctionSpec):
        module = target.reference.partition(":")[0].replace(".", "/")
        for name in (f"{module}.py", f"{module}/__init__.py"):
            if is_file(directory / name):
                yield name
    elif isinstance(target, CommandSpec):
        program = program_path(directory, target.argv[0])
        if program is not None:
            yield os.path.relpath(program, directory) if Path(program).parent == directory else program
        for word in target.argv[1:]:
            if "{" not in word and is_file(directory / word):
                yield word


def content_digest(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder; an `OSError` if it cannot be read."""
    if path.is_dir():
        parts = sorted(child for child in path.rglob("*") if child.is_file())
        return hashlib.sha256("".join(map(content_digest, parts)).encode()).hexdigest()
    with open(path, "rb", opener=_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file but a pipe or a device", str(path))
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe, too, and without waiting until somebody writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _seen(path: str | Path) -> tuple[int, int, int, int]:
    found = os.stat(path)  # noqa: PTH116 - asked for every run
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

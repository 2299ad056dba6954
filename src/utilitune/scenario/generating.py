"""Running the command that makes an instance: within a time limit, and only while nobody asks for a stop.

An instance appears only when it is complete. Until then the command writes to a hidden file beside its place,
which names the machine and the process that wait for it; so what a killed process left behind is known as
such, and removed before the next instance is made.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError
from utilitune.errors.outside import shell_line
from utilitune.execution.watcher import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

LONGEST_GENERATION_S = 600.0
"""How long the generator may take for one instance."""

_LOOK_EVERY_S = 0.1
_TAIL = 200
_BYTES_PER_CHARACTER = 4  # at most, in UTF-8


def make_instance(
    finished: Path, command: Callable[[Path], Sequence[str]], directory: Path, stopping: Callable[[], bool]
) -> bool:
    """Let a command make one instance; False if it was given up because a stop was asked for.

    Args:
        finished: Where the instance appears once it is complete.
        command: The command line that writes the instance to a given path.
        directory: Where the command is run.
        stopping: Asked now and then while the command is at work, whether to give up.

    Raises:
        ScenarioError: It failed, wrote no file, or took too long, or the instance cannot be kept.
    """
    try:
        finished.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(finished.parent)
    except OSError as error:
        raise _not_kept(finished, error) from None
    partial = finished.with_name(f"{_mark()}{os.getpid()}-{finished.name}")
    _remove(partial)
    try:
        if not _generate(command(partial), directory, partial, stopping):
            return False
        _keep(partial, finished)
    finally:
        _remove(partial)
    return True


def _generate(argv: Sequence[str], directory: Path, output: Path, stopping: Callable[[], bool]) -> bool:
    """Let a command write the file `output`; False if it was given up.

    The command has a session of its own: Ctrl-C reaches it only through `stopping` or a `KeyboardInterrupt`,
    and if it is given up, or we are killed, its whole process group is killed. Its complaints go to a file: a
    pipe would stay open for as long as anything lives that it has started.
    """
    deadline_s = time.monotonic() + LONGEST_GENERATION_S
    with contextlib.ExitStack() as block:
        try:
            complaints = block.enter_context(tempfile.TemporaryFile())
            process = block.enter_context(
                guarded(
                    argv,
                    cwd=directory,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=complaints,
                )
            )
        except OSError as error:
            raise ScenarioError(
                f"the instance generator cannot be started ({error.strerror}): {shell_line(argv)}"
            ) from None
        while not _ends_soon(process):
            if stopping():
                return False
            if time.monotonic() > deadline_s:
                raise _too_slow(argv)
        if process.returncode == 0 and output.exists():
            return True
        raise _failed(argv, process.returncode, _tail(complaints))


def _ends_soon(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_LOOK_EVERY_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _tail(complaints: BinaryIO) -> str:
    """The last characters of a file, or a few less."""
    size = complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, size - _BYTES_PER_CHARACTER * _TAIL))
    return complaints.read().decode(errors="replace").strip()[-_TAIL:]


def _failed(argv: Sequence[str], exit_code: int, complaints: str) -> ScenarioError:
    why = f"exit code {exit_code}" if exit_code else "it wrote no file"
    tail = f": {complaints}" if complaints else ""
    return ScenarioError(f"the instance generator failed ({why}){tail}; try it by hand: {shell_line(argv)}")


def _keep(partial: Path, finished: Path) -> None:
    """Let a complete instance appear, unless another process was quicker to make the same one."""
    try:
        partial.replace(finished)
    except OSError as error:
        if not finished.exists():
            raise _not_kept(finished, error) from None


def _not_kept(finished: Path, error: OSError) -> ScenarioError:
    return ScenarioError(f"generated instances cannot be kept in {finished.parent}: {error.strerror}")


def _too_slow(argv: Sequence[str]) -> ScenarioError:
    limit = f"{LONGEST_GENERATION_S / 60:g} minutes"
    return ScenarioError(
        f"the instance generator did not end within {limit}: {shell_line(argv)}; make it faster, or make the "
        "instances beforehand and list them in the scenario"
    )


def _mark() -> str:
    """How the names of unfinished files begin that processes of this machine wait for."""
    machine = hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f".utilitune-{machine}-"


def _remove_leftovers(folder: Path) -> None:
    """Remove unfinished files that nobody waits for any more: their processes have ended."""
    ours = re.compile(re.escape(_mark()) + r"(\d{1,9})-.+")
    with os.scandir(folder) as entries:
        found = [(entry.path, match) for entry in entries if (match := ours.fullmatch(entry.name))]
    for path, match in found:
        if not _is_alive(int(match[1])):
            _remove(Path(path))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True


def _remove(path: Path) -> None:
    """Remove what a generator wrote, a file or a folder, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()

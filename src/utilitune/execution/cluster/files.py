"""The files that a command names: whether a worker has them, and sending those that it does not have.

A file is known by its content. It is sent once to every worker that lacks it, kept there in the worker's own
folder, which goes with the worker, and the command names that copy instead. A worker that has the same
content under the same path, on a shared file system say, is sent nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from utilitune.execution.wire import Message

FOLDER = "utilitune-files"


def named_files(message: Message) -> tuple[str, ...]:
    """The files that the words of a command name and that are here, as absolute paths."""
    found: dict[str, None] = {}
    for word in message.get("argv", ()):
        path = _whole_path(message, word)
        if _may_be_path(_path_in(word)) and os.path.isabs(path) and os.path.isfile(path):  # noqa: PTH113, PTH117
            found[path] = None
    return tuple(found)


def _path_in(word: str) -> str:
    """The path of ``path`` or of ``--option=path``."""
    option, equals, value = word.partition("=")
    return value if equals and os.sep not in option else word


def _may_be_path(word: str) -> bool:
    """Whether a word looks like a file: it has a folder or a suffix, and is no number."""
    try:
        float(word)
    except ValueError:
        return os.sep in word or "." in word
    return False


def renamed(message: Message, places: Mapping[str, str]) -> Message:
    """A command with other places for its files."""
    argv = []
    for word in message["argv"]:
        place = places.get(_whole_path(message, word)) if _may_be_path(_path_in(word)) else None
        argv.append(word if place is None else word.removesuffix(_path_in(word)) + place)
    return {**message, "argv": argv}


def _whole_path(message: Message, word: str) -> str:
    """The path in a word, as the program will understand it."""
    return os.path.join(message["directory"] or "", _path_in(word))  # noqa: PTH118 - words stay what they are


class Shipment(NamedTuple):
    """A file as it is sent."""

    digest: str
    name: str
    mode: int
    content: bytes


class Digests:
    """What files hold, each read once as long as it does not change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def of(self, path: str) -> str:
        """The content of a file, as a digest."""
        state = os.stat(path)  # noqa: PTH116 - as above
        stamp = (state.st_mtime_ns, state.st_size)
        if self._known.get(path, (None, ""))[0] != stamp:
            with Path(path).open("rb") as stream:
                self._known[path] = (stamp, hashlib.file_digest(stream, "sha256").hexdigest())
        return self._known[path][1]


def packed(path: str, digest: str) -> Shipment:
    """A file, ready to be sent."""
    file = Path(path)
    return Shipment(digest, file.name, file.stat().st_mode & 0o777, file.read_bytes())


class Kept:
    """The files that were sent to a worker.

    Args:
        folder: The worker's own folder.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder) / FOLDER
        self._digests = Digests()
        self._lock = threading.Lock()

    def places(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """Where files lie here, by their path; those that are not here are left out."""
        return {path: place for path, digest in wanted.items() if (place := self._place(path, digest))}

    def _place(self, path: str, digest: str) -> str:
        with contextlib.suppress(OSError), self._lock:
            if self._digests.of(path) == digest:
                return path
        copy = self._folder / digest / Path(path).name
        return str(copy) if copy.exists() else ""

    def keep(self, sent: Shipment) -> None:
        """Keep a file; whoever looks for it finds all of it or nothing."""
        place = self._folder / sent.digest / sent.name
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name(f"{sent.name}.{threading.get_ident()}")
        unfinished.write_bytes(sent.content)
        unfinished.chmod(sent.mode | 0o400)
        unfinished.replace(place)


def absent(paths: Iterable[str]) -> str:
    """The first of some files that is not here; empty if all are."""
    return next((path for path in paths if not os.path.exists(path)), "")  # noqa: PTH110 - as above

"""Instance lists of other tools: a name per line, with arguments of its own where it has some.

A name is passed to the program as it is written, and the program runs in the execution folder. So a name is
first looked for from there; where the tool would find it from elsewhere, it is rewritten to be found.

For irace an instance is the whole line, arguments included, and need not be a file. So where names repeat
with other arguments, or are no files, `place_lines` takes lines as they are: the line is the instance, and
its words are what the program receives.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError
from utilitune.errors.outside import exists, is_file
from utilitune.scenario.model import ListedInstances
from utilitune.scenario.source import read_text
from utilitune.targets.command import from_the_root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list: an instance and what belongs to it."""

    name: str
    arguments: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class PlacedInstances:
    """Instances as the scenario names them.

    Attributes:
        listed: Each of them once.
        arguments: The arguments of those that have some; for whole lines, all words of every line.
        repeated: How many entries say again what an earlier one said.
        whole_lines: Whether a name is a whole line, whose words stand in `arguments`.
    """

    listed: ListedInstances
    arguments: dict[str, tuple[str, ...]]
    repeated: int = 0
    whole_lines: bool = False

    def in_words(self) -> dict[str, tuple[str, ...]]:
        """What the program receives of each instance: its name, or the words of its line."""
        if self.whole_lines:
            return self.arguments
        return {name: (name, *self.arguments.get(name, ())) for name in self.listed.names}


def read_entries(path: Path, split: Callable[[str], tuple[str, ...]]) -> list[Entry]:
    """The entries of a list file; blank lines and lines that begin with # are skipped."""
    entries = []
    for number, line in enumerate(read_text(path, "the instance list").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            name, *arguments = split(line.strip())
        except ValueError:
            raise ScenarioError("a quotation mark is not closed; close it", path=path, line=number) from None
        entries.append(Entry(name, tuple(arguments), number))
    if not entries:
        raise ScenarioError("the list holds no instances; add at least one", path=path)
    return entries


def all_files(folder: Path, directory: Path) -> list[Entry]:
    """Every file in a folder and below, hidden ones left out, as seen from where the program runs."""
    files = sorted(path for path in folder.rglob("*") if is_file(path) and not path.name.startswith("."))
    return [Entry(seen_from(directory, file), (), 0) for file in files]


def place(entries: Sequence[Entry], path: Path, directory: Path, bases: Sequence[Path]) -> PlacedInstances:
    """Find the files of a list, looking from the execution folder first.

    In the mean that is promised every instance counts once: entries that come again, or name the same file
    in other words, are dropped if their arguments are the same, and how many is told. A link is a file of
    its own.

    Args:
        entries: What the list says.
        path: The list, for complaints.
        directory: Where the program runs.
        bases: Other folders the names may start from.
    """
    base = _home(entries, path, (directory, *bases))
    seen: dict[str, Entry] = {}
    for entry in entries:
        first = seen.setdefault(entry.name if base is None else from_the_root(base, entry.name), entry)
        if first.arguments != entry.arguments:
            spelling = "" if first.name == entry.name else f" as {first.name!r}"
            raise ScenarioError(
                f"the instance {entry.name!r} is listed in line {first.line}{spelling} with other arguments; "
                "give each its own file, such as a link, for an instance has one set of arguments",
                path=path,
                line=entry.line,
            )
    once = list(seen.values())
    names = [_seen_from(directory, base, entry.name) for entry in once]
    arguments = {name: entry.arguments for name, entry in zip(names, once, strict=True) if entry.arguments}
    listed = ListedInstances(tuple(names), files=base is not None)
    return PlacedInstances(listed, arguments, repeated=len(entries) - len(once))


def are_files(entries: Sequence[Entry], folders: Sequence[Path]) -> bool:
    """Whether all names are files from one of these folders, each with one set of arguments."""
    arguments: dict[str, tuple[str, ...]] = {}
    if any(arguments.setdefault(entry.name, entry.arguments) != entry.arguments for entry in entries):
        return False
    return any(all(exists(folder / entry.name) for entry in entries) for folder in folders)


def place_lines(entries: Sequence[Entry], directory: Path, folders: Sequence[Path]) -> PlacedInstances:
    """Instances that are whole lines; the first word is rewritten where it is a file from elsewhere."""
    lines = {" ".join((entry.name, *entry.arguments)): entry for entry in entries}
    words = {
        line: (_first_word(entry.name, directory, folders), *entry.arguments) for line, entry in lines.items()
    }
    listed = ListedInstances(tuple(lines), files=False)
    return PlacedInstances(listed, words, repeated=len(entries) - len(lines), whole_lines=True)


def _first_word(name: str, directory: Path, folders: Sequence[Path]) -> str:
    home = next((folder for folder in (directory, *folders) if exists(folder / name)), None)
    return _seen_from(directory, home, name)


def seen_from(directory: Path, target: Path) -> str:
    """A path as a program that runs in a folder would name it."""
    return os.path.relpath(target, directory)


def _seen_from(directory: Path, base: Path | None, name: str) -> str:
    if base is None or base == directory or os.path.isabs(name):  # noqa: PTH117 - names are texts here
        return name
    return seen_from(directory, base / name)


def _home(entries: Sequence[Entry], path: Path, folders: Sequence[Path]) -> Path | None:
    """The folder from which all names are files; None if no name is one from anywhere."""
    missing = {folder: [e for e in entries if not exists(folder / e.name)] for folder in folders}
    for folder, absent in missing.items():
        if not absent:
            return folder
    nearest = min(missing.values(), key=len)
    if len(nearest) == len(entries):
        return None
    raise ScenarioError(
        f"the instance {nearest[0].name!r} does not exist, unlike others in the list; check the path",
        path=path,
        line=nearest[0].line,
    )

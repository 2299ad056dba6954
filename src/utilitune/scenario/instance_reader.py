"""The ``[instances]`` table: folder, pattern, list file, list, or generator command."""

from __future__ import annotations

import glob
import os
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, did_you_mean
from utilitune.errors.outside import LONGEST_PATH, exists, is_file, is_folder
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import GeneratedInstances, InstanceSet, ListedInstances
from utilitune.scenario.source import Table, read_text
from utilitune.targets.command import from_the_root

if TYPE_CHECKING:
    from pathlib import Path

_GENERATOR_PLACEHOLDERS = ("seed", "output")
_PATTERN_SIGNS = frozenset("*?[")


def read_instances(table: Table, key: str, *, files: bool) -> InstanceSet | None:
    """The instances a key of the table describes, or None if it is missing."""
    seeds = table.integer("seeds_per_instance", least=1) or 1
    found = _read(table, key, files=files)
    if isinstance(found, GeneratedInstances) and seeds > 1:
        raise table.problem(
            "seeds_per_instance",
            "seeds_per_instance is for listed instances: a generator makes a new one for every seed; "
            "remove it",
        )
    return found.seeded(seeds) if isinstance(found, ListedInstances) else found


def _read(table: Table, key: str, *, files: bool) -> InstanceSet | None:
    value = table.raw(key)
    if value is None:
        return None
    if isinstance(value, dict):
        return _generated(table.table(key))
    if isinstance(value, list):
        names = table.texts(key) or ()
        lines = [table.source.lines.get((*table.where, key, place), 1) for place in range(len(names))]
        return _listed(_Place(table, key, table.source.path, files), list(zip(names, lines, strict=True)))
    text = table.text(key) or ""
    folder = table.source.path.parent
    if _PATTERN_SIGNS & set(text) and len(text) <= LONGEST_PATH and not exists(folder / text):
        return _found(table, key, sorted(_glob(folder, text)))
    path = folder / text
    if is_folder(path):
        inside = (child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
        return _found(table, key, sorted(os.path.relpath(child, folder) for child in inside))
    if not is_file(path):
        raise table.problem(key, f"there is no file or folder {text!r} beside the scenario; check the path")
    return _listed(_Place(table, key, path, files), _lines_of(path))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a list of names stands: inline in the scenario, or in a file of its own."""

    table: Table
    key: str
    path: Path
    files: bool


def _listed(place: _Place, entries: list[tuple[str, int]]) -> ListedInstances:
    folder = place.table.source.path.parent
    if not entries:
        where = "the list" if place.path == place.table.source.path else f"the list {place.path.name!r}"
        raise place.table.problem(place.key, f"{where} holds no instances; add at least one")
    seen: dict[str, tuple[str, int]] = {}
    for name, line in entries:
        problem = None
        file = from_the_root(folder, name) if place.files else name
        if not name:
            problem = "an instance has an empty name; write one or remove it"
        elif file in seen:
            first, first_line = seen[file]
            spelling = "" if first == name else f" as {first!r}"
            problem = (
                f"the instance {name!r} is listed twice, first in line {first_line}{spelling}; "
                "remove one of them, or set instances.seeds_per_instance to run each with several seeds"
            )
        elif place.files and not exists(folder / name):
            problem = (
                f"the instance {name!r} does not exist relative to the scenario's folder; "
                "check the path, or set instances.files = false if instances are no files"
            )
        if problem:
            raise ScenarioError(problem, path=place.path, line=line)
        seen[file] = (name, line)
    return ListedInstances(tuple(name for name, _ in seen.values()), place.files)


def _lines_of(path: Path) -> list[tuple[str, int]]:
    """One name per line; blank lines and lines that begin with # are skipped."""
    lines = enumerate(read_text(path, "the instance list").splitlines(), 1)
    stripped = ((line.strip(), number) for number, line in lines)
    return [(name, number) for name, number in stripped if name and not name.startswith("#")]


def _glob(folder: Path, pattern: str) -> list[str]:
    found = glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 - absolute patterns too
    return [name for name in found if is_file(folder / name)]


def _found(table: Table, key: str, names: list[str]) -> ListedInstances:
    if not names:
        raise table.problem(key, f"{table.content[key]!r} holds no instance files; check the path")
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise table.problem(key, f"the file name {name!r} is not valid UTF-8; rename the file") from None
    return ListedInstances(tuple(names))


def _generated(table: Table) -> GeneratedInstances:
    argv = table.texts("generator")
    if not argv:
        raise table.need("generator", 'write the command as a list, such as ["./make", "{seed}", "{output}"]')
    used: set[str] = set()
    for place, word in enumerate(argv):
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(word) if name is not None}
        except ValueError:
            names = {"{"}
        for name in names - set(_GENERATOR_PLACEHOLDERS):
            where = (*table.where, "generator", place)
            hint = did_you_mean(name, _GENERATOR_PLACEHOLDERS)
            raise table.source.problem(where, f"the generator has the unknown placeholder {word!r}; {hint}")
        used |= names
    for name in _GENERATOR_PLACEHOLDERS:
        if name not in used:
            raise table.problem("generator", f"the generator command needs the placeholder {{{name}}}")
    if program_path(table.source.path.parent, argv[0]) is None:
        raise table.problem("generator", f"the generator {argv[0]!r} does not exist or is not executable")
    folder = table.text("folder") or "generated"
    suffix = table.text("suffix") or ""
    count = table.integer("count", least=1)
    table.finish()
    return GeneratedInstances(argv, folder, suffix, count)

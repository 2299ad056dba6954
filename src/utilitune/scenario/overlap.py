"""Instances under two names: test instances that are training instances, too, and copies within a list.

On training instances an answer was chosen, so it looks better there than it is, and an evaluation on them
proves nothing. Copies within a list make it a worse sample than it looks. An instance is the same if it has
the same name, if both names lead to the same file, or if both files hold the same bytes. Only files of equal
size are read, and not more than `MOST_BYTES` of them in all; who asks is told how many were not.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from utilitune.errors.outside import is_file
from utilitune.scenario.instances import TRAINING, made_name
from utilitune.scenario.model import ListedInstances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from utilitune.scenario.model import GeneratedInstances, InstanceSet, Scenario

MOST_BYTES = 1 << 28
"""How much of all files together is read to find the same content under two names."""

_HEAD_BYTES = 4096
"""Of files of one size as much is read first; only those that begin alike are read to their ends."""

_LONGEST_NUMBER = 18


class Overlap(NamedTuple):
    """What test and training instances have in common.

    Attributes:
        names: The test instances that are training instances too, in the order in which they are listed.
        not_compared: How many test instances have a training instance of equal size, but were not compared
            with it because too much would have had to be read.
    """

    names: tuple[str, ...] = ()
    not_compared: int = 0

    def note(self) -> str:
        """What was not compared, in a sentence; empty if everything was."""
        if not self.not_compared:
            return ""
        were = "1 was" if self.not_compared == 1 else f"{self.not_compared:,} were"
        return (
            f"Of the test instances, {were} compared with the training instances by name only: the files are "
            "too large to compare what they hold."
        )


class Copies(NamedTuple):
    """What a list of instances holds more than once.

    Attributes:
        pairs: Every instance that is an earlier one under another name, with that earlier one.
        not_compared: How many have the size and the beginning of an earlier one, but were not compared to
            their ends because too much would have had to be read.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    not_compared: int = 0


def copies_in(directory: Path, instances: InstanceSet | None) -> Copies:
    """Links to one file, and files that hold the same, among listed instances."""
    if not isinstance(instances, ListedInstances):
        return Copies()
    firsts: dict[tuple[int, int], str] = {}
    pairs: dict[str, str] = {}
    by_size: defaultdict[int, list[str]] = defaultdict(list)
    files = _files(directory, instances.distinct)
    for name, path in files.items():
        seen = path.stat()
        first = firsts.setdefault((seen.st_dev, seen.st_ino), name)
        if first == name:
            by_size[seen.st_size].append(name)
        else:
            pairs[name] = first
    left, not_compared = MOST_BYTES, 0
    for size, names in by_size.items():
        for alike in _grouped(names, lambda name: _digest(files[name], _HEAD_BYTES)):
            if size > _HEAD_BYTES and size * len(alike) > left:
                not_compared += len(alike) - 1
                continue
            same = [alike]
            if size > _HEAD_BYTES:
                left -= size * len(alike)
                same = _grouped(alike, lambda name: _digest(files[name]))
            pairs |= {name: group[0] for group in same for name in group[1:]}
    return Copies(tuple((name, pairs[name]) for name in files if name in pairs), not_compared)


def _grouped(names: Sequence[str], key: Callable[[str], bytes]) -> list[list[str]]:
    """Those that share a key, where there are several."""
    if len(names) == 1:
        return []
    groups: defaultdict[bytes, list[str]] = defaultdict(list)
    for name in names:
        groups[key(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def overlap_of(scenario: Scenario) -> Overlap:
    """What test and training instances have in common.

    Generated test instances have nothing in common with training instances: their seeds are others. Listed
    ones may be files that the generator of the training instances has made.
    """
    training, test = scenario.training, scenario.test
    if not isinstance(test, ListedInstances):
        return Overlap()
    theirs = _files(scenario.directory, test.distinct)
    if isinstance(training, ListedInstances):
        names, ours = set(training.distinct), _files(scenario.directory, training.distinct)
    else:
        names = {name for name in test.distinct if _is_made(scenario, training, scenario.directory / name)}
        ours = _made(scenario, training)
    places = {os.path.realpath(path) for path in ours.values()}
    same = {
        name
        for name in test.distinct
        if name in names or (name in theirs and os.path.realpath(theirs[name]) in places)
    }
    rest = {name: path for name, path in theirs.items() if name not in same}
    found, not_compared = _same_content(ours, rest)
    same |= found
    return Overlap(tuple(name for name in test.distinct if name in same), not_compared)


def _made(scenario: Scenario, training: GeneratedInstances) -> dict[str, Path]:
    """The training instances that the generator has made so far."""
    folder = scenario.directory / training.folder
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return {}
    return {path.name: path for path in paths if is_file(path) and _is_made(scenario, training, path)}


def _is_made(scenario: Scenario, training: GeneratedInstances, path: Path) -> bool:
    """Whether a path is one where the generator puts a training instance, made already or not."""
    role, _, rest = path.name.partition("-")
    number = rest.partition("-")[0]
    if role != TRAINING or not number.isdecimal() or len(number) > _LONGEST_NUMBER:
        return False
    position = int(number)
    if training.count is not None and position >= training.count:
        return False
    made = scenario.directory / made_name(training, scenario.seed, TRAINING, position)
    return os.path.realpath(path) == os.path.realpath(made)


def _files(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Those of the instances that are files."""
    return {name: directory / name for name in names if is_file(directory / name)}


def _same_content(ours: Mapping[str, Path], theirs: Mapping[str, Path]) -> tuple[set[str], int]:
    """Names of their files that hold what one of our files holds, and how many are too large to tell."""
    by_size: dict[int, list[Path]] = {}
    for path in ours.values():
        by_size.setdefault(path.stat().st_size, []).append(path)
    left = MOST_BYTES
    known: dict[int, set[bytes]] = {}
    found, not_compared = set(), 0
    for name, path in theirs.items():
        size = path.stat().st_size
        cost = size if size in known else size * (1 + len(by_size.get(size, ())))
        if size not in by_size:
            continue
        if cost > left:
            not_compared += 1
            continue
        left -= cost
        if size not in known:
            known[size] = {_digest(each) for each in by_size[size]}
        if _digest(path) in known[size]:
            found.add(name)
    return found, not_compared


def _digest(path: Path, most: int | None = None) -> bytes:
    """What a file holds, all of it or its first bytes, as a short value."""
    try:
        with path.open("rb") as stream:
            if most is not None:
                return hashlib.sha256(stream.read(most)).digest()
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return os.fsencode(path)  # nobody can tell, so it is like no other

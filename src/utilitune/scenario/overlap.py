"""Test instances that are training instances, too.

On these an answer was chosen, so it looks better there than it is, and an evaluation on them proves nothing.
An instance is the same if it has the same name, if both names lead to the same file, or if both files hold
the same bytes. Only files of equal size are read, and not more than `MOST_BYTES` of them in all.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from utilitune.scenario.model import ListedInstances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from utilitune.scenario.model import Scenario

MOST_BYTES = 1 << 28
"""How much of all files together is read to find the same content under two names."""


def trained_on(scenario: Scenario) -> tuple[str, ...]:
    """The test instances that are training instances too, in the order in which they are listed.

    Generated instances follow from seeds that differ between training and test, so they never are.
    """
    training, test = scenario.training, scenario.test
    if not isinstance(training, ListedInstances) or not isinstance(test, ListedInstances):
        return ()
    names = set(training.distinct)
    ours, theirs = (_files(scenario.directory, each.distinct) for each in (training, test))
    places = {os.path.realpath(path) for path in ours.values()}
    same = {
        name
        for name in test.distinct
        if name in names or (name in theirs and os.path.realpath(theirs[name]) in places)
    }
    same |= _same_content(ours, {name: path for name, path in theirs.items() if name not in same})
    return tuple(name for name in test.distinct if name in same)


def _files(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Those of the instances that are files."""
    return {name: directory / name for name in names if (directory / name).is_file()}


def _same_content(ours: Mapping[str, Path], theirs: Mapping[str, Path]) -> set[str]:
    """Names of their files that hold what one of our files holds, as far as that is cheaply known."""
    by_size: dict[int, list[Path]] = {}
    for path in ours.values():
        by_size.setdefault(path.stat().st_size, []).append(path)
    left = MOST_BYTES
    known: dict[int, set[bytes]] = {}
    found = set()
    for name, path in theirs.items():
        size = path.stat().st_size
        cost = size if size in known else size * (1 + len(by_size.get(size, ())))
        if size not in by_size or cost > left:
            continue
        left -= cost
        if size not in known:
            known[size] = {_digest(each) for each in by_size[size]}
        if _digest(path) in known[size]:
            found.add(name)
    return found


def _digest(path: Path) -> bytes:
    """What a file holds, as a short value."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return os.fsencode(path)  # nobody can tell, so it is like no other

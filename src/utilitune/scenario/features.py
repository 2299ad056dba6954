"""What is known of the instances: a file the user has, or a command that says it of one instance.

A command prints two lines of CSV, names and numbers. It is run once per training instance, and what it says
is kept in a file beside the scenario, from where models and reports read it. If it fails or is interrupted,
what it has said until then is kept too; a kill costs the last few seconds.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError
from utilitune.errors.outside import is_file
from utilitune.execution.watcher import guarded
from utilitune.scenario.instances import program_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from utilitune.scenario.instances import InstanceSource
    from utilitune.scenario.model import Scenario

_LONGEST_S = 600.0
_KEEP_EVERY_S = 5.0


def feature_file(scenario: Scenario, instances: InstanceSource) -> Path | None:
    """The file of instance features; where a command makes them, those that are missing are made now.

    Args:
        scenario: Where the features are.
        instances: Its training instances.
    """
    if scenario.features is None:
        return None
    if isinstance(scenario.features, str):
        return scenario.directory / scenario.features
    mark = hashlib.sha256("\0".join(scenario.features).encode()).hexdigest()[:8]
    path = scenario.directory / f"features-{mark}.csv"
    known = read_feature_table(path) if is_file(path) else {}
    positions = {instances.name(each): each for each in range(instances.count or 0)}
    missing = {name: each for name, each in positions.items() if name not in known}
    kept, kept_at_s = len(known), time.monotonic()
    try:
        for name, position in missing.items():
            known[name] = computed_features(scenario, instances, position)
            if time.monotonic() > kept_at_s + _KEEP_EVERY_S:
                _write(path, known)
                kept, kept_at_s = len(known), time.monotonic()
    finally:
        if len(known) > kept:
            _write(path, known)
    return path


def read_feature_table(path: Path) -> dict[str, dict[str, str]]:
    """The features of every instance of a file, by name, as they are written."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(f"the instance features cannot be read: {error}", path=path) from None
    return {row[0]: dict(zip(header[1:], row[1:], strict=False)) for row in rows}


def computed_features(scenario: Scenario, instances: InstanceSource, position: int) -> dict[str, str]:
    """What the command for instance features says of one training instance."""
    instances.prepare(position)
    instance = instances.name(position)
    words = [word.replace("{instance}", instance) for word in scenario.features or ()]
    words[0] = program_path(scenario.directory, words[0]) or words[0]
    try:
        printed = _printed(words, scenario.directory)
    except (OSError, subprocess.SubprocessError) as error:
        raise ScenarioError(f"the command for instance features failed on {instance!r}: {error}") from None
    return read_features(printed, instance)


def read_features(printed: str, instance: str) -> dict[str, str]:
    """The features in what a command has printed for an instance."""
    try:
        lines = [row for row in csv.reader(io.StringIO(printed)) if row]
    except csv.Error:
        lines = []
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        raise ScenarioError(
            "the command for instance features must print a line of names and a line of as many numbers, but "
            f"on {instance!r} it printed {printed.strip()[-200:]!r}"
        )
    return dict(zip(*([cell.strip() for cell in line] for line in lines), strict=True))


def _printed(argv: Sequence[str], directory: Path) -> str:
    """What a command prints; it is a failure if it ends with an error or takes too long.

    It prints to a file: a pipe would stay open for as long as anything lives that it has started.
    """
    nothing = subprocess.DEVNULL
    with tempfile.TemporaryFile() as printed:
        with guarded(argv, cwd=directory, stdin=nothing, stdout=printed, stderr=nothing) as process:
            process.wait(_LONGEST_S)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, argv)
        printed.seek(0)
        return printed.read().decode(errors="replace")


def _write(path: Path, table: dict[str, dict[str, str]]) -> None:
    """The whole file, which appears complete or not at all."""
    names = list(dict.fromkeys(name for features in table.values() for name in features))
    partial = path.with_name(path.name + ".part")
    rows = ([instance, *(features.get(name, "") for name in names)] for instance, features in table.items())
    try:
        with partial.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["instance", *names], *rows])
        partial.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "an instance has a name that is not UTF-8"
        with contextlib.suppress(OSError):
            partial.unlink()
        raise ScenarioError(
            f"the instance features cannot be kept beside the scenario ({why}): mend that, or name a file "
            "that holds them as instances.features",
            path=path,
        ) from None

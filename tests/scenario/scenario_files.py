"""A small valid scenario on disk, and a way to break it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "small"
utility = "log-laplace(k0=60, alpha=1)"

[target]
command = ["./solver", "--seed={seed}", "{parameters}", "{instance}"]

[parameters.mode]
type = "categorical"
values = ["a", "b"]
default = "a"

[parameters.depth]
type = "integer"
range = [1, 9]
default = 3
when = "mode == 'b'"

[[forbidden]]
clause = "mode == 'b' and depth > 8"

[instances]
training = "train"

[limits]
largest_captime = 10
"""


def write_files(folder: Path) -> Path:
    """The scenario, its program and three instances; returns the scenario's path."""
    solver = folder / "solver"
    solver.write_text("#!/bin/sh\nexit 0\n")
    solver.chmod(0o755)
    (folder / "train").mkdir()
    for name in ("one.cnf", "two words.cnf", "-three.cnf"):
        (folder / "train" / name).write_text(f"p cnf {len(name)}\n")
    path = folder / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def changed(path: Path, *replacements: tuple[str, str]) -> Path:
    """Replace parts of the scenario; each must be there."""
    text = path.read_text()
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)
    return path


def line_of(path: Path, fragment: str) -> int:
    """The line, counted from 1, that holds a text."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if fragment in line)

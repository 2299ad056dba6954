"""Starter scenarios for ``utilitune init``: commented files with a few answers filled in."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import PurePath
from string import Template

from utilitune.errors import UsageError, did_you_mean
from utilitune.scenario.writer import toml_value

KINDS = {
    "sat": "a SAT solver",
    "command": "any program",
    "python": "a Python function",
    "recorded": "recorded runtimes",
}
"""The starter scenarios and what each is for."""

_COMMANDS = {
    "sat": ("kissat", "--quiet", "--seed={seed}", "{parameters}", "{instance}"),
    "command": ("./solver", "--seed={seed}", "{parameters}", "{instance}"),
}


@dataclass(frozen=True, slots=True)
class Solver:
    """A SAT solver whose parameters are known.

    Attributes:
        arguments: What follows its name on the command line.
        writing: How a parameter is written.
    """

    arguments: tuple[str, ...]
    writing: str


_USUAL_WRITING = "--{name}={value}"
SOLVERS = {
    "kissat": Solver(("--quiet", "--seed={seed}", "{parameters}", "{instance}"), _USUAL_WRITING),
    "minisat": Solver(("-rnd-seed={seed}", "{parameters}", "{instance}"), "-{name}={value}"),
}
"""SAT solvers whose parameters are known, by the name of the program."""

_TEST_LINE = re.compile(r"^# test = .*$", re.MULTILINE)
_PARAMETERS_BEGIN = "# What may be changed."
_PARAMETERS_END = "[instances]"
_COMPANIONS = {"python": {"target.py": "target.py.txt"}}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a starter scenario is filled in with; None leaves the command of the template."""

    name: str = "my-scenario"
    command: tuple[str, ...] | None = None
    training: str = "instances/train"
    test: str | None = None
    solver: str | None = None
    utility: str = "log-laplace(k0=10s, alpha=1)"
    largest_captime: str = "60s"
    wall_time: str = "1h"


def starter_scenario(kind: str, answers: Answers | None = None) -> str:
    """The text of a starter scenario."""
    _require_known(kind)
    values = asdict(answers or Answers())
    values["command"] = values["command"] or _COMMANDS.get(kind, ())
    test, solver = values.pop("test"), values.pop("solver")
    text = _resource(f"{kind}.toml")
    if test is not None:
        text = _TEST_LINE.sub(lambda _: f"test = {toml_value(test)}".replace("$", "$$"), text)
    if solver is not None:
        text = _with_parameters(text, solver)
    return Template(text).substitute({key: toml_value(value) for key, value in values.items()})


def known_solver(program: str) -> str | None:
    """The SAT solver that a program is, by its name; None for others."""
    name = PurePath(program).name.lower()
    return next((solver for solver in SOLVERS if name.startswith(solver)), None)


def _with_parameters(text: str, solver: str) -> str:
    """The starter of a SAT solver with the parameters of this one, written as it wants them."""
    parameters = _resource(f"solvers/{solver}.toml").replace("$", "$$").rstrip()
    start, end = text.index(_PARAMETERS_BEGIN), text.index(_PARAMETERS_END)
    text = f"{text[:start]}{parameters}\n\n{text[end:]}"
    return text.replace(_USUAL_WRITING, SOLVERS[solver].writing)


def companion_files(kind: str) -> dict[str, str]:
    """Further files a starter scenario needs to run at once, by name."""
    _require_known(kind)
    return {name: _resource(resource) for name, resource in _COMPANIONS.get(kind, {}).items()}


def _require_known(kind: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"there is no template {kind!r}; {did_you_mean(kind, KINDS)}")


def _resource(name: str) -> str:
    return files("utilitune.scenario").joinpath("templates", name).read_text(encoding="utf-8")

"""Starter scenarios for ``utilitune init``: commented files with a few answers filled in."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.resources import files
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
_COMPANIONS = {"python": {"target.py": "target.py.txt"}}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a starter scenario is filled in with; None leaves the command of the template."""

    name: str = "my-scenario"
    command: tuple[str, ...] | None = None
    training: str = "instances/train"
    utility: str = "log-laplace(k0=10s, alpha=1)"
    largest_captime: str = "60s"
    wall_time: str = "1h"


def starter_scenario(kind: str, answers: Answers | None = None) -> str:
    """The text of a starter scenario."""
    _require_known(kind)
    values = asdict(answers or Answers())
    values["command"] = values["command"] or _COMMANDS.get(kind, ())
    text = Template(_resource(f"{kind}.toml"))
    return text.substitute({key: toml_value(value) for key, value in values.items()})


def companion_files(kind: str) -> dict[str, str]:
    """Further files a starter scenario needs to run at once, by name."""
    _require_known(kind)
    return {name: _resource(resource) for name, resource in _COMPANIONS.get(kind, {}).items()}


def _require_known(kind: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"there is no template {kind!r}; {did_you_mean(kind, KINDS)}")


def _resource(name: str) -> str:
    return files("utilitune.scenario").joinpath("templates", name).read_text(encoding="utf-8")

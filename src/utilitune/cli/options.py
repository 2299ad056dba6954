"""Options of ``utilitune replay`` that belong to some procedures only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    import typer

_SHARED = {
    "data",
    "procedure",
    "utility",
    "settings",
    "resample",
    "seed",
    "max_time",
    "max_runs",
    "as_json",
    "out",
}
_PROMISE = {"delta", "epsilon", "population"}
_PAPER = _PROMISE | {"doubling", "captime0", "accounting"}
_PHASES = {"schedule", "epsilon_schedule", "gamma_schedule", "phases"}
_WAGER = _PROMISE | {"gamma", "growth", "gamma_weight", "proposals", "captime0", "accounting"}
_OWN = {
    "naive": _PROMISE | {"captime"},
    "up": _PAPER,
    "oup": _PAPER,
    "coup": _PAPER | _PHASES | {"gamma"},
    "wager": _WAGER,
}


def without_meaning(context: typer.Context, procedure: str, growth: str | None) -> list[str]:
    """The options that were given although they mean nothing to a procedure; for a rival, to any rival."""
    own = _OWN.get(procedure, {"captime"}) | (_PHASES if growth == "phases" else set())
    return list(_given(context, except_for=_SHARED | own))


def _given(context: typer.Context, *, except_for: Collection[str]) -> list[str]:
    """Options on the command line, as they are written there."""
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in except_for
        and (source := context.get_parameter_source(parameter.name or "")) is not None
        and source.name == "COMMANDLINE"
    ]

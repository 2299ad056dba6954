"""Options of ``replay`` and ``simulate`` in groups, and which of them belong to some procedures only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.domain import DEFAULT_DELTA

if TYPE_CHECKING:
    from collections.abc import Collection

    from utilitune.data import RuntimeMatrix
    from utilitune.domain.stopping import Budget
    from utilitune.procedures.growth import Schedule
    from utilitune.procedures.naming import ProcedureSpec

_MOST_DRAWS = 10**12

_SHARED = {
    "data",
    "procedure",
    "utility",
    "settings",
    "resample",
    "seed",
    "stored_order",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseOptions:
    """What is to be proved, and about what."""

    delta: Annotated[float, typer.Option(help="Probability with which the promise may fail.")] = DEFAULT_DELTA
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Stop once the answer's mean utility is proved this close to the best.  [default: 0.1; with "
            "phases none]"
        ),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            help="With --epsilon and growing sets: leave this fraction of all configurations, the "
            "luckiest ones, out of the comparison."
        ),
    ] = None
    population: Annotated[
        str,
        typer.Option(
            help="infinite: the instances are a sample; finite: they are all there is, taken once each in "
            "random order."
        ),
    ] = "infinite"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """How a procedure goes about it."""

    growth: Annotated[
        str | None,
        typer.Option(
            help="wager: play with all rows (fixed), or take rows as random draws from a larger space "
            "(adaptive, or phases with coup's schedules).  [default: fixed]"
        ),
    ] = None
    gamma_weight: Annotated[
        float, typer.Option(help="wager, adaptive growth: what a smaller γ is worth, in units of ε.")
    ] = 1.0
    proposals: Annotated[
        float,
        typer.Option(
            help="wager, growing sets, data with features: the share of rows that a model proposes."
        ),
    ] = 0.5
    doubling: Annotated[
        str, typer.Option(help="up, oup, coup: the paper's new or old rule of when to double a captime.")
    ] = "new"
    captime0: Annotated[
        str | None,
        typer.Option(
            help="The first captime: how long a run may take at first, e.g. 1 or 500ms.  [default: 1; wager: "
            "by the utility function]"
        ),
    ] = None
    captime: Annotated[
        str | None, typer.Option(help="naive and rivals: their one captime, e.g. 60 or 1m.")
    ] = None
    accounting: Annotated[
        str,
        typer.Option(
            help="What it costs to go on with a run that was stopped: restart pays from zero, resume the "
            "extra seconds."
        ),
    ] = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseOptions:
    """How a set of configurations grows in phases."""

    schedule: Annotated[
        str, typer.Option(help="coup: default, gamma-focus, epsilon-focus, balanced or gamma-then-epsilon.")
    ] = "default"
    epsilon_schedule: Annotated[
        str | None, typer.Option(help="coup: your own ε per phase, e.g. 0.5,0.3,0.2.")
    ] = None
    gamma_schedule: Annotated[
        str | None, typer.Option(help="coup: your own γ per phase, e.g. 0.5,0.2,0.1.")
    ] = None
    phases: Annotated[int | None, typer.Option(help="coup: stop after this many phases.")] = None

    def chosen(self) -> Schedule | str:
        """The user's own schedule, if there is one, or the name of another."""
        from utilitune.errors import UsageError
        from utilitune.procedures.growth import listed_schedule

        if self.epsilon_schedule is None and self.gamma_schedule is None:
            return self.schedule
        if self.epsilon_schedule is None or self.gamma_schedule is None:
            raise UsageError(
                "--epsilon-schedule and --gamma-schedule go together: give one value per phase to each"
            )
        return listed_schedule(
            _numbers("--epsilon-schedule", self.epsilon_schedule),
            _numbers("--gamma-schedule", self.gamma_schedule),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureOptions:
    """What a procedure proves, by which utility, and how."""

    utility: Annotated[
        str | None,
        typer.Option(
            help="What an answer after t seconds is worth, e.g. 'uniform(k0=5m)'.  [default: "
            "log-laplace(k0=60, alpha=1); of recorded solutions the utility they were recorded with]"
        ),
    ] = None
    promise: PromiseOptions
    rules: RuleOptions
    phases: PhaseOptions

    def specification(self, procedure: str) -> ProcedureSpec:
        """The procedure of this name with these options."""
        from utilitune.procedures.naming import ProcedureSpec
        from utilitune.utility import parse_duration

        promise, rules = self.promise, self.rules
        in_phases = procedure == "coup" or rules.growth == "phases"
        return ProcedureSpec(
            name=procedure,
            delta=promise.delta,
            epsilon=0.1 if promise.epsilon is None and not in_phases else promise.epsilon,
            gamma=promise.gamma,
            growth=rules.growth,
            gamma_weight=rules.gamma_weight,
            proposals=rules.proposals,
            population=promise.population,
            doubling=rules.doubling,
            captime0_s=None if rules.captime0 is None else parse_duration(rules.captime0),
            accounting=rules.accounting,
            schedule=self.phases.chosen(),
            phases=self.phases.phases,
            captime_s=None if rules.captime is None else parse_duration(rules.captime),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions:
    """In which order instances and configurations are taken, and what every random choice follows from."""

    resample: Annotated[
        int | None,
        typer.Option(max=_MOST_DRAWS, help="Draw this many instances at random, with repetition."),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            help="Seed of --resample and of the random orders of instances and configurations; also of the "
            "random choices of another package."
        ),
    ] = 0
    stored_order: Annotated[
        bool,
        typer.Option(
            "--stored-order",
            help="Take configurations, and without --resample instances too, as they are stored. The promise "
            "then says what it rests on.",
        ),
    ] = False

    @property
    def drawn_by(self) -> int | None:
        """The seed of the random orders; None where the stored ones are asked for."""
        return None if self.stored_order else self.seed

    def ordered(self, matrix: RuntimeMatrix, *, finite: bool) -> RuntimeMatrix:
        """The instances in the order in which they are taken."""
        from utilitune.errors import UsageError

        if finite and self.resample is not None:
            raise UsageError("--resample repeats instances, so it does not go with --population finite")
        if self.resample is not None:
            return matrix.resample(self.resample, self.seed)
        return matrix if self.stored_order else matrix.shuffle_columns(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """When to stop at the latest."""

    max_time: Annotated[
        str | None, typer.Option(help="Stop after this much total run time, e.g. 3600 or 10h.")
    ] = None
    max_runs: Annotated[int | None, typer.Option(help="Stop after this many runs.")] = None

    def budget(self) -> Budget:
        """The same as numbers."""
        import math

        from utilitune.domain.stopping import Audience, Budget
        from utilitune.utility import parse_duration

        time_s = math.inf if self.max_time is None else parse_duration(self.max_time)
        return Budget(time_s, self.max_runs, audience=Audience.COMMAND_LINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What becomes of the result."""

    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a summary.")] = (
        False
    )
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write the result: .json, .csv (ε against time) or a picture (.png, .pdf, .svg)."
        ),
    ] = None


def without_meaning(
    context: typer.Context, procedure: str, growth: str | None, others: Collection[str] = ()
) -> list[str]:
    """The options that were given although they mean nothing to a procedure; for a rival, to any rival.

    Args:
        context: What was given.
        procedure: The name of the procedure.
        growth: How its set grows.
        others: Options that have nothing to do with procedures.
    """
    own = _OWN.get(procedure, {"captime"}) | (_PHASES if growth == "phases" else set())
    return list(_given(context, except_for=_SHARED | own | set(others)))


def _given(context: typer.Context, *, except_for: Collection[str]) -> list[str]:
    """Options on the command line, as they are written there."""
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in except_for
        and (source := context.get_parameter_source(parameter.name or "")) is not None
        and source.name == "COMMANDLINE"
    ]


def _numbers(option: str, text: str) -> list[float]:
    from utilitune.errors import UsageError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} takes numbers separated by commas, not {text!r}") from None

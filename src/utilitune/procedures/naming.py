"""A procedure by name: where the words of a command line or scenario become objects, once."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.domain import DEFAULT_DELTA, require_delta, require_positive, require_probability
from utilitune.domain.compiled import is_on_disk
from utilitune.errors import UsageError, did_you_mean
from utilitune.procedures.captime import Doubling
from utilitune.procedures.engine import Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet, Phases, Schedule, named_schedule
from utilitune.procedures.naive import NaiveEngine
from utilitune.procedures.paper.engine import PaperSettings, coup, oup, up
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings, is_worth_listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from utilitune.procedures.engine import Engine
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.utility import Utility

PROCEDURES = ("wager", "coup", "oup", "up", "naive")
GROWTHS = ("fixed", "adaptive", "phases")
_DOUBLING = {"old": Doubling.OLD, "new": Doubling.NEW}
_ACCOUNTING = {"restart": False, "resume": True}
_POPULATIONS = ("finite", "infinite")
_TEXT, _WHOLE, _NUMBER = ((str,), "a text"), ((int,), "a whole number"), ((int, float), "a number")
_OPTION_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "doubling": _TEXT,
    "accounting": _TEXT,
    "schedule": ((str,), "the name of a schedule"),
    "growth": _TEXT,
    "phases": _WHOLE,
    "configurations": _WHOLE,
    "captime_s": _NUMBER,
    "gamma_weight": _NUMBER,
    "proposals": _NUMBER,
    "entropy": _TEXT,
}
SMALLEST_GAMMA = 1e-12
"""No smaller γ may be asked for: the number of draws it needs would not even be a number."""

DEFAULT_SET_SIZE = 50
"""How many configurations a procedure for fixed sets draws when nobody says how many."""


@dataclass(frozen=True, slots=True)
class ProcedureSpec:
    """A procedure and its settings, in the words users write.

    Attributes:
        name: ``wager``, ``coup``, ``oup``, ``up`` or ``naive``.
        delta: Probability with which the promise may fail.
        epsilon: Stop once the answer is proved within this of the best.
        doubling: ``new`` or ``old`` captime-doubling rule.
        captime0_s: First captime; None lets the procedure choose (1 s for the paper's).
        captime_limit_s: Largest captime that may be asked for.
        accounting: ``restart`` (a capped run begins anew) or ``resume`` (it is continued).
        schedule: Name of one of COUP's schedules, or a `Schedule`.
        phases: Most phases of COUP.
        captime_s: The one captime of Naive.
        gamma: Stop once the promise covers all but this fraction of the space, and ε is reached.
        configurations: Size of the set, for procedures that work on a fixed one.
        population: ``infinite`` (instances are a sample) or ``finite`` (they are all there is).
        growth: wager: ``fixed`` set, ``adaptive`` growth, or the ``phases`` of a schedule; None for
            ``fixed`` where a number of configurations is given, else ``adaptive``.
        gamma_weight: wager with adaptive growth: how much a smaller γ is worth, in units of ε.
        proposals: wager, live, with a set that grows: the share of new configurations a model proposes.
        entropy: wager, live, on a list of instances: what the orders of nominees follow from, to repeat a run
            bit by bit; drawn when the run begins if left out.
    """

    name: str = "wager"
    delta: float = DEFAULT_DELTA
    epsilon: float | None = None
    doubling: str = "new"
    captime0_s: float | None = None
    captime_limit_s: float = math.inf
    accounting: str = "restart"
    schedule: str | Schedule = "default"
    phases: int | None = None
    captime_s: float | None = None
    gamma: float | None = None
    configurations: int | None = None
    population: str = "infinite"
    growth: str | None = None
    gamma_weight: float = 1.0
    proposals: float = 0.5
    entropy: str | None = None

    def __post_init__(self) -> None:
        _known("procedure", self.name, PROCEDURES)
        _known("doubling rule", self.doubling, _DOUBLING)
        _known("accounting", self.accounting, _ACCOUNTING)
        _known("population", self.population, _POPULATIONS)
        require_delta(self.delta)
        if self.captime0_s is not None:
            require_positive("the first captime", self.captime0_s)
        if self.growth is not None:
            _known("growth", self.growth, GROWTHS)
        require_positive("the weight of gamma", self.gamma_weight)
        require_proposal_share(self.proposals)
        if self.epsilon is not None:
            require_probability("epsilon", self.epsilon)
        if self.gamma is not None and require_probability("gamma", self.gamma) < SMALLEST_GAMMA:
            raise UsageError(f"gamma must be at least {SMALLEST_GAMMA:g}: nobody can draw enough for less")
        if self.configurations is not None and self.configurations < 1:
            raise UsageError(f"the number of configurations must be at least 1, not {self.configurations}")
        if isinstance(self.schedule, str):
            named_schedule(self.schedule)
        if self.phases is not None and self.phases < 1:
            raise UsageError(f"the number of phases must be at least 1, not {self.phases}")

    def plain(self) -> dict[str, Any]:
        """All settings as values that JSON can hold."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        if isinstance(self.schedule, Schedule):
            values["schedule"] = self.schedule.name
        return {name: None if value == math.inf else value for name, value in values.items()}

    @property
    def grows(self) -> bool:
        """Whether the set of configurations grows under a procedure that can take proposals."""
        fixed = self.growth == "fixed" or (self.growth is None and self.configurations is not None)
        return self.name == "wager" and not fixed

    @property
    def fixed_size(self) -> int | None:
        """How many configurations there will ever be, where that is fixed before the first run."""
        return None if self.grows or self.name == "coup" else self.set_size()

    def lists(self, space_size: int | None) -> bool:
        """Whether a space of so many configurations is to be taken as a list of all of them."""
        adaptive = self.grows and self.growth != "phases"
        return adaptive and is_worth_listing(
            space_size, self.delta, self.gamma, finite=self.population == "finite"
        )

    def set_size(self) -> int:
        """How many configurations a fixed set has."""
        return self.configurations or DEFAULT_SET_SIZE

    def check_resumed(self, first: Mapping[str, Any]) -> None:
        """Refuse what may not differ from the first start of the same run.

        Naive's ε decides how many runs it makes. Its promise holds for an ε that was chosen beforehand, and
        not for one that was chosen after looking at the means.

        Args:
            first: The settings of the first start, as `plain` gave them.
        """
        before = first.get("epsilon")
        if self.name == "naive" and before is not None and before != self.epsilon:
            raise UsageError(
                f"this run of Naive was started for ε = {before:g}, which decides how many runs it makes: go "
                "on with the same ε, or start another run in a new folder"
            )


def require_proposal_share(value: float) -> float:
    """Return `value` if it is a share that leaves some random draws, else raise a `UsageError`."""
    if not (isinstance(value, int | float) and 0 <= value <= 0.9):
        raise UsageError(
            f"the share of proposals must lie between 0 and 0.9, because random draws carry the promise, "
            f"not {value}"
        )
    return float(value)


def specification_from_options(name: str, options: Mapping[str, Any], **settings: Any) -> ProcedureSpec:  # noqa: ANN401 -- the fields of a specification
    """A specification from a procedure's name, the options of a scenario and its other settings."""
    for option, value in options.items():
        _known(f"option of procedure {name!r}", option, _OPTION_KINDS)
        kinds, wanted = _OPTION_KINDS[option]
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise UsageError(f"{option} of procedure {name!r} must be {wanted}, not {value!r}")
    return ProcedureSpec(name=name, **settings, **options)


def _known(what: str, name: str, options: Iterable[str]) -> None:
    if name not in options:
        raise UsageError(f"unknown {what} {name!r}; {did_you_mean(name, options)}")


class Beforehand(NamedTuple):
    """What is settled before the first run of all, and never changes; see `WagerSettings`."""

    announced_gamma: float | None = None
    undivided: bool = False
    default: bool = False
    given: bool = True
    chosen: bool = True
    space_size: int | None = None
    listed: bool = False


def build_engine(
    spec: ProcedureSpec,
    evidence: RecordedEvidence | LiveEvidence,
    utility: Utility,
    *,
    configurations: int,
    beforehand: Beforehand | None = None,
) -> Engine:
    """The engine a specification describes.

    Args:
        spec: Which procedure, with which settings.
        evidence: The runs it reads.
        utility: The utility function.
        configurations: Size of the set, for procedures that work on a fixed one.
        beforehand: What is settled before the first run of all.
    """
    if spec.name == "wager":
        settings = _wager_settings(spec, configurations)
        if beforehand is not None:
            settings = replace(settings, **beforehand._asdict())
        return WagerEngine(evidence, utility, settings)
    if spec.name == "naive":
        if spec.captime_s is None or spec.epsilon is None:
            raise UsageError(
                "Naive needs a captime (--captime, or captime_s in [procedure]) and a target (--epsilon)"
            )
        if spec.captime_s > spec.captime_limit_s:
            raise UsageError(
                f"the captime of Naive ({spec.captime_s:g} s) is above the largest captime that is known "
                f"({spec.captime_limit_s:g} s): choose a smaller one with --captime"
            )
        return NaiveEngine(
            evidence,
            utility,
            delta=spec.delta,
            epsilon=spec.epsilon,
            captime_s=spec.captime_s,
            configurations=configurations,
        )
    paper = PaperSettings(
        delta=spec.delta,
        epsilon=spec.epsilon,
        gamma=spec.gamma,
        doubling=_DOUBLING[spec.doubling],
        captime0_s=1.0 if spec.captime0_s is None else spec.captime0_s,
        captime_limit_s=spec.captime_limit_s,
        resume=_ACCOUNTING[spec.accounting],
    )
    if spec.name == "coup":
        return coup(evidence, utility, paper, _schedule(spec), spec.phases)
    return (up if spec.name == "up" else oup)(evidence, utility, paper, configurations)


def _schedule(spec: ProcedureSpec) -> Schedule:
    return named_schedule(spec.schedule) if isinstance(spec.schedule, str) else spec.schedule


def _wager_settings(spec: ProcedureSpec, configurations: int) -> WagerSettings:
    growth: FixedSet | Phases | Adaptive = Adaptive(spec.gamma_weight)
    if spec.growth == "phases":
        growth = Phases(_schedule(spec), spec.phases)
    elif not spec.grows:
        growth = FixedSet(configurations)
    return WagerSettings(
        delta=spec.delta,
        epsilon=spec.epsilon,
        gamma=spec.gamma,
        captime0_s=spec.captime0_s,
        captime_limit_s=spec.captime_limit_s,
        resume=_ACCOUNTING[spec.accounting],
        finite_population=spec.population == "finite",
        growth=growth,
    )


def are_compiled(spec: ProcedureSpec) -> bool:
    """Whether the rules of a procedure lie compiled on disk, so that `warm_up` is quick."""
    from utilitune.procedures.paper import loop
    from utilitune.procedures.wager import rounds

    rules: dict[str, Callable[..., Any]] = {"wager": rounds.advance, "up": loop.advance_round_robin}
    return is_on_disk(rules.get(spec.name, loop.advance_optimistic))


def warm_up(spec: ProcedureSpec, utility: Utility) -> None:
    """Compile what a procedure needs, so that no clock runs meanwhile; later calls take milliseconds."""
    runtimes_s = np.linspace(1.0, 2.0, 3 * 8).reshape(3, 8)
    evidence = RecordedEvidence(RuntimeMatrix.from_array(runtimes_s), utility)
    small = replace(spec, growth="fixed", epsilon=0.5, captime_s=math.inf, captime_limit_s=math.inf)
    if spec.name in ("naive", "coup"):
        small = replace(small, name="oup")
    engine = build_engine(small, evidence, utility, configurations=3)
    for _ in range(3):
        engine.add(Origin.RANDOM)
    engine.advance(PauseAt(rounds=20, total_time_s=math.inf, runs=20))
    engine.likely(2)

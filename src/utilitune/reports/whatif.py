"""What would be the answer under another utility function? Asked after the runs were made.

`whatif` takes what is known of each configuration's runs, `whatif_run` reads it from a stored run, finished
or still going on. Both give a `WhatIf`, which answers for one utility (`under`) or for a whole family of
them (`over`): which configuration to take, how far from the best it can be at most, and over which range of
a parameter that stays so. All answers hold at once with probability 1 − δ, however many are asked for and
whatever was seen before asking; `utilitune.procedures.bounds.every_utility` says why.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from utilitune.domain import DEFAULT_DELTA, probability_kept, require_delta, require_positive
from utilitune.errors import UsageError
from utilitune.live.places import unanswered
from utilitune.live.reusing import condition_of
from utilitune.procedures.bounds.every_utility import CensoredRuns, draw_shares, equal_shares, set_shares
from utilitune.procedures.naming import PROCEDURES, ProcedureSpec
from utilitune.reports.scales import NUMBERS, Scale, measured, scale_of
from utilitune.reports.whatif_runs import KnownBands, KnownRuns, known_to, sharing_runs, stored
from utilitune.spaces import Assignment
from utilitune.store import read_run_folder
from utilitune.utility import (
    SolutionUtility,
    Utility,
    as_utility,
    format_duration,
    parse_any_utility,
    parse_solution_utility,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.store import ConfigurationRecord, StoreReader

    Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]

PLACEHOLDER = "*"
"""Stands in a family for the time that varies."""

_FINEST_RATIO = 1.001  # between two answers, the moment of change is looked for this closely
_LARGEST_FAMILY = 10_001


@dataclass(frozen=True, slots=True)
class UtilityFamily:
    """Utilities that differ in one time, such as ``log-laplace(k0=*)`` for k0 from 1 s to 1 h.

    Where the quality of solutions counts, it is a number that varies: ``relative-gap(to=known, limit=*)``.

    Attributes:
        text: A utility with ``*`` in place of the time that varies.
        from_s: The shortest time, or the least number.
        to_s: The longest time, or the largest number.
        points: At least how many utilities are tried, at equal ratios of the time.
    """

    text: str
    from_s: float
    to_s: float
    points: int = 61

    def __post_init__(self) -> None:
        if self.text.count(PLACEHOLDER) != 1:
            raise UsageError(
                f"the family {self.text!r} must have one {PLACEHOLDER} in place of the time that varies, "
                "such as 'log-laplace(k0=*)'"
            )
        require_positive("the shortest time of a family", self.from_s)
        require_positive("the longest time of a family", self.to_s)
        if not self.from_s < self.to_s:
            raise UsageError(
                f"a family runs from a shorter to a longer time, not from {format_duration(self.from_s)} "
                f"to {format_duration(self.to_s)}"
            )
        if not 2 <= self.points <= _LARGEST_FAMILY:
            raise UsageError(
                f"the number of points of a family lies between 2 and {_LARGEST_FAMILY}, not {self.points}"
            )
        for end_s in (self.from_s, self.to_s):
            self.member(end_s)

    def member(self, value: float) -> Utility | SolutionUtility:
        """The utility with this time, or for one of the quality with this number."""
        return parse_any_utility(self.text.replace(PLACEHOLDER, repr(float(value))))

    @property
    def of_time(self) -> bool:
        """Whether it is a time that varies; for utilities of the quality it is a number without a unit."""
        return isinstance(self.member(self.from_s), Utility)

    def shown(self, value: float) -> str:
        """A value of what varies, with its unit if it has one."""
        return format_duration(value) if self.of_time else f"{value:.4g}"

    def times_s(self) -> list[float]:
        """The times that are tried in any case."""
        return [float(time_s) for time_s in np.geomspace(self.from_s, self.to_s, self.points)]


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The answer under one utility.

    Attributes:
        utility: What it is the answer for.
        best_index: The configuration with the largest proved mean utility.
        epsilon: No configuration can be better than it by more than this.
        lower: Lower bound on the mean utility of every configuration.
        upper: Upper bound on the same.
        first: For every configuration the first with the same values: draws from a small space repeat others.
    """

    utility: Utility | SolutionUtility
    best_index: int
    epsilon: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    first: NDArray[np.int64]

    @property
    def others(self) -> NDArray[np.bool_]:
        """Which configurations are others than the answer, each counted once."""
        once = self.first == np.arange(self.first.size)
        return np.asarray(once & (self.first != self.first[self.best_index]), np.bool_)

    @property
    def contenders(self) -> int:
        """How many other configurations may still be better."""
        return int(np.count_nonzero(self.upper[self.others] > self.lower[self.best_index]))


@dataclass(frozen=True, slots=True)
class FamilyPoint:
    """The answer for one member of a family."""

    time_s: float
    best_index: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class FamilyRange:
    """Neighbouring members of a family with the same answer."""

    from_s: float
    to_s: float
    best_index: int
    least_epsilon: float
    largest_epsilon: float


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """The answers for a family, in the order of its time.

    Attributes:
        family: What was asked.
        points: The answer for each time that was tried; more of them where the answer changes.
    """

    family: UtilityFamily
    points: tuple[FamilyPoint, ...]

    @property
    def ranges(self) -> tuple[FamilyRange, ...]:
        """Over which times the answer stays the same."""
        found = []
        for best_index, group in groupby(self.points, key=lambda point: point.best_index):
            same = list(group)
            epsilons = [point.epsilon for point in same]
            found.append(
                FamilyRange(same[0].time_s, same[-1].time_s, best_index, min(epsilons), max(epsilons))
            )
        return tuple(found)


class WhatIf:
    """Answers under any utility, all right at once with probability 1 − δ; made by `whatif`.

    Attributes:
        configurations: How many there are to choose from, draws that repeat others included.
        different: How many of them are different.
        delta: Probability with which anything here may be wrong.
        population: Number of instances whose mean is meant; 0 for the expectation over instances like these.
        assignments: Parameter values of each configuration, where they are known.
        condition: What the promise rests on, where it rests on something.
        beside: Why a run, which has a promise of its own, says more under its own utility.
        run_counts: How many runs count for each configuration; on a list all of them do.
    """

    def __init__(
        self,
        runs: Sequence[KnownRuns],
        shares: NDArray[np.float64],
        *,
        delta: float,
        population: int = 0,
        assignments: Sequence[Mapping[str, Any]] = (),
        condition: str = "",
        beside: str = "",
    ) -> None:
        self.configurations = len(runs)
        self.delta = require_delta(delta)
        self.population = population
        self.assignments = tuple(assignments)
        self.condition = condition
        self.beside = beside
        counting = [each.everywhere if population else each.in_a_row for each in runs]
        self.run_counts = tuple(int(each.stop_s.size) for each in counting)
        known: dict[Assignment, int] = {}
        same = [known.setdefault(Assignment(each), place) for place, each in enumerate(self.assignments)]
        self._first = np.array(same or range(len(runs)), dtype=np.int64)
        self.different = len(set(self._first.tolist()))
        ran = np.array([each.everywhere.stop_s.size > 0 for each in runs])
        self._ran = len(set(self._first[ran].tolist()))
        self._bands = KnownBands(runs, shares, population)

    def under(self, utility: Utility | SolutionUtility | str | Callable[[Any], Any]) -> Recommendation:
        """The answer under one utility: one of ours, its text, or a function of the user's own."""
        chosen, bounds = self._judged(utility)
        lower, upper = self._shared(*bounds)
        best = int(np.argmax(lower))
        others = upper[self._first != self._first[best]]
        epsilon = max(0.0, float(others.max() - lower[best])) if others.size else 0.0
        return Recommendation(chosen, best, epsilon, lower, upper, self._first)

    def _shared(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Bounds:
        """The tightest bounds of each configuration, where several numbers stand for the same one.

        All bounds are right at once, so all of those that are about one configuration hold for it.
        """
        if self.different == self._first.size:
            return lower, upper
        low, high = np.full(lower.size, -np.inf), np.full(upper.size, np.inf)
        np.maximum.at(low, self._first, lower)
        np.minimum.at(high, self._first, upper)
        return low[self._first], high[self._first]

    def over(self, family: UtilityFamily) -> FamilyAnswer:
        """The answers for a family; where two neighbours differ, members between them are tried as well."""
        points = [self._point(family, time_s) for time_s in family.times_s()]
        found = points[:1]
        for point in points[1:]:
            found += [*self._between(family, found[-1], point), point]
        return FamilyAnswer(family, tuple(found))

    def stretched_winner(self, utility: Utility, factor: float) -> int:
        """The answer under u(t / factor): the same utility with all its times longer by a factor."""
        lower, _ = self._shared(*self._bands.bounds(lambda times_s: utility(times_s / factor)))
        return int(np.argmax(lower))

    def _judged(
        self, utility: Utility | SolutionUtility | str | Callable[[Any], Any]
    ) -> tuple[Utility | SolutionUtility, Bounds]:
        """A utility, and the bounds under it."""
        chosen = as_utility(str(utility) if isinstance(utility, SolutionUtility) else utility)
        return chosen, self._bands.bounds(chosen)

    any_other = "utility function"
    """For what else all lines would be right, too."""

    def promise(self) -> str:
        """What is proved, in words."""
        over = "mean utility over exactly these instances" if self.population else "expected utility"
        claim = (
            f"With probability {probability_kept(self.delta)} every line is right, and would be for any "
            f"other {self.any_other} too: the configuration named is within its ε of the best of the "
            f"{self.different} of this run, of which {self._ran} were run, in {over}. This is a promise "
            "of its own, with its own δ; it says nothing about other configurations."
        )
        return " ".join(filter(None, [claim, self.beside, self.condition]))

    def _point(self, family: UtilityFamily, time_s: float) -> FamilyPoint:
        answer = self.under(family.member(time_s))
        return FamilyPoint(time_s, answer.best_index, answer.epsilon)

    def _between(self, family: UtilityFamily, left: FamilyPoint, right: FamilyPoint) -> list[FamilyPoint]:
        """Members between two, by bisection, until every change of the answer is pinned down."""
        if left.best_index == right.best_index or right.time_s <= _FINEST_RATIO * left.time_s:
            return []
        middle = self._point(family, math.sqrt(left.time_s) * math.sqrt(right.time_s))
        return [*self._between(family, left, middle), middle, *self._between(family, middle, right)]


class SolutionWhatIf(WhatIf):
    """The same where the quality of solutions counts, at the end of a run.

    All utilities that measure qualities in the same way are right at once, see `utilitune.reports.scales`;
    each of the ways has the same share of δ.
    """

    any_other = "utility of the quality alone"

    def __init__(
        self, scales: Mapping[str, Scale], shares: NDArray[np.float64], **facts: Unpack[_Facts]
    ) -> None:
        super().__init__(scales[NUMBERS].runs, shares, **facts)
        self._scales = scales
        self._of_scale = {
            name: KnownBands(scale.runs, shares / len(scales), self.population)
            for name, scale in scales.items()
        }

    def _judged(
        self, utility: Utility | SolutionUtility | str | Callable[[Any], Any]
    ) -> tuple[Utility | SolutionUtility, Bounds]:
        if not isinstance(utility, SolutionUtility):
            utility = parse_solution_utility(str(utility))
        name = scale_of(utility)
        return utility, self._of_scale[name].bounds(self._scales[name].worths(utility))


def whatif(
    runs: Iterable[CensoredRuns], *, delta: float = DEFAULT_DELTA, population: int = 0, growing: bool = False
) -> WhatIf:
    """Prepare answers under any utility from what is known of each configuration's runs.

    Args:
        runs: One entry per configuration, none of them chosen because of these runs.
        delta: Probability with which anything may be wrong.
        population: Number of instances, if the runs go through a list of them in random order and the mean
            over this very list is meant; 0 for the expectation over independent instances.
        growing: Whether the number of configurations was not fixed beforehand; they then stand in the order
            in which they came.

    Example:
        >>> quick = CensoredRuns.capped([1.0, 2.0, 3.0] * 100, captimes_s=60.0)
        >>> slow = CensoredRuns.capped([50.0, 90.0, 30.0] * 100, captimes_s=60.0)
        >>> answer = whatif([slow, quick]).under("uniform(k0=60)")
        >>> answer.best_index, answer.epsilon
        (1, 0.0)
    """
    given = list(runs)
    if not given:
        raise UsageError("there are no configurations to choose from: give the runs of at least one")
    shares = (
        draw_shares(delta, [False] * len(given), may_propose=False)
        if growing
        else equal_shares(delta, len(given))
    )
    return WhatIf([KnownRuns(each, each) for each in given], shares, delta=delta, population=population)


def whatif_known(store: StoreReader, evidence: LiveEvidence) -> WhatIf:
    """The same as `whatif_run` where somebody has read the runs already: nothing but settings is read anew.

    Args:
        store: The run.
        evidence: Its runs; those that came after it was filled do not count.
    """
    return _from_store(store, None, known_to(evidence))


def whatif_run(run: StoreReader | Path | str, *, delta: float | None = None) -> WhatIf:
    """Prepare answers under any utility from a stored run, also while it goes on.

    Args:
        run: Its folder, or its opened store.
        delta: Probability with which anything may be wrong; that of the run if left out.

    Raises:
        StoreError: There is no such run, or it has no configuration yet.
    """
    if not isinstance(run, str | Path):
        return _from_store(run, delta)
    with contextlib.closing(read_run_folder(run)) as reader:
        return _from_store(reader, delta)


def _from_store(
    store: StoreReader,
    delta: float | None,
    known: Callable[[ConfigurationRecord], KnownRuns] | None = None,
) -> WhatIf:
    configurations = store.configurations()
    if not configurations:
        raise unanswered(store, "no configuration")
    chosen = float(store.snapshot.scenario["delta"]) if delta is None else delta
    shares = _shares(store, configurations, chosen)
    facts = _Facts(
        delta=chosen,
        population=_listed_instances(store.snapshot.scenario),
        assignments=[record.assignment for record in configurations],
        condition=condition_of(store, any_utility=True),
        beside=_beside(store, configurations),
    )
    sharing = sharing_runs(configurations)
    if store.snapshot.scenario.get("quality") is not None:
        return SolutionWhatIf(measured(store, sharing), shares, **facts)
    known = stored(store.runs()) if known is None else known
    return WhatIf([known(record) for record in sharing], shares, **facts)


class _Facts(TypedDict):
    """What both kinds of answers need to know of a run."""

    delta: float
    population: int
    assignments: Sequence[Mapping[str, Any]]
    condition: str
    beside: str


def _beside(store: StoreReader, configurations: Sequence[ConfigurationRecord]) -> str:
    """Why the ε of the run itself is smaller under its own utility, as a rule."""
    last = store.last_progress()
    reasons = ["proves it for one utility only"]
    if last is not None and last.progress.gamma is not None:
        reasons.append("leaves out a share γ of all configurations")
    if any(record.origin.searched for record in configurations):
        reasons.append("need not rule out what search has tried and dropped")
    listed = " and ".join(filter(None, [", ".join(reasons[:-1]), reasons[-1]]))
    return f"Under the utility of the run its own ε is usually smaller: the run {listed}."


def _listed_instances(scenario: Mapping[str, Any]) -> int:
    """How many instances the promise is about; 0 if it is about all instances like them."""
    if scenario.get("population") != "finite":
        return 0
    return len(scenario["training"]["names"])


def _shares(
    store: StoreReader, configurations: Sequence[ConfigurationRecord], delta: float
) -> NDArray[np.float64]:
    """Shares that follow from the settings of the first start alone, so that no later run changes any.

    Equal shares where these fixed the number of configurations, else shares by number. Configurations that
    were chosen because of outcomes count with what is certain alone: nominees, which an order of their own
    judges, candidates, and proposals whose runs begin with the very first instance.
    """
    sessions = store.sessions()
    procedure: Mapping[str, Any] = sessions[0].settings.get("procedure", {}) if sessions else {}
    proposed = np.array([record.origin.searched for record in configurations])
    size = _fixed_size(procedure)
    if size is not None:
        return set_shares(delta, size, proposed.tolist())
    if procedure.get("name") == "coup":  # it takes no proposals, so nothing is kept for them
        shares = np.zeros(len(proposed))
        shares[~proposed] = draw_shares(delta, proposed[~proposed].tolist(), may_propose=False)
        return shares
    fresh = np.array([record.first_position > 0 for record in configurations])
    return np.where(proposed & ~fresh, 0.0, draw_shares(delta, proposed.tolist(), may_propose=True))


def _fixed_size(procedure: Mapping[str, Any]) -> int | None:
    """How many configurations there will ever be, by the stored settings of a procedure; None if unknown."""
    name = procedure.get("name")
    if name not in PROCEDURES:
        return None
    growth, configurations = procedure.get("growth"), procedure.get("configurations")
    return ProcedureSpec(name, growth=growth, configurations=configurations).fixed_size

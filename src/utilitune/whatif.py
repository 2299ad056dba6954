"""What would be the answer under another utility function? Asked after the runs were made.

`whatif` takes what is known of each configuration's runs, `whatif_run` reads it from a stored run, finished
or still going on. Both give a `WhatIf`, which answers for one utility (`under`) or for a whole family of
them (`over`): which configuration to take, how far from the best it can be at most, and over which range of
a parameter that stays so. All answers hold at once with probability 1 − δ, however many are asked for and
whatever was seen before asking; `utilitune.bounds.every_utility` says why.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.bounds.every_utility import CensoredRuns, UtilityBands, draw_shares, equal_shares
from utilitune.domain import RunStatus, require_positive, require_probability
from utilitune.errors import StoreError, UsageError
from utilitune.store import Origin, read_run_folder
from utilitune.utility import as_utility, format_duration, parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.store import ConfigurationRecord, RunRecord, StoreReader
    from utilitune.utility import Utility

PLACEHOLDER = "*"
"""Stands in a family for the time that varies."""

_FINEST_RATIO = 1.001  # between two answers, the moment of change is looked for this closely
_LARGEST_FAMILY = 10_001


@dataclass(frozen=True, slots=True)
class UtilityFamily:
    """Utilities that differ in one time, such as ``log-laplace(k0=*)`` for k0 from 1 s to 1 h.

    Attributes:
        text: A utility with ``*`` in place of the time that varies.
        from_s: The shortest time.
        to_s: The longest time.
        points: How many utilities are tried at least, at equal ratios of the time.
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

    def member(self, time_s: float) -> Utility:
        """The utility with this time."""
        return parse_utility(self.text.replace(PLACEHOLDER, repr(float(time_s))))

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
    """

    utility: Utility
    best_index: int
    epsilon: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def contenders(self) -> int:
        """How many other configurations may still be better."""
        return int(np.count_nonzero(np.delete(self.upper, self.best_index) > self.lower[self.best_index]))


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
        configurations: How many there are to choose from.
        delta: Probability with which anything here may be wrong.
        population: Number of instances whose mean is meant; 0 for the expectation over instances like these.
        assignments: Parameter values of each configuration, where they are known.
        run_counts: How many runs count for each configuration.
    """

    def __init__(
        self,
        runs: Sequence[CensoredRuns],
        shares: NDArray[np.float64],
        *,
        delta: float,
        population: int = 0,
        assignments: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.configurations = len(runs)
        self.delta = require_probability("delta", delta)
        self.population = population
        self.assignments = tuple(assignments)
        self.run_counts = tuple(int(each.stop_s.size) for each in runs)
        self._bands = UtilityBands(runs, shares, population)

    def under(self, utility: Utility | str | Callable[[Any], Any]) -> Recommendation:
        """The answer under one utility: one of ours, its text, or a function of the user's own."""
        chosen = as_utility(utility)
        lower, upper = self._bands.bounds(chosen)
        best = int(np.argmax(lower))
        others = np.delete(upper, best)
        epsilon = max(0.0, float(others.max() - lower[best])) if others.size else 0.0
        return Recommendation(chosen, best, epsilon, lower, upper)

    def over(self, family: UtilityFamily) -> FamilyAnswer:
        """The answers for a family; where two neighbours differ, members between them are tried as well."""
        points = [self._point(family, time_s) for time_s in family.times_s()]
        found = points[:1]
        for point in points[1:]:
            found += [*self._between(family, found[-1], point), point]
        return FamilyAnswer(family, tuple(found))

    def promise(self) -> str:
        """What is proved, in words."""
        over = "mean utility over exactly these instances" if self.population else "expected utility"
        return (
            f"With probability {100 * (1 - self.delta):g} % every line is right, and would be for any other "
            "utility function too: the configuration named is within its ε of the best of the "
            f"{self.configurations} tried, in {over}. This is a promise of its own, with its own δ; it says "
            "nothing about configurations that were not tried."
        )

    def _point(self, family: UtilityFamily, time_s: float) -> FamilyPoint:
        answer = self.under(family.member(time_s))
        return FamilyPoint(time_s, answer.best_index, answer.epsilon)

    def _between(self, family: UtilityFamily, left: FamilyPoint, right: FamilyPoint) -> list[FamilyPoint]:
        """Members between two, by bisection, until every change of the answer is pinned down."""
        if left.best_index == right.best_index or right.time_s <= _FINEST_RATIO * left.time_s:
            return []
        middle = self._point(family, math.sqrt(left.time_s) * math.sqrt(right.time_s))
        return [*self._between(family, left, middle), middle, *self._between(family, middle, right)]


def whatif(
    runs: Iterable[CensoredRuns], *, delta: float = 0.05, population: int = 0, growing: bool = False
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
    return WhatIf(given, shares, delta=delta, population=population)


def whatif_run(run: StoreReader | Path | str, *, delta: float | None = None) -> WhatIf:
    """The same from a stored run, also while it goes on.

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


def _from_store(store: StoreReader, delta: float | None) -> WhatIf:
    configurations = store.configurations()
    if not configurations:
        raise StoreError("this run has no configuration yet: let it run a little longer")
    chosen = float(store.snapshot.scenario["delta"]) if delta is None else delta
    population = _listed_instances(store.snapshot.scenario)
    known = _settled(store.runs())
    runs = [_counting(record, known.get(record.index, {})) for record in configurations]
    return WhatIf(
        runs,
        _shares(store, configurations, chosen),
        delta=chosen,
        population=population,
        assignments=[record.assignment for record in configurations],
    )


def _listed_instances(scenario: Mapping[str, Any]) -> int:
    """How many instances the promise is about; 0 if it is about all instances like them."""
    if scenario.get("population") != "finite":
        return 0
    return len(scenario["training"]["names"])


def _shares(
    store: StoreReader, configurations: Sequence[ConfigurationRecord], delta: float
) -> NDArray[np.float64]:
    """Equal shares where the settings fixed the number of configurations, else shares by number.

    A proposal whose runs begin with the very first instance was not given fresh ones: only what is
    certain counts for it.
    """
    sessions = store.sessions()
    procedure: Mapping[str, Any] = sessions[0].settings.get("procedure", {}) if sessions else {}
    name, size = procedure.get("name"), procedure.get("configurations")
    proposed = [record.origin is Origin.MODEL for record in configurations]
    if isinstance(size, int) and len(configurations) <= size and name != "coup" and not any(proposed):
        return equal_shares(delta, size)[: len(configurations)]
    may_propose = any(proposed) or name == "wager"
    shares = draw_shares(delta, proposed, may_propose=may_propose)
    fresh = np.array([record.first_position > 0 for record in configurations])
    return np.where(np.array(proposed) & ~fresh, 0.0, shares)


def _settled(records: Iterable[RunRecord]) -> dict[int, dict[int, tuple[float, float]]]:
    """Runtime (∞ if not finished) and time watched, by configuration and position.

    A later run of the same pair adds to what is known. One that finishes sooner than the pair was once
    seen to last counts as lasting that long: the runtime of a pair is one number, seen to be at least so
    large. Runs that failed never finish.
    """
    known: dict[int, dict[int, tuple[float, float]]] = {}
    for record in records:
        request, outcome = record.request, record.outcome
        of_configuration = known.setdefault(request.configuration, {})
        runtime_s, watched_s = of_configuration.get(request.position, (math.inf, 0.0))
        if outcome.status is RunStatus.FINISHED:
            runtime_s = max(outcome.runtime_s, watched_s)
            watched_s = runtime_s
        else:
            limit_s = request.captime_s if outcome.status is RunStatus.TIMEOUT else math.inf
            watched_s = max(watched_s, limit_s)
        of_configuration[request.position] = runtime_s, watched_s
    return known


def _counting(record: ConfigurationRecord, known: Mapping[int, tuple[float, float]]) -> CensoredRuns:
    """The runs that count for one configuration: from its first position on, up to the first gap."""
    stops_s: list[float] = []
    finished: list[bool] = []
    while (position := record.first_position + len(stops_s)) in known:
        runtime_s, watched_s = known[position]
        finished.append(math.isfinite(runtime_s))
        stops_s.append(runtime_s if finished[-1] else watched_s)
    return CensoredRuns(np.array(stops_s), np.array(finished, dtype=np.bool_), record.first_position)

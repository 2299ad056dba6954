"""How good a configuration is: its mean utility, with an interval that holds at every moment.

A run that was stopped early tells only that its utility lies between X (as if it never ended) and Y (as if it
had ended then). The lower end of the interval bets on X, the upper one on 1 − Y (`bounds.betting`), so both
hold whenever one looks, however captimes were chosen.

The answer is chosen because its runs look good, so an interval for it alone would be too narrow. All
configurations share δ instead, random draws and the others half and half: number b of its kind gets the
weight that `wager` gives to draws, half of it for each end. All intervals of a run hold together with
probability 1 − δ. This δ is a second one, beside that of the promise: an interval is no part of the promise.

A configuration that was proposed because of outcomes on the very instances it is judged on has no such
interval on a list of instances. For it only what is certain counts: instances it was not run on may be worth
anything from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.procedures.bounds.betting import lower_bound, upper_bound
from utilitune.procedures.wager.shares import Kind, Weights
from utilitune.store.records import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean utility of one configuration.

    Attributes:
        configuration: Its number.
        runs: How many instances count: from its first one on, up to the first it has not been run on.
        seen_low: Mean of X over them; 0 without runs.
        seen_high: Mean of Y over them; equal to `seen_low` where no run was stopped; 1 without runs.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    configuration: int
    runs: int
    seen_low: float
    seen_high: float
    low: float
    high: float

    @property
    def mean(self) -> float | None:
        """The middle of what was seen; None without runs."""
        return (self.seen_low + self.seen_high) / 2 if self.runs else None

    def text(self) -> str:
        """The estimate for people, such as "0.91 (0.54 to 0.97)"."""
        if self.mean is None:
            return "not run yet"
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "configuration": self.configuration,
            "runs": self.runs,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class Sharing:
    """How δ is shared among the intervals of a run.

    Attributes:
        delta: What all intervals together may spend.
        population: Number of instances whose mean is meant; 0 for the expectation over instances like these.
        configurations: Size of a set that was fixed beforehand; 0 for one that grows.
    """

    delta: float
    population: int = 0
    configurations: int = 0

    @classmethod
    def of(cls, store: StoreReader) -> Sharing:
        """How a stored run shares it, as the settings of its first start say."""
        scenario = store.snapshot.scenario
        finite = scenario.get("population") == "finite"
        sessions = store.sessions()
        procedure = sessions[0].settings.get("procedure", {}) if sessions else {}
        size = procedure.get("configurations")
        fixed = isinstance(size, int) and procedure.get("name") in {"up", "oup", "naive"}
        return cls(
            delta=float(scenario["delta"]),
            population=len(scenario["training"]["names"]) if finite else 0,
            configurations=size if fixed and isinstance(size, int) else 0,
        )

    def share(self, number: int) -> float:
        """δ of one end of the interval of the configuration `number` (from 1) of its kind."""
        half = self.delta / 2.0
        if self.configurations:
            return half / self.configurations
        return half / 2.0 * Weights.of(given=False, chosen=False).weight(Kind.DRAW, number)


def kind_numbers(records: Sequence[ConfigurationRecord]) -> list[int]:
    """The number of each configuration among those of its kind, from 1: random draws and all others."""
    drawn = others = 0
    numbers = []
    for record in records:
        if record.origin is StoredOrigin.RANDOM:
            drawn += 1
            numbers.append(drawn)
        else:
            others += 1
            numbers.append(others)
    return numbers


def is_chosen_by_outcomes(record: ConfigurationRecord) -> bool:
    """Whether it was proposed because of outcomes on the instances it is judged on."""
    return (
        record.origin not in (StoredOrigin.DEFAULT, StoredOrigin.USER, StoredOrigin.RANDOM)
        and not record.first_position
    )


def fill(evidence: LiveEvidence, store: StoreReader, configurations: Iterable[int]) -> None:
    """Put the stored runs of these configurations into the evidence."""
    for configuration in dict.fromkeys(configurations):
        for run in store.runs(configuration=configuration):
            evidence.tell(run.request, run.outcome)


def seen(
    evidence: LiveEvidence, record: ConfigurationRecord
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """X and Y of the runs that count for a configuration, in the order of instances.

    Those up to the first gap; of one that was chosen by outcomes all, as only their sum is made use of.
    """
    arrays = evidence.arrays
    if record.index >= len(arrays.base):
        return np.zeros(0), np.zeros(0)
    start = int(arrays.base[record.index])
    cells = slice(start + record.first_position, start + int(arrays.room[record.index]))
    runtime_s, watched_s, value = arrays.runtime_s[cells], arrays.known_s[cells], arrays.utility[cells]
    known = np.isfinite(runtime_s) | (watched_s > 0)
    if not is_chosen_by_outcomes(record):
        known = np.logical_and.accumulate(known)
    finished, value = np.isfinite(runtime_s[known]), value[known]
    if arrays.least.shape[1]:  # what a run is worth so far, and can be worth at the most, was kept
        least, most = arrays.least[cells][known, -1], arrays.most[cells][known, -1]
        return np.where(finished, value, least), np.where(finished, value, most)
    least = np.where(finished, value, evidence.utility.infimum)
    most = np.where(finished, value, evidence.utility(watched_s[known]))
    return least, np.maximum(least, most)


def estimate(evidence: LiveEvidence, record: ConfigurationRecord, number: int, sharing: Sharing) -> Estimate:
    """The mean utility of a configuration, from what the evidence holds of it.

    Args:
        evidence: The runs.
        record: The configuration.
        number: Its number among those of its kind, see `kind_numbers`.
        sharing: How δ is shared.
    """
    least, most = seen(evidence, record)
    if not least.size:
        return Estimate(record.index, 0, 0.0, 1.0, 0.0, 1.0)
    low, high = (
        _certain(least, most, sharing.population)
        if is_chosen_by_outcomes(record)
        else _proved(least, most, record.first_position, sharing, sharing.share(number))
    )
    return Estimate(record.index, least.size, float(least.mean()), float(most.mean()), low, high)


def _certain(least: NDArray[np.float64], most: NDArray[np.float64], population: int) -> tuple[float, float]:
    """What is sure without any probability: nothing about instances that were not run."""
    if not population:
        return 0.0, 1.0
    left = max(0, population - least.size)
    return float(least.sum()) / population, min(1.0, (float(most.sum()) + left) / population)


def _proved(
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    first_position: int,
    sharing: Sharing,
    share: float,
) -> tuple[float, float]:
    population = sharing.population
    fresh = population - first_position if population else 0
    low = lower_bound(least, share, fresh)
    high = upper_bound(np.minimum(most, 1.0), share, fresh)
    if population and first_position:  # instances before the first one that counts may be worth anything
        low, high = low * fresh / population, (high * fresh + first_position) / population
    return max(0.0, low), max(low, min(1.0, high))

"""How good a configuration is: its mean utility, with an interval that holds at every moment.

A run that was stopped early tells only that its utility lies between X (as if it never ended) and Y (as if it
had ended then). The lower end of the interval bets on X, the upper one on 1 − Y (`bounds.betting`), so both
hold whenever one looks, however captimes were chosen.

The answer is chosen because its runs look good, so an interval for it alone would be too narrow. All
configurations share δ instead, random draws and the others half and half: number b of its kind gets the
weight that `wager` gives to draws, half of it for each end. All intervals of a run hold together with
probability 1 − δ. This δ is a second one, beside that of the promise: an interval is no part of the promise.

On a list of instances something is certain besides, without any δ: every run there is counts, and instances
without a run may be worth anything. An interval is never wider than that, and the mean shown is that of all
runs. Bets need the instances in their order without gaps (docs/theory.md, section 3.5). So where instances
are a sample, runs beyond the first gap do not count, and `text` and `instances` say what does.

A configuration that was proposed because of outcomes on the very instances it is judged on can make no such
bets. For it only what is certain counts.
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
        runs: How many instances count: on a list all it was run on; else from its first one on, up to the
            first it has not been run on.
        seen_low: Mean of X over them; 0 without runs.
        seen_high: Mean of Y over them; equal to `seen_low` where no run was stopped; 1 without runs.
        low: Lower end of the interval.
        high: Upper end of the interval.
        beyond: On how many further instances it was run that do not count yet.
    """

    configuration: int
    runs: int
    seen_low: float
    seen_high: float
    low: float
    high: float
    beyond: int = 0

    @property
    def mean(self) -> float | None:
        """The middle of what was seen; None without runs."""
        return (self.seen_low + self.seen_high) / 2 if self.runs else None

    def text(self) -> str:
        """The estimate for people, such as "0.91 (0.54 to 0.97)"."""
        if self.mean is None:
            return "not run yet"
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"

    def instances(self) -> str:
        """What the mean is over, in words."""
        over = f"{self.runs:,} instance{'' if self.runs == 1 else 's'}"
        if not self.beyond:
            return over
        later = f"{self.beyond:,} later run{' does' if self.beyond == 1 else 's do'} not count yet"
        return f"the first {over} of its order; {later}, because an instance before has no run"

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
    return record.origin.searched and not record.first_position


def fill(evidence: LiveEvidence, store: StoreReader, configurations: Iterable[int]) -> None:
    """Put the stored runs of these configurations into the evidence."""
    for configuration in dict.fromkeys(configurations):
        for run in store.runs(configuration=configuration):
            evidence.tell(run.request, run.outcome)


def seen(
    evidence: LiveEvidence, record: ConfigurationRecord, *, everywhere: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """X and Y of the runs that count for a configuration, in the order of instances.

    Those up to the first gap; of one that was chosen by outcomes all, as only their sum is made use of.

    Args:
        evidence: The runs.
        record: The configuration.
        everywhere: Whether runs beyond a gap, and those before its first position, are wanted as well.
    """
    arrays = evidence.arrays
    if record.index >= len(arrays.base):
        return np.zeros(0), np.zeros(0)
    start = int(arrays.base[record.index])
    first = 0 if everywhere else record.first_position
    cells = slice(start + first, start + int(arrays.room[record.index]))
    runtime_s, watched_s, value = arrays.runtime_s[cells], arrays.known_s[cells], arrays.utility[cells]
    known = np.isfinite(runtime_s) | (watched_s > 0)
    if not everywhere and not is_chosen_by_outcomes(record):
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
    row, everything = seen(evidence, record), seen(evidence, record, everywhere=True)
    least, most = everything if sharing.population else row
    if not least.size:
        return Estimate(record.index, 0, 0.0, 1.0, 0.0, 1.0, everything[0].size)
    low, high = _certain(least, most, sharing.population, float(evidence.utility(0.0)))
    if row[0].size and not is_chosen_by_outcomes(record):
        proved = _proved(*row, record.first_position, sharing, sharing.share(number))
        low, high = max(low, proved[0]), min(high, proved[1])
    means, beyond = (float(least.mean()), float(most.mean())), everything[0].size - least.size
    return Estimate(record.index, least.size, *means, low, max(low, high), beyond)


def _certain(
    least: NDArray[np.float64], most: NDArray[np.float64], population: int, top: float
) -> tuple[float, float]:
    """What is sure without any probability: instances that were not run may be worth 0, or u(0)."""
    if not population:
        return 0.0, 1.0
    left = max(0, population - least.size)
    return float(least.sum()) / population, min(1.0, (float(most.sum()) + left * top) / population)


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

"""Synthetic runtimes: instance hardness × configuration effects, heavy tails and exact ties.

The runtime of configuration i on instance j is

    log t_ij = log median_s + hardness · h_j + spread · s_i − elite_gain · e_i + noise · z_ij + x_ij / tail

with h, s, z standard normal, x standard exponential and e_i = 1 for a random share `elite_share` of the
configurations. The exponential term makes the right tail of every row Pareto with index `tail`: at 2 or
below the variance of the runtime is infinite, at 1 or below its mean. The named look-alikes are the
same recipe at the sizes, cutoffs and magnitudes of the three data sets of the paper; they resemble
them in shape, not run by run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data.matrix import RuntimeMatrix
from utilitune.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_VALUES = 1 << 21
_WHOLE = ("rows", "columns", "seed", "tie_groups", "tie_size")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise DataError(f"synthetic data: {text}")


@dataclass(frozen=True, slots=True)
class SyntheticSpec:
    """What to generate; see the module for the formula.

    Attributes:
        rows: Number of configurations.
        columns: Number of instances.
        seed: Seed of ``numpy.random.default_rng``; the same spec gives the same matrix
            (on another processor the last bit of a runtime may differ).
        median_s: Seconds that an average configuration needs on an average instance, tail aside.
        hardness: How much instances differ (standard deviation of log runtime).
        spread: How much configurations differ.
        noise: How much a configuration's luck differs from instance to instance.
        tail: Pareto index of the right tail; ∞ for none.
        elite_share: Share of configurations that are clearly good.
        elite_gain: By how much (in log runtime) those are quicker.
        tie_groups: The best this many configurations are repeated exactly …
        tie_size: … so that each occurs this many times (the copies replace random other rows).
        cutoff_s: Runs at or past this many seconds are recorded as not finished; ∞ for no limit.
    """

    rows: int = 1000
    columns: int = 20_000
    seed: int = 1
    median_s: float = 5.0
    hardness: float = 1.5
    spread: float = 0.7
    noise: float = 0.5
    tail: float = 2.0
    elite_share: float = 0.0
    elite_gain: float = 0.0
    tie_groups: int = 0
    tie_size: int = 2
    cutoff_s: float = math.inf

    def __post_init__(self) -> None:
        for name in ("rows", "columns", "tie_size"):
            _require(getattr(self, name) >= 1, f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("median_s", "tail", "cutoff_s"):
            _require(getattr(self, name) > 0, f"{name} must be positive, not {getattr(self, name)}")
        for name in ("hardness", "spread", "noise", "elite_gain", "seed", "tie_groups"):
            value = getattr(self, name)
            _require(0 <= value < math.inf, f"{name} must be a number of at least 0, not {value}")
        _require(self.median_s < math.inf, "median_s must be finite")
        _require(0 <= self.elite_share <= 1, f"elite_share must lie between 0 and 1, not {self.elite_share}")
        _require(
            self.tie_groups * self.tie_size <= self.rows,
            f"{self.tie_groups} groups of {self.tie_size} equal rows do not fit in {self.rows} rows",
        )


LOOKALIKES = {
    "minisat": SyntheticSpec(
        rows=972,
        columns=20_118,
        seed=972,
        median_s=5.0,
        hardness=1.9,
        spread=0.2,
        noise=0.5,
        tail=2.0,
        elite_share=0.1,
        elite_gain=0.4,
        cutoff_s=900.0,
    ),
    "cplex_rcw": SyntheticSpec(
        rows=2000,
        columns=35_640,
        seed=520,
        median_s=550.0,
        hardness=0.9,
        spread=0.6,
        noise=0.35,
        tail=2.5,
        elite_share=0.03,
        elite_gain=0.7,
        cutoff_s=10_000.0,
    ),
    "cplex_region": SyntheticSpec(
        rows=2000,
        columns=50_000,
        seed=520,
        median_s=800.0,
        hardness=0.6,
        spread=0.75,
        noise=0.3,
        tail=3.0,
        elite_share=0.05,
        elite_gain=0.4,
        cutoff_s=10_000.0,
    ),
}
"""Synthetic stand-ins for the paper's data sets, by name."""


def generate(spec: SyntheticSpec, source: str = "synthetic") -> RuntimeMatrix:
    """The matrix of a spec, in single precision to keep the large ones small."""
    rng = np.random.default_rng(spec.seed)
    hardness = (math.log(spec.median_s) + spec.hardness * rng.standard_normal(spec.columns)).astype(
        np.float32
    )
    elite = rng.random(spec.rows) < spec.elite_share
    effects = spec.spread * rng.standard_normal(spec.rows) - spec.elite_gain * elite
    runtimes_s = np.empty((spec.rows, spec.columns), dtype=np.float32)
    height = max(1, _BLOCK_VALUES // spec.columns)
    for start in range(0, spec.rows, height):
        block = runtimes_s[start : start + height]
        rng.standard_normal(out=block, dtype=np.float32)
        block *= np.float32(spec.noise)
        block += hardness
        block += effects[start : start + height, None].astype(np.float32)
        if math.isfinite(spec.tail):
            block += rng.standard_exponential(block.shape, dtype=np.float32) / np.float32(spec.tail)
        np.minimum(block, np.float32(80.0), out=block)  # single precision overflows beyond e^88 seconds
        np.exp(block, out=block)
        np.putmask(block, block >= spec.cutoff_s, np.inf)
    _repeat_best(runtimes_s, effects, spec, rng)
    return RuntimeMatrix.from_array(runtimes_s, spec.cutoff_s, source=source)


def parse_synthetic(text: str) -> SyntheticSpec:
    """A spec from ``rows=1000,columns=20000,seed=1``; what is left out has its default.

    Example:
        >>> parse_synthetic("rows=3, columns=4, tail=inf").columns
        4
    """
    known = [field.name for field in fields(SyntheticSpec)]
    values: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise DataError(f"synthetic data has no property {name!r}; {did_you_mean(name, known)}")
        try:
            values[name] = int(number) if name in _WHOLE else float(number)
        except ValueError:
            kind = "a whole number" if name in _WHOLE else "a number"
            raise DataError(f"{name} of synthetic data must be {kind}, not {number!r}") from None
    return SyntheticSpec(**values)  # type: ignore[arg-type]


def _repeat_best(
    runtimes_s: NDArray[np.float32],
    effects: NDArray[np.float64],
    spec: SyntheticSpec,
    rng: np.random.Generator,
) -> None:
    """Overwrite random rows with exact copies of the best ones."""
    order = np.argsort(effects, kind="stable")
    best, others = order[: spec.tie_groups], order[spec.tie_groups :]
    copies = rng.permutation(others)[: spec.tie_groups * (spec.tie_size - 1)]
    runtimes_s[copies] = runtimes_s[np.repeat(best, spec.tie_size - 1)]

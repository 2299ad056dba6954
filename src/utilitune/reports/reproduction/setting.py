"""What the paper's experiments mean on a given data set: utilities, captimes, budgets, and the truth.

For data with the cutoffs of the paper's own data sets the numbers are those of Section 5 and the appendix.
For other data they are scaled by two times of the data: the one after which an answer has lost half its worth
(k0, 60 s in the paper) and the one beyond which a configuration's slowest tenth of runs lie. The second is
k0 where runtime is optimised: the paper's 100 s for minisat and 3000 s for CPLEX are, it says, similar to the
captimes ICAR and SPC give each configuration.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune import RuntimeMatrix, parse_utility, read_matrix
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

POSITIONS = 20_000
"""Shorter instance lists are drawn from with repetition, this many times; longer ones are shuffled."""

_PAPER_K0_S = 60.0
_LEAST_CUTOFF_FOR_PAPER_K0_S = 600.0
_DAY_S = 86_400.0
_CAPTIMES_TO_K0 = 60
_FEWEST_ROWS = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """A data set and the numbers of the experiments on it.

    Attributes:
        source: What `utilitune.read_matrix` understands.
        digest: A fingerprint of the data.
        rows: Number of configurations.
        stored: Number of recorded instances.
        cutoff_s: Where the recording stopped.
        k0_s: After this time an answer has lost half its worth.
        runtime_k0_s: k0 of the uniform utility that stands for capped runtime.
        captimes_s: Captimes of Naive, Successive Halving and Hyperband.
        patience_s: When SPC is stopped.
        accuracy: ε of ImpatientCapsAndRuns.
        longest_s: What one configuration takes on all instances, on average.
        has_features: Whether the data describe the configurations, which peers need.
    """

    source: str
    digest: str
    rows: int
    stored: int
    cutoff_s: float
    k0_s: float
    runtime_k0_s: float
    captimes_s: tuple[float, ...]
    patience_s: float
    accuracy: float
    longest_s: float
    has_features: bool

    @property
    def log_laplace(self) -> str:
        """The paper's first utility function."""
        return f"log-laplace(k0={self.k0_s:g}, alpha=1)"

    @property
    def uniform(self) -> str:
        """The paper's second utility function."""
        return f"uniform(k0={self.k0_s:g})"

    @property
    def capped_runtime(self) -> str:
        """The utility function that stands for capped runtime."""
        return f"uniform(k0={self.runtime_k0_s:g})"

    @property
    def captime0_s(self) -> float:
        """The first captime: 1 s where k0 is 60 s."""
        return self.k0_s / _CAPTIMES_TO_K0

    @classmethod
    def of(cls, source: str, matrix: RuntimeMatrix, k0_s: float | None = None) -> Setting:
        """The experiments on a data set; `k0_s` overrides the first of the two times."""
        if math.isinf(matrix.cutoff_s):
            raise UsageError(
                f"{source} names no cutoff, but the rivals need one: add it, as in {source}?cutoff=300"
            )
        if matrix.rows < _FEWEST_ROWS:
            raise UsageError(f"{source} has one configuration only: there is nothing to compare")
        half_s = _half_worth_s(matrix) if k0_s is None else k0_s
        if half_s / _CAPTIMES_TO_K0 > matrix.cutoff_s:
            raise UsageError(
                f"k0 = {half_s:g} s is too long for runs recorded up to {matrix.cutoff_s:g} s: the first "
                f"captime is k0/{_CAPTIMES_TO_K0}; choose a smaller --k0"
            )
        slow_s, captimes_s, patience_s, accuracy = _numbers(matrix)
        return cls(
            source=source,
            digest=_digest(matrix),
            rows=matrix.rows,
            stored=matrix.positions,
            cutoff_s=matrix.cutoff_s,
            k0_s=half_s,
            runtime_k0_s=slow_s,
            captimes_s=captimes_s,
            patience_s=patience_s,
            accuracy=accuracy,
            longest_s=max(matrix.positions, POSITIONS) * float(_capped_sample(matrix).mean()),
            has_features=matrix.features is not None,
        )


def _numbers(matrix: RuntimeMatrix) -> tuple[float, tuple[float, ...], float, float]:
    """Uniform k0, captimes, patience of SPC and ε of ICAR: the paper's for data like its own, else scaled."""
    if matrix.cutoff_s == 900.0:
        return 100.0, (1.0, 10.0, 100.0, 500.0), 100 * _DAY_S, 0.25
    if matrix.cutoff_s == 10_000.0:
        return 3000.0, (10.0, 100.0, 1000.0, 5000.0), 1000 * _DAY_S, 0.1
    slow_s = _own_quantile_s(matrix)
    captimes_s = tuple(min(slow_s * factor, matrix.cutoff_s) for factor in (0.1, 0.5, 1.0, 5.0))
    mean_s = float(_capped_sample(matrix).mean())
    return slow_s, tuple(sorted(set(captimes_s))), 500 * matrix.rows * mean_s, 0.25


def _own_quantile_s(matrix: RuntimeMatrix) -> float:
    """The time within which a configuration ends nine of ten runs, in the median over configurations."""
    step = max(1, matrix.runtimes_s.size // 4_000_000)
    capped = np.minimum(matrix.runtimes_s[:, ::step], matrix.cutoff_s)
    return _one_digit(float(np.median(np.quantile(capped, 0.9, axis=1))))


def _half_worth_s(matrix: RuntimeMatrix) -> float:
    """60 s where runs last minutes; where all are short, the upper quartile of the runtimes."""
    if matrix.cutoff_s >= _LEAST_CUTOFF_FOR_PAPER_K0_S:
        return _PAPER_K0_S
    return _one_digit(float(np.quantile(_capped_sample(matrix), 0.75)))


def _capped_sample(matrix: RuntimeMatrix) -> NDArray[np.float64]:
    """Capped runtimes of up to a million runs, evenly spread over the matrix."""
    flat = matrix.runtimes_s.reshape(-1)
    sample = flat[:: max(1, flat.size // 1_000_000)].astype(np.float64)
    return np.minimum(sample, matrix.cutoff_s)


def _one_digit(value: float) -> float:
    """Rounded to one significant digit."""
    return float(f"{value:.1g}")


def _digest(matrix: RuntimeMatrix) -> str:
    found = hashlib.sha256(np.ascontiguousarray(matrix.runtimes_s).tobytes())
    found.update(f"{matrix.shape} {matrix.cutoff_s} {matrix.feature_names}".encode())
    found.update(np.ascontiguousarray(matrix.columns).tobytes())
    if matrix.features is not None:
        found.update(np.ascontiguousarray(matrix.features).tobytes())
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Truth:
    """How good every configuration of a data set is.

    Attributes:
        utility: Mean utility of every row, by utility function.
        capped_runtime_s: Mean runtime capped at the row's own (1 − δ)-quantile, by δ.
    """

    utility: dict[str, NDArray[np.float64]]
    capped_runtime_s: dict[float, NDArray[np.float64]]

    @classmethod
    def of(cls, matrix: RuntimeMatrix, utilities: Iterable[str], quantiles: Iterable[float]) -> Truth:
        """Go through all runs once."""
        worths = {text: parse_utility(text) for text in utilities}
        utility = {text: np.empty(matrix.rows) for text in worths}
        capped = {delta: np.empty(matrix.rows) for delta in quantiles}
        for row in range(matrix.rows):
            runtimes_s = matrix.runtimes_s[row].astype(np.float64)
            for text, worth in worths.items():
                utility[text][row] = worth(runtimes_s).mean()
            known_s = np.minimum(runtimes_s, matrix.cutoff_s)
            for delta, means in capped.items():
                cap_s = np.quantile(known_s, 1 - delta, method="higher")
                means[row] = np.minimum(known_s, cap_s).mean()
        return cls(utility, capped)

    def utility_gap(self, utility: str, row: int) -> float:
        """1 − U / U_best."""
        means = self.utility[utility]
        return float(1 - means[row] / means.max())

    def runtime_gap(self, delta: float, row: int) -> float:
        """1 − R_best / R, with R the mean runtime capped at the row's own (1 − δ)-quantile."""
        means = self.capped_runtime_s[delta]
        return float(1 - means.min() / means[row])


def load(source: str, k0_s: float | None = None) -> tuple[RuntimeMatrix, Setting]:
    """Read a data set and work out the experiments on it."""
    matrix = read_matrix(source)
    return matrix, Setting.of(source, matrix, k0_s)

"""Bounds on expected utility that hold for every utility function at once.

The runs of one configuration on m positions of the instance order, each watched to its end or to some
moment c, confine the whole distribution function F of its runtimes to a band:

    (finished by t)/m − a(m)  ≤  F(t)  ≤  (finished by t, or given up by t)/m + a(m)      for all t,

    a(m) = sqrt(ln(2·(π²/6)·m²/δ) / (2m)).

The Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant ("The tight constant in the
Dvoretzky–Kiefer–Wolfowitz inequality", 1990) gives it for one m; the shares 6/(π²m²) of δ sum to 1, so it
holds for all m together. Giving up a run moves the two counts apart and nothing else, so the captimes may be
chosen from the data in any way. As a utility never rises, its mean is least under the slowest distribution
the band allows and largest under the quickest. Both are fixed before any utility is named: finitely many
*atoms*, moments with a weight under each of the two. A bound is then one weighted sum, and one event of
probability 1 − δ covers all utilities.

**A list of N instances, taken in random order.** Sampling without replacement is compared with sampling with
replacement (Hoeffding 1963, Theorem 4, for vectors), which costs the constant `LISTED_CONSTANT` in place of
2; past the middle of the list the instances that are *left* are the smaller sample, and

    a(m) = sqrt(ln(6.3·(π²/6)·m²/δ) / (2m)) · min(1, sqrt((N − m)/m)).

What was seen of the list is certain besides: N·F(t) is at least the number finished by t, and at most that
plus those given up by t plus those never begun. So the band is exact when everything has finished.

**Proposals.** A configuration that was chosen because of outcomes has its evidence begin at the first
position that nothing which shaped it has looked at. On a list, that is a random order of the instances left
at that moment, and anything is possible on the others.

All proofs are in docs/theory.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import require_probability
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

INDEPENDENT_CONSTANT = 2.0
"""C in P(sup |F̂ − F| ≥ a) ≤ C·exp(−2ma²) for independent draws (Massart 1990)."""

LISTED_CONSTANT = 6.3
"""The same for draws without replacement, where exp(−2ma²) ≤ 1/(6.3·π²/6); it exceeds 1.144·2e."""


@dataclass(frozen=True, slots=True, eq=False)
class CensoredRuns:
    """What is known of one configuration's runs, on positions without gaps from `first_position` on.

    Attributes:
        stop_s: How long each run was watched: its runtime if it finished; ∞ if it is sure never to finish.
        finished: Whether it finished then.
        first_position: The first position that counts as evidence; above 0 for a proposal.
    """

    stop_s: NDArray[np.float64]
    finished: NDArray[np.bool_]
    first_position: int = 0

    def __post_init__(self) -> None:
        stop_s = np.ascontiguousarray(self.stop_s, dtype=np.float64)
        finished = np.ascontiguousarray(self.finished, dtype=np.bool_)
        if stop_s.ndim != 1 or stop_s.shape != finished.shape:
            raise UsageError(
                f"a configuration needs one moment and one flag per run, but has {stop_s.size} moments and "
                f"{finished.size} flags"
            )
        if stop_s.size and not stop_s.min() >= 0:
            raise UsageError(
                "a run was watched for a negative time or for none at all (NaN); correct the data"
            )
        if np.isinf(stop_s[finished]).any():
            raise UsageError("a finished run has an infinite runtime; mark it as not finished")
        if self.first_position < 0:
            raise UsageError(f"positions are counted from 0, so there is no position {self.first_position}")
        object.__setattr__(self, "stop_s", stop_s)
        object.__setattr__(self, "finished", finished)

    @classmethod
    def capped(cls, runtimes_s: ArrayLike, captimes_s: ArrayLike, first_position: int = 0) -> CensoredRuns:
        """Runs of known length as they look under captimes: finished if strictly below, else given up."""
        runtimes, captimes = np.broadcast_arrays(
            np.asarray(runtimes_s, dtype=np.float64), np.asarray(captimes_s, dtype=np.float64)
        )
        return cls(np.minimum(runtimes, captimes), runtimes < captimes, first_position)


def band_width(runs: int, delta: float, population: int = 0) -> float:
    """a(m), the half-width of the band; 1, which says nothing, before the first run or without a share.

    Args:
        runs: Number m of runs.
        delta: Share of δ of this configuration; 0 where only what is certain may count.
        population: Number of instances drawn from without replacement; 0 for independent draws.
    """
    if runs == 0 or delta == 0:
        return 1.0
    constant = LISTED_CONSTANT if population else INDEPENDENT_CONSTANT
    width = math.sqrt(math.log(constant * math.pi**2 / 6.0 * runs**2 / delta) / (2.0 * runs))
    left = max(0.0, (population - runs) / runs) if population else 1.0
    return width * math.sqrt(min(1.0, left))


def equal_shares(delta: float, count: int) -> NDArray[np.float64]:
    """δ/n for each of a fixed set of n configurations."""
    return np.full(count, require_probability("delta", delta) / max(count, 1))


def set_shares(delta: float, size: int, proposed: Sequence[bool]) -> NDArray[np.float64]:
    """Shares of δ in a set whose size was fixed beforehand, in the order of arrival.

    The first n configurations that were given or drawn get δ/n each, for ever. Nothing is left for any other:
    shares that change once more configurations have come would have been chosen by the runs.

    Args:
        delta: What all of them together may spend.
        size: The size n that the settings name.
        proposed: Whether each was chosen because of outcomes, not given beforehand or drawn at random.
    """
    proposals = np.asarray(proposed, dtype=np.bool_)
    counted = ~proposals & (np.cumsum(~proposals) <= size)
    return np.where(counted, require_probability("delta", delta) / size, 0.0)


def draw_shares(delta: float, proposed: Sequence[bool], *, may_propose: bool) -> NDArray[np.float64]:
    """Shares of δ for configurations that arrive one by one, in the order of arrival.

    The k-th draw gets δ/(k(k+1)). Where a model may propose configurations, the k-th draw and the k-th
    proposal get half of that each: numbering them separately keeps the number of a draw independent of
    the runs, whenever and for whatever reason a proposal is made.

    Args:
        delta: What all of them together may spend.
        proposed: Whether each was chosen because of outcomes, not given beforehand or drawn at random.
        may_propose: Whether proposals were possible at all; a setting, never "none has come yet".
    """
    proposals = np.asarray(proposed, dtype=np.bool_)
    if proposals.any() and not may_propose:
        raise UsageError("there are proposals among the configurations, so may_propose must be true")
    number = np.where(proposals, np.cumsum(proposals), np.cumsum(~proposals)).astype(np.float64)
    whole = require_probability("delta", delta) * (0.5 if may_propose else 1.0)
    return whole / (number * (number + 1.0))


class UtilityBands:
    """Lower and upper bounds on the mean utility of each configuration, for every utility at once.

    With probability at least 1 − Σ shares, `bounds` is right for all configurations and *all*
    non-increasing utilities in [0, 1], also those chosen after looking at the runs.

    Args:
        runs: What is known of each configuration.
        shares: The share of δ of each.
        population: Number of instances, where the runs go through a list in random order and the mean over
            this list is bounded; 0 for independent draws and the expected utility.

    Example:
        >>> from utilitune.utility import parse_utility
        >>> runs = CensoredRuns.capped(np.arange(1.0, 201.0), captimes_s=100.0)
        >>> bands = UtilityBands([runs], equal_shares(0.05, 1))
        >>> lower, upper = bands.bounds(parse_utility("uniform(k0=100)"))
        >>> round(float(lower[0]), 3), round(float(upper[0]), 3)
        (0.093, 0.44)
    """

    def __init__(
        self, runs: Sequence[CensoredRuns], shares: NDArray[np.float64], population: int = 0
    ) -> None:
        if not len(runs) or len(runs) != len(shares):
            raise UsageError(f"there are {len(runs)} configurations but {len(shares)} shares of δ")
        atoms = [_atoms(each, float(share), population) for each, share in zip(runs, shares, strict=True)]
        sizes = [times.size for times, _, _ in atoms]
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._times_s = np.concatenate([times for times, _, _ in atoms])
        self._slowest = np.concatenate([slowest for _, slowest, _ in atoms])
        self._quickest = np.concatenate([quickest for _, _, quickest in atoms])

    def bounds(
        self, utility: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper bounds on mean utility, one entry per configuration."""
        worth = utility(self._times_s)
        lower = np.add.reduceat(self._slowest * worth, self._starts)
        upper = np.add.reduceat(self._quickest * worth, self._starts)
        return lower, np.maximum(lower, upper)  # rounding must not turn an exact value round


def _atoms(
    runs: CensoredRuns, delta: float, population: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Moments 0, …, ∞ with their weights under the slowest and the quickest distribution of the band."""
    count = runs.stop_s.size
    fresh = population - runs.first_position if population else 0
    if population and count > fresh:
        raise UsageError(
            f"there are {count} runs from position {runs.first_position} on, but only {population} instances"
        )
    certain = np.isfinite(runs.stop_s)
    order = np.argsort(runs.stop_s[certain], kind="stable")
    times_s = np.concatenate([[0.0], runs.stop_s[certain][order], [math.inf]])
    finished = np.concatenate([[0], np.cumsum(runs.finished[certain][order])])
    stopped = np.arange(finished.size)
    width = band_width(count, delta, fresh)
    least = np.maximum(finished / max(count, 1) - width, 0.0)
    most = np.minimum(stopped / max(count, 1) + width, 1.0)
    if population:
        least = np.maximum(least * fresh, finished) / population
        most = (np.minimum(most * fresh, stopped + (fresh - count)) + runs.first_position) / population
    return times_s, np.diff(least, prepend=0.0, append=1.0), np.diff(most, prepend=0.0, append=1.0)

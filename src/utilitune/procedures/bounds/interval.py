"""An interval for the mean of independent values that lie in a known range, proved by betting.

Values z in [a, b] become x = (z − a)/(b − a) in [0, 1], and `betting` bounds the mean of x from both sides,
with half of δ each. Whatever the distribution, the interval misses the mean with probability at most δ. It is
wider than an interval by resampling, and has to be: a sample without a single loss of size b − a does not
exclude that such losses happen in 3 of 100 cases, while resampling it never shows one.

Only the capital after the whole sample counts, which does not depend on the order of the values. So a sample
may be looked at, enlarged and looked at again as often as one likes: along the order in which values were
added, all these capitals belong to one martingale. (The largest capital over all prefixes would belong to
another one for every order, and enlarging a sample changes the order.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import require_probability
from utilitune.errors import UsageError
from utilitune.procedures.bounds.betting import FRACTIONS, WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_PRECISION = 1e-9
_ROUNDING = 1.0 + 1e-9  # what floating-point products may be off by, and more
_LARGEST_LOG = 600.0  # of a capital: more is never needed, and less does not overflow


def mean_interval(values: ArrayLike, least: float, most: float, delta: float) -> tuple[float, float]:
    """Where the mean of independent values lies, wrong with probability at most δ.

    Args:
        values: The sample; it may have been enlarged after looking at it.
        least: No value can be below this.
        most: No value can be above this.
        delta: Probability with which the interval may miss the mean.

    Example:
        >>> low, high = mean_interval([0.5] * 20, -1.0, 1.0, 0.05)
        >>> low < 0.5 < high
        True
    """
    sample = np.asarray(values, dtype=np.float64)
    share = require_probability("delta", delta) / 2
    if sample.size and not (least <= sample.min() and sample.max() <= most):
        raise UsageError(f"values must lie between {least:g} and {most:g}: give the range they can have")
    span = most - least
    if span == 0:
        return least, most
    scaled = np.clip((sample - least) / span, 0.0, 1.0)
    return least + span * _at_least(scaled, share), least + span * (1.0 - _at_least(1.0 - scaled, share))


def _at_least(sample: NDArray[np.float64], share: float) -> float:
    """The largest μ with Σ_c w_c ∏_j [(1 − c) + c·x_j/μ] ≥ 1/δ, to the safe side; 0 if there is none."""
    low, high = 0.0, float(sample.mean()) if sample.size else 0.0
    while high - low > _PRECISION:
        middle = (low + high) / 2
        if _capital(sample, middle) >= _ROUNDING / share:
            low = middle
        else:
            high = middle
    return low


def _capital(sample: NDArray[np.float64], mean: float) -> float:
    """What all bets on the whole sample come to, against a hypothesis about the mean."""
    gains = np.log1p(np.outer(FRACTIONS, sample / mean - 1.0)).sum(axis=1)
    return float(WEIGHTS @ np.exp(np.minimum(gains, _LARGEST_LOG)))

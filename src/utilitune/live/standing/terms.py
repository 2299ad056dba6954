"""ε in the user's own terms: what a difference of utility means at a run they know.

"0.05 of utility ≈ 3 s at a run of 10 s": an answer after 13 s is worth 0.05 less than one after 10 s. Where
the worth does not fall smoothly there (a deadline, say) or where quality is what counts, the difference is
put as a share of runs: so many in a hundred that are worth nothing instead of everything.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from utilitune.domain import rounded_up
from utilitune.utility import format_duration

if TYPE_CHECKING:
    from utilitune.utility import Utility

_SMALLEST_EPSILON = 1e-6
_JUMP = 0.5
"""A fall is no longer called smooth where more than this part of it happens in one moment."""


def epsilon_in_time(epsilon: float, utility: Utility, typical_s: float) -> str:
    """What ε means where only time counts.

    Args:
        epsilon: A difference of utility.
        utility: What an answer is worth after a time.
        typical_s: How long a run of the answer takes, say in the median.
    """
    if not _SMALLEST_EPSILON <= epsilon < 1 or not 0 < typical_s < math.inf:
        return ""
    typical_s = _rounded(typical_s)
    before = float(utility(typical_s))
    if before - utility.infimum < epsilon:
        return _as_share(epsilon)
    later_s = utility.time_to_fall_to(before - epsilon)
    if not math.isfinite(later_s) or later_s <= typical_s:
        return _as_share(epsilon)
    shortly_before = float(utility(math.nextafter(later_s, 0.0)))
    if shortly_before - float(utility(later_s)) > _JUMP * epsilon:
        return _as_share(epsilon)
    return (
        f"{rounded_up(epsilon)} of utility ≈ {format_duration(_rounded(later_s - typical_s))} at a run of "
        f"{format_duration(typical_s)}"
    )


def epsilon_in_quality(epsilon: float) -> str:
    """What ε means where the quality of solutions counts."""
    return _as_share(epsilon) if _SMALLEST_EPSILON <= epsilon < 1 else ""


def without_epsilon(text: str) -> str:
    """The translation alone, for a screen whose ε is a moment newer.

    >>> without_epsilon("0.05 of utility ≈ 3 s at a run of 10 s")
    '≈ 3 s at a run of 10 s'
    """
    _, sign, translation = text.partition("≈")
    return sign + translation


def _as_share(epsilon: float) -> str:
    count, whole = (100 * epsilon, 100) if epsilon >= 0.01 else (1000 * epsilon, 1000)
    runs = f"{float(f'{count:.2g}'):g} of {whole:,} runs worth nothing instead of everything"
    return f"{rounded_up(epsilon)} of utility ≈ {runs}"


def _rounded(seconds: float) -> float:
    """To two digits, which is all an approximate figure has."""
    return float(f"{seconds:.2g}")

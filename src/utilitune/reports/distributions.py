"""How long runs take: distribution functions of configurations, the utility curve above them, captimes.

A run that was stopped at c seconds says only that it takes longer. The distribution function is therefore the
Kaplan–Meier estimate, F(t) = 1 − ∏ (1 − d_j/n_j) over the moments t_j ≤ t at which d_j of the n_j runs still
watched have ended. Where the quality of solutions counts, it is the distribution of the runs' worth instead,
which is known whole.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.reports.digest import RunDigest
    from utilitune.utility import Utility

_MOST_STEPS = 400
_CURVE_POINTS = 160
_MOST_CAPTIMES = 12


def runtimes_of(evidence: LiveEvidence, number: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How long each known run of a configuration was watched, and whether it finished then.

    A run that failed never finishes: it was watched for ever.
    """
    arrays = evidence.arrays
    if number >= len(arrays.base):
        return np.zeros(0), np.zeros(0, dtype=np.bool_)
    start = int(arrays.base[number])
    cells = slice(start, start + int(arrays.room[number]))
    runtime_s, watched_s = arrays.runtime_s[cells], arrays.known_s[cells]
    finished = np.isfinite(runtime_s)
    known = finished | (watched_s > 0)
    return np.where(finished, runtime_s, watched_s)[known], finished[known]


def worths_of(evidence: LiveEvidence, number: int) -> NDArray[np.float64]:
    """The worth of each finished run of a configuration."""
    arrays = evidence.arrays
    if number >= len(arrays.base):
        return np.zeros(0)
    start = int(arrays.base[number])
    cells = slice(start, start + int(arrays.room[number]))
    worths: NDArray[np.float64] = arrays.utility[cells][np.isfinite(arrays.runtime_s[cells])]
    return worths


def distribution(watched_s: NDArray[np.float64], finished: NDArray[np.bool_]) -> dict[str, Any]:
    """The share of runs that have ended within a time, as steps.

    Returns:
        ``t`` and ``p``: from each time on, this share has ended; ``end``: until when something is known;
        ``runs`` and ``stopped``: how many runs, and how many of them did not finish.
    """
    order = np.lexsort((~finished, watched_s))
    times_s, ended = watched_s[order], finished[order]
    at_risk = times_s.size - np.arange(times_s.size)
    survival = np.cumprod(np.where(ended, 1.0 - 1.0 / np.maximum(at_risk, 1), 1.0))
    steps, shares = times_s[ended], 1.0 - survival[ended]
    if steps.size > _MOST_STEPS:
        kept = np.unique(np.linspace(0, steps.size - 1, _MOST_STEPS).astype(int))
        steps, shares = steps[kept], shares[kept]
    last_s = times_s[np.isfinite(times_s)]
    return {
        "t": _short(steps),
        "p": _short(shares),
        "end": float(last_s.max()) if last_s.size else 0.0,
        "runs": int(times_s.size),
        "stopped": int((~finished).sum()),
    }


def share_below(values: NDArray[np.float64]) -> dict[str, Any]:
    """The distribution of worths: the share of runs worth at most so much."""
    ordered = np.sort(values)
    shares = np.arange(1, ordered.size + 1) / max(1, ordered.size)
    kept = np.unique(np.linspace(0, max(0, ordered.size - 1), min(_MOST_STEPS, ordered.size)).astype(int))
    if not ordered.size:
        return {"t": [], "p": [], "end": 1.0, "runs": 0, "stopped": 0}
    return {
        "t": _short(ordered[kept]),
        "p": _short(shares[kept]),
        "end": 1.0,
        "runs": int(ordered.size),
        "stopped": 0,
    }


def utility_curve(utility: Utility, low_s: float, high_s: float) -> dict[str, list[float]]:
    """The worth of an answer at times between two, equally spaced in their logarithm."""
    if not 0 < low_s < high_s < math.inf:
        return {"t": [], "u": []}
    times_s = np.geomspace(low_s, high_s, _CURVE_POINTS)
    return {"t": _short(times_s), "u": _short(np.asarray(utility(times_s)))}


def configuration_distribution(digest: RunDigest, number: int, *, of_worth: bool) -> dict[str, Any]:
    """The distribution of one configuration: of its runtimes, or of what its runs are worth."""
    if of_worth:
        return share_below(worths_of(digest.evidence, number))
    return distribution(*runtimes_of(digest.evidence, number))


def captime_counts(digest: RunDigest) -> dict[str, Any]:
    """How runs ended, by captime, the smallest first; many captimes are put together, see "together"."""
    levels = sorted(digest.captimes)
    ends = captime_groups(levels)
    counts: dict[float, list[int]] = {end: [0, 0, 0] for end in ends}
    for level in levels:
        each, group = digest.captimes[level], counts[ends[bisect_left(ends, level)]]
        group[0] += each.finished
        group[1] += each.stopped
        group[2] += each.failed
    finished, stopped, failed = zip(*counts.values(), strict=True) if counts else ((), (), ())
    return {
        "captime_s": ends,
        "together": len(ends) < len(levels),
        "finished": list(finished),
        "stopped": list(stopped),
        "failed": list(failed),
    }


def captime_groups(levels: Sequence[float]) -> list[float]:
    """The largest captime of every group: each captime alone, or where there are many, even steps of factors.

    >>> captime_groups([1.0, 2.0, 4.0])
    [1.0, 2.0, 4.0]
    >>> len(captime_groups([1.01**number for number in range(1000)]))
    12
    """
    if len(levels) <= _MOST_CAPTIMES:
        return list(levels)
    ends = np.geomspace(levels[0], levels[-1], _MOST_CAPTIMES + 1)[1:]
    groups = np.searchsorted(ends[:-1], levels, side="left")  # of which the last takes all that is left
    return list(dict(zip(groups.tolist(), levels, strict=True)).values())  # of each group, the last one stays


def _short(values: NDArray[Any]) -> list[float]:
    """Numbers to five digits: they are only looked at."""
    return [float(f"{value:.5g}") for value in values.tolist()]

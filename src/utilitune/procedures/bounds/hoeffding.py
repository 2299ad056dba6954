"""The paper's confidence bounds (Graham & Leyton-Brown 2025, Algorithm 1 lines 17–18).

With m runs at captime level l (captime κ), F̂ the share of them that finished and Û their mean
capped utility::

    α(m, l) = sqrt(ln(s · m² · l²) / (2m))       s = 11 n/δ (UP, OUP) or 36 p² n_p/δ (COUP, phase p)
    UCB     = Û + (1 − u(κ)) · α
    LCB     = Û − α − u(κ) · (1 − F̂)

The level stands where the paper writes log κ + 1, so that the width does not depend on the first
captime or the unit of time. Widths are never clipped.
"""

from __future__ import annotations

import math

from utilitune.domain.compiled import inlined


def width_scale(configurations: int, delta: float) -> float:
    """The union factor of UP and OUP for n configurations: s = 11 n/δ."""
    return 11.0 * configurations / delta


def phase_width_scale(phase: int, configurations: int, delta: float) -> float:
    """The union factor of COUP in phase p with n_p configurations: s = 36 p² n_p/δ."""
    return 36.0 * phase**2 * configurations / delta


@inlined
def confidence_width(scale: float, runs: int, level: int) -> float:
    """α(m, l) = sqrt(ln(s · m² · l²) / (2m))."""
    factor = float(runs) * level
    return math.sqrt(math.log(scale * factor * factor) / (2.0 * runs))


@inlined
def upper_bound(mean_utility: float, captime_utility: float, width: float) -> float:
    """UCB = Û + (1 − u(κ)) · α."""
    return mean_utility + (1.0 - captime_utility) * width


@inlined
def lower_bound(mean_utility: float, captime_utility: float, width: float, finished_share: float) -> float:
    """LCB = Û − α − u(κ) · (1 − F̂)."""
    return mean_utility - width - captime_utility * (1.0 - finished_share)

"""Time that has passed, as people say it: ``47 s``, ``2 min 20 s``, ``1 h 5 min``.

Where a time is a figure to compare, such as a runtime or a captime, `durations.format_duration` keeps more
digits.
"""

from __future__ import annotations

import math

from utilitune.utility.durations import format_duration

_TWO_MINUTES_S = 120
_UNITS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))


def time_passed(seconds: float) -> str:
    """Seconds in the two units that read best, or to three digits where they are few.

    >>> time_passed(3.14159), time_passed(140.3), time_passed(3_600.0), time_passed(100_000.0)
    ('3.14 s', '2 min 20 s', '1 h', '1 d 4 h')
    """
    if not math.isfinite(seconds) or round(seconds) < _TWO_MINUTES_S:
        return format_duration(float(f"{seconds:.3g}"))
    size_s, unit, small_s, small = next(each for each in _UNITS if each[0] <= round(seconds))
    whole, rest = divmod(round(seconds / small_s), size_s // small_s)
    return f"{whole:,} {unit} {rest} {small}" if rest else f"{whole:,} {unit}"

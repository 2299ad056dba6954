"""Durations as people write them: ``500ms``, ``90``, ``1.5 min``, ``1h30m``.

`parse_duration` is the only place where a text becomes seconds, for utility functions and for
every command-line option that takes a time; `format_duration` is its counterpart for messages.
"""

from __future__ import annotations

import math
import re

from utilitune.errors import UsageError
from utilitune.errors.outside import number_in

_MILLISECONDS_PER_SECOND = 1000
_SECONDS_PER_UNIT = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
_LONGEST = 100
_UNITS = sorted((*_SECONDS_PER_UNIT, "ms"), key=len, reverse=True)
_NUMBER = r"(?>\d+\.?\d*|\.\d+)(?>e[+-]?\d+)?"  # atomic: what does not fit is not tried again in pieces
_PART = re.compile(rf"({_NUMBER})\s*({'|'.join(_UNITS)})\s*", re.ASCII)
_PLAIN = re.compile(_NUMBER, re.ASCII)
_PARTS = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)


def parse_duration(text: str) -> float:
    """Turn a duration into seconds.

    A plain number means seconds; units are ms, s, m (or min), h and d, also spelled out, in either
    case, and several may follow each other.

    >>> parse_duration("500ms"), parse_duration("1h30m"), parse_duration("90")
    (0.5, 5400.0, 90.0)

    Raises:
        UsageError: The text is not a duration, or too long to be a number of seconds.
    """
    compact = text.strip().lower()
    is_short = len(compact) <= _LONGEST
    if is_short and _PLAIN.fullmatch(compact):
        seconds = number_in(compact)
    elif is_short and _PARTS.fullmatch(compact):
        seconds = math.fsum(_seconds(float(number), unit) for number, unit in _PART.findall(compact))
    else:
        raise UsageError(
            f"{text!r} is not a duration: write a number of seconds, or a number with ms, s, m, h or d,"
            " such as 500ms or 1h30m"
        )
    if not math.isfinite(seconds):
        raise UsageError(f"the duration {text!r} is too long: write a smaller one")
    return seconds


def _seconds(number: float, unit: str) -> float:
    # Dividing keeps 500ms at exactly 0.5, where multiplying by 0.001 would round twice.
    return number / _MILLISECONDS_PER_SECOND if unit == "ms" else number * _SECONDS_PER_UNIT[unit]


def format_duration(seconds: float) -> str:
    """Show seconds to people, in the unit that reads best and to four digits.

    >>> format_duration(60.0), format_duration(0.25), format_duration(5400.0)
    ('60 s', '250 ms', '1.5 h')
    """
    if math.isinf(seconds):
        return "∞"
    seconds = float(f"{seconds:.4g}")  # 999.99 ms are 1 s
    for least_s, size_s, unit in ((172800, 86400, "d"), (3600, 3600, "h"), (120, 60, "min"), (1, 1, "s")):
        if seconds >= least_s:
            return f"{seconds / size_s:.4g} {unit}"
    return f"{seconds * _MILLISECONDS_PER_SECOND:.4g} ms" if seconds else "0 s"

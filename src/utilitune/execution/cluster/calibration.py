"""How fast a worker is: the CPU time of a short, fixed loop, measured when it joins.

A promise takes the runtime of a configuration on an instance as one number (assumption A1). Workers of
different speed break that: the number then depends on who makes the run. So every worker is measured, the
figures are kept with the run, and a spread that matters is said. The loop is plain Python, the same on all
workers because they have the same version of Python; the smallest of several rounds is what the machine can
do undisturbed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.execution.wire import Message
    from utilitune.targets.base import RawResult

UNLIKE = 1.2
"""From this ratio of the slowest to the fastest worker on, users are warned."""

_ROUNDS = 7
_STEPS = 100_000


def loop_s() -> float:
    """CPU seconds that the loop takes here."""
    return min(_round_s() for _ in range(_ROUNDS))


def _round_s() -> float:
    began_s = time.thread_time()
    value = 1
    for step in range(_STEPS):
        value = (value * 1_103_515_245 + step) & 0x7FFF_FFFF
    return time.thread_time() - began_s


def spread_warning(loops_s: Mapping[str, float]) -> str:
    """A sentence where workers, by name, differ in speed so that it matters; else nothing."""
    if len(loops_s) < 2:
        return ""
    slowest, fastest = max(loops_s, key=lambda name: loops_s[name]), min(loops_s, key=lambda n: loops_s[n])
    ratio = loops_s[slowest] / loops_s[fastest]
    if ratio < UNLIKE:
        return ""
    return (
        f"Workers differ in speed: {slowest} takes {ratio:.2g} times as long as {fastest} for the same work. "
        "So a runtime depends on who measured it, while the promise takes it as one number (assumption A1); "
        'use workers of one kind, or clock = "scaled" in the cluster file.'
    )


def slower_limits(message: Message, factor: float) -> Message:
    """A job for a worker on which everything takes `factor` times as long as on the reference."""
    captime_s = message["captime_s"]
    return {**message, "captime_s": None if captime_s is None else captime_s * factor}


def reference_times(raw: RawResult, measure: Measure, factor: float) -> RawResult:
    """A result of such a worker in seconds of the reference."""
    trace = tuple((seen[0] / factor, *seen[1:]) for seen in raw.trace)
    wall_s = raw.wall_s / factor if measure is Measure.WALL else raw.wall_s
    return replace(raw, cpu_s=raw.cpu_s / factor, wall_s=wall_s, trace=trace)

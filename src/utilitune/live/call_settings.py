"""Settings of a run that stand in a Python call, and what each of them may be.

A scenario file is checked line by line when it is read. A call is checked here, so that a wrong value is
named where it was written, and not by whichever part of a run comes upon it first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from utilitune.errors import UsageError, did_you_mean
from utilitune.scenario.source import amount_of_memory
from utilitune.utility import parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.live.events import Event, View

Duration = str | float
"""A time as people write it, such as "90s" or "1h30m", or a number of seconds."""

LARGEST_WHOLE = 2**63 - 1
"""Whole numbers may be as large as in a scenario file."""


class StopSettings(TypedDict, total=False):
    """When a run ends and how much it may use; these may be given with a scenario, too.

    Attributes:
        epsilon: Stop once the answer is proved within this of the best.
        gamma: ... and the promise covers all but this fraction of the space.
        max_time: Stop after this much time in runs of the target.
        max_wall_time: Stop after this much time on the clock.
        max_runs: Stop after this many runs.
        workers: Runs at the same time; the cores if left out.
        cluster: Where runs are made: "local:8", "tcp://host:8786" or a file; on this machine if left out.
        guesses: Which runs are made before they are needed: "useful" ones, as far as can be told, or "all",
            which gives every free worker one.
    """

    epsilon: float
    gamma: float
    max_time: Duration
    max_wall_time: Duration
    max_runs: int
    workers: int
    cluster: str
    guesses: str


class Settings(StopSettings, total=False):
    """What else there is to say of a run from objects; everything has a usual value, also instead of None.

    Attributes:
        name: What to call it.
        test_instances: Instances to evaluate the answer on.
        seeds_per_instance: How many seeds every instance is run with, each a run of its own; an instance that
            is listed several times has as many times the seeds.
        population: "finite" (the instances are all there is) or "infinite" (they are a sample).
        measure: "cpu" or "wall" seconds.
        smallest_captime: The first captime.
        largest_captime: The largest captime.
        memory_bytes: Memory limit of one run, in bytes or as a text such as "2 GiB".
        delta: The probability with which the promise may fail.
        seed: What every random choice follows from.
        procedure: Name of the procedure.
        options: Its options.
        reports_runtime: Whether the function returns its own runtime in seconds.
        initial: Configurations to try right after the default one, each with all its active parameters.
    """

    name: str
    test_instances: Sequence[str]
    seeds_per_instance: int
    population: str
    measure: str
    smallest_captime: Duration
    largest_captime: Duration
    memory_bytes: int | str
    delta: float
    seed: int
    procedure: str
    options: Mapping[str, Any]
    reports_runtime: bool
    initial: Sequence[Mapping[str, Any]]


class CallSettings(Settings, total=False):
    """The same, and who hears how far a run is.

    Attributes:
        progress: Whether to show on the standard error stream how far it is, in one line.
        on_update: Called a few times a second with what there is to show.
        on_event: Called with everything that happens, see `utilitune.live.events`.
    """

    progress: bool
    on_update: Callable[[View], None] | None
    on_event: Callable[[Event], None] | None


def checked(settings: Mapping[str, Any], known: frozenset[str], whose: str = "configure") -> dict[str, Any]:
    """The settings as plain values; one that is None counts as left out.

    Args:
        settings: Settings by name.
        known: The names there may be.
        whose: What was called with them.
    """
    for name in settings:
        if name not in known:
            raise UsageError(f"{whose} has no setting {name!r}; {did_you_mean(name, known)}")
    given = {name: value for name, value in settings.items() if value is not None}
    return {name: _CHECKS[name](name, value) if name in _CHECKS else value for name, value in given.items()}


def texts(name: str, value: object) -> tuple[str, ...]:
    """A list of texts."""
    found = _list(name, 'a list of texts, such as ["a.cnf", "b.cnf"]', value)
    for text in found:
        if not isinstance(text, str):
            raise UsageError(f"{name} must be a list of texts: turn {text!r} into a text")
    return found


def _wrong(name: str, expected: str, value: object) -> UsageError:
    return UsageError(f"{name} must be {expected}, not {value!r}")


def _list(name: str, expected: str, value: object) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _wrong(name, expected, value)
    return tuple(value)


def _whole(least: int) -> Callable[[str, object], int]:
    def check(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise _wrong(name, "a whole number", value)
        if not least <= int(value) <= LARGEST_WHOLE:
            raise _wrong(name, f"a whole number of at least {least}", value)
        return int(value)

    return check


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        raise _wrong(name, "a number of usual size", value) from None


def _seconds(name: str, value: object) -> float:
    seconds = parse_duration(value) if isinstance(value, str) else _number(name, value)
    if not 0 < seconds < math.inf:
        raise _wrong(name, 'a positive number of seconds, or a text such as "90s"', value)
    return seconds


def _memory(name: str, value: object) -> int:
    known = isinstance(value, str | Integral) and not isinstance(value, bool)
    amount = amount_of_memory(str(value)) if known else None
    if amount is None:
        raise _wrong(name, 'a number of bytes, or a text such as "2 GiB"', value)
    return amount


def _text(name: str, value: object) -> str:
    if not isinstance(value, str | Path):
        raise _wrong(name, "a text", value)
    return str(value)


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _wrong(name, "True or False", value)
    return bool(value)


def _table(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(name, 'a dictionary, such as {"name": value}', value)
    return dict(value)


def _tables(name: str, value: object) -> tuple[dict[str, Any], ...]:
    found = _list(name, 'a list of configurations, such as [{"level": 3}]', value)
    return tuple(_table(f"each of {name}", inner) for inner in found)


_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "epsilon": _number,
    "gamma": _number,
    "max_time": _seconds,
    "max_wall_time": _seconds,
    "max_runs": _whole(1),
    "workers": _whole(1),
    "cluster": _text,
    "guesses": _text,
    "name": _text,
    "test_instances": texts,
    "seeds_per_instance": _whole(1),
    "smallest_captime": _seconds,
    "largest_captime": _seconds,
    "memory_bytes": _memory,
    "delta": _number,
    "seed": _whole(0),
    "procedure": _text,
    "options": _table,
    "reports_runtime": _truth,
    "initial": _tables,
}

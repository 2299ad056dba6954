"""Failed runs and what they have in common: a parameter's value, a range, an instance.

A cause is named only where it fits: *every* failed configuration has it, and few of those that never failed
do. It is an observation about the runs made, nothing more; it tells where to look first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from utilitune.domain import RunStatus
from utilitune.errors.outside import clipped
from utilitune.live.failures import last_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, FailedRun

_NAMES = {
    RunStatus.CRASHED: ("crash", "crashes"),
    RunStatus.MEMOUT: ("run out of memory", "runs out of memory"),
    RunStatus.WRONG_ANSWER: ("wrong answer", "wrong answers"),
}
_WORKED = tuple(status for status in RunStatus if not status.failed)
_FEWEST_CONFIGURATIONS = 2
_LARGEST_INNOCENT_SHARE = 0.5
"""A cause that more of the blameless configurations have than this explains nothing."""
_MORE_TRIED = 0.1
"""A cause is looked for again once the number of configurations that were tried has grown by this share."""
_MORE_FAILED = 0.25
"""Instances on which nothing works are looked for again once the failed runs have grown by this share."""
_MOST_INSTANCES = 50
"""Where runs fail on more instances than this, it is no matter of a few bad ones."""
_NAMED = 2
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Failures:
    """Runs that failed in the same way.

    Attributes:
        status: How they ended.
        count: How many there are.
        configurations: How many configurations they are of.
        cause: What they have in common, such as "all with heuristicsOnOff = on"; empty if nothing fits.
        detail: The most frequent sentence on why they failed.
        example: Sequence number of one of them.
        example_configuration: The number of its configuration.
    """

    status: RunStatus
    count: int
    configurations: int
    cause: str
    detail: str
    example: int
    example_configuration: int

    def sentence(self) -> str:
        """The failures in words, such as "39 crashes, all with heuristicsOnOff = on"."""
        name = _NAMES[self.status][self.count != 1]
        cause = f", {self.cause}" if self.cause else ""
        return f"{self.count:,} {name}{cause}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "status": self.status.value,
            "count": self.count,
            "configurations": self.configurations,
            "cause": self.cause,
            "detail": self.detail,
            "example_run": self.example,
            "example_configuration": self.example_configuration,
            "sentence": self.sentence(),
        }


def failures_of(
    store: StoreReader,
    records: Sequence[ConfigurationRecord],
    instance_name: Callable[[int], str] = str,
) -> tuple[Failures, ...]:
    """All failed runs of a run, by how they ended, the most frequent first.

    A store that is asked again and again is read only from where it was read to, and a cause is looked for
    again only where something has changed that it may rest on.

    Args:
        store: The run.
        records: Its configurations.
        instance_name: The name of the instance at a position.
    """
    known = _known_of(store)
    for run in store.failed_runs(since=known.next_sequence):
        known.kinds[run.status].take(run)
        known.next_sequence = run.sequence + 1
    if not known.kinds:
        return ()
    tried = store.runs_each()
    for kind in known.kinds.values():
        if kind.needs_a_cause(len(tried)):
            assignments = {record.index: record.assignment for record in records if record.index in tried}
            kind.cause = common_cause(kind.configurations, assignments)
        kind.look_at_instances(store)
    found = [kind.described(status, instance_name) for status, kind in known.kinds.items()]
    return tuple(sorted(found, key=lambda each: -each.count))


@dataclass(slots=True)
class _Kind:
    """Failed runs of one kind, added up."""

    count: int = 0
    example: int = 0
    example_configuration: int = 0
    cause: str = ""
    configurations: set[int] = field(default_factory=set)
    positions: dict[int, set[int]] = field(default_factory=dict)
    details: Counter[str] = field(default_factory=Counter)
    nothing_works: bool = False
    _looked_for: tuple[int, int] = (0, 0)
    _looked_after: int = 0

    def take(self, run: FailedRun) -> None:
        self.count += 1
        self.example, self.example_configuration = run.sequence, run.configuration
        self.configurations.add(run.configuration)
        self.details[run.detail] += 1
        if len(self.positions) <= _MOST_INSTANCES:
            self.positions.setdefault(run.position, set()).add(run.configuration)

    def needs_a_cause(self, tried: int) -> bool:
        """Whether other configurations have failed since, or clearly more were tried."""
        failed, of = self._looked_for
        if len(self.configurations) == failed and tried <= of + _MORE_TRIED * of:
            return False
        self._looked_for = (len(self.configurations), tried)
        return True

    def look_at_instances(self, store: StoreReader) -> None:
        """Whether all failed on a few instances where no run has worked, of whatever configuration."""
        if self.count < self._looked_after * (1.0 + _MORE_FAILED):
            return
        self._looked_after = self.count
        tried_again = sum(len(each) >= _FEWEST_CONFIGURATIONS for each in self.positions.values())
        self.nothing_works = 2 * tried_again >= len(self.positions) <= _MOST_INSTANCES and not any(
            True
            for position in self.positions
            for status in _WORKED
            for _ in store.runs(position=position, status=status)
        )

    def _place(self, instance_name: Callable[[int], str]) -> str:
        """The instances that are to blame, in words; empty if there are none."""
        if len(self.configurations) < _FEWEST_CONFIGURATIONS or not self.nothing_works:
            return ""
        names = [_short(instance_name(position)) for position in sorted(self.positions)]
        if len(names) == 1:
            return f"all on {names[0]}"
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"all on {len(names)} instances where nothing works ({', '.join(names[:_NAMED])}{more})"

    def described(self, status: RunStatus, instance_name: Callable[[int], str]) -> Failures:
        return Failures(
            status=status,
            count=self.count,
            configurations=len(self.configurations),
            cause=self._place(instance_name) or self.cause,
            detail=" ".join(last_line(self.details.most_common(1)[0][0]).split()),
            example=self.example,
            example_configuration=self.example_configuration,
        )


@dataclass(slots=True)
class _Known:
    """The failed runs of a store up to a sequence number."""

    next_sequence: int = 0
    kinds: defaultdict[RunStatus, _Kind] = field(default_factory=lambda: defaultdict(_Kind))


_KNOWN: WeakKeyDictionary[StoreReader, _Known] = WeakKeyDictionary()


def _known_of(store: StoreReader) -> _Known:
    """What is known of a store already; of one that cannot be remembered, nothing."""
    try:
        return _KNOWN.setdefault(store, _Known())
    except TypeError:
        return _Known()


def common_cause(failed: Any, assignments: Mapping[int, Mapping[str, Any]]) -> str:  # noqa: ANN401 - numbers
    """What all failed configurations have and few others do, in words; empty if nothing fits.

    Args:
        failed: Numbers of the configurations that failed.
        assignments: Parameter values of all that were run, by number.
    """
    bad = [assignments[index] for index in failed if index in assignments]
    good = [values for index, values in assignments.items() if index not in failed]
    if len(bad) < _FEWEST_CONFIGURATIONS or not good:
        return ""
    candidates = sorted(_candidates(bad, good), key=lambda each: each[0])
    return f"all with {candidates[0][1]}" if candidates else ""


def _candidates(
    bad: Sequence[Mapping[str, Any]], good: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[float, str]]:
    """The share of blameless configurations with it, and a condition that all failed ones fulfil."""
    for name in sorted({name for values in bad for name in values}):
        if not all(name in values for values in bad):
            continue
        values = {values[name] for values in bad}
        others = [each[name] for each in good if name in each]
        for text, fits in _conditions(name, values):
            share = fits(others) / len(good)
            if share <= _LARGEST_INNOCENT_SHARE:
                yield share, text


def _conditions(name: str, values: set[Any]) -> Iterator[tuple[str, Callable[[Sequence[Any]], int]]]:
    """Conditions that all of these values fulfil, and how many of others do."""
    if len(values) == 1:
        (only,) = values
        yield (
            f"{_short(name)} = {_short(_written(only))}",
            lambda others: sum(bool(each == only) for each in others),
        )
    elif all(map(_is_number, values)):
        low, high = min(values), max(values)
        yield f"{_short(name)} ≥ {low:.4g}", lambda others: sum(each >= low for each in _numbers(others))
        yield f"{_short(name)} ≤ {high:.4g}", lambda others: sum(each <= high for each in _numbers(others))


def _numbers(values: Sequence[Any]) -> list[Any]:
    kinds = set(map(type, values))
    return list(values) if kinds <= {int, float} else [value for value in values if _is_number(value)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return clipped(text, _LONGEST)

"""Failed runs and what they have in common: a parameter's value, a range, an instance.

A cause is named only where it fits: *every* failed configuration has it, and few of those that never failed
do. It is an observation about the runs made, nothing more; it tells where to look first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, FailedRun

_NAMES = {
    RunStatus.CRASHED: ("crash", "crashes"),
    RunStatus.MEMOUT: ("run out of memory", "runs out of memory"),
    RunStatus.WRONG_ANSWER: ("wrong answer", "wrong answers"),
}
_FEWEST_CONFIGURATIONS = 2
_LARGEST_INNOCENT_SHARE = 0.5
"""A cause that more of the blameless configurations have than this explains nothing."""
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
    """

    status: RunStatus
    count: int
    configurations: int
    cause: str
    detail: str
    example: int

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
            "sentence": self.sentence(),
        }


def failures_of(
    store: StoreReader,
    records: Sequence[ConfigurationRecord],
    instance_name: Callable[[int], str] = str,
) -> tuple[Failures, ...]:
    """All failed runs of a run, by how they ended, the most frequent first.

    Args:
        store: The run.
        records: Its configurations.
        instance_name: The name of the instance at a position.
    """
    kinds: dict[RunStatus, list[FailedRun]] = defaultdict(list)
    for run in store.failed_runs():
        kinds[run.status].append(run)
    if not kinds:
        return ()
    tried = store.runs_each()
    assignments = {record.index: record.assignment for record in records if record.index in tried}
    found = [_described(status, runs, assignments, instance_name) for status, runs in kinds.items()]
    return tuple(sorted(found, key=lambda each: -each.count))


def _described(
    status: RunStatus,
    runs: Sequence[FailedRun],
    assignments: Mapping[int, Mapping[str, Any]],
    instance_name: Callable[[int], str],
) -> Failures:
    of = Counter(run.configuration for run in runs)
    detail = Counter(run.detail for run in runs).most_common(1)[0][0]
    return Failures(
        status=status,
        count=len(runs),
        configurations=len(of),
        cause=common_cause(of.keys(), assignments) or _common_instance(runs, instance_name),
        detail=" ".join(detail.split()),
        example=runs[-1].sequence,
    )


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
            share = sum(map(fits, others)) / len(good)
            if share <= _LARGEST_INNOCENT_SHARE:
                yield share, text


def _conditions(name: str, values: set[Any]) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    if len(values) == 1:
        (only,) = values
        yield f"{_short(name)} = {_short(_written(only))}", lambda value: bool(value == only)
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        low, high = min(values), max(values)
        yield f"{_short(name)} ≥ {low:.4g}", lambda value: _is_number(value) and value >= low
        yield f"{_short(name)} ≤ {high:.4g}", lambda value: _is_number(value) and value <= high


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _common_instance(runs: Sequence[FailedRun], instance_name: Callable[[int], str]) -> str:
    """The one instance that all of several failures are on."""
    of: dict[int, set[int]] = defaultdict(set)
    for run in runs:
        of[run.position].add(run.configuration)
    if len(of) != 1:
        return ""
    [(position, configurations)] = of.items()
    if len(configurations) < _FEWEST_CONFIGURATIONS:
        return ""
    return f"all on {_short(instance_name(position))}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

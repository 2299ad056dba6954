"""The stored runs as far as the procedure has looked at them: one row for each pair, in a fixed order.

Where a pair was run several times, its runtime is one number by the rule of
`utilitune.procedures.pair_runtime`. Where qualities count it is the first run that is over; where they count
while a run goes on, every look that differs from what the last one shows.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from utilitune.domain import Objective, RunStatus
from utilitune.live.asker import pair_of
from utilitune.procedures.judged_evidence import DEFAULT, is_over
from utilitune.procedures.pair_runtime import NOTHING_SEEN, PairRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from utilitune.domain import RunOutcome, TracePoint
    from utilitune.live.asker import Pair
    from utilitune.live.task import Task
    from utilitune.store.base import StoreReader
    from utilitune.store.records import RunRecord


class Row(NamedTuple):
    """One run as a certificate has it."""

    configuration: int
    position: int
    captime_s: float
    status: str
    runtime_s: float
    quality: float | None = None
    bound: float | None = None
    trace: tuple[TracePoint, ...] = ()


def selected(task: Task, store: StoreReader, looked_at: Mapping[Pair, float]) -> list[Row]:
    """What the procedure has looked at, by configuration and position."""
    objective = task.scenario.objective
    judge = None if objective is Objective.RUNTIME else task.judge()
    wanted = dict(looked_at)
    if judge is not None and judge.compares_with_default:
        for _, position in looked_at:
            wanted[DEFAULT, position] = judge.limit_s
    stored: defaultdict[Pair, list[RunRecord]] = defaultdict(list)
    for run in store.runs():
        if pair_of(run.request) in wanted:
            stored[pair_of(run.request)].append(run)
    limit_s = 0.0 if judge is None else judge.limit_s
    rule: Callable[[Sequence[RunRecord], float, float], Iterator[Row]] = {
        Objective.RUNTIME: _by_time,
        Objective.QUALITY: _by_quality,
        Objective.ANYTIME: _by_moments,
    }[objective]
    return [row for pair in sorted(stored) for row in rule(stored[pair], wanted[pair], limit_s)]


def _by_time(runs: Sequence[RunRecord], captime_s: float, limit_s: float) -> Iterator[Row]:
    """The runtime as far as it shows up to the captime."""
    del limit_s
    known, failure = NOTHING_SEEN, RunStatus.CRASHED
    for run in runs:
        if run.outcome.failed and known.failed_s > run.outcome.runtime_s:
            failure = run.outcome.status
        known = known.then(PairRuntime.of(run.request, run.outcome))
    pair = pair_of(runs[0].request)
    if known.runtime_s < captime_s:
        yield Row(*pair, captime_s, RunStatus.FINISHED.value, known.runtime_s)
    elif known.failed_s < captime_s:
        yield Row(*pair, captime_s, failure.value, known.failed_s)
    else:
        yield Row(*pair, captime_s, RunStatus.TIMEOUT.value, captime_s)


def _by_quality(runs: Sequence[RunRecord], captime_s: float, limit_s: float) -> Iterator[Row]:
    """The first run that is over."""
    del captime_s
    over = (run for run in runs if is_over(run.request, run.outcome, limit_s))
    for run in list(over)[:1]:
        yield _row(run.request.captime_s, run, run.outcome)


def _by_moments(runs: Sequence[RunRecord], captime_s: float, limit_s: float) -> Iterator[Row]:
    """What every look has shown, up to the captime; a look that the last one repeats is left out."""
    rows: list[Row] = []
    for run in runs:
        looked_s = min(captime_s, run.request.captime_s)
        ended = run.outcome.status is not RunStatus.TIMEOUT and run.outcome.runtime_s < captime_s
        row = _row(captime_s if ended else looked_s, run, run.outcome)
        if not ended:
            row = row._replace(
                status=RunStatus.TIMEOUT.value,
                runtime_s=looked_s,
                trace=tuple(point for point in row.trace if point.time_s <= looked_s),
            )
        rows.append(row)
        if ended or looked_s >= limit_s:
            break
    for row in rows[:-1]:
        again = tuple(point for point in rows[-1].trace if point.time_s <= row.captime_s)
        if row.trace != again or row.captime_s > rows[-1].captime_s:
            yield row
    yield from rows[-1:]


def _row(captime_s: float, run: RunRecord, outcome: RunOutcome) -> Row:
    return Row(
        *pair_of(run.request),
        captime_s,
        outcome.status.value,
        outcome.runtime_s,
        outcome.quality,
        outcome.bound,
        outcome.trace,
    )

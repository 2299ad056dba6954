"""Rows of a run folder's tables as records, and back.

A file may be damaged, or changed by somebody. SQLite holds any value in any column. So every value is turned
into what it must be, and whoever reads takes `NOT_OURS` for a sign that we have not written it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from utilitune.domain import (
    PhaseRecord,
    Progress,
    RunOutcome,
    RunRequest,
    RunStatus,
    StopReason,
    TracePoint,
)
from utilitune.store.records import (
    ConfigurationRecord,
    EventRecord,
    ProgressRecord,
    RunRecord,
    SessionRecord,
    Snapshot,
    StoredOrigin,
)

NOT_OURS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What is raised for values that we would never have written."""

_LARGEST_COUNT = 2**63


def run_row(record: RunRecord, outcome: RunOutcome, sequence: int) -> tuple[Any, ...]:
    """A run as the values of its row."""
    request = record.request
    return (
        sequence,
        request.configuration,
        request.position,
        request.captime_s,
        record.seed,
        outcome.status.value,
        outcome.runtime_s,
        outcome.cpu_s,
        outcome.wall_s,
        outcome.peak_memory_bytes,
        outcome.exit_code,
        outcome.overshoot_s,
        outcome.detail,
        record.started_at,
        record.ended_at,
        record.speculative,
    )


def run_record(row: tuple[Any, ...]) -> RunRecord:
    """A run from its row."""
    sequence, configuration, position, captime_s, seed, status, *measured = row
    runtime_s, cpu_s, wall_s, memory, exit_code, overshoot_s, *texts = measured
    detail, started, ended, speculative, tail, quality, bound, points, continued_s = texts
    outcome = RunOutcome(
        RunStatus(status),
        float(runtime_s),
        float(cpu_s),
        float(wall_s),
        int(memory),
        _whole_or_none(exit_code),
        float(overshoot_s),
        str(tail),
        str(detail),
        _number_or_none(quality),
        _number_or_none(bound),
        () if points is None else tuple(map(_trace_point, json.loads(points))),
        float(continued_s or 0.0),
    )
    request = RunRequest(_count(configuration), _count(position), float(captime_s))
    times = float(started), float(ended)
    return RunRecord(request, outcome, int(seed), *times, bool(speculative), _count(sequence))


def _trace_point(values: Any) -> TracePoint:  # noqa: ANN401 - whatever the file holds
    time_s, quality, bound = values
    return TracePoint(float(time_s), _number_or_none(quality), _number_or_none(bound))


def progress_record(row: tuple[Any, ...]) -> ProgressRecord:
    """A point of the trajectory from its row."""
    best_index, epsilon, gamma, delta, total_time_s, *counts, gain, at, sequence = row
    figures = float(epsilon), _number_or_none(gamma), float(delta), float(total_time_s)
    progress = Progress(_count(best_index), *figures, *map(_count, counts))
    progress = replace(progress, gain=_number_or_none(gain))
    return ProgressRecord(progress, float(at), int(sequence))


def phase_record(row: tuple[Any, ...]) -> PhaseRecord:
    """A phase from its row."""
    phase, configurations, best_index, epsilon, gamma, total_time_s, runs = row
    counts = _count(phase), _count(configurations), _count(best_index)
    return PhaseRecord(*counts, float(epsilon), _number_or_none(gamma), float(total_time_s), _count(runs))


def configuration_record(row: tuple[Any, ...]) -> ConfigurationRecord:
    """A configuration from its row."""
    index, assignment, origin, first_position, drawn_at = row
    return ConfigurationRecord(
        int(index), _mapping(assignment), StoredOrigin(origin), _count(first_position), float(drawn_at)
    )


def session_record(row: tuple[Any, ...]) -> SessionRecord:
    """A start of the run from its row."""
    _, started_at, settings, ended_at, code, advice, versions, machine, elapsed_s = row
    return SessionRecord(
        started_at=float(started_at),
        settings=_mapping(settings),
        ended_at=_number_or_none(ended_at),
        stop=None if code is None else StopReason(str(code), str(advice)),
        versions=_mapping(versions),
        machine=_mapping(machine),
        elapsed_s=_number_or_none(elapsed_s),
    )


def event_record(row: tuple[Any, ...]) -> EventRecord:
    """An event from its row."""
    kind, text, at = row
    return EventRecord(str(kind), str(text), float(at))


def snapshot(row: tuple[Any, ...]) -> Snapshot:
    """The scenario from its row."""
    scenario, digest = row
    return Snapshot(_mapping(scenario), str(digest))


def _mapping(text: str) -> dict[str, Any]:
    content = json.loads(text)
    if not isinstance(content, dict):
        raise TypeError("not an object")
    return content


def _count(value: Any) -> int:  # noqa: ANN401 - whatever SQLite holds
    number = int(value)
    if not 0 <= number < _LARGEST_COUNT:
        raise ValueError("not a number of something")
    return number


def _whole_or_none(value: Any) -> int | None:  # noqa: ANN401 - the same
    return None if value is None else int(value)


def _number_or_none(value: Any) -> float | None:  # noqa: ANN401 - the same
    return None if value is None else float(value)

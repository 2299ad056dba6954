"""Jobs and results as plain values: what travels to a supervisor, and to another machine.

Nothing but texts, numbers, lists and tables of them leaves a process, so both sides may be another version of
Python, and nobody runs what was sent as data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.targets.base import REPORTED, Call, Command, Ending, RawResult, Reports

if TYPE_CHECKING:
    from utilitune.execution.wire import Message

_LIMITS = ("captime_s", "wall_limit_s", "memory_bytes", "grace_s", "output_bytes")


def as_message(job: Job) -> Message:
    """A job as plain values."""
    limits, task = job.limits, job.task
    message: Message = {"measure": limits.measure.value, **{name: getattr(limits, name) for name in _LIMITS}}
    message |= {"keep": job.keep, "continues": None}
    if isinstance(task, Call):
        call = {
            "module": task.module,
            "function": task.function,
            "arguments": dict(task.arguments),
            "search_path": list(task.search_path),
            "directory": task.directory,
            "reports": None if task.reports is None else task.reports.value,
        }
        return {**message, "watch": [], "call": call, "trace": REPORTED if task.reports else None}
    return {
        **message,
        "argv": list(task.argv),
        "environment": dict(task.environment),
        "directory": task.directory,
        "watch": list(task.watch),
        "trace": None if task.trace is None else list(task.trace),
    }


def as_job(message: Message) -> Job:
    """The job that a message describes; what it continues is known to its sender only."""
    keep = message["keep"]
    limits = RunLimits(Measure(message["measure"]), **{name: message[name] for name in _LIMITS})
    if "call" in message:
        call = message["call"]
        reports = None if call["reports"] is None else Reports(call["reports"])
        return Job(
            Call(**{**call, "search_path": tuple(call["search_path"]), "reports": reports}), limits, keep
        )
    trace = None if message["trace"] is None else tuple(message["trace"])
    command = Command(
        tuple(message["argv"]), message["environment"], message["directory"], tuple(message["watch"]), trace
    )
    return Job(command, limits, keep)


def as_result(message: Message) -> RawResult:
    """What a message says of a run that has ended."""
    values = {**message, "ending": Ending(message["ending"])}
    seen = tuple(tuple(point) for point in message.get("trace", ()))
    return RawResult(**{**values, "matches": tuple(message.get("matches", ())), "trace": seen})


def result_message(raw: RawResult) -> Message:
    """What is known of a run that has ended, as plain values."""
    values: dict[str, Any] = {name: getattr(raw, name) for name in RawResult.__dataclass_fields__}
    return {**values, "ending": raw.ending.value}

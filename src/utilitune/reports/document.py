"""A stored run as one document of plain values: what the report holds and the live page shows.

`overview` is what changes all the time and is small. `document` is everything. Both follow from stored facts
alone; nothing is run, and nothing on disk is looked at but the run folder. All texts are as they were stored,
also hostile ones: whoever shows them puts them on the page as text, never as markup.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import UtilituneError
from utilitune.live.result import RunResult
from utilitune.live.standing.standing import DEFAULT, elapsed_s
from utilitune.live.standing.worths import Sharing
from utilitune.reports.answers import FORMS
from utilitune.reports.configuration import differences
from utilitune.reports.digest import COLUMNS
from utilitune.reports.distributions import captime_counts, configuration_distribution, utility_curve
from utilitune.reports.heldout import heldout_of
from utilitune.reports.importance import importance_of
from utilitune.spaces.parameters import NumberParameter
from utilitune.store.facts import versions
from utilitune.store.records import StoredOrigin
from utilitune.utility.functions import shown_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.live.standing.worths import Estimate
    from utilitune.live.task import Task
    from utilitune.reports.digest import RunDigest
    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, SessionRecord

FORMAT = 1
"""Grows when the page could not read an older document."""

_POINTS = 600
_ANSWER_FORMS = ("command", "json", "toml", "irace", "smac")
_LATEST_EVENTS = 50
_MOST_INSTANCES = 200


def overview(store: StoreReader, folder: Path | None, task: Task, owner: int | None = None) -> dict[str, Any]:
    """How a run stands: the numbers, the promise, the way there.

    Args:
        store: The run.
        folder: Where it is kept, if anywhere.
        task: What is configured.
        owner: Process id of the run at work; None if it is not, 0 if it cannot be told.
    """
    scenario = task.scenario
    sessions = store.sessions()
    counts = store.counts()
    plain: dict[str, Any] = {
        "format": FORMAT,
        "name": scenario.name,
        "folder": None if folder is None else str(folder),
        "objective": scenario.objective.value,
        "measure": scenario.measure.value,
        "procedure": scenario.procedure,
        "at_work": owner is not None,
        "state": state_text(sessions[-1] if sessions else None, at_work=owner is not None),
        "looked_at": time.time(),
        "elapsed_s": elapsed_s(
            sessions,
            [point.at for point in store.trajectory()],
            now=None if owner is None else time.time(),
        ),
        "runs_by_status": {status.value: count for status, count in counts.items() if count},
        "events": [{"kind": event.kind, "text": event.text} for event in store.events()[-_LATEST_EVENTS:]],
        "trajectory": _trajectory(store),
        "answer": None,
    }
    if store.last_progress() is None or not store.runs_each():
        return plain
    return {**plain, **_found(store, folder, task)}


def state_text(session: SessionRecord | None, *, at_work: bool) -> str:
    """Whether a run is at work, and if not, why, in a few words."""
    if at_work:
        return "at work"
    if session is None:
        return "not started yet"
    if session.stop is None:
        return "killed before it could stop; start it again to go on, nothing is lost"
    return session.stop.advice


def _found(store: StoreReader, folder: Path | None, task: Task) -> dict[str, Any]:
    """The answer, and what is known and proved of it."""
    result = RunResult.read(store, folder, task=task, with_runs=False)
    records = store.configurations()
    standing, promise = result.standing, result.promise
    number = result.progress.best_index
    return {
        "progress": {
            "total_time_s": result.progress.total_time_s,
            "runs": result.progress.runs,
            "configurations": result.progress.configurations,
            "alive": result.progress.alive,
            "of_use": "" if result.use is None or result.use.is_early else result.use.percent,
        },
        "promise": {
            "sentence": promise.sentence(),
            "epsilon": promise.epsilon,
            "gamma": promise.gamma,
            "delta": promise.delta,
            "population": promise.population,
            "refusal": promise.refusal,
            "last_phase": result.last_phase,
            "note": result.note,
        },
        "standing": {**standing.to_dict(), "utilities": standing.utilities(), "gain": standing.gain()},
        "answer": {
            "number": number,
            "origin": records[number].origin.value,
            "forms": _forms(result, task),
            "differences": [
                {"name": name, "value": ours, "default": theirs}
                for name, ours, theirs in differences(
                    result.best, records[DEFAULT].assignment, task.space.names
                )
            ],
            "parameters": len(task.space.names),
        },
    }


def _forms(result: RunResult, task: Task) -> dict[str, str]:
    """The answer as other tools read it; a form that cannot hold it says why instead."""
    forms = {}
    for name in _ANSWER_FORMS:
        try:
            forms[name] = FORMS[name](result, task.scenario) if name != "json" else _parameters_json(result)
        except UtilituneError as error:
            forms[name] = f"# {error}"
    return forms


def _parameters_json(result: RunResult) -> str:
    return json.dumps(dict(result.best), ensure_ascii=False, indent=2)


def _trajectory(store: StoreReader) -> dict[str, list[Any]]:
    """What was proved after how much time, in columns; thinned where there are very many points."""
    points = list(store.trajectory())
    kept = (
        [points[index] for index in np.unique(np.linspace(0, len(points) - 1, _POINTS).astype(int))]
        if len(points) > _POINTS
        else points
    )
    return {
        "at": [round(point.at, 3) for point in kept],
        "time_s": [point.progress.total_time_s for point in kept],
        "epsilon": [point.progress.epsilon for point in kept],
        "gamma": [point.progress.gamma for point in kept],
        "best": [point.progress.best_index for point in kept],
        "runs": [point.progress.runs for point in kept],
        "configurations": [point.progress.configurations for point in kept],
    }


def details(store: StoreReader, task: Task, digest: RunDigest, latest: int | None = None) -> dict[str, Any]:
    """What follows from all runs and is small: distributions, captimes, the timeline of the latest runs."""
    return {
        "distributions": distributions(store, task, digest),
        "captimes": captime_counts(digest),
        "timeline": timeline(digest, latest),
    }


def distributions(store: StoreReader, task: Task, digest: RunDigest) -> dict[str, Any]:
    """How long runs of the answer and of the default take, or what they are worth, and the utility above."""
    last = store.last_progress()
    best = DEFAULT if last is None else last.progress.best_index
    of_worth = task.scenario.quality is not None
    shown = [number for number in dict.fromkeys((best, DEFAULT)) if number < len(digest.records)]
    curves = {str(number): configuration_distribution(digest, number, of_worth=of_worth) for number in shown}
    return {
        "of": "worth" if of_worth else "runtime",
        "curves": curves,
        "utility": {"t": [], "u": []} if of_worth else _utility_above(task, list(curves.values())),
    }


def _utility_above(task: Task, curves: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    times_s = [time_s for curve in curves for time_s in curve["t"] if time_s > 0]
    ends_s = [curve["end"] for curve in curves if curve["end"] > 0]
    if not times_s:
        return {"t": [], "u": []}
    low_s, high_s = min(times_s) / 2, max([*times_s, *ends_s]) * 1.5
    return utility_curve(task.utility, low_s, high_s)


def timeline(digest: RunDigest, latest: int | None = None) -> dict[str, list[Any]]:
    """The latest runs in columns, with the worker each was made by; moments count from the first of them."""
    known = len(digest.recent)
    kept = itertools.islice(digest.recent, max(0, known - (known if latest is None else latest)), None)
    runs = sorted(kept)
    origin = runs[0][0] if runs else 0.0
    return {
        "origin": origin,  # type: ignore[dict-item]  # a moment beside the columns
        "start": [round(run[0] - origin, 3) for run in runs],
        "end": [round(run[1] - origin, 3) for run in runs],
        "lane": [run[2] for run in runs],
        "configuration": [run[3] for run in runs],
        "status": [run[4] for run in runs],
        "sequence": [run[5] for run in runs],
    }


def configurations(task: Task, digest: RunDigest, numbers: Sequence[int]) -> dict[str, Any]:
    """The table of these configurations, and the values of their parameters."""
    names = task.space.names
    origin = COLUMNS.index("origin")
    rows = digest.rows(numbers)
    for row in rows:
        row[origin] = StoredOrigin(row[origin]).words
    return {
        "columns": list(COLUMNS),
        "rows": rows,
        "parameters": list(names),
        "values": [_values(digest.records[number], names) for number in numbers],
    }


def _values(record: ConfigurationRecord, names: Sequence[str]) -> list[Any]:
    return [_plain(record.assignment.get(name)) for name in names]


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value if isinstance(value, str | int | bool) or value is None else str(value)


def parameters(task: Task) -> list[dict[str, Any]]:
    """What may be changed."""
    found = []
    default = task.space.default()
    for name, parameter in task.space.parameters.items():
        plain: dict[str, Any] = {
            "name": name,
            "default": _plain(default.get(name)),
            "domain": parameter.domain,
        }
        if isinstance(parameter, NumberParameter):
            plain |= {"kind": "number", "low": parameter.low, "high": parameter.high, "log": parameter.log}
        else:
            plain |= {"kind": "choice", "choices": [_plain(choice) for choice in parameter.choices]}
        found.append(plain)
    return found


def importance(task: Task, judged: Sequence[tuple[ConfigurationRecord, Estimate]]) -> dict[str, Any]:
    """How much each parameter matters, from configurations that were run."""
    return importance_of(
        task.space,
        [record.assignment for record, _ in judged],
        np.array([each.mean for _, each in judged], dtype=np.float64),
        np.array([each.runs for _, each in judged], dtype=np.int64),
    ).to_dict()


def about(store: StoreReader, task: Task) -> dict[str, Any]:
    """The scenario, versions and machine of a run."""
    scenario, sessions = task.scenario, store.sessions()
    count = task.training.count
    shown = 0 if count is None else min(count, _MOST_INSTANCES)
    return {
        "scenario": {
            "utility": shown_name(scenario.utility),
            "utility in words": _utility_words(task),
            "objective": scenario.objective.value,
            "procedure": scenario.procedure,
            "δ": str(scenario.delta),
            "training instances": "without end" if count is None else f"{count:,}",
            "the promise is about": "exactly these instances"
            if Sharing.of(store).population
            else "instances like these",
            "measure": f"{scenario.measure.value} seconds",
            "smallest captime": f"{scenario.captime0_s:g} s",
            "largest captime": "none" if scenario.max_captime_s is None else f"{scenario.max_captime_s:g} s",
            "memory limit": "none"
            if scenario.memory_bytes is None
            else f"{scenario.memory_bytes / 2**20:,.0f} MiB",
            "seed": str(scenario.seed),
            "digest": store.snapshot.digest,
        },
        "instances": [task.training.name(position) for position in range(shown)],
        "sessions": [
            {
                "started_at": session.started_at,
                "ended_at": session.ended_at,
                "stop": None if session.stop is None else session.stop.code,
                "why": None if session.stop is None else session.stop.advice,
                "workers": session.settings.get("workers"),
                "versions": dict(session.versions),
                "machine": _machine(session.machine),
            }
            for session in sessions
        ],
        "written_by": versions(),
    }


def _machine(machine: Mapping[str, Any]) -> dict[str, Any]:
    """A machine for people: its memory in gibibytes."""
    plain = dict(machine)
    size_bytes = plain.pop("memory_bytes", None)
    return plain if not size_bytes else {**plain, "memory": f"{size_bytes / 2**30:.1f} GiB"}


def _utility_words(task: Task) -> str:
    if task.scenario.quality is not None:
        return task.judge().utility.describe()
    return task.utility.describe()


def failures(store: StoreReader, plain: dict[str, Any]) -> list[dict[str, Any]]:
    """Failed runs by kind, each with the output that is kept of one of them."""
    found = []
    for kind in plain.get("standing", {}).get("failures", []):
        example = next(store.runs(since=kind["example_run"]), None)
        output = "" if example is None else example.outcome.output_tail
        number = None if example is None else example.request.configuration
        found.append({**kind, "output": output, "example_configuration": number})
    return found


def document(store: StoreReader, folder: Path | None, task: Task, digest: RunDigest) -> dict[str, Any]:
    """Everything there is to say about a stored run; the digest must have read it."""
    plain = overview(store, folder, task)
    numbers = range(len(digest.records))
    answer = plain["answer"]
    return {
        **plain,
        **details(store, task, digest),
        "failures": failures(store, plain),
        "configurations": configurations(task, digest, numbers),
        "parameters": parameters(task),
        "importance": importance(task, digest.judged()),
        "heldout": None if answer is None else heldout_of(folder, answer["number"]),
        "about": about(store, task),
    }

"""A stored run in the files of SMAC 1, so that tools which analyse those read ours.

`trajectory_lines` gives the lines of a ``traj_aclib2.json``: the incumbent after how much time and how many
runs. `run_history` gives a ``runhistory.json``: every run. Costs are losses of utility, 1 − u, between 0 and
1: that is what was minimised. A run that was stopped counts as if it had ended there.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.scenario.instances import instance_source
from utilitune.scenario.model import Scenario
from utilitune.targets.command import written
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from utilitune.store.base import StoreReader
    from utilitune.store.records import RunRecord
    from utilitune.utility import Utility

_STATUSES = {
    RunStatus.FINISHED: "SUCCESS",
    RunStatus.TIMEOUT: "TIMEOUT",
    RunStatus.MEMOUT: "MEMOUT",
    RunStatus.CRASHED: "CRASHED",
    RunStatus.WRONG_ANSWER: "CRASHED",
}
_ORIGINS = {
    "default": "Default",
    "user": "Initial design",
    "random": "Random Search",
    "model": "Local Search",
}
_UNKNOWN_COST = 1.0


def trajectory_lines(store: StoreReader) -> Iterator[str]:
    """The lines of a ``traj_aclib2.json``, one whenever the incumbent or its estimated cost was recorded."""
    scenario = Scenario.from_snapshot(store.snapshot.scenario)
    utility = parse_utility(scenario.utility)
    configurations = store.configurations()
    runs = list(store.runs())
    sessions = store.sessions()
    began = sessions[0].started_at if sessions else 0.0
    losses: defaultdict[int, dict[int, float]] = defaultdict(dict)
    taken = 0
    for point in store.trajectory():
        while taken < len(runs) and runs[taken].sequence < point.sequence:
            request = runs[taken].request
            losses[request.configuration][request.position] = _loss(runs[taken], utility)
            taken += 1
        best = configurations[point.progress.best_index]
        known = losses[best.index].values()
        yield json.dumps(
            {
                "cpu_time": point.progress.total_time_s,
                "wallclock_time": max(0.0, point.at - began),
                "evaluations": point.progress.runs,
                "cost": math.fsum(known) / len(known) if known else _UNKNOWN_COST,
                "incumbent": [f"{name}='{written(value)}'" for name, value in best.assignment.items()],
                "origin": _ORIGINS[best.origin.value],
                "budget": 0,
            },
            ensure_ascii=False,
        )


def run_history(store: StoreReader) -> dict[str, Any]:
    """The content of a ``runhistory.json``; configurations are counted from 1, as there."""
    scenario = Scenario.from_snapshot(store.snapshot.scenario)
    utility = parse_utility(scenario.utility)
    instances = instance_source(scenario)
    configurations = store.configurations()
    return {
        "data": [
            [
                [run.request.configuration + 1, instances.name(run.request.position), run.seed, 0.0],
                _value(run, utility, scenario.max_captime_s),
            ]
            for run in store.runs()
        ],
        "config_origins": {str(each.index + 1): _ORIGINS[each.origin.value] for each in configurations},
        "configs": {str(each.index + 1): dict(each.assignment) for each in configurations},
    }


def trajectory_rows(store: StoreReader) -> list[Mapping[str, Any]]:
    """One row whenever another configuration became the answer, and the last point."""
    rows: list[Mapping[str, Any]] = []
    points = list(store.trajectory())
    configurations = store.configurations()
    for number, point in enumerate(points):
        progress = point.progress
        last = number == len(points) - 1
        if not last and rows and rows[-1]["configuration"] == progress.best_index:
            continue
        rows.append(
            {
                "time_s": progress.total_time_s,
                "runs": progress.runs,
                "configuration": progress.best_index,
                "origin": configurations[progress.best_index].origin.value,
                "epsilon": progress.epsilon,
                "gamma": progress.gamma,
                "configurations": progress.configurations,
            }
        )
    return rows


def _value(run: RunRecord, utility: Utility, largest_captime_s: float | None) -> list[Any]:
    outcome = run.outcome
    status = _STATUSES[outcome.status]
    if status == "TIMEOUT" and run.request.captime_s < (largest_captime_s or math.inf):
        status = "CAPPED"
    return [
        _loss(run, utility),
        outcome.runtime_s,
        {"__enum__": f"StatusType.{status}"},
        run.started_at,
        run.ended_at,
        {"captime": run.request.captime_s, **({"detail": outcome.detail} if outcome.detail else {})},
    ]


def _loss(run: RunRecord, utility: Utility) -> float:
    ordinary = run.outcome.status in {RunStatus.FINISHED, RunStatus.TIMEOUT}
    return 1.0 - float(utility(run.outcome.runtime_s if ordinary else math.inf))

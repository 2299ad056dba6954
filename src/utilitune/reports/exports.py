"""A stored run in the files of SMAC 3, so that tools which analyse those read ours.

`trajectory_lines` gives the lines of a ``traj_aclib2.json``: the incumbent after how much time and how many
runs. `run_history` gives a ``runhistory.json`` as versions up to 1.4 write it, with every run.
`latest_run_history` gives one as versions from 2.3 on do, which has room for one run of a configuration on an
instance: the last. Costs are losses of utility, 1 − u, between 0 and 1: that is what was minimised. A run
that was stopped counts as if it had ended there.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.live.task import Task
from utilitune.store.records import StoredOrigin
from utilitune.targets.command import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, RunRecord
    from utilitune.utility import Utility

_STATUSES = {
    RunStatus.FINISHED: "SUCCESS",
    RunStatus.TIMEOUT: "TIMEOUT",
    RunStatus.MEMOUT: "MEMOUT",
    RunStatus.CRASHED: "CRASHED",
    RunStatus.WRONG_ANSWER: "CRASHED",
}
_ORIGINS = {
    StoredOrigin.DEFAULT: "Default",
    StoredOrigin.USER: "Initial design",
    StoredOrigin.RANDOM: "Random Search",
}
_SEARCHED = "Local Search"
_LATEST_STATUSES = {"SUCCESS": 1, "CRASHED": 2, "TIMEOUT": 3, "CAPPED": 3, "MEMOUT": 4}
_UNKNOWN_COST = 1.0


def trajectory_lines(store: StoreReader) -> Iterator[str]:
    """The lines of a ``traj_aclib2.json``, one whenever the incumbent or its estimated cost was recorded."""
    utility = Task.stored(store).utility
    points, runs = list(store.trajectory()), list(store.runs())
    configurations = store.configurations()  # last: a run at work stores them before all that names them
    sessions = store.sessions()
    began = sessions[0].started_at if sessions else 0.0
    losses: defaultdict[int, dict[int, float]] = defaultdict(dict)
    taken = 0
    for point in points:
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
                "origin": _ORIGINS.get(best.origin, _SEARCHED),
            },
            ensure_ascii=False,
        )


def run_history(store: StoreReader) -> dict[str, Any]:
    """The content of a ``runhistory.json`` of SMAC 3 up to 1.4, configurations counted from 1."""
    history = _History.read(store)
    data = []
    for number, instance, run in history.trials():
        value = [
            history.cost(run),
            run.outcome.runtime_s,
            {"__enum__": f"StatusType.{history.status(run)}"},
            *history.moments(run),
            history.information(run),
        ]
        data.append([[number, instance, run.seed, 0.0], value])
    return {"data": data, "config_origins": history.origins(), "configs": history.assignments()}


def latest_run_history(store: StoreReader) -> dict[str, Any]:
    """The content of a ``runhistory.json`` of SMAC 3 from 2.3 on."""
    history = _History.read(store)
    last = {(number, instance): run for number, instance, run in history.trials()}
    data = []
    for (number, instance), run in last.items():
        starttime, endtime = history.moments(run)
        data.append(
            {
                "config_id": number,
                "instance": instance,
                "seed": run.seed,
                "budget": None,
                "cost": history.cost(run),
                "time": run.outcome.runtime_s,
                "cpu_time": run.outcome.cpu_s,
                "status": _LATEST_STATUSES[history.status(run)],
                "starttime": starttime,
                "endtime": endtime,
                "additional_info": history.information(run),
            }
        )
    return {
        "stats": {"submitted": len(data), "finished": len(data), "running": 0},
        "data": data,
        "configs": history.assignments(),
        "config_origins": history.origins(),
    }


@dataclass(frozen=True, slots=True)
class _History:
    """The runs of a store in the words of SMAC."""

    task: Task
    configurations: Sequence[ConfigurationRecord]
    runs: Sequence[RunRecord]

    @classmethod
    def read(cls, store: StoreReader) -> _History:
        runs = tuple(store.runs())  # first: a run at work stores every configuration before its runs
        return cls(Task.stored(store), store.configurations(), runs)

    def trials(self) -> Iterator[tuple[int, str, RunRecord]]:
        """Configuration, instance and run, in the order in which they were stored."""
        instances = self.task.training
        for run in self.runs:
            yield run.request.configuration + 1, instances.name(run.request.position), run

    def origins(self) -> dict[str, str]:
        return {str(each.index + 1): _ORIGINS.get(each.origin, _SEARCHED) for each in self.configurations}

    def assignments(self) -> dict[str, dict[str, Any]]:
        return {str(each.index + 1): dict(each.assignment) for each in self.configurations}

    def cost(self, run: RunRecord) -> float:
        return _loss(run, self.task.utility)

    def status(self, run: RunRecord) -> str:
        capped = run.request.captime_s < (self.task.scenario.max_captime_s or math.inf)
        return (
            "CAPPED" if run.outcome.status is RunStatus.TIMEOUT and capped else _STATUSES[run.outcome.status]
        )

    def moments(self, run: RunRecord) -> tuple[float, float]:
        """When it began and ended; one that an earlier run made counts from when it was taken over."""
        taken_over_at = self.configurations[run.request.configuration].drawn_at
        return (taken_over_at, taken_over_at) if run.taken_over else (run.started_at, run.ended_at)

    def information(self, run: RunRecord) -> dict[str, Any]:
        """What the formats have no field for."""
        detail = {"detail": run.outcome.detail} if run.outcome.detail else {}
        taken_over = {"taken_over": True} if run.taken_over else {}
        return {"captime": run.request.captime_s, **detail, **taken_over}


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


def _loss(run: RunRecord, utility: Utility) -> float:
    return 1.0 - float(utility(math.inf if run.outcome.failed else run.outcome.runtime_s))

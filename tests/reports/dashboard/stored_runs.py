"""Run folders of any size, written without running anything; names and outputs may be hostile."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.scenario.model import CommandSpec, ListedInstances, Scenario
from utilitune.spaces import ParameterSpace
from utilitune.store import RunFolder, Snapshot, open_run_folder
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
"""What a page must never run, wherever it comes from."""


def scenario_of(place: Path, instances: int, *, hostile: bool = False) -> Scenario:
    tables = {f"parameter{n}": {"type": "float", "range": [0.0, 1.0], "default": 0.5} for n in range(6)} | {
        "heuristicsOnOff": {"type": "categorical", "values": ["on", "off"], "default": "off"}
    }
    if hostile:
        tables[HOSTILE] = {"type": "categorical", "values": [HOSTILE, "b"], "default": "b"}
    names = [f"{HOSTILE if hostile and not n else 'instance'}-{n}" for n in range(instances)]
    return Scenario(
        name=HOSTILE if hostile else "large",
        directory=place,
        target=CommandSpec(("solver", "{parameters}", "{instance}"), ("--{name}={value}",)),
        space=ParameterSpace.from_tables(tables),
        training=ListedInstances(tuple(names), files=False),
        utility="uniform(k0=10s)",
        captime0_s=1.0,
        max_captime_s=10.0,
    )


class Writer:
    """Writes a run folder as a run at work does.

    Args:
        place: Where the folder is made.
        instances: How many training instances there are.
        hostile: Whether names and outputs are.
    """

    def __init__(self, place: Path, *, instances: int = 40, hostile: bool = False, seed: int = 1) -> None:
        self.scenario = scenario_of(place, instances, hostile=hostile)
        self.folder = place / "large.run"
        self.store: RunFolder = open_run_folder(
            self.folder, Snapshot(self.scenario.snapshot(), self.scenario.digest())
        )
        self.store.begin_session({"procedure": {"name": "wager", "epsilon": 0.01}, "workers": 2})
        self._rng = np.random.default_rng(seed)
        self._hostile = hostile
        self._speed: list[float] = []
        self._at = time.time() - 3600
        self._runs = 0
        self._spent_s = 0.0

    def add_configurations(self, count: int) -> None:
        space = self.scenario.space
        first = len(self._speed)
        drawn = space.sample(self._rng, count)
        if not first:
            drawn[0] = space.default()
        self._speed += [0.5 + 6 * abs(each["parameter0"] - 0.8) + each["parameter1"] for each in drawn]
        self.store.add_configuration(
            *(
                ConfigurationRecord(
                    first + n,
                    dict(each),
                    StoredOrigin.RANDOM if first + n else StoredOrigin.DEFAULT,
                    0,
                    self._at,
                )
                for n, each in enumerate(drawn)
            )
        )

    def add_runs(self, each: int, start: int = 0, configurations: range | None = None) -> None:
        """Runs on the instances from `start` on; one commit, for a test cannot wait for thousands."""
        chosen = range(len(self._speed)) if configurations is None else configurations
        with self.store.together():
            for number in chosen:
                for position in range(start, start + each):
                    self.store.add_run(self._run(number, position))

    def add_run(self, number: int, position: int) -> None:
        """One run, stored by itself, as a run at work does."""
        self.store.add_run(self._run(number, position))

    def _run(self, number: int, position: int) -> RunRecord:
        time_s = float(self._speed[number] * self._rng.lognormal(0.0, 0.7))
        captime_s = float(2 ** (number % 4))
        broken = number % 9 == 4
        ended = RunStatus.FINISHED if time_s < captime_s else RunStatus.TIMEOUT
        status = RunStatus.CRASHED if broken else ended
        took_s = min(time_s, captime_s)
        self._at += took_s / 2
        self._spent_s += took_s
        self._runs += 1
        tail = (HOSTILE if self._hostile else "core dumped") if broken else ""
        outcome = RunOutcome(status, took_s, took_s, took_s, output_tail=tail, detail=tail)
        request = RunRequest(number, position, captime_s)
        return RunRecord(request, outcome, seed=1, started_at=self._at - took_s, ended_at=self._at)

    def add_progress(self, epsilon: float, best: int | None = None) -> None:
        count = len(self._speed)
        chosen = int(np.argmin(self._speed)) if best is None else best
        gamma = min(1.0, 4 / max(count, 1))
        self.store.add_progress(
            Progress(chosen, epsilon, gamma, 0.05, self._spent_s, self._runs, self._runs, count, count // 2)
        )

    def add_trajectory(self, points: int = 60) -> None:
        """A way to here that fell like a power law."""
        spent_s, runs = self._spent_s, self._runs
        for n in range(points):
            share = 10 ** (-3 + 3 * (n + 1) / points)
            self._spent_s, self._runs = spent_s * share, math.ceil(runs * share)
            self.add_progress(min(1.0, 0.08 * share**-0.4))
        self._spent_s, self._runs = spent_s, runs

    def end(self) -> None:
        self.store.end_session(StopReason("wall-limit", "The wall-clock budget is spent."))
        self.store.close()


def small_run(place: Path, *, hostile: bool = False, configurations: int = 30, end: bool = True) -> Writer:
    """A finished run of a few configurations."""
    writer = Writer(place, hostile=hostile)
    writer.add_configurations(configurations)
    writer.add_runs(8)
    writer.add_trajectory()
    if end:
        writer.end()
    return writer

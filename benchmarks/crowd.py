"""What many workers waste, and what they cost the coordinator: simulated on 1 000 × 20 000 runs to ε = 0.1.

*Useful* is the seconds that one worker spends, divided by all seconds that were spent. The coordinator's rate
is the number of completions that our own code handles per second of its own CPU time: it decides what is
needed next, what is likely, and begins it. Runs of milliseconds keep it as busy as it can be. The last lines
are of a whole live run, whose backend alone is imagined: it also writes every run to a run folder. There the
clock goes on while our own code works, so runs that end meanwhile wait in line, as they would. With two
workers hardly any do: each completion is handled by itself.
"""

from __future__ import annotations

import tempfile
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.wager import SYNTHETIC, _utilities

from utilitune import ProcedureSpec, read_matrix
from utilitune.domain.stopping import Budget
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.execution.simulated_cluster import Conditions
from utilitune.live.running import run_scenario, settings_of
from utilitune.replaying.crowd import Crowd, simulate
from utilitune.replaying.recording import Recording
from utilitune.scenario import CommandSpec, ListedInstances, Population, Scenario
from utilitune.scenario.model import NO_SEARCH
from utilitune.spaces import ParameterSpace
from utilitune.targets.base import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.backend import Job
    from utilitune.targets.base import RawResult

WORKERS = (10, 100, 1000)
TARGETS = {100: 0.90, 1000: 0.70}
FILLED, BUSY = 100, 0.95
"""With every slot filled, so many workers are to be busy to this part."""

CONDITIONS = Conditions(latency_s=0.005, mtbf_s=6 * 3600.0)
RUNS_STORED = 10_000
SHORT = "synthetic:rows=1000,columns=20000,seed=1,median_s=0.005,cutoff_s=7.2"


def main() -> None:
    """Run everything; a few minutes."""
    for number, text in enumerate(SYNTHETIC, 1):
        matrix = read_matrix(text)
        for utility in _utilities(matrix):
            _useful(f"synthetic {number}, {utility}", Recording.of(matrix, utility))
    _coordinator()
    _with_store()


def _specification(utility_k0: float = 60.0) -> ProcedureSpec:
    return ProcedureSpec(delta=0.1, epsilon=0.1, captime0_s=utility_k0 / 60.0)


def _useful(name: str, recording: Recording) -> None:
    k0 = float(recording.utility.k0)  # type: ignore[attr-defined]
    for found in simulate(recording, _specification(k0), Crowd(WORKERS, CONDITIONS), seed=None):
        target = TARGETS.get(found.workers)
        met = "" if target is None else f"≥ {target:.0%}  {'ok' if found.useful >= target else 'MISSED'}"
        print(
            f"{name}, {found.workers} workers: useful {found.useful:.1%} {met}; speed-up "
            f"{found.speed_up:.1f}, busy {found.busy:.0%}, {found.wall_s:.0f} s on the clock, "
            f"{found.runs:,} runs for {found.runs_needed:,}",
            flush=True,
        )
    for found in simulate(recording, _specification(k0), Crowd((FILLED,), CONDITIONS, "all"), seed=None):
        print(
            f"{name}, {found.workers} workers, all guesses: busy {found.busy:.1%} ≥ {BUSY:.0%}  "
            f"{'ok' if found.busy >= BUSY else 'MISSED'}; useful {found.useful:.1%}, {found.wall_s:.0f} s on "
            "the clock",
            flush=True,
        )


def _coordinator() -> None:
    recording = Recording.of(SHORT, "log-laplace(k0=0.06)")
    for found in simulate(recording, _specification(0.06), Crowd((100, 1000), CONDITIONS), seed=None):
        rate = 1.0 / found.own_cpu_s
        met = "ok" if rate >= 3000 else "MISSED"
        print(
            f"{found.workers} workers, runs of {1e3 * found.workers / found.completions_per_s:.0f} ms: "
            f"{rate:,.0f} completions per second of our own CPU time ≥ 3,000  {met}; useful "
            f"{found.useful:.1%}, coordinator at work {found.coordinator:.0%} of the time",
            flush=True,
        )


class BusyBackend(SimulatedBackend):
    """Imagined runs on a clock that goes on while our own code works, and jumps while it waits."""

    def __init__(self, workers: int, behaviour: Callable[[Job], SimulatedRun]) -> None:
        super().__init__(workers, behaviour)
        self._looked_s = time.process_time()

    def submit(self, job_id: int, job: Job) -> None:
        """Begin a run, at the time that it is by now."""
        self._go_on()
        super().submit(job_id, job)

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """All runs that have ended by now, or the next one."""
        self._go_on()
        return super().wait(timeout_s)

    def _go_on(self) -> None:
        now_s = time.process_time()
        self.now_s += now_s - self._looked_s
        self._looked_s = now_s


def behaves(job: Job) -> SimulatedRun:
    """A run of 2 to 52 ms that follows from its command."""
    command = " ".join(job.task.argv) if isinstance(job.task, Command) else ""
    chance = zlib.crc32(command.encode()) % 1000 / 1000
    return SimulatedRun(0.002 + 0.05 * chance**4)


def _with_store() -> None:
    """A live run with everything but processes: what it decides, begins, judges and stores."""
    for workers in (2, 100, 1000):
        with tempfile.TemporaryDirectory() as place:
            scenario = _imagined(Path(place))
            settings = settings_of(scenario)
            few, all_runs = (replace(settings, budget=Budget(max_runs=n)) for n in (200, RUNS_STORED))
            run_scenario(scenario, None, few, backend=BusyBackend(workers, behaves))  # warm
            began_s = time.process_time()
            backend = BusyBackend(workers, behaves)
            runs = run_scenario(scenario, Path(place) / "run", all_runs, backend=backend).progress.runs
            rate = runs / (time.process_time() - began_s)
        print(
            f"{workers} workers, a live run with its store: {rate:,.0f} completions per second of our own "
            f"CPU time ≥ 3,000  {'ok' if rate >= 3000 else 'MISSED'}; {runs:,} runs",
            flush=True,
        )


def _imagined(folder: Path) -> Scenario:
    return Scenario(
        name="imagined",
        directory=folder,
        target=CommandSpec(("/bin/true", "{instance}", "{parameters}")),
        space=ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0], "default": 0.5}}),
        training=ListedInstances(tuple(f"i{number}" for number in range(20_000)), files=False),
        utility="log-laplace(k0=0.06)",
        population=Population.INFINITE,
        captime0_s=0.001,
        max_captime_s=1.0,
        delta=0.1,
        procedure="wager",
        options={"configurations": 100},
        search=NO_SEARCH,
    )


if __name__ == "__main__":
    main()

"""Runs kept at their captime: what is decided and stored is the same, only cheaper; memory is kept to."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import behaviour, make_scenario
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.domain.stopping import Budget
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.asker import UnderWay
from utilitune.live.paused import LEAST_S, PausedRuns
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import CommandSpec, ListedInstances, Population, read_scenario
from utilitune.store import read_run_folder
from utilitune.targets.base import Command, Ending, Invocation, RawResult

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.scenario import Scenario

LIMITS = RunLimits("cpu", 1.0, 60.0)


class Pool:
    """Runs that are kept, with everything around them imagined."""

    def __init__(self, memory_bytes: int = 100, largest_s: float = 64.0) -> None:
        self.released: list[int] = []
        self.runs = PausedRuns(memory_bytes, largest_s, self.prepare, self.released.append)
        self.next_job = 0

    @staticmethod
    def prepare(invocation: Invocation) -> Command:
        return Command(("solve", invocation.instance))

    def begin(self, configuration: int, position: int, captime_s: float = 1.0) -> tuple[UnderWay, Job]:
        invocation = Invocation({}, f"i{position}", 1, captime_s)
        run = UnderWay(RunRequest(configuration, position, captime_s), invocation, 0.0, ahead=False)
        return run, self.runs.begin(run, Job(self.prepare(invocation), LIMITS))

    def stopped(
        self, configuration: int, position: int, captime_s: float = 1.0, size: int = 40
    ) -> RunOutcome:
        """Make a run that reaches its captime and is kept."""
        run, job = self.begin(configuration, position, captime_s)
        assert job.keep
        raw = RawResult(Ending.CAPTIME, captime_s, kept_bytes=size, continued=job.continues is not None)
        self.next_job += 1
        return self.runs.ended(self.next_job - 1, run, raw, RunOutcome(RunStatus.TIMEOUT, captime_s))


def test_a_kept_run_is_continued_and_only_the_rest_is_paid_for():
    pool = Pool()
    assert pool.stopped(0, 0).paid_s == 1.0
    run, job = pool.begin(0, 0, captime_s=4.0)
    assert job.continues == 0
    raw = RawResult(Ending.EXITED, 3.0, continued=True)
    outcome = pool.runs.ended(1, run, raw, RunOutcome(RunStatus.FINISHED, 3.0))
    assert (outcome.runtime_s, outcome.continued_s, outcome.paid_s) == (3.0, 1.0, 2.0)
    assert pool.runs.held_bytes == 0
    assert pool.released == []


def test_a_run_continued_twice_is_paid_for_once():
    pool = Pool()
    paid = [pool.stopped(0, 0, captime_s).paid_s for captime_s in (1.0, 2.0, 4.0)]
    assert paid == [1.0, 1.0, 2.0]


def test_a_run_that_was_lost_is_paid_for_in_full():
    pool = Pool()
    pool.stopped(0, 0)
    run, job = pool.begin(0, 0, captime_s=4.0)
    assert job.continues == 0
    outcome = pool.runs.ended(1, run, RawResult(Ending.EXITED, 3.0), RunOutcome(RunStatus.FINISHED, 3.0))
    assert (outcome.continued_s, outcome.paid_s) == (0.0, 3.0)


def test_overshoot_is_paid_for_once():
    pool = Pool()
    run, _ = pool.begin(0, 0)
    raw = RawResult(Ending.CAPTIME, 1.25, kept_bytes=1)
    stopped = RunOutcome(RunStatus.TIMEOUT, 1.0, overshoot_s=0.25)
    assert pool.runs.ended(0, run, raw, stopped).paid_s == 1.25
    run, _ = pool.begin(0, 0, captime_s=4.0)
    raw = RawResult(Ending.EXITED, 3.0, continued=True)
    assert pool.runs.ended(1, run, raw, RunOutcome(RunStatus.FINISHED, 3.0)).paid_s == 1.75


def test_the_configuration_that_was_run_least_recently_loses_its_runs_first():
    pool = Pool(memory_bytes=100)
    pool.stopped(0, 0)
    pool.stopped(1, 0)
    pool.stopped(0, 1)  # 120 bytes: configuration 1 is the one that waits longest
    assert pool.released == [1]
    assert pool.runs.held_bytes == 80


def test_of_one_configuration_the_shortest_run_goes_first():
    pool = Pool(memory_bytes=100)
    pool.stopped(0, 0, captime_s=4.0)
    pool.stopped(0, 1, captime_s=2.0)
    pool.stopped(0, 2, captime_s=8.0)
    assert pool.released == [1]


def test_a_run_larger_than_all_the_memory_is_not_kept():
    pool = Pool(memory_bytes=100)
    pool.stopped(0, 0, size=101)
    assert pool.released == [0]


def test_a_cancelled_run_is_forgotten():
    pool = Pool()
    pool.stopped(0, 0)
    run, _ = pool.begin(0, 0, captime_s=2.0)
    pool.runs.lost(run)
    assert pool.begin(0, 0, captime_s=2.0)[1].continues is None


def test_there_is_nothing_beyond_the_largest_captime():
    pool = Pool(largest_s=2.0)
    assert pool.begin(0, 0, captime_s=1.0)[1].keep
    assert not pool.begin(0, 1, captime_s=2.0)[1].keep


def test_what_is_quickly_made_again_is_not_kept():
    pool = Pool()
    assert not pool.begin(0, 0, captime_s=0.9 * LEAST_S)[1].keep
    assert pool.begin(0, 1, captime_s=LEAST_S)[1].keep


def test_another_command_is_another_run():
    pool = Pool()
    pool.stopped(0, 0)
    pool.prepare = lambda invocation: Command(("other", invocation.instance))
    assert pool.begin(0, 0, captime_s=2.0)[1].continues is None
    assert pool.released == [0]


def test_a_program_that_is_told_its_captime_is_not_kept(tmp_path):
    told = CommandSpec((sys.executable, "{instance}", "{parameters}", "--limit={captime}"))
    for target, keeps in ((None, True), (told, False)):
        changes = {} if target is None else {"target": target}
        task = Task(make_scenario(tmp_path, pause_memory_bytes=100, **changes))
        paused = PausedRuns.of(task, SimulatedBackend(1, behaviour))
        invocation = Invocation({"x": 0.5}, "i0", 1, 1.0)
        run = UnderWay(RunRequest(0, 0, 1.0), invocation, 0.0, ahead=False)
        assert paused.begin(run, task.rules.job(invocation)).keep is keeps


def test_nothing_is_kept_unless_the_scenario_says_so(tmp_path):
    task = Task(make_scenario(tmp_path))
    paused = PausedRuns.of(task, SimulatedBackend(1, behaviour))
    invocation = Invocation({"x": 0.5}, "i0", 1, 1.0)
    run = UnderWay(RunRequest(0, 0, 1.0), invocation, 0.0, ahead=False)
    assert not paused.begin(run, task.rules.job(invocation)).keep


# -- whole runs ---------------------------------------------------------------------------------------------

FEW = {
    "training": ListedInstances(tuple(f"i{number}" for number in range(30)), files=False),
    "population": Population.FINITE,
}
PROCEDURES = {
    "oup": {"procedure": "oup", "options": {"configurations": 5}},
    "coup": {"procedure": "coup", "options": {}},
}


def stored(folder: Path) -> list[tuple[object, ...]]:
    """All runs but what they have cost."""
    reader = read_run_folder(folder)
    found = [(run.request, replace(run.outcome, continued_s=0.0, exit_code=None)) for run in reader.runs()]
    reader.close()
    return found


def played(scenario: Scenario, folder: Path, runs: int, workers: int = 1):
    settings = replace(settings_of(scenario, workers=workers), budget=Budget(max_runs=runs))
    return run_scenario(scenario, folder, settings, backend=SimulatedBackend(workers, behaviour))


@pytest.mark.parametrize("name", PROCEDURES)
def test_runs_and_state_are_the_same_with_and_without_pausing_and_it_costs_less(tmp_path, name):
    plain = make_scenario(tmp_path, **FEW, **PROCEDURES[name])
    paused = replace(plain, pause_memory_bytes=1)
    without, with_it = played(plain, tmp_path / "a", 400), played(paused, tmp_path / "b", 400)
    assert stored(tmp_path / "a") == stored(tmp_path / "b")
    costs = [replace(result.progress, total_time_s=0.0) for result in (without, with_it)]
    assert costs[0] == costs[1]
    assert with_it.progress.total_time_s < without.progress.total_time_s


def test_a_resumed_run_has_lost_what_was_kept_and_accounts_for_all_of_it(tmp_path):
    scenario = make_scenario(tmp_path, pause_memory_bytes=1, **FEW)
    whole = played(scenario, tmp_path / "whole", 300)
    for runs in (20, 40, 60, 300):
        parts = played(scenario, tmp_path / "parts", runs)
    assert stored(tmp_path / "parts") == stored(tmp_path / "whole")
    assert parts.progress.total_time_s >= whole.progress.total_time_s
    for result, name in ((whole, "whole"), (parts, "parts")):
        reader = read_run_folder(tmp_path / name)
        outcomes = [run.outcome for run in reader.runs()]
        reader.close()
        assert any(outcome.continued_s for outcome in outcomes)
        assert result.progress.total_time_s == pytest.approx(sum(outcome.paid_s for outcome in outcomes))


def test_the_pause_memory_may_change_between_two_starts(tmp_path):
    scenario = make_scenario(tmp_path)
    played(scenario, tmp_path / "run", 40)
    played(replace(scenario, pause_memory_bytes=1), tmp_path / "run", 80)
    assert len(stored(tmp_path / "run")) == 80


REAL = """
name = "kept"
utility = "log-laplace(k0=1s)"
[target]
command = ["{python}", "-I", "-S", "-c", "{code}", "{{parameters}}", "{{instance}}"]
template = "{{value}}"
[parameters.x]
type = "float"
range = [0.3, 0.6]
default = 0.5
[instances]
training = ["1", "2", "3", "4", "5", "6", "7", "8"]
files = false
[limits]
smallest_captime = "200ms"
largest_captime = "10s"
pause_memory = "1 GiB"
[budget]
runs = 24
[procedure]
name = "oup"
configurations = 3
[search]
share = 0.0
"""
CODE = (
    "import sys, time\\n"
    "x, i = float(sys.argv[1]), int(sys.argv[2])\\n"
    "while time.process_time() < x * (1 + i / 8): sum(range(500))"
)


@pytest.mark.skipif(sys.platform != "linux", reason="runs are kept on Linux only")
@pytest.mark.parametrize("place", ["here", "on a cluster"])
def test_a_real_program_is_continued(tmp_path, place):
    code = CODE.replace("\n", "\\n")
    (tmp_path / "scenario.toml").write_text(REAL.format(python=sys.executable, code=code))
    scenario = read_scenario(tmp_path / "scenario.toml")
    assert scenario.pause_memory_bytes == 1 << 30
    assert scenario.population is Population.FINITE
    assert isinstance(scenario.training, ListedInstances)
    if place == "on a cluster":
        pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
        scenario = replace(scenario, cluster="local:2")
    run_scenario(scenario, tmp_path / "run", settings_of(scenario, workers=1))
    reader = read_run_folder(tmp_path / "run")
    runs = list(reader.runs())
    reader.close()
    continued = [run.outcome for run in runs if run.outcome.continued_s]
    assert continued
    for outcome in continued:
        assert 0 < outcome.continued_s < outcome.runtime_s + outcome.overshoot_s
        assert outcome.cpu_s >= outcome.continued_s
    assert {run.outcome.status for run in runs} <= {RunStatus.FINISHED, RunStatus.TIMEOUT}

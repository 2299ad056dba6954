"""What every way to make live runs does alike: stop, abort, budgets, warnings, store before tell, resume.

The entrances differ in who decides what to run. Each is given a folder, a budget and an imagined program, and
works until it stops.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from live.simulated_scenarios import behaviour, make_scenario
from rivals.packages.playgrounds import Sweep
from utilitune import Tuner
from utilitune.domain import Measure, RunStatus
from utilitune.domain.stopping import NO_LIMIT, Budget
from utilitune.errors import StoppedError, TargetError
from utilitune.execution.backend import Job
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.collecting import GridSize, collect_into
from utilitune.live.evaluation import (
    FOLDER_NAME,
    EvaluationPlan,
    evaluate_in_folder,
    plan_evaluation,
    run_evaluation,
)
from utilitune.live.exploring import Exploring
from utilitune.live.failures import NEVER_WORKED
from utilitune.live.grid import GivenRuns
from utilitune.live.proof import Proof
from utilitune.live.running import open_store, run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.rivals.packages.live import Match, play_into
from utilitune.scenario import FailurePolicy, ListedInstances, Scenario
from utilitune.scenario.model import SearchRules
from utilitune.store import ConfigurationRecord, RunFolder, StoredOrigin, read_run_folder
from utilitune.targets.base import Invocation

Behaviour = Callable[[Job], SimulatedRun]


@dataclass
class Work:
    """What an entrance is given; `begun` counts the runs that were begun."""

    folder: Path
    scenario: Scenario
    budget: Budget = field(default=Budget(max_runs=40))
    imagined: Behaviour = behaviour
    slots: int = 1
    begun: int = 0

    def backend(self) -> SimulatedBackend:
        return SimulatedBackend(self.slots, self.made)

    def made(self, job: Job) -> SimulatedRun:
        self.begun += 1
        return self.imagined(job)


def run(work: Work) -> None:
    settings = replace(settings_of(work.scenario, workers=work.slots), budget=work.budget)
    run_scenario(work.scenario, work.folder, settings, backend=work.backend())


def ask_and_tell(work: Work) -> None:
    budget = work.budget
    limits = {"runs": budget.max_runs}
    if budget.max_time_s < float("inf"):
        limits["cpu_time_s"] = budget.max_time_s
    if budget.max_wall_s < float("inf"):
        limits["wall_time_s"] = budget.max_wall_s
    scenario = replace(work.scenario, stop=replace(work.scenario.stop, **limits))
    rules = Task(scenario).rules
    with Tuner(scenario, work.folder) as tuner:
        while not tuner.done:
            for trial in tuner.ask(work.slots):
                invocation = Invocation(trial.configuration, trial.instance, trial.seed, trial.captime_s)
                ended = work.made(rules.job(invocation))
                crashed = ended.exit_code != 0
                late = ended.runtime_s > trial.captime_s
                seconds = None if late and not crashed else ended.runtime_s
                tuner.tell(trial, seconds, "crashed" if crashed else None)


def peer(work: Work) -> None:
    match = Match.of(work.scenario, Sweep(captime_s=64.0), work.budget)
    with contextlib.closing(open_store(Task(match.scenario), work.folder)) as store:
        play_into(store, work.backend(), match)


def search(work: Work) -> None:
    """`run` as it is by default: wager, with a search beside the proof."""
    run(replace_in_place(work, procedure="wager", options={}, search=SearchRules()))


def collecting(work: Work) -> None:
    size = GridSize(configurations=2, instances=30, captime_s=64.0, budget=work.budget)
    with contextlib.closing(open_store(Task(work.scenario), work.folder)) as store:
        collect_into(store, work.backend(), work.scenario, size)


def evaluation(work: Work) -> None:
    test = ListedInstances(tuple(f"t{n}" for n in range(30)), files=False)
    scenario = replace(work.scenario, test=test)
    default, other = (
        ConfigurationRecord(number, {"x": x}, StoredOrigin.DEFAULT) for number, x in enumerate((0.9, 0.5))
    )
    plan = EvaluationPlan(scenario, other, default, 64.0, scenario.digest(), work.budget)
    with contextlib.closing(open_store(Task(scenario), work.folder)) as store:
        run_evaluation(plan, store, work.backend())


def replace_in_place(work: Work, **changes: object) -> Work:
    """The same work, which goes on counting, with another scenario."""
    work.scenario = replace(work.scenario, **changes)
    return work


ENTRANCES = {
    "run": run,
    "search": search,
    "ask and tell": ask_and_tell,
    "peer": peer,
    "collect": collecting,
    "evaluate": evaluation,
}


@pytest.fixture(params=ENTRANCES)
def entrance(request: pytest.FixtureRequest) -> Callable[[Work], str]:
    """Works until it stops, and says with which code; what it raises besides must fit that code."""

    def enter(work: Work) -> str:
        raised: BaseException | None = None
        try:
            ENTRANCES[request.param](work)
        except (StoppedError, TargetError, KeyboardInterrupt) as error:
            raised = error
        with contextlib.closing(read_run_folder(work.folder)) as store:
            stop = store.sessions()[-1].stop
        assert stop is not None, "a start that ended in good order must say why"
        if isinstance(raised, KeyboardInterrupt):
            assert stop.code == "interrupted"
        elif raised is not None:
            assert str(raised) == stop.advice
        if stop.code == "target-fails" and request.param != "ask and tell":
            assert isinstance(raised, TargetError)
        return stop.code

    return enter


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "run", make_scenario(tmp_path))


def stored(folder: Path) -> list[tuple]:
    with contextlib.closing(read_run_folder(folder)) as store:
        return [(each.request, each.outcome.status, each.outcome.runtime_s) for each in store.runs()]


def at_run(number: int, act: Callable[[], object]) -> Behaviour:
    """The imagined program, and something else that happens while its run of this number is at work."""
    begun = 0

    def imagined(job: Job) -> SimulatedRun:
        nonlocal begun
        begun += 1
        if begun == number:
            act()
        return behaviour(job)

    return imagined


@pytest.mark.parametrize("slots", [1, 3])
def test_a_request_to_stop_is_honoured(entrance, work: Work, slots: int):
    work.slots = slots
    work.imagined = at_run(5, (work.folder / "stop-requested").touch)
    assert entrance(work) == "stop-requested"
    assert work.begun <= 5 + slots - 1
    work.begun, work.imagined = 0, behaviour
    assert entrance(work) == "run-limit"
    assert len(stored(work.folder)) == 40


def test_an_outcome_that_the_scenario_says_to_stop_at_ends_it(entrance, work: Work):
    work.scenario = replace(work.scenario, policies={RunStatus.CRASHED: FailurePolicy.ABORT})
    work.imagined = lambda job: SimulatedRun(0.5, exit_code=int(work.begun == 4))
    assert entrance(work) == "aborted"
    assert [status for _, status, _ in stored(work.folder)] == [RunStatus.FINISHED] * 3 + [RunStatus.CRASHED]
    assert work.begun == 4


def test_a_target_that_always_fails_ends_it(entrance, work: Work):
    work.imagined = lambda _: SimulatedRun(0.5, exit_code=3)
    assert entrance(work) == "target-fails"
    assert NEVER_WORKED <= work.begun == len(stored(work.folder)) < 40


@pytest.mark.parametrize("slots", [1, 4])
def test_the_budget_of_runs_is_kept_exactly_and_can_be_raised(entrance, work: Work, slots: int):
    work.slots = slots
    for limit in (7, 9):
        work.budget = Budget(max_runs=limit)
        assert entrance(work) == "run-limit"
        assert work.begun == len(stored(work.folder)) == limit


def test_the_budget_of_time_ends_it_with_the_run_that_spends_it(entrance, work: Work):
    work.budget = Budget(max_time_s=50.0)
    assert entrance(work) == "time-limit"
    paid_s = [runtime_s for _, _, runtime_s in stored(work.folder)]
    assert sum(paid_s[:-1]) < 50.0 <= sum(paid_s)


def test_the_budget_of_wall_clock_time_ends_it_before_anything_new(entrance, work: Work):
    work.budget = Budget(max_runs=5)
    assert entrance(work) == "run-limit"
    work.budget = Budget(max_wall_s=1e-9)
    assert entrance(work) == "wall-limit"
    assert work.begun == len(stored(work.folder)) == 5


def crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("execution.machine", "live.live_run"):
        monkeypatch.setattr(f"utilitune.{place}.available_cores", lambda: 1)


def test_runs_that_disturb_each_other_are_told_of_once(entrance, work: Work, monkeypatch, request):
    crowd(monkeypatch)
    work.slots, work.scenario = 2, replace(work.scenario, measure=Measure.WALL)
    for limit in (3, 5):
        work.budget = Budget(max_runs=limit)
        entrance(work)
    with contextlib.closing(read_run_folder(work.folder)) as store:
        warnings = [event.text for event in store.events() if event.kind == "warning"]
    made_by_others = "ask and tell" in request.node.name
    assert len(warnings) == (0 if made_by_others else 1)
    assert made_by_others or "2 workers share 1 core: runs disturb each other" in warnings[0]


def test_a_run_is_stored_before_whoever_decides_hears_of_it(entrance, work: Work, monkeypatch):
    kept: list[object] = []
    heard: list[object] = []
    add = RunFolder.add_run

    def spy(store, record):
        number = add(store, record)
        kept.append(record.request)
        return number

    monkeypatch.setattr(RunFolder, "add_run", spy)
    for kind in (Proof, Exploring, GivenRuns):
        original = kind.hear

        def hear(self, ended, original=original):
            heard.append(ended.request)
            assert ended.request in kept
            original(self, ended)

        monkeypatch.setattr(kind, "hear", hear)
    work.slots = 3
    assert entrance(work) == "run-limit"
    assert len(kept) == 40
    assert set(heard) == set(kept)


@pytest.mark.parametrize("moment", [1, 6, 23])
def test_a_kill_loses_nothing_and_repeats_nothing(entrance, work: Work, moment: int):
    work.imagined = at_run(moment, lambda: os.kill(os.getpid(), signal.SIGKILL))
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            entrance(work)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert len(stored(work.folder)) == moment - 1
    work.imagined = behaviour
    assert entrance(work) == "run-limit"
    undisturbed = replace(work, folder=work.folder.with_name("undisturbed"), begun=0)
    assert entrance(undisturbed) == "run-limit"
    assert stored(work.folder) == stored(undisturbed.folder)


@pytest.fixture
def hears_ctrl_c():
    """Ctrl-C interrupts, even where the tests run in the background and have inherited that it does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_keeps_what_has_ended_and_it_goes_on_from_there(entrance, work: Work):
    work.imagined = at_run(6, lambda: signal.raise_signal(signal.SIGINT))
    assert entrance(work) == "interrupted"
    assert 5 <= len(stored(work.folder)) <= 6
    work.imagined = behaviour
    assert entrance(work) == "run-limit"
    undisturbed = replace(work, folder=work.folder.with_name("undisturbed"), begun=0)
    entrance(undisturbed)
    assert stored(work.folder) == stored(undisturbed.folder)


def test_an_evaluation_aborts_and_warns_like_everybody_else(tmp_path: Path, monkeypatch):
    crowd(monkeypatch)
    test = ListedInstances(("t1", "t2", "t3"), files=False)
    scenario = make_scenario(
        tmp_path, test=test, measure=Measure.WALL, policies={RunStatus.CRASHED: FailurePolicy.ABORT}
    )
    work = Work(tmp_path / "run", scenario, Budget(max_runs=3))
    run(work)
    crash = SimulatedBackend(2, lambda _: SimulatedRun(0.5, exit_code=1))
    monkeypatch.setattr(Task, "backend", lambda *_: crash)
    with contextlib.closing(read_run_folder(work.folder)) as store:
        plan = plan_evaluation(store, scenario, 0)
    with pytest.raises(TargetError, match="which the scenario says to stop at; this reproduces it: "):
        evaluate_in_folder(plan, work.folder, 2)
    place = work.folder / FOLDER_NAME / plan.digest[:12]
    with contextlib.closing(read_run_folder(place)) as store:
        assert store.sessions()[-1].stop.code == "aborted"
        assert [event.kind for event in store.events()] == ["warning"]


def test_without_a_budget_there_is_no_limit(work: Work):
    assert NO_LIMIT.spent(1e300, 10**300, 1e300) is not None  # the runs that a compiled rule can count
    assert NO_LIMIT.spent(1e300, 10**15, 1e300) is None
    assert not NO_LIMIT.limited

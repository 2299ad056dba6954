"""Runs while rules are being compiled: only those that are needed anyway; nothing is lost or told twice."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from cli.live_runs import Toy
from live.simulated_scenarios import backend, make_scenario
from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus
from utilitune.domain.stopping import Budget, interrupted
from utilitune.live import prelude as module
from utilitune.live import running
from utilitune.live.asker import Again, Done, Ended, Join, Make, Room, UnderWay
from utilitune.live.driver import Driver
from utilitune.live.live_run import LiveRun, Terms
from utilitune.live.meetings import MEETINGS_ALONE, milestone_s
from utilitune.live.prelude import Compilation, FirstRuns, Prelude, ready_asker
from utilitune.live.running import RunSettings, asker_for, open_store, settings_of
from utilitune.live.supply import Drawn
from utilitune.live.task import Task
from utilitune.procedures.engine import Origin
from utilitune.procedures.naming import ProcedureSpec
from utilitune.scenario import Population, read_scenario
from utilitune.scenario.model import SearchRules
from utilitune.spaces import Assignment
from utilitune.store import MemoryStore
from utilitune.store.records import ConfigurationRecord, StoredOrigin
from utilitune.targets.base import Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SPEC = ProcedureSpec(delta=0.1, captime0_s=0.01, captime_limit_s=1.0)
SETTINGS = RunSettings(SPEC, Budget(max_time_s=60.0, max_runs=300), 2)
DRAWN = Drawn(Assignment({"x": 1}), Origin.GIVEN)


class Later:
    """A compilation that is over when a test says so, or after so many questions."""

    def __init__(self, questions: float = math.inf) -> None:
        self.over = False
        self.trees = True
        self.left = questions
        self.waited_s: list[float] = []
        self.closed = 0

    def is_over(self, patience_s: float = 0.0) -> bool:
        self.waited_s.append(patience_s)
        self.left -= 1
        return self.over or self.left < 0

    def has_trees(self) -> bool:
        return self.trees

    def close(self) -> None:
        self.closed += 1


class Decides:
    """An asker that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.phases: list[object] = ["phase"]

    def restore(self, configurations: list[ConfigurationRecord]) -> None:
        self.heard.append(("restore", [record.index for record in configurations]))

    def hear(self, run: Ended) -> None:
        self.heard.append(("hear", run.request.position))

    def joined(self, number: int, drawn: Drawn) -> None:
        self.heard.append(("joined", number))

    def nominated(self, number: int, configuration: int) -> None:
        self.heard.append(("nominated", number))

    def ask(self, room: Room) -> Done:
        return Done(interrupted())

    def progress(self) -> str:
        return "progress"

    def captime_note(self) -> str:
        return "a note"

    def close(self) -> None:
        self.heard.append("close")


FIRST = FirstRuns((DRAWN.assignment,), 2.0, 5, 40, 100.0, 0.1, at_once=2)


def prelude(**changes: object) -> tuple[Prelude, Decides, Later]:
    decides, later = Decides(), Later()

    def decider() -> Decides:
        decides.heard.append("built")
        return decides

    return Prelude(decider, later, replace(FIRST, **changes)), decides, later


def room(free: int = 2, *under_way: int) -> Room:
    invocation = Invocation({}, "i", 1, 2.0)
    runs = {(0, at): UnderWay(RunRequest(0, at, 2.0), invocation, 0.0, ahead=True) for at in under_way}
    return Room(free, runs, 0.0)


def ended(position: int, configuration: int = 0) -> Ended:
    return Ended(RunRequest(configuration, position, 2.0), RunOutcome(RunStatus.FINISHED, 1.0))


def test_the_default_is_run_on_the_first_instances():
    first, _, _ = prelude()
    step = first.ask(room())
    assert isinstance(step, Join)
    first.joined(0, DRAWN)
    step = first.ask(room())
    assert isinstance(step, Make)
    assert [wanted.request for wanted in step.runs] == [RunRequest(0, 0, 2.0), RunRequest(0, 1, 2.0)]
    first.hear(ended(1))
    step = first.ask(room(1, 0))
    assert [wanted.request.position for wanted in step.runs] == [2]


def test_the_asker_hears_everything_once_it_is_ready():
    first, decides, later = prelude()
    first.restore([])
    first.ask(room())
    first.joined(0, DRAWN)
    first.hear(ended(0))
    assert not first.is_ready
    assert first.captime_note() == ""
    later.over = True
    assert isinstance(first.ask(room()), Done)
    assert first.is_ready
    assert decides.heard == ["built", ("restore", [0]), ("hear", 0)]
    first.joined(1, DRAWN)
    first.hear(ended(3))
    first.nominated(1, 1)
    assert decides.heard[-3:] == [("joined", 1), ("hear", 3), ("nominated", 1)]
    assert first.progress() == "progress"
    assert first.phases == ["phase"]
    assert first.captime_note() == "a note"
    assert later.closed == 1
    first.close()
    assert decides.heard[-1] == "close"
    assert later.closed == 1


def test_it_waits_where_nothing_is_left_to_run():
    first, _, later = prelude(default_runs=2)
    first.ask(room())
    first.joined(0, DRAWN)
    for position in range(2):
        first.hear(ended(position))
    step = first.ask(room())
    assert isinstance(step, Make)
    assert not step.runs
    assert step.may_wait
    assert later.waited_s[-1] > 0
    assert max(later.waited_s[:-1]) == 0


def test_stored_runs_are_not_made_again():
    first, _, _ = prelude()
    first.hear(ended(0))
    first.hear(ended(3, configuration=7))
    first.ask(room())
    first.joined(0, DRAWN)
    assert [wanted.request.position for wanted in first.ask(room()).runs] == [1, 2]


def test_nothing_is_proved_before():
    first, _, _ = prelude()
    assert first.progress() is None
    first.joined(0, DRAWN)
    standing = first.progress()
    assert (standing.epsilon, standing.delta, standing.best_index) == (1.0, 0.1, 0)
    assert first.phases == []


def test_a_stop_ends_the_compilation():
    first, decides, later = prelude()
    first.close()
    assert later.closed == 1
    assert decides.heard == []
    with pytest.raises(RuntimeError, match="nothing is decided"):
        first.nominated(1, 0)


def test_a_compiling_process_ends_with_us(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_CHILD", "import time; time.sleep(600)")
    loaded = threading.Event()
    compilation = Compilation(ProcedureSpec(), loaded.set)
    assert not compilation.is_over()
    assert not loaded.is_set()
    compilation.close()
    assert compilation.is_over(5.0)
    assert loaded.is_set()
    assert compilation._child.poll() is not None


def test_a_compiling_process_notices_that_its_parent_is_gone():
    code = (
        "import utilitune.live.prelude as p, time; p.warm_up = lambda *_: time.sleep(600); p.compile_rules()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    child.stdin.write(b'{"name": "wager"}\n')
    child.stdin.flush()
    time.sleep(0.1)
    child.stdin.close()
    assert child.wait(timeout=120) == 1


def test_compiled_rules_need_no_prelude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task = Task(read_scenario(Toy.write(tmp_path).scenario))
    decides = Decides()
    monkeypatch.setattr(module, "warm_up", lambda *_: decides.heard.append("ready"))
    monkeypatch.setattr(module, "are_compiled", lambda _: True)
    assert ready_asker(lambda: decides, task, SETTINGS, None, lambda: None) is decides
    assert decides.heard == ["ready"]
    monkeypatch.setattr(module, "are_compiled", lambda _: False)
    monkeypatch.setattr(module, "Compilation", lambda *_: Later())
    monkeypatch.setattr(module, "available_cores", lambda: 4)
    begun = ready_asker(lambda: decides, task, SETTINGS, None, lambda: None)
    assert isinstance(begun, Prelude)
    assert begun._meanwhile._first == FirstRuns(
        task.given, pytest.approx(0.1), task.positions, 75, pytest.approx(15.0), 0.1, at_once=2
    )


def test_compiling_has_a_core_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task = Task(read_scenario(Toy.write(tmp_path).scenario))
    monkeypatch.setattr(module, "are_compiled", lambda _: False)
    monkeypatch.setattr(module, "Compilation", lambda *_: Later())
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    begun = ready_asker(Decides, task, SETTINGS, None, lambda: None)
    begun.ask(room())
    begun.joined(0, DRAWN)
    assert len(begun.ask(room(2)).runs) == 1
    assert not begun.ask(room(1, 0)).runs


@pytest.mark.parametrize(("epsilon", "best", "begins"), [(1.0, 0, True), (0.5, 0, False), (1.0, 3, False)])
def test_a_resumed_run_never_knows_less_than_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epsilon: float, best: int, begins: bool
):
    task = Task(read_scenario(Toy.write(tmp_path).scenario))
    decides = Decides()
    monkeypatch.setattr(module, "warm_up", lambda *_: decides.heard.append("ready"))
    monkeypatch.setattr(module, "are_compiled", lambda _: False)
    monkeypatch.setattr(module, "Compilation", lambda *_: Later())
    last = Progress(best, epsilon, None, 0.1, 5.0, 9, 9, 4, 4)
    asker = ready_asker(lambda: decides, task, SETTINGS, last, lambda: None)
    assert isinstance(asker, Prelude) is begins
    assert decides.heard == ([] if begins else ["ready"])


@pytest.mark.parametrize("limit", [{"time_s": 1.5}, {"runs": 2}])
def test_only_a_part_of_the_budget_is_spent(limit: dict[str, float]):
    first, _, _ = prelude(**limit)
    first.ask(room())
    first.joined(0, DRAWN)
    assert first.ask(room()).runs
    for position in range(2):
        first.hear(ended(position))
    assert not first.ask(room()).runs


def searched(directory: Path, name: str, questions: float) -> Searched:
    """A run with search on a virtual clock, whose rules are compiled after so many questions."""
    scenario = make_scenario(
        directory,
        procedure="wager",
        options={"entropy": "1f"},
        population=Population.FINITE,
        search=SearchRules(0.5),
    )
    settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=400))
    task, folder = Task(scenario), directory / name
    later = Later(questions)
    with closing(open_store(task, folder)) as store:
        hunt = running._search_meanwhile(task, settings, running._begun_search(store, settings))
        first = FirstRuns(task.given, 5.0, 20, 200, 1e9, 0.1)
        asker = Prelude(lambda: asker_for(task, settings, store), later, first, hunt)
        live = LiveRun(task, store, asker, settings.terms())
        with backend(1) as workers, live.session():
            reason = Driver(live, workers).work()
            live.close(reason)
        records = store.configurations()
        return Searched(
            asker.is_ready,
            [each.assignment for each in records if each.origin is StoredOrigin.CANDIDATE],
            [each.assignment for each in records if each.origin is StoredOrigin.RANDOM],
            [records[number].assignment for number in store.nominations()],
        )


class Searched(NamedTuple):
    ready: bool
    candidates: list[Mapping[str, object]]
    drawn: list[Mapping[str, object]]
    nominated: list[Mapping[str, object]]


@pytest.mark.parametrize("questions", [20, 90, 200])
def test_what_is_found_does_not_depend_on_how_long_compiling_took(tmp_path: Path, questions: int):
    at_once = searched(tmp_path, "at once", 0)
    later = searched(tmp_path, "later", questions)
    assert later.ready
    assert len(at_once.nominated) >= 2
    for one, other in zip(at_once[1:], later[1:], strict=True):
        shared = min(len(one), len(other))
        assert shared > 0
        assert one[:shared] == other[:shared]


class Searches:
    """A search that counts how often it was asked to go on."""

    def __init__(self) -> None:
        self.went_on = 0
        self.spent_s = self.first_s = self.until_s = 0.0

    def number(self, assignment: Assignment, number: int) -> None:
        pass

    def go_on(self, until_s: float) -> tuple[Drawn, ...] | None:
        self.went_on += 1
        self.until_s = until_s
        return (DRAWN,) if self.went_on < 100 else None

    def close(self) -> None:
        pass


def test_without_its_model_search_goes_a_few_steps_only():
    later, hunt = Later(), Searches()
    later.trees = False
    first = Prelude(Decides, later, FIRST, hunt)
    steps = []
    for number in range(20):
        steps.append(type(first.ask(room())))
        if steps[-1] is Join:
            first.joined(number, DRAWN)
    assert steps == [Join] * module.FEWEST_CANDIDATES + [Make] * (20 - module.FEWEST_CANDIDATES)
    later.trees = True
    assert isinstance(first.ask(room()), Join)
    hunt.went_on = 100
    assert isinstance(first.ask(room()), Again)
    first.close()


def test_search_goes_no_further_alone_than_to_its_first_offer():
    class Waits(Searches):
        def go_on(self, until_s: float) -> tuple[Drawn, ...]:
            super().go_on(until_s)
            return ()

        def requests(self, count: int) -> list[RunRequest]:
            return [RunRequest(3, 0, 1.0)] * count

    hunt = Waits()
    first = Prelude(Decides, Later(), FIRST, hunt)
    first.ask(room())
    first.joined(0, DRAWN)
    last_s = milestone_s(2.0, MEETINGS_ALONE)
    steps = [(0.0, 0.0, 3), (2.0, last_s, 3), (last_s - 1.0, last_s, 3), (last_s, last_s, 0)]
    for spent_s, until_s, whose in steps:
        hunt.spent_s, hunt.first_s = spent_s, min(2.0, spent_s)
        assert first.ask(room()).runs[0].request.configuration == whose
        assert hunt.until_s == until_s
    first.close()


def test_compiling_is_outside_every_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task = Task(read_scenario(Toy.write(tmp_path).scenario))
    first, _, later = prelude()
    live = LiveRun(task, MemoryStore(task.snapshot), first, Terms(Budget(max_wall_s=5.0)))
    live.open()
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 1000.0)
    assert live.spent() is None
    assert live.elapsed_s() == 0.0
    live.next_runs(1)
    later.over = True
    live.next_runs(1)
    assert live.elapsed_s() == 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now + 1007.0)
    assert live.elapsed_s() == pytest.approx(7.0)
    assert live.spent().code == "wall-limit"

"""Search beside a proof, on a virtual clock: shares, nominations, resuming, and what the answer is."""

from __future__ import annotations

import random
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cli.live_runs import invoke
from live.simulated_scenarios import backend, behaviour, make_scenario
from utilitune.domain import Guesses
from utilitune.domain.stopping import EPSILON_REACHED, Budget
from utilitune.errors import ScenarioError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.asker import Make
from utilitune.live.choosing import Choice
from utilitune.live.exploring import Exploring
from utilitune.live.hunting import Hunt, searcher_named
from utilitune.live.nominating import Orders
from utilitune.live.result import load
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import Population
from utilitune.scenario.model import SearchRules, StopRules
from utilitune.search.base import WantedRun
from utilitune.spaces import ParameterSpace
from utilitune.store import read_run_folder
from utilitune.store.records import StoredOrigin


def searching(tmp_path, share=0.5, runs=400, **changes):
    usual = {
        "procedure": "wager",
        "options": {},
        "population": Population.FINITE,
        "search": SearchRules(share),
        "stop": StopRules(runs=runs),
        "workers": 1,
    }
    return make_scenario(tmp_path, **(usual | changes))


def facts(folder):
    """Everything a run has stored that must not depend on timing."""
    with closing(read_run_folder(folder)) as store:
        return (
            [(record.index, record.assignment, record.origin) for record in store.configurations()],
            [(run.request, run.outcome.runtime_s) for run in store.runs()],
            store.nominations(),
        )


def go(scenario, folder, workers=1):
    settings = replace(settings_of(scenario), workers=workers)
    return run_scenario(scenario, folder, settings, backend=backend(workers))


def test_candidates_are_stored_as_such_and_the_best_is_nominated(tmp_path):
    result = go(searching(tmp_path, runs=1000, options={"entropy": "fixed"}), tmp_path / "run")
    with closing(read_run_folder(tmp_path / "run")) as store:
        records, nominated = store.configurations(), store.nominations()
        assert store.facts()["entropy"]
    assert {StoredOrigin.DEFAULT, StoredOrigin.RANDOM, StoredOrigin.CANDIDATE} == {
        record.origin for record in records
    }
    assert nominated
    assert all(records[number].origin is StoredOrigin.CANDIDATE for number in nominated)
    assert result.best in [records[number].assignment for number in nominated]
    assert abs(result.best["x"] - 0.3) < 0.15


def test_where_more_is_proved_of_another_whoever_looks_at_the_run_is_told(tmp_path, monkeypatch):
    """Only the end of the run's own output said so, neither its report nor `status`."""
    folder, told = tmp_path / "run", iter(["More is proved of configuration 7."] * 1000)
    monkeypatch.setattr(Choice, "sentence", lambda _: next(told, ""))
    result = go(searching(tmp_path, runs=200), folder)
    assert "More is proved of configuration 7." in result.note
    again = load(folder)
    assert again.note == result.note == again.to_dict()["note"]
    assert "More is proved of configuration 7." in invoke(
        "report", folder, "-o", folder / "r.html"
    ).stdout + (folder / "r.html").read_text(encoding="utf-8")
    assert "More is proved of configuration 7." in " ".join(invoke("status", folder).stdout.split())
    told = iter(())
    assert go(searching(tmp_path, runs=300), folder).note == load(folder).note == ""


@pytest.mark.parametrize("workers", [1, 4])
def test_while_both_sides_wait_for_runs_a_look_is_worked_out_once(tmp_path, monkeypatch, workers):
    """The line of `run` looks ten times a second, and a driver that waits asks as often."""
    ask, progress, candidates = Exploring.ask, Exploring.progress, Choice.candidates
    looks = {"all": 0, "worked out": 0}

    def counted(choice):
        looks["worked out"] += 1
        return candidates(choice)

    def looked_at(asker):
        looks["all"] += 1
        before = looks["worked out"]
        found = progress(asker)
        looks["worked out"], worked_out = before, looks["worked out"]
        with asker._by_what_counts():
            assert found == asker._choice.candidates()[1], "what was kept is not what is so by now"
        looks["worked out"] = worked_out
        return found

    def asked_again(asker, room):
        step = ask(asker, room)
        for _ in range(4 if isinstance(step, Make) else 0):
            asker.progress()
            step = ask(asker, room)
            asker.progress()
            if not isinstance(step, Make):
                break
        return step

    monkeypatch.setattr(Choice, "candidates", counted)
    monkeypatch.setattr(Exploring, "progress", looked_at)
    monkeypatch.setattr(Exploring, "ask", asked_again)
    go(searching(tmp_path, runs=80, options={"entropy": "fixed"}), tmp_path / "run", workers)
    assert looks["worked out"] < looks["all"] / 3


def test_random_draws_do_not_depend_on_the_search(tmp_path):
    def draws(name, **changes):
        go(searching(tmp_path, **changes), tmp_path / name)
        with closing(read_run_folder(tmp_path / name)) as store:
            return [each.assignment for each in store.configurations() if each.origin is StoredOrigin.RANDOM]

    with_search, without = draws("with", runs=500), draws("without", share=0.0, options={"proposals": 0.0})
    shared = min(len(with_search), len(without))
    assert shared > 3
    assert with_search[:shared] == without[:shared]


@pytest.mark.parametrize("population", list(Population))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_resumed_run_goes_on_as_if_it_had_never_stopped(tmp_path, population, seed):
    same = {"population": population, "seed": seed, "options": {"entropy": "the same"}}
    go(searching(tmp_path, runs=400, **same), tmp_path / "whole")
    moments = random.Random(seed)
    runs = 0
    while runs < 400:
        runs = min(400, runs + moments.randint(1, 40))
        go(searching(tmp_path, runs=runs, **same), tmp_path / "parts")
    whole, parts = facts(tmp_path / "whole"), facts(tmp_path / "parts")
    assert len(whole[1]) == 400
    assert whole[2], "nothing was nominated: the test shows nothing"
    assert parts == whole


def test_without_a_share_nothing_is_searched(tmp_path):
    go(searching(tmp_path, share=0.0, runs=100), tmp_path / "run")
    with closing(read_run_folder(tmp_path / "run")) as store:
        assert StoredOrigin.CANDIDATE not in {record.origin for record in store.configurations()}
        assert store.nominations() == []


def test_a_run_begun_without_search_goes_on_without(tmp_path):
    go(searching(tmp_path, share=0.0, runs=100), tmp_path / "run")
    go(searching(tmp_path, share=0.5, runs=200), tmp_path / "run")
    with closing(read_run_folder(tmp_path / "run")) as store:
        assert StoredOrigin.CANDIDATE not in {record.origin for record in store.configurations()}


def test_several_workers_search_and_prove(tmp_path):
    result = go(searching(tmp_path, runs=400, workers=3), tmp_path / "run", workers=3)
    assert abs(result.best["x"] - 0.3) < 0.15


def test_an_endless_source_judges_nominees_on_fresh_instances(tmp_path):
    result = go(searching(tmp_path, population=Population.INFINITE, runs=400), tmp_path / "run")
    assert abs(result.best["x"] - 0.3) < 0.2


def test_a_found_configuration_gets_its_promise(tmp_path):
    scenario = searching(tmp_path, runs=1200, stop=StopRules(epsilon=0.4, runs=1200))
    found = scenario.space.validate({"x": 0.31})
    settings = replace(settings_of(scenario), workers=1, found=found)
    result = run_scenario(scenario, tmp_path / "proof", settings, backend=backend(1))
    assert result.best == found
    assert result.progress.epsilon <= 0.4
    assert result.stop_reason.code == "epsilon-reached"
    with closing(read_run_folder(tmp_path / "proof")) as store:
        assert len(store.nominations()) == 1


class AtTheQuickEnd:
    """A user's suggester."""

    def __init__(self, task):
        self.space = task.space

    def suggest(self, pool, incumbent, generator):
        return self.space.validate({"x": 0.25 + 0.1 * float(generator.random())})


class AtTheSlowEnd(AtTheQuickEnd):
    """A suggester that never finds anything good."""

    def suggest(self, pool, incumbent, generator):
        return self.space.validate({"x": 0.9 + 0.1 * float(generator.random())})


@pytest.mark.parametrize("population", list(Population))
def test_search_tries_the_best_draws_of_the_proof(tmp_path, population, monkeypatch):
    offered = []

    def offer(hunt, number):
        offered.append(number)
        usual(hunt, number)

    usual = Hunt.offer
    monkeypatch.setattr(Hunt, "offer", offer)
    rules = SearchRules(0.5, f"{__name__}:AtTheSlowEnd")
    result = go(searching(tmp_path, runs=600, search=rules, population=population), tmp_path / "run")
    with closing(read_run_folder(tmp_path / "run")) as store:
        records, nominations = store.configurations(), store.nominations()
    assert offered
    assert len(set(offered)) == len(offered), "the same draw was offered twice"
    assert {records[number].origin for number in offered} == {StoredOrigin.RANDOM}
    best = min(offered, key=lambda number: abs(records[number].assignment["x"] - 0.3))
    assert records[best].index not in nominations, "a draw is judged as a draw"
    assert abs(result.best["x"] - 0.3) < 0.2


def test_a_class_of_the_user_searches(tmp_path):
    scenario = searching(tmp_path, runs=150, search=SearchRules(0.5, f"{__name__}:AtTheQuickEnd"))
    result = go(scenario, tmp_path / "run")
    assert 0.25 <= result.best["x"] <= 0.35


@pytest.mark.parametrize("method", ["utilitunes", "nowhere:Searcher", "math:nothing"])
def test_an_unknown_method_is_refused(method):
    with pytest.raises(ScenarioError, match="search method"):
        searcher_named(method, Path())


@pytest.mark.parametrize(
    ("text", "reason"), [("1 / 0", "ZeroDivisionError"), ("exit(0)", "ends the program")]
)
def test_a_module_that_cannot_be_imported_is_refused(tmp_path, monkeypatch, text, reason):
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"searchers_{reason.partition(' ')[0]}"
    (tmp_path / f"{name}.py").write_text(text)
    with pytest.raises(ScenarioError, match=f"cannot be imported .*{reason}"):
        searcher_named(f"{name}:Mine", tmp_path)


def test_a_class_that_is_no_searcher_is_refused(tmp_path):
    scenario = searching(tmp_path, runs=50, search=SearchRules(0.5, "builtins:id"))
    with pytest.raises(ScenarioError, match="neither"):
        go(scenario, tmp_path / "run")


@pytest.mark.parametrize("population", list(Population))
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_resumed_run_stands_where_an_uninterrupted_one_stands(tmp_path, workers, population):
    """Search and proof meet at milestones: stops and the speed of workers change nothing that is proved."""
    scenario = searching(tmp_path, population=population, options={"entropy": "fixed"})

    def stand(name, *stops):
        for runs in stops:
            again = replace(scenario, stop=StopRules(runs=runs, epsilon=0.3, gamma=0.3))
            result = go(again, tmp_path / name, workers)
        with closing(read_run_folder(tmp_path / name)) as store:
            nominations = [store.configurations()[number].assignment for number in store.nominations()]
        now = result.progress
        return now.epsilon, now.gamma, now.gain, now.rounds, result.best, nominations

    straight = stand("straight", 3000)
    assert straight[-1], "nothing was nominated"
    assert stand("straight", 3000) == straight, "a resumed run has lost something"
    assert stand("stopped", 40, 130, 3000) == straight


@pytest.mark.parametrize("population", list(Population), ids=lambda each: each.value)
@pytest.mark.parametrize("found", [None, 0.9, 0.3])
def test_a_nominee_that_takes_part_already_is_run_once_like_all_others(tmp_path, population, found):
    """On an endless source it was once asked for the same runs for ever, as it was told of none of them.

    What search finds here was drawn already: it is judged as a draw, and only a given one is nominated.
    """
    few = ParameterSpace.from_tables({"x": {"type": "categorical", "values": [0.9, 0.1, 0.3, 0.5]}})
    scenario = make_scenario(
        tmp_path, procedure="wager", options={}, population=population, space=few, search=SearchRules()
    )
    chosen = None if found is None else few.validate({"x": found})
    settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=220), found=chosen)
    run_scenario(scenario, tmp_path / "run", settings, backend=backend(2))
    with closing(read_run_folder(tmp_path / "run")) as store:
        assert bool(store.nominations()) == (found is not None)
        made = [
            (run.request.configuration, run.request.position, run.request.captime_s) for run in store.runs()
        ]
    assert len(made) == len(set(made))


class Looks:
    """Looks at as many instances of one candidate as it is told to, and then names it."""

    many = 40
    until_s = float("inf")

    def __init__(self, task):
        self.candidates = [task.space.default(), task.space.validate({"x": 0.3})]
        self.spent_s, self.seen = 0.0, 0

    def wanted(self, count):
        return [] if self.seen >= self.many else [WantedRun(1, self.seen, 64.0)]

    def tell(self, run, seen):
        self.seen, self.spent_s = run.position + 1, self.spent_s + seen.known_s

    def nominee(self):
        return 1 if self.seen >= self.many else 0


@pytest.mark.parametrize("later", [2, 40, 80])
def test_a_nominee_is_judged_behind_what_shaped_it_also_by_another_search(tmp_path, monkeypatch, later):
    """A later start may look at fewer runs, such as a package that plans anew. Its nominee is the old one."""
    first = []

    def add_nominee(self, engine, number, known_as, first_fresh):
        first.append((number, first_fresh))
        return usual(self, engine, number, known_as, first_fresh)

    usual = Orders.add_nominee
    monkeypatch.setattr(Orders, "add_nominee", add_nominee)
    rules = SearchRules(0.5, f"{__name__}:Looks")
    scenario = searching(tmp_path, runs=300, search=rules, population=Population.INFINITE)
    go(scenario, tmp_path / "run")
    monkeypatch.setattr(Looks, "many", later)
    go(replace(scenario, stop=StopRules(runs=900)), tmp_path / "run")
    assert first == [(1, 40), (1, 40)]


def test_a_search_plans_with_the_time_of_the_first_start(tmp_path, monkeypatch):
    """irace planned anew when more time was given, and what was proved fell back."""
    planned = []

    class Plans(Looks):
        def __init__(self, task):
            planned.append(task.budget_s)
            super().__init__(task)

    monkeypatch.setattr(sys.modules[__name__], "Looks", Plans)
    scenario = searching(tmp_path, search=SearchRules(0.5, f"{__name__}:Looks"))
    for time_s in (100.0, 300.0):
        go(replace(scenario, stop=StopRules(cpu_time_s=time_s)), tmp_path / "run")
    assert planned == [50.0, 50.0, 50.0], "to see whether it works, to search, and to go on"


def decided(folder):
    """Who was nominated, and who was drawn, in this order; numbers depend on who was quicker."""
    configurations, _, nominations = facts(folder)
    nominated = [configurations[number][1] for number in nominations]
    return nominated, [values for _, values, origin in configurations if origin is StoredOrigin.RANDOM]


def filled(scenario, folder, guesses, workers=40, most=None):
    """Make a run on as many workers; how many were busy whenever one had ended, on average."""
    busy = []

    class Watched(SimulatedBackend):
        def wait(self, timeout_s=None):
            busy.append(len(self._in_flight) / workers)
            return super().wait(timeout_s)

    scenario = replace(scenario, guesses=guesses, workers=workers)
    settings = settings_of(scenario)
    if most is not None:
        settings = replace(settings, budget=Budget(max_runs=most))
    result = run_scenario(scenario, folder, settings, backend=Watched(workers, behaviour))
    return result, sum(busy) / len(busy)


def test_guesses_decide_nothing_and_fill_every_slot_where_asked_for(tmp_path):
    """Search and proof wait for each other at milestones: with all guesses, slots are filled then, too."""
    scenario = searching(
        tmp_path, options={"entropy": "fixed"}, stop=StopRules(epsilon=0.3, gamma=0.2, runs=20_000)
    )
    useful, some_busy = filled(scenario, tmp_path / "useful", Guesses.USEFUL)
    every, all_busy = filled(scenario, tmp_path / "all", Guesses.ALL)
    assert useful.stop_reason.code == every.stop_reason.code == EPSILON_REACHED
    assert decided(tmp_path / "useful") == decided(tmp_path / "all")
    assert useful.promise.epsilon == every.promise.epsilon
    assert all_busy >= 0.95
    assert some_busy < all_busy


@pytest.mark.parametrize("first", Guesses)
def test_a_run_goes_on_with_the_other_guesses(tmp_path, first):
    scenario = searching(
        tmp_path, options={"entropy": "fixed"}, stop=StopRules(epsilon=0.3, gamma=0.2, runs=20_000)
    )
    once, _ = filled(scenario, tmp_path / "once", first)
    filled(scenario, tmp_path / "parts", first, most=300)
    [other] = set(Guesses) - {first}
    resumed, _ = filled(scenario, tmp_path / "parts", other)
    assert resumed.promise == once.promise
    assert decided(tmp_path / "parts") == decided(tmp_path / "once")
    with closing(read_run_folder(tmp_path / "parts")) as store:
        assert [session.settings["guesses"] for session in store.sessions()] == [first, other]

"""What later starts owe to the first one; draws that repeat others; the gain over the default."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import pytest

from live.simulated_scenarios import (
    assert_workers_and_stops_change_nothing,
    backend,
    behaviour,
    make_scenario,
)
from utilitune.certificate.retracing import retraced
from utilitune.domain.stopping import Budget
from utilitune.errors import UsageError
from utilitune.live.collecting import GridSize, collect_into
from utilitune.live.first_start import (
    FRESH_FROM,
    NOMINEES_FROM,
    NOMINEES_LOOKED_AT,
    RULES,
    announced_gamma,
    settled,
)
from utilitune.live.reusing import EarlierRuns
from utilitune.live.running import open_store, run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import ListedInstances, Population
from utilitune.scenario.model import SearchRules
from utilitune.search.base import WantedRun
from utilitune.spaces import ParameterSpace
from utilitune.store import read_run_folder
from utilitune.store.records import StoredOrigin

LEVELS = ParameterSpace.from_tables({"x": {"type": "categorical", "values": [0.1, 0.3, 0.9], "default": 0.9}})


def wager(tmp_path, *, instances: int = 40, proposals: float = 0, epsilon: float | None = None, **changes):
    """A list of instances and a default."""
    scenario = make_scenario(
        tmp_path,
        procedure="wager",
        options={"proposals": proposals},
        population=Population.FINITE,
        training=ListedInstances(tuple(f"i{n}" for n in range(instances)), files=False),
    )
    scenario = replace(scenario, **changes)
    return replace(scenario, stop=replace(scenario.stop, epsilon=epsilon))


def play(scenario, folder, runs: float = 150, reuse=None, found=None):
    settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=runs), found=found)
    if reuse is not None:
        with contextlib.closing(read_run_folder(reuse)) as store:
            settings = replace(settings, earlier=EarlierRuns.read(store, reuse, scenario))
    return run_scenario(scenario, folder, settings, backend=backend(1))


def stored(folder):
    with contextlib.closing(read_run_folder(folder)) as store:
        return store.facts(), store.configurations(), list(store.runs())


def test_the_gain_over_the_default_is_part_of_the_promise(tmp_path):
    result = play(wager(tmp_path), tmp_path / "run", runs=600)
    assert result.progress.gain is not None
    assert result.progress.gain > 0
    assert result.promise.gain == result.progress.gain
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        assert store.last_progress().progress == result.progress


def test_a_space_of_three_is_run_once_and_known_wholly(tmp_path):
    result = play(wager(tmp_path, space=LEVELS, epsilon=0.01), tmp_path / "run", runs=2000)
    _, configurations, runs = stored(tmp_path / "run")
    ran = {run.request.configuration for run in runs}
    values = [configurations[number].assignment["x"] for number in sorted(ran)]
    assert len(values) == len(set(values)) <= 3
    assert len(configurations) > 3, "draws were repeated"
    assert result.progress.gamma == 0.0
    assert result.best == {"x": 0.3}
    assert "all configurations that can be set" in result.promise.sentence()


@pytest.mark.parametrize("schedule", ["default", "gamma-then-epsilon"])
@pytest.mark.parametrize("phases", [{}, {"phases": 5000}])
def test_phases_of_a_space_that_is_known_wholly_come_to_an_end(tmp_path, schedule, phases):
    """Every phase is proved at once where ε = 0; γ of the two thousandth is too small for a number."""
    scenario = wager(tmp_path, space=LEVELS, utility="uniform(k0=40)", instances=12, max_captime_s=None)
    growing = replace(scenario, options={"growth": "phases", "schedule": schedule, **phases})
    result = play(growing, tmp_path / "run", runs=1000)
    assert (result.progress.epsilon, result.progress.gamma) == (0.0, 0.0)
    assert result.stop_reason.code == "one-left"
    assert play(growing, tmp_path / "run", runs=2000).progress == result.progress


def settle_as_before(scenario, folder) -> None:
    """A folder in which an earlier version settled its rules, which knew nothing of listed spaces."""
    task = Task(scenario)
    with contextlib.closing(open_store(task, folder)) as store:
        settled(store, task, settings_of(scenario).specification)
        rules = json.loads(store.facts()[RULES])
        assert rules.pop("listed")
        store.keep_fact(RULES, json.dumps(rules))


def test_a_small_space_is_drawn_as_a_whole_before_the_first_run(tmp_path):
    result = play(wager(tmp_path, space=LEVELS), tmp_path / "run", runs=1)
    facts, configurations, _ = stored(tmp_path / "run")
    assert json.loads(facts[RULES])["listed"] is True
    assert sorted(each.assignment["x"] for each in configurations[1:]) == [0.1, 0.3, 0.9]
    assert result.progress.gamma == 0.0


def test_a_folder_of_an_earlier_version_keeps_its_rule(tmp_path):
    scenario = wager(tmp_path, space=LEVELS)
    settle_as_before(scenario, tmp_path / "run")
    play(scenario, tmp_path / "run", runs=60)
    facts, configurations, _ = stored(tmp_path / "run")
    assert "listed" not in json.loads(facts[RULES])
    assert len(configurations) > 4, "draws are repeated, as they were"
    result = play(scenario, tmp_path / "run", runs=400)
    assert result.progress.gamma == 0.0
    assert result.best == {"x": 0.3}


def test_a_folder_of_an_earlier_version_keeps_its_shares(tmp_path):
    """What was promised with the old shares and what would be with the new ones could fail apart."""
    scenario = wager(tmp_path)
    scenario = replace(scenario, stop=replace(scenario.stop, gamma=0.3))
    task, specification = Task(scenario), settings_of(scenario).specification
    with contextlib.closing(open_store(task, tmp_path / "run")) as store:
        assert settled(store, task, specification).undivided is True
        assert settled(store, task, specification).undivided is True, "as it was settled"
        rules = json.loads(store.facts()[RULES])
        assert rules.pop("undivided") is True
        store.keep_fact(RULES, json.dumps(rules))
        assert settled(store, task, specification).undivided is False
    play(scenario, tmp_path / "run", runs=60)
    assert "undivided" not in json.loads(stored(tmp_path / "run")[0][RULES])


def test_another_gamma_at_a_later_start_changes_no_rule(tmp_path):
    scenario = wager(tmp_path, space=LEVELS)
    play(scenario, tmp_path / "run", runs=5)
    again = replace(scenario, stop=replace(scenario.stop, gamma=0.9))
    play(again, tmp_path / "run", runs=40)
    facts, configurations, _ = stored(tmp_path / "run")
    assert json.loads(facts[RULES])["listed"] is True
    assert len(configurations) == 4


def test_where_few_draws_are_enough_for_the_gamma_that_is_asked_for_nothing_is_listed(tmp_path):
    scenario = wager(tmp_path, space=ParameterSpace.from_tables({"x": {"type": "integer", "range": [1, 40]}}))
    play(replace(scenario, stop=replace(scenario.stop, gamma=0.4)), tmp_path / "run", runs=5)
    facts, configurations, _ = stored(tmp_path / "run")
    assert json.loads(facts[RULES])["listed"] is False
    assert len(configurations) < 40


def test_workers_and_stops_change_nothing_in_a_listed_space(tmp_path):
    assert_workers_and_stops_change_nothing(wager(tmp_path, space=LEVELS), tmp_path, behaviour)


def test_other_settings_at_a_restart_put_proposals_behind_all_stored_runs(tmp_path):
    """The user has seen results; the procedure would walk through a part of them only before it proposes."""

    def aiming(epsilon: float):
        return wager(tmp_path, instances=300, proposals=0.5, epsilon=epsilon, population=Population.INFINITE)

    play(aiming(0.4), tmp_path / "run", runs=120)
    play(aiming(0.4), tmp_path / "run", runs=130)
    facts, before, runs = stored(tmp_path / "run")
    assert FRESH_FROM not in facts, "the same settings go on as if nothing had been"
    behind = 1 + max(run.request.position for run in runs)
    play(aiming(0.05), tmp_path / "run", runs=600)
    facts, configurations, _ = stored(tmp_path / "run")
    assert int(facts[FRESH_FROM]) == behind
    proposals = [each for each in configurations[len(before) :] if each.origin is StoredOrigin.MODEL]
    assert proposals
    assert all(each.first_position >= behind for each in proposals)


@pytest.mark.parametrize("later", [None, 0.01])
def test_the_gamma_of_the_first_start_stays_the_announced_one(tmp_path, later):
    scenario = wager(tmp_path)
    first = replace(scenario, stop=replace(scenario.stop, gamma=0.2))
    play(first, tmp_path / "run", runs=5)
    again = replace(scenario, stop=replace(scenario.stop, gamma=later))
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        assert announced_gamma(store, settings_of(again).specification) == 0.2


@pytest.mark.parametrize("asked", [0.2, 0.05, None])
def test_who_has_seen_the_draws_of_an_earlier_run_announces_nothing_new(tmp_path, asked):
    """The same seed draws the same configurations, so another γ would be chosen by what they are worth."""
    scenario = wager(tmp_path)
    play(replace(scenario, stop=replace(scenario.stop, gamma=0.2)), tmp_path / "first", runs=50)
    again = replace(scenario, stop=replace(scenario.stop, gamma=asked))
    play(again, tmp_path / "second", runs=50, reuse=tmp_path / "first")
    assert json.loads(stored(tmp_path / "second")[0][RULES])["announced_gamma"] == 0.2
    play(again, tmp_path / "third", runs=20, reuse=tmp_path / "second")
    assert json.loads(stored(tmp_path / "third")[0][RULES])["announced_gamma"] == 0.2


@pytest.mark.parametrize("population", Population)
def test_other_settings_after_an_earlier_run_put_proposals_behind_all_its_runs(tmp_path, population):
    scenario = wager(tmp_path, instances=300, proposals=0.5, epsilon=0.4, population=population)
    play(scenario, tmp_path / "first", runs=120)
    runs = stored(tmp_path / "first")[2]
    play(scenario, tmp_path / "same", runs=5, reuse=tmp_path / "first")
    assert FRESH_FROM not in stored(tmp_path / "same")[0]
    other = replace(scenario, stop=replace(scenario.stop, epsilon=0.1))
    play(other, tmp_path / "other", runs=5, reuse=tmp_path / "first")
    behind = stored(tmp_path / "other")[0].get(FRESH_FROM)
    sampled = population is Population.INFINITE
    assert behind == (str(1 + max(run.request.position for run in runs)) if sampled else None)


def test_what_a_sample_has_found_is_not_proved_on_the_same_instances(tmp_path):
    scenario = wager(tmp_path, instances=300, population=Population.INFINITE)
    play(scenario, tmp_path / "first", runs=60)
    _, configurations, runs = stored(tmp_path / "first")
    found = ParameterSpace.validate(scenario.space, configurations[3].assignment)
    behind = 1 + max(run.request.position for run in runs)
    proved = play(scenario, tmp_path / "proof", runs=200, reuse=tmp_path / "first", found=found)
    assert int(stored(tmp_path / "proof")[0][FRESH_FROM]) == behind
    assert proved.best == dict(found)
    assert "not chosen by other runs on these very instances" in proved.promise.condition, "as by a peer"
    alone = play(scenario, tmp_path / "alone", runs=60, found=found)
    assert "if this configuration was not chosen by runs on these very instances" in alone.promise.condition
    few = replace(scenario, training=ListedInstances(scenario.training.names[: behind + 1], files=False))
    play(few, tmp_path / "few", runs=60)
    with pytest.raises(UsageError, match="too few are left"):
        play(few, tmp_path / "nothing", runs=5, reuse=tmp_path / "few", found=found)


def judged_from(scenario, folder) -> list[tuple[int, int]]:
    """From which position on every configuration is judged that was chosen by outcomes, by number."""
    with contextlib.closing(read_run_folder(folder)) as store:
        found = retraced(Task(scenario), store)
    return [each for each in found.joined if each[1]] + found.nominations


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_what_was_chosen_by_outcomes_is_judged_from_one_position_for_ever(tmp_path, share):
    """A share of δ is for one beginning; a user who asks for another ε ten times would spend it ten times."""

    def aiming(epsilon: float):
        scenario = wager(
            tmp_path, instances=3000, proposals=0.5, epsilon=epsilon, population=Population.INFINITE
        )
        return replace(scenario, search=SearchRules(share=share))

    play(aiming(0.002), tmp_path / "run", runs=400)
    first = judged_from(aiming(0.002), tmp_path / "run")
    assert first
    for runs, epsilon in [(430, 0.2), (460, 0.001)]:
        play(aiming(epsilon), tmp_path / "run", runs=runs)
        later = judged_from(aiming(epsilon), tmp_path / "run")
        known = {number for number, _ in first}
        assert [each for each in later if each[0] in known] == first[: len(later)]


def test_a_folder_of_an_earlier_version_judges_nominees_behind_all_that_was_consumed(tmp_path):
    scenario = wager(tmp_path, instances=3000, epsilon=0.002, population=Population.INFINITE)
    scenario = replace(scenario, search=SearchRules(share=0.5))
    play(scenario, tmp_path / "run", runs=400)
    first = judged_from(scenario, tmp_path / "run")
    with contextlib.closing(open_store(Task(scenario), tmp_path / "run")) as store:
        store.keep_fact(NOMINEES_FROM, "{}")
        store.keep_fact(NOMINEES_LOOKED_AT, json.dumps({str(n + 1): 8 for n in range(len(first))}))
    assert judged_from(scenario, tmp_path / "run") == first


def test_a_collection_has_shown_results_as_well(tmp_path):
    scenario = wager(tmp_path, instances=300, proposals=0.5, population=Population.INFINITE)
    with contextlib.closing(open_store(Task(scenario), tmp_path / "grid")) as store:
        collect_into(store, backend(1), scenario, GridSize(3, 20, 64.0))
    play(scenario, tmp_path / "run", runs=5, reuse=tmp_path / "grid")
    assert stored(tmp_path / "run")[0][FRESH_FROM] == "20"


def test_earlier_runs_that_are_named_at_a_later_start_have_been_seen_as_well(tmp_path):
    scenario = wager(tmp_path, instances=300, proposals=0.5, epsilon=0.4, population=Population.INFINITE)
    play(scenario, tmp_path / "first", runs=120)
    behind = 1 + max(run.request.position for run in stored(tmp_path / "first")[2])
    asking = replace(scenario, stop=replace(scenario.stop, gamma=0.3, epsilon=0.1))
    play(asking, tmp_path / "second", runs=5)
    assert FRESH_FROM not in stored(tmp_path / "second")[0]
    later = play(asking, tmp_path / "second", runs=10, reuse=tmp_path / "first")
    assert int(stored(tmp_path / "second")[0][FRESH_FROM]) == behind
    assert "neither the utility nor γ nor the configurations to try first" in later.promise.condition


def test_a_promise_that_uses_earlier_runs_names_all_that_they_may_have_decided(tmp_path):
    """Whoever tries several δ, or procedures, on the same runs takes the one whose promise looks best."""
    scenario = wager(tmp_path)
    play(scenario, tmp_path / "first", runs=50)
    other = replace(scenario, delta=0.3, options={"configurations": 5})
    condition = play(other, tmp_path / "other", runs=20, reuse=tmp_path / "first").promise.condition
    assert "neither the utility nor δ nor the procedure nor the configurations to try first" in condition
    condition = play(scenario, tmp_path / "same", runs=20, reuse=tmp_path / "first").promise.condition
    assert "neither the utility nor the configurations to try first" in condition


QUARTER = SearchRules(share=0.25)


def endless(tmp_path, **changes):
    changed = {"population": Population.INFINITE, "search": QUARTER, "instances": 300, **changes}
    return wager(tmp_path, **changed)


@pytest.mark.parametrize(
    ("searching", "is_the_same"),
    [
        (QUARTER, True),
        (SearchRules(share=0.25, method="random"), False),
        (SearchRules(share=0.5), False),
        (SearchRules(share=0.0), False),
    ],
)
def test_another_search_beside_earlier_runs_is_judged_behind_them(tmp_path, searching, is_the_same):
    """A search that was chosen, or written, by who has seen these runs may find what fits them."""
    play(endless(tmp_path), tmp_path / "first")
    behind = 1 + max(run.request.position for run in stored(tmp_path / "first")[2])
    play(endless(tmp_path, search=searching), tmp_path / "second", reuse=tmp_path / "first")
    kept = stored(tmp_path / "second")[0].get(FRESH_FROM)
    assert kept == (None if is_the_same else str(behind))


def test_runs_that_an_earlier_run_had_from_another_were_seen_as_well(tmp_path):
    play(endless(tmp_path), tmp_path / "first", runs=300)
    behind = 1 + max(run.request.position for run in stored(tmp_path / "first")[2])
    other = endless(tmp_path, search=SearchRules(share=0.5))
    play(other, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    play(endless(tmp_path), tmp_path / "third", runs=1, reuse=tmp_path / "second")
    assert int(stored(tmp_path / "third")[0][FRESH_FROM]) >= behind


class Halves:
    """A user's searcher: the same two candidates for ever, by turns."""

    until_s = float("inf")

    def __init__(self, task):
        self.candidates = [task.space.default(), task.space.validate({"x": 0.5})]
        self.spent_s, self._made = 0.0, 0

    def wanted(self, count):
        return [WantedRun(self._made % 2, self._made // 2, 64.0)]

    def tell(self, run, seen):
        self._made += 1
        self.spent_s += min(seen.time_s, seen.known_s)

    def nominee(self):
        return 1


@pytest.mark.parametrize(("population", "fresh"), [(Population.INFINITE, True), (Population.FINITE, False)])
def test_what_a_searcher_of_ones_own_finds_later_is_judged_behind_all_that_was_seen(
    tmp_path, population, fresh
):
    """It may have been rewritten since the last start. On a list every nominee has an order of its own."""
    scenario = endless(tmp_path, search=SearchRules(0.5, f"{__name__}:Halves"), population=population)
    play(scenario, tmp_path / "run", runs=40)
    facts, _, runs = stored(tmp_path / "run")
    assert FRESH_FROM not in facts
    behind = 1 + max(run.request.position for run in runs)
    play(scenario, tmp_path / "run", runs=60)
    assert stored(tmp_path / "run")[0].get(FRESH_FROM) == (str(behind) if fresh else None)

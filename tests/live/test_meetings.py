"""How search and proof share the time: a head start for search, and then its share."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.meetings import HEAD_SHARE, HEAD_START, Meetings, Shares, Stored
from utilitune.live.running import RunSettings, run_scenario, settings_of
from utilitune.scenario import Population
from utilitune.scenario.model import SearchRules, StopRules
from utilitune.store import read_run_folder
from utilitune.store.records import StoredOrigin

DEFAULT_RUN_S = 2.0


@dataclass
class Searching:
    """A search that always comes to the milestone and never has anything to nominate."""

    default_run_s: float | None = DEFAULT_RUN_S
    spent_s: float = 0.0
    first_s: float = DEFAULT_RUN_S
    exhausted: bool = False
    frontier: int = 0

    def go_on(self, until_s):
        self.spent_s = max(self.spent_s, until_s)
        return ()

    def nominee(self):
        return None

    def new_looks(self):
        return []

    def offer(self, number):
        pass


@dataclass
class Proving:
    """A proof that goes as far as it may."""

    spent_s: float = 0.0

    def best_draws(self, count):
        return []

    def first_fresh(self, looked_at):
        return looked_at

    def look_beside(self, looks):
        pass


def meeting(search, share, proof=None, head_start=HEAD_START):
    return Meetings(proof or Proving(), search, None, Shares(share, head_start), Stored((), {}, {}))


def passed(search, share, until_s, head_start=HEAD_START):
    """The milestones that are passed before search has spent so many seconds: search's and the proof's."""
    proof, seen = Proving(), []
    meetings = meeting(search, share, proof, head_start)
    while meetings.milestone_s < until_s:
        proof.spent_s = meetings.limit_s
        seen.append((meetings.milestone_s, meetings.limit_s))
        meetings.go_on_searching(proof_is_over=False)
    return seen


def shares(milestones):
    """The share of search from each milestone to the next."""
    steps = [
        (search_s - before_s, proof_s - earlier_s)
        for (before_s, earlier_s), (search_s, proof_s) in pairwise([(0.0, 0.0), *milestones])
    ]
    return [searching_s / (searching_s + proving_s) for searching_s, proving_s in steps]


@pytest.mark.parametrize("share", [0.05, 0.25, 0.6])
def test_search_has_most_of_the_time_at_first_and_then_its_share(share):
    milestones = passed(Searching(), share, 4000.0)
    until_s = HEAD_START * DEFAULT_RUN_S
    begun = [0.0, *(search_s for search_s, _ in milestones)]
    got = shares(milestones)
    early = [each for each, start_s in zip(got, begun, strict=False) if start_s < until_s]
    late = [each for each, start_s in zip(got, begun, strict=False) if start_s >= until_s]
    assert early == pytest.approx([HEAD_SHARE] * len(early))
    assert late == pytest.approx([share] * len(late))
    assert len(early) > 3
    assert len(late) > 3


def test_a_larger_share_is_never_made_smaller():
    got = shares(passed(Searching(), 0.95, 4000.0))
    assert got == pytest.approx([0.95] * len(got))


@pytest.mark.parametrize(("default_run_s", "head_start"), [(None, HEAD_START), (DEFAULT_RUN_S, 0.0)])
def test_without_a_head_start_search_has_its_share_from_the_first_second(default_run_s, head_start):
    got = shares(passed(Searching(default_run_s), 0.25, 4000.0, head_start))
    assert got == pytest.approx([0.25] * len(got))


def test_what_was_learnt_of_the_default_between_milestones_changes_nothing_before_the_next():
    """The share is settled where both sides rest: else it would depend on which of them was quicker."""
    search = Searching()
    meetings = meeting(search, 0.25)
    limit_s = meetings.limit_s
    search.default_run_s = 1e-3
    assert meetings.limit_s == limit_s


def quarter_for_search(tmp_path, runs):
    return make_scenario(
        tmp_path,
        procedure="wager",
        options={"entropy": "fixed"},
        population=Population.FINITE,
        search=SearchRules(share=0.25),
        stop=StopRules(runs=runs),
        workers=1,
    )


def go(scenario, folder):
    return run_scenario(scenario, folder, settings_of(scenario), backend=backend(1))


@pytest.mark.parametrize("workers", [1, 3])
def test_runs_that_take_no_measurable_time_do_not_keep_the_proof_from_beginning(tmp_path, workers):
    """As of a solver that reports its own time with two decimals."""
    scenario = quarter_for_search(tmp_path, 300)
    instant = SimulatedBackend(workers, lambda job: SimulatedRun(0.0))
    result = run_scenario(scenario, tmp_path / "run", settings_of(scenario, workers=workers), backend=instant)
    assert result.promise.epsilon < 0.3


def test_a_short_run_spends_more_on_candidates_than_on_all_others(tmp_path):
    go(quarter_for_search(tmp_path, 200), tmp_path / "run")
    spent_s = dict.fromkeys(StoredOrigin, 0.0)
    with closing(read_run_folder(tmp_path / "run")) as store:
        origins = {each.index: each.origin for each in store.configurations()}
        for run in store.runs():
            spent_s[origins[run.request.configuration]] += run.outcome.runtime_s
    candidates_s = spent_s.pop(StoredOrigin.CANDIDATE)
    assert candidates_s > sum(spent_s.values())


def test_a_run_of_a_version_without_a_head_start_goes_on_without(tmp_path, monkeypatch):
    """With a head start, its proof would have to wait until search has caught up."""

    def stored(settings):
        kept = usual(settings)
        del kept["search"]["head_start"]
        return kept

    def runs(name):
        with closing(read_run_folder(tmp_path / name)) as store:
            return [run.request for run in store.runs()]

    usual = RunSettings.stored
    with monkeypatch.context() as earlier_version:
        earlier_version.setattr(RunSettings, "stored", stored)
        go(quarter_for_search(tmp_path, 300), tmp_path / "whole")
        go(quarter_for_search(tmp_path, 150), tmp_path / "parts")
    go(quarter_for_search(tmp_path, 300), tmp_path / "parts")
    assert runs("parts") == runs("whole")

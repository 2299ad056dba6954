"""Earlier runs of earlier runs, and runs that go on without naming them: what was seen stays seen."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import replace

import pytest

from live.test_first_start import endless, play, stored, wager
from utilitune.live.first_start import FRESH_FROM
from utilitune.scenario import Population
from utilitune.scenario.model import SearchRules

HALF = SearchRules(share=0.5)


def asking(scenario, epsilon: float):
    return replace(scenario, stop=replace(scenario.stop, epsilon=epsilon))


def end_of(folder) -> int:
    return 1 + max(run.request.position for run in stored(folder)[2])


def fresh_from(folder) -> int:
    return int(stored(folder)[0].get(FRESH_FROM, 0))


@pytest.fixture
def first(tmp_path):
    """A run of an endless source that has gone far, and what it was."""
    scenario = endless(tmp_path)
    play(scenario, tmp_path / "first", runs=300)
    return scenario


def test_other_settings_see_what_a_run_in_between_took_over_without_running_it(first, tmp_path):
    play(first, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    assert fresh_from(tmp_path / "second") == 0, "it goes the same way"
    play(replace(first, search=HALF), tmp_path / "third", runs=1, reuse=tmp_path / "second")
    assert fresh_from(tmp_path / "third") >= end_of(tmp_path / "first")


def test_other_settings_at_a_start_that_names_no_earlier_runs_know_them_still(first, tmp_path):
    play(first, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    play(asking(first, 0.2), tmp_path / "second", runs=2)
    assert fresh_from(tmp_path / "second") >= end_of(tmp_path / "first")


def test_settings_that_an_earlier_run_chose_after_seeing_another_are_no_fresh_choice(first, tmp_path):
    other = replace(first, search=HALF)
    play(other, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    play(other, tmp_path / "third", runs=1, reuse=tmp_path / "second")
    assert fresh_from(tmp_path / "third") >= end_of(tmp_path / "first")


def test_settings_that_an_earlier_run_chose_after_seeing_its_own_runs_are_no_fresh_choice(first, tmp_path):
    play(asking(first, 0.2), tmp_path / "first", runs=301)
    play(asking(first, 0.2), tmp_path / "second", runs=1, reuse=tmp_path / "first")
    assert fresh_from(tmp_path / "second") >= end_of(tmp_path / "first") - 1


def test_a_search_without_the_head_start_is_another_search(first, tmp_path):
    """A run that an earlier version began took other steps; whoever begins anew has seen its results."""
    with contextlib.closing(sqlite3.connect(tmp_path / "first" / "run.sqlite")) as file, file:
        ((number, text),) = file.execute("SELECT number, settings FROM sessions").fetchall()
        settings = json.loads(text)
        assert settings["search"].pop("head_start")
        file.execute("UPDATE sessions SET settings = ? WHERE number = ?", [json.dumps(settings), number])
    play(first, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    assert fresh_from(tmp_path / "second") == end_of(tmp_path / "first")


def test_a_list_that_becomes_a_sample_knows_what_lists_before_it_have_shown(tmp_path):
    listed = wager(tmp_path, instances=300, search=SearchRules(0.25))
    play(listed, tmp_path / "first", runs=300)
    play(listed, tmp_path / "second", runs=1, reuse=tmp_path / "first")
    sampled = replace(listed, population=Population.INFINITE)
    play(sampled, tmp_path / "third", runs=1, reuse=tmp_path / "second")
    assert fresh_from(tmp_path / "third") >= end_of(tmp_path / "first")


def test_a_promise_rests_on_what_those_of_earlier_runs_rested_on(tmp_path):
    """δ was chosen by who had seen the first run; that the second had the same one makes it no better."""
    scenario = wager(tmp_path)
    play(scenario, tmp_path / "first", runs=50)
    other = replace(scenario, delta=0.3)
    second = play(other, tmp_path / "second", runs=5, reuse=tmp_path / "first").promise.condition
    third = play(other, tmp_path / "third", runs=5, reuse=tmp_path / "second").promise.condition
    fourth = play(other, tmp_path / "fourth", runs=5, reuse=tmp_path / "third").promise.condition
    about = f"This uses runs of {tmp_path / 'first'}: it holds if neither the utility nor δ nor"
    assert [each.count(about) for each in (second, third, fourth)] == [1, 1, 1]
    assert f"This uses runs of {tmp_path / 'second'}: " in third
    assert f"This uses runs of {tmp_path / 'second'}: " in fourth

"""Configurations have a number in the store and a place in the engine, and runs are translated both ways."""

from __future__ import annotations

from types import SimpleNamespace

from utilitune.domain import RunRequest
from utilitune.live.asker import Room, UnderWay
from utilitune.live.entrants import BegunRuns, Entrants, at
from utilitune.live.supply import Drawn
from utilitune.procedures.engine import Origin
from utilitune.spaces import Assignment


def entrants(*numbers: int) -> Entrants:
    found = Entrants()
    for number in numbers:
        found.enter(number)
    return found


def test_places_are_counted_in_the_order_of_joining():
    who = entrants(0, 7, 3)
    assert [who.place_of(number) for number in (0, 3, 7, 1)] == [0, 2, 1, None]
    assert who.stored(RunRequest(1, 5, 2.0)) == RunRequest(7, 5, 2.0)


def test_one_that_joins_again_keeps_its_first_place_and_has_a_second_one():
    who = entrants(4, 9, 4)
    assert who.place_of(4) == 0
    assert who.stored(RunRequest(2, 0, 1.0)).configuration == 4


def test_a_random_draw_that_equals_an_earlier_one_shares_its_runs_and_a_proposal_does_not():
    who = entrants(0, 1, 2)
    same = Assignment({"x": 1})
    assert who.whose_runs(0, Drawn(same, Origin.GIVEN)) == 0
    assert who.whose_runs(1, Drawn(same, Origin.RANDOM)) == 0
    assert who.whose_runs(2, Drawn(same, Origin.MODEL)) == 2


def test_a_random_draw_that_equals_a_nominee_shares_its_runs():
    who, same = entrants(0, 1, 2, 3), Assignment({"x": 1})
    who.share_runs(1, same)
    assert who.whose_runs(2, Drawn(same, Origin.RANDOM)) == 1
    assert who.whose_runs(3, Drawn(Assignment({"x": 2}), Origin.RANDOM)) == 3


def test_runs_under_way_are_seen_by_place_and_those_of_strangers_are_left_out():
    begun = {
        (number, 5): UnderWay(RunRequest(number, 5, 3.0), SimpleNamespace(), started_at=10.0, ahead=False)
        for number in (7, 8)
    }
    runs = BegunRuns(Room(1, begun, now=12.0), entrants(0, 7))
    assert len(runs) == 2
    assert runs.captime_of(1, 5) == 3.0
    assert runs.captime_of(0, 5) is None
    assert [(run.configuration, run.position, run.captime_s) for run in runs.runs()] == [(1, 5, 3.0)]


def test_a_run_that_needs_no_translation_is_the_same_object():
    request = RunRequest(2, 0, 1.0)
    assert at(request, 2) is request
    assert at(request, 3).configuration == 3

"""The arena: every run is charged once, and the budget ends the game."""

from __future__ import annotations

import pytest

from rivals.packages.playgrounds import SCENARIO, rows_on_a_line
from utilitune.domain.stopping import Budget
from utilitune.errors import UsageError
from utilitune.rivals.packages.arena import Arena, HaltError, Played
from utilitune.rivals.packages.recorded import RecordedGround
from utilitune.rivals.rival import RankedBy
from utilitune.spaces import ParameterSpace


class Steps:
    """Configuration c takes c + 1 seconds on every instance and scores −c; at most `slots` runs at a time."""

    def __init__(self, slots: int = 1) -> None:
        self.space = SCENARIO.space
        self.given = (SCENARIO.space.default(),)
        self.positions = 10
        self.slots = slots
        self.captime_s = 100.0
        self.features = None
        self.batches: list[tuple[int, list[int]]] = []

    def number(self, assignment):
        return 0

    def run(self, configuration, positions, captime_s=None):
        assert len(positions) <= self.slots
        self.batches.append((configuration, list(positions)))
        limit_s = self.captime_s if captime_s is None else captime_s
        return [Played(-configuration, min(configuration + 1.0, limit_s), limit_s) for _ in positions]


def test_a_known_run_is_free():
    ground = Steps(slots=4)
    arena = Arena(ground, Budget(), 6)
    arena.run(1, range(3))
    assert [played.time_s for played in arena.run(1, range(5))] == [2.0] * 5
    assert ground.batches == [(1, [0, 1, 2]), (1, [3, 4])]
    standing = arena.standing()
    assert (standing.total_time_s, standing.runs, standing.configurations) == (10.0, 5, 1)


def test_no_run_is_started_once_the_time_is_spent():
    arena = Arena(Steps(), Budget(max_time_s=5.0), 10)
    with pytest.raises(HaltError) as halted:
        arena.run(1, range(10))
    assert halted.value.reason.code == "time-limit"
    assert arena.standing().total_time_s == 6.0
    with pytest.raises(HaltError):
        arena.run(0, [0])
    assert arena.run(1, range(3)) == [Played(-1, 2.0, 100.0)] * 3


def test_a_budget_of_runs_is_kept_exactly_whatever_the_slots():
    ground = Steps(slots=4)
    arena = Arena(ground, Budget(max_runs=6), 10)
    with pytest.raises(HaltError) as halted:
        arena.run(2, range(10))
    assert halted.value.reason.code == "run-limit"
    assert [len(positions) for _, positions in ground.batches] == [4, 2]


def test_a_budget_without_a_run_is_refused():
    for nothing in ({"max_time_s": 0.0}, {"max_runs": 0}):
        with pytest.raises(UsageError, match="budget must be a"):
            Budget(**nothing)


def test_the_leader_has_the_most_runs_and_then_the_best_mean():
    arena = Arena(Steps(), Budget(), 10)
    assert arena.untouched
    arena.run(0, range(2))
    arena.run(2, range(3))
    assert arena.leader() == 2
    arena.run(1, range(3))
    assert arena.leader() == 1
    assert arena.standing(best=0).best_index == 0
    assert not arena.untouched


def test_instances_are_as_many_as_there_are_at_most():
    assert Arena(Steps(), Budget(), 64).positions == 10
    endless = Steps()
    endless.positions = None
    assert Arena(endless, Budget(), 64).positions == 64


def test_recorded_runs_are_looked_up_for_the_nearest_row():
    runs = rows_on_a_line()
    ground = RecordedGround(runs, RankedBy.RUNTIME, 4.0)
    assert ground.space.names == ("x0",)
    row = ground.number({"x0": 0.26})
    assert row == 6
    runtimes_s = runs.evidence.runtime_s.reshape(25, 200)[24, :3]
    played = ground.run(24, [0, 1, 2])
    assert [each.time_s for each in played] == [min(4.0, runtime_s) for runtime_s in runtimes_s]
    assert [each.score for each in played] == [-each.time_s for each in played]


def test_recorded_runs_need_features():
    with pytest.raises(UsageError, match="utilitune collect"):
        RecordedGround(rows_on_a_line(features=False), RankedBy.UTILITY, 4.0)


def test_before_the_first_run_the_answer_is_the_default():
    standing = Arena(Steps(), Budget(), 10).standing()
    assert (standing.best_index, standing.runs, standing.configurations) == (0, 0, 0)


def test_a_run_that_was_stopped_early_is_made_again_when_more_is_asked():
    ground = Steps()
    arena = Arena(ground, Budget(), 10)
    (early,) = arena.run(4, [0], 2.0)
    assert early.time_s == 2.0
    assert arena.run(4, [0], 1.5)[0] == early  # stopped later than asked: known
    (full,) = arena.run(4, [0])
    assert (full.time_s, len(ground.batches)) == (5.0, 2)
    assert arena.run(4, [0], 50.0)[0] == full  # it has ended: nothing more to learn
    assert arena.standing().total_time_s == 7.0


def test_whoever_asks_only_for_what_is_known_is_idle():
    arena = Arena(Steps(), Budget(), 10)
    arena.run(1, [0])
    for _ in range(3):
        assert not arena.idle(3)
        arena.run(1, [0])
    assert arena.idle(3)
    arena.run(1, [1])
    assert not arena.idle(1)


def test_a_space_is_run_when_all_of_it_was_run_to_its_end():
    ground = Steps()
    ground.space = ParameterSpace.from_tables({"a": {"type": "bool", "default": True}})
    arena = Arena(ground, Budget(), 10)
    assert not arena.has_run_all(1)
    arena.run(0, [0, 1])
    arena.run(1, [0], 0.5)
    assert not arena.has_run_all(1)  # a run that was stopped early may tell more
    arena.run(1, [0])
    assert arena.has_run_all(1)
    assert not arena.has_run_all(2)


def test_without_a_number_all_instances_count_and_a_thousand_of_those_without_end():
    ground = Steps()
    assert Arena(ground, Budget()).positions == 10
    ground.positions = None
    assert Arena(ground, Budget()).positions == 1000
    assert Arena(ground, Budget(), 5000).positions == 5000


def test_the_share_of_the_budget():
    arena = Arena(Steps(), Budget(max_time_s=8.0, max_runs=10), 10)
    arena.run(1, [0, 1])
    assert arena.spent_share() == 0.5

"""What more time would bring."""

from __future__ import annotations

from dataclasses import replace

import pytest

from utilitune.domain import Progress
from utilitune.live.standing.outlook import Limits, outlook_of
from utilitune.live.standing.worths import Estimate

POINT = Progress(
    best_index=1,
    epsilon=0.5,
    gamma=0.1,
    delta=0.05,
    total_time_s=1.0,
    runs=10,
    rounds=10,
    configurations=20,
    alive=5,
)


def trajectory(exponent: float, until_s: float = 100.0, **changes: object) -> list[Progress]:
    times = [until_s * 1.05**-step for step in reversed(range(60))]
    return [
        replace(POINT, total_time_s=time_s, epsilon=0.9 * (time_s / times[0]) ** -exponent, **changes)
        for time_s in times
    ]


def test_a_power_law_is_continued():
    points = trajectory(0.5)
    last = points[-1].epsilon
    found = outlook_of(points, Limits(target_epsilon=last / 2, elapsed_s=200.0))
    assert found is not None
    assert found.falling
    assert found.target_s == pytest.approx((4 - 1) * 200.0)
    assert found.next_step_s == pytest.approx(((last / (last - 0.01)) ** 2 - 1) * 200.0)
    assert "The next 0.01 of ε will take about" in found.sentence()
    assert "The ε asked for is about 10 min away." in found.sentence()


def test_what_is_proved_is_not_zero_seconds_away():
    points = trajectory(0.5)
    found = outlook_of(points, Limits(target_epsilon=2 * points[-1].epsilon))
    assert found is not None
    assert "The ε asked for is proved." in found.sentence()
    assert "away" not in found.sentence()


@pytest.mark.parametrize("points", [[], [POINT], [replace(POINT, epsilon=1.0)] * 9, [POINT] * 2])
def test_nothing_is_told_of_too_little(points: list[Progress]):
    assert outlook_of(points, Limits()) is None


def test_points_at_one_moment_are_no_trend():
    found = outlook_of([POINT] * 9, Limits())
    assert found is not None
    assert not found.falling


def test_what_is_out_of_reach_has_no_time():
    found = outlook_of(trajectory(0.05), Limits(target_epsilon=1e-6))
    assert found is not None
    assert found.falling
    assert found.target_s is None


def test_nothing_is_left_to_prove_at_zero():
    points = [replace(POINT, gamma=None, alive=1, epsilon=0.2)]
    found = outlook_of(points, Limits())
    assert found is not None
    assert "nothing is left" in found.sentence()


def _reason(points: list[Progress], limits: Limits) -> str:
    found = outlook_of(points, limits)
    assert found is not None
    assert not found.falling
    assert found.next_step_s is None
    return found.reason


def test_the_reason_is_the_instances_where_all_are_used():
    limits = Limits(answer=Estimate(1, 40, 0.5, 0.5, 0.3, 0.7), instances=40)
    assert "all 40 instances" in _reason(trajectory(0.0), limits)
    one = Limits(answer=Estimate(1, 1, 0.5, 0.5, 0.1, 0.9), instances=1)
    assert "on the one instance there is: a new run with more" in _reason(trajectory(0.0), one)


def test_the_reason_is_not_the_instances_where_the_answer_is_known_exactly():
    """On a list it is then the others that are open, and more runs of them lower ε."""
    limits = Limits(answer=Estimate(1, 40, 0.95, 0.95, 0.95, 0.95), instances=40)
    assert "5 configurations are not ruled out" in _reason(trajectory(0.0), limits)
    stopped = Limits(answer=Estimate(1, 40, 0.2, 0.8, 0.2, 0.8), instances=40)
    assert "largest captime" in _reason(trajectory(0.0), stopped)


def test_the_reason_is_the_captime_where_stopped_runs_hide_much():
    limits = Limits(answer=Estimate(1, 40, 0.2, 0.8, 0.1, 0.9), instances=400)
    assert "largest captime" in _reason(trajectory(0.0), limits)


def test_the_reason_is_growth_where_the_set_grew():
    points = trajectory(0.0)
    points[-1] = replace(points[-1], configurations=90, gamma=0.02)
    assert "20 → 90" in _reason(points, Limits())
    assert "0.1 → 0.02" in _reason(points, Limits())


def test_the_reason_is_a_new_answer():
    points = trajectory(0.0)
    points[-1] = replace(points[-1], best_index=7)
    assert "another configuration became the answer" in _reason(points, Limits())


def test_else_those_in_play_are_named():
    assert "5 configurations are not ruled out" in _reason(trajectory(0.0), Limits())

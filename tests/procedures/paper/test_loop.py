"""The edges of the compiled loop that random runtimes do not reach: exact ties."""

from __future__ import annotations

import pytest

from utilitune import RuntimeMatrix, parse_utility
from utilitune.procedures.engine import PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.paper import loop
from utilitune.procedures.paper.engine import PaperSettings, up

UTILITY = parse_utility("uniform(k0=16)")


@pytest.fixture
def play() -> loop.Play:
    """Three configurations nobody has run."""
    evidence = RecordedEvidence(RuntimeMatrix.from_array([[1.0]] * 3), UTILITY)
    engine = up(evidence, UTILITY, PaperSettings(0.1), 3)
    for _ in range(3):
        engine.add()
    engine.advance(PauseAt(rounds=0, total_time_s=1.0, runs=1))
    return engine._play


@pytest.mark.parametrize(
    ("strict", "epsilon", "proved"), [(False, 0.5, True), (True, 0.5, False), (True, 0.49, True)]
)
def test_up_and_oup_reach_their_target_exactly_but_a_phase_must_pass_below(
    play: loop.Play, strict: bool, epsilon: float, proved: bool
):
    rules = play.rules._replace(epsilon=0.5, strict=strict)
    assert loop._proved(rules, epsilon) == proved


@pytest.mark.parametrize(
    ("lower", "best", "changed", "expected"),
    [
        ([0.3, 0.3, 0.1], 1, 0, 0),  # a tie goes to the lowest index, even if it comes later
        ([0.3, 0.3, 0.1], 0, 1, 0),
        ([0.3, 0.4, 0.1], 0, 1, 1),
        ([0.3, 0.2, 0.1], 0, 2, 0),
    ],
)
def test_the_answer_is_the_largest_lower_bound_with_the_lowest_index(
    play: loop.Play, lower: list[float], best: int, changed: int, expected: int
):
    play.arms.lower[:] = lower
    play.standing.best = best
    loop._note_best(play, changed)
    assert play.standing.best == expected


def test_only_an_upper_bound_strictly_below_the_best_lower_bound_is_struck_off(play: loop.Play):
    play.arms.lower[:] = [0.5, 0.0, 0.0]
    play.arms.upper[:] = [0.9, 0.5, 0.49]
    play.standing.best = 0
    left, largest = loop._strike_off(play)
    assert play.arms.alive.tolist() == [True, True, False]
    assert (left, largest) == (2, 0.9)


def test_the_best_is_never_struck_off_even_if_its_bounds_cross(play: loop.Play):
    play.arms.lower[:] = [0.5, 0.0, 0.0]
    play.arms.upper[:] = [0.4, 0.3, 0.3]
    play.standing.best = 0
    assert loop._strike_off(play) == (1, 0.5)
    assert play.arms.alive.tolist() == [True, False, False]

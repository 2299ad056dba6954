"""What a run tells at a captime: its worth, its limits, or, where it failed, the certain least."""

from __future__ import annotations

import numpy as np
import pytest

from procedures.wager.wager_games import LiveGame, begun, settings, solver_runtimes
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.procedures.engine import Halt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.wager import WagerEngine
from utilitune.procedures.wager.observation import is_open, observation, observations, open_runs, seconds_of
from utilitune.procedures.wager.state import NO_LEVEL
from utilitune.utility import parse_utility

FLOORED = parse_utility("piecewise(0:1, 16:0.25)")
FINISHED = RunOutcome(RunStatus.FINISHED, 3.0)
CRASHED = RunOutcome(RunStatus.CRASHED, 3.0)
STOPPED = RunOutcome(RunStatus.TIMEOUT, 16.0)


def _play(outcome: RunOutcome):
    """The state of an engine that knows one run, and the levels whose captimes are 2 s and 8 s."""
    evidence = LiveEvidence(FLOORED, positions=10)
    chosen = settings(1, captime0_s=1.0, captime_limit_s=16.0)
    evidence.tell(RunRequest(0, 0, 16.0), outcome)
    play = begun(WagerEngine(evidence, FLOORED, chosen), 1)._play
    return play._replace(evidence=evidence.arrays), 2, 6


@pytest.mark.parametrize(
    ("outcome", "late"),
    [
        (FINISHED, (float(FLOORED(3.0)), float(FLOORED(3.0)))),
        (CRASHED, (0.25, 0.25)),
        (STOPPED, (0.25, float(FLOORED(8.0)))),
    ],
)
def test_a_run_is_seen_as_far_as_its_captime_goes(outcome, late):
    play, two_s, eight_s = _play(outcome)
    run = int(play.evidence.base[0])
    assert observation(play, run, two_s) == pytest.approx((0.25, float(FLOORED(2.0))))
    assert observation(play, run, eight_s) == pytest.approx(late)
    assert is_open(play, run, two_s)
    assert is_open(play, run, eight_s) == (outcome is STOPPED)
    assert seconds_of(play, run, two_s) == pytest.approx(2.0)
    assert seconds_of(play, run, eight_s) == pytest.approx(8.0 if outcome is STOPPED else 3.0)


@pytest.mark.parametrize("outcome", [FINISHED, CRASHED, STOPPED])
def test_many_runs_are_seen_as_each_of_them_is(outcome):
    play, _, _ = _play(outcome)
    levels = np.arange(play.grid.captime_s.size)
    runs = np.full(levels.size, play.evidence.base[0])
    least, most = observations(play, runs, levels)
    alone = [observation(play, int(runs[0]), int(level)) for level in levels]
    assert list(zip(least, most, strict=True)) == alone
    assert list(open_runs(play, runs, levels)) == [is_open(play, int(runs[0]), int(g)) for g in levels]
    nothing = observations(play, runs[:1], np.array([NO_LEVEL]))
    assert (nothing[0][0], nothing[1][0]) == (0.25, 1.0), "nobody looked: u(∞) and u(0)"


class _Crashing(LiveGame):
    """A configuration that always crashes after a second, beside one that answers."""

    def make(self, request: RunRequest) -> None:
        outcome = RunOutcome(RunStatus.CRASHED, 1.0) if request.configuration else FINISHED
        self.evidence.tell(request, outcome)


def test_failures_rule_a_configuration_out_as_fast_as_worthless_answers_do():
    """What is certain counts: a crash is worth u(∞), not anything up to u(κ)."""
    game = _Crashing(solver_runtimes(2, 300, seed=1), settings(2, epsilon=0.02), workers=2, seed=1)
    begun(game.engine, 2)
    assert game.play() is Halt.DONE
    arm = game.engine._play.arms[1]
    assert arm["most"] == arm["least"] == 0.0
    assert game.engine.progress().best_index == 0
    assert arm["time_s"] == pytest.approx(arm["runs"] * 1.0)


def test_when_a_failure_became_known_changes_nothing():
    """A crash after 3 s that somebody saw early still looks like a run that lasts beyond 2 s."""
    evidence = LiveEvidence(FLOORED, positions=10)
    evidence.tell(RunRequest(0, 0, 2.0), RunOutcome(RunStatus.TIMEOUT, 2.0))
    evidence.tell(RunRequest(0, 0, 16.0), RunOutcome(RunStatus.CRASHED, 1.5))
    arrays = evidence.arrays
    assert arrays.failed_s[arrays.base[0]] == 2.0, "it was once seen to last for 2 s"

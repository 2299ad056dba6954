"""When failures in a row end a run."""

from __future__ import annotations

from utilitune.domain import RunOutcome, RunStatus
from utilitune.live.failures import NEVER_WORKED, STOPPED_WORKING, FailureWatch
from utilitune.targets.wrappers import REJECTED

CRASH = RunOutcome(RunStatus.CRASHED, 0.1, exit_code=1, detail="exit code 1, expected 0")


def until_stopped(watch: FailureWatch, outcome: RunOutcome) -> int:
    return next(count for count in range(1, 1000) if watch.note(outcome) is not None)


def test_a_target_that_never_worked_is_given_up_soon():
    assert until_stopped(FailureWatch(), CRASH) == NEVER_WORKED


def test_a_target_that_has_worked_is_given_more_patience():
    watch = FailureWatch()
    watch.note(RunOutcome(RunStatus.FINISHED, 0.1))
    assert until_stopped(watch, CRASH) == STOPPED_WORKING


def test_rejected_configurations_do_not_mean_that_the_target_is_broken():
    assert (
        until_stopped(FailureWatch(), RunOutcome(RunStatus.CRASHED, 0.1, detail=REJECTED)) == STOPPED_WORKING
    )


def test_failures_of_different_kinds_do_not_add_up():
    watch = FailureWatch()
    other = RunOutcome(RunStatus.CRASHED, 0.1, exit_code=2, detail="exit code 2, expected 0")
    assert all(watch.note(each) is None for each in (CRASH, other) * 100)

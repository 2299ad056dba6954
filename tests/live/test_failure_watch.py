"""When failures in a row end a run."""

from __future__ import annotations

from itertools import count, cycle

import pytest

from utilitune.domain import RunOutcome, RunStatus
from utilitune.live.failures import DIFFERENT, NEVER_WORKED, STOPPED_WORKING, FailureWatch
from utilitune.targets.wrappers import REJECTED

CRASH = RunOutcome(RunStatus.CRASHED, 0.1, exit_code=1, detail="exit code 1, expected 0")
REJECTION = RunOutcome(RunStatus.CRASHED, 0.1, detail=REJECTED)


def until_stopped(watch: FailureWatch, outcome: RunOutcome, configurations=None) -> int:
    runs = enumerate(configurations or count(), 1)
    return next(number for number, each in runs if watch.note(each, outcome) is not None)


def test_a_target_that_never_worked_is_given_up_soon():
    assert until_stopped(FailureWatch(), CRASH) == DIFFERENT


def test_a_default_that_always_crashes_is_a_finding():
    watch = FailureWatch()
    assert all(watch.note(0, CRASH) is None for _ in range(STOPPED_WORKING - 1))


def test_one_configuration_is_not_tried_for_ever():
    assert until_stopped(FailureWatch(), CRASH, cycle([0])) == STOPPED_WORKING


@pytest.mark.parametrize("configurations", [1, 2, NEVER_WORKED])
def test_where_there_are_only_a_few_configurations_all_of_them_are_enough(configurations):
    every = cycle(range(configurations))
    assert until_stopped(FailureWatch(configurations), CRASH, every) == NEVER_WORKED


def test_of_a_few_configurations_none_is_left_untried():
    watch = FailureWatch(2)
    assert all(watch.note(0, CRASH) is None for _ in range(NEVER_WORKED))
    assert watch.note(1, CRASH) == f"{NEVER_WORKED + 1} runs in a row"


def test_a_target_that_has_worked_is_given_more_patience():
    watch = FailureWatch()
    watch.note(0, RunOutcome(RunStatus.FINISHED, 0.1))
    assert until_stopped(watch, CRASH) == STOPPED_WORKING


def test_rejected_configurations_do_not_mean_that_the_target_is_broken():
    assert until_stopped(FailureWatch(), REJECTION) == STOPPED_WORKING


def test_failures_of_different_kinds_do_not_add_up():
    watch = FailureWatch()
    other = RunOutcome(RunStatus.CRASHED, 0.1, exit_code=2, detail="exit code 2, expected 0")
    assert all(watch.note(number, each) is None for number, each in enumerate((CRASH, other) * 100))

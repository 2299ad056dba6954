"""A run that takes down whoever makes it is a program that was killed, and never one that lasted too long."""

from __future__ import annotations

import signal

import pytest

from utilitune.domain import Measure, RunStatus
from utilitune.execution.killed import killed
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Invocation
from utilitune.targets.command import CommandTarget
from utilitune.targets.verdict import VerdictRules


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("wall_s", [0.5, 50.0])
def test_it_counts_as_a_crash_however_long_it_took_to_notice(measure: Measure, wall_s: float):
    target = CommandTarget(("solver",), rules=VerdictRules(success_pattern="done", timeout_pattern="time"))
    raw = killed("The worker that made this run", wall_s, 2.0, watched=2)
    outcome = RunRules(target, measure).outcome(Invocation({}, "a", 1, captime_s=2.0), raw)
    assert (outcome.status, outcome.exit_code) == (RunStatus.CRASHED, -signal.SIGKILL)
    assert outcome.wall_s <= 2.0
    assert outcome.output_tail.startswith("The worker that made this run was killed 4 times, by the program")


def test_a_run_without_a_captime_lasted_as_long_as_it_did():
    assert killed("Somebody", 7.0, None, watched=0).wall_s == 7.0

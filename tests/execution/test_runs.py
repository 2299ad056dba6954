from __future__ import annotations

import pytest

from utilitune.domain import Measure, RunStatus
from utilitune.errors import TargetError, UsageError
from utilitune.execution.backend import RunLimits
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.command import CommandTarget
from utilitune.targets.function import FunctionTarget
from utilitune.targets.verdict import VerdictRules

INVOCATION = Invocation({"alpha": 0.5}, "some file", seed=3, captime_s=2.0)
TARGET = CommandTarget(("solver", "{instance}", "{parameters}"))
REPORTING = CommandTarget(("solver",), rules=VerdictRules(runtime_pattern="t=(.*)"))


def outcome(raw: RawResult, measure: Measure = Measure.CPU, target=TARGET):
    return RunRules(target, measure, memory_bytes=200 * 2**20).outcome(INVOCATION, raw)


def test_a_job_holds_the_command_and_its_limits():
    rules = RunRules(TARGET, Measure.CPU, memory_bytes=10**9, grace_s=0.5, output_bytes=100)
    job = rules.job(INVOCATION)
    assert job.task.argv == ("solver", "some file", "--alpha=0.5")
    assert job.limits == RunLimits(Measure.CPU, 2.0, 80.0, 10**9, 0.5, 100)
    assert RunRules(TARGET, Measure.WALL, wall_limit_s=5).job(INVOCATION).limits.wall_limit_s == 5


def test_a_program_that_reports_its_runtime_is_not_stopped_by_the_captime():
    assert RunRules(REPORTING, Measure.CPU).job(INVOCATION).limits.captime_s is None


@pytest.mark.parametrize(("measure", "runtime_s"), [(Measure.CPU, 1.0), (Measure.WALL, 1.5)])
def test_the_measure_says_what_the_runtime_is(measure, runtime_s):
    result = outcome(RawResult(Ending.EXITED, 1.0, 1.5, 77, 0, "out"), measure)
    assert (result.status, result.runtime_s) == (RunStatus.FINISHED, runtime_s)
    assert (result.cpu_s, result.wall_s, result.peak_memory_bytes) == (1.0, 1.5, 77)
    assert (result.exit_code, result.output_tail, result.overshoot_s) == (0, "out", 0.0)


@pytest.mark.parametrize("ending", [Ending.CAPTIME, Ending.EXITED])
def test_past_the_captime_it_is_a_timeout_whoever_ended_it(ending):
    result = outcome(RawResult(ending, 2.25, 3.0, exit_code=0))
    assert (result.status, result.runtime_s, result.overshoot_s) == (RunStatus.TIMEOUT, 2.0, 0.25)


def test_a_crash_keeps_its_own_time():
    result = outcome(RawResult(Ending.EXITED, 0.5, 0.6, exit_code=1))
    assert (result.status, result.runtime_s) == (RunStatus.CRASHED, 0.5)
    assert result.detail == "exit code 1, expected 0"


def test_limits_other_than_the_captime_say_so():
    full = outcome(RawResult(Ending.MEMORY, 0.5, 0.6, exit_code=-9))
    assert (full.status, full.detail) == (RunStatus.MEMOUT, "the memory limit of 200 MiB was reached")
    idle = outcome(RawResult(Ending.WALL_LIMIT, 0.1, 80.0, exit_code=-9))
    assert (idle.status, idle.runtime_s, idle.overshoot_s) == (RunStatus.TIMEOUT, 2.0, 0.0)
    assert idle.detail == "stopped after 80 s by the wall-clock limit"


def test_a_reported_runtime_counts_in_place_of_the_measured_one():
    finished = outcome(RawResult(Ending.EXITED, 9.0, 9.0, exit_code=0, matches=("1.5",)), target=REPORTING)
    assert (finished.status, finished.runtime_s, finished.cpu_s) == (RunStatus.FINISHED, 1.5, 9.0)
    late = outcome(RawResult(Ending.EXITED, 0.1, 0.1, exit_code=0, matches=("2.5",)), target=REPORTING)
    assert (late.status, late.runtime_s, late.overshoot_s) == (RunStatus.TIMEOUT, 2.0, 0.0)


def test_what_could_not_be_started_is_an_error_with_a_way_to_reproduce_it():
    raw = RawResult(Ending.EXITED, launch_error="cannot start 'solver': it is not on the PATH")
    with pytest.raises(TargetError) as caught:
        outcome(raw)
    assert str(caught.value) == (
        "the target cannot be run: cannot start 'solver': it is not on the PATH; "
        "try it by hand: solver 'some file' --alpha=0.5"
    )
    with pytest.raises(TargetError, match=r"call m\.f with"):
        outcome(raw, target=FunctionTarget("m", "f"))


def test_a_cancelled_run_has_no_outcome():
    with pytest.raises(ValueError, match="a cancelled run has no outcome"):
        outcome(RawResult(Ending.CANCELLED))


@pytest.mark.parametrize(
    "values",
    [
        {"captime_s": 0.0},
        {"captime_s": float("nan")},
        {"wall_limit_s": -1.0},
        {"memory_bytes": 0},
        {"grace_s": -1.0},
    ],
)
def test_limits_that_make_no_sense_are_refused(values):
    sensible = {"measure": Measure.CPU, "captime_s": 1.0, "wall_limit_s": 1.0}
    with pytest.raises(UsageError):
        RunLimits(**{**sensible, **values})

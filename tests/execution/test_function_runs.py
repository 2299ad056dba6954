"""Python functions run through a real backend: fresh processes, metered like any other run."""

from __future__ import annotations

import contextlib
import secrets

import pytest

from execution import python_targets
from execution.running import MARK, alive, alive_after_a_while, limits
from utilitune.domain import Measure, RunRequest, RunStatus
from utilitune.errors import ScenarioError
from utilitune.execution.backend import Job
from utilitune.execution.local import LocalBackend
from utilitune.execution.runs import RunRules
from utilitune.store import Snapshot, open_run_folder
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin
from utilitune.targets.base import Call, Ending, Invocation
from utilitune.targets.function import FunctionTarget


@pytest.fixture(scope="module")
def backend():
    with LocalBackend(workers=1) as backend:
        yield backend


def run(backend, target, parameters=None, captime_s=30.0, measure=Measure.CPU, *, anytime=False):
    rules = RunRules(target, measure, anytime=anytime)
    invocation = Invocation(parameters or {}, "some instance", seed=4, captime_s=captime_s)
    backend.submit(0, rules.job(invocation))
    [(_, raw)] = backend.wait(60)
    return rules.outcome(invocation, raw)


def test_a_function_receives_its_arguments_and_its_output_is_kept(backend, tmp_path):
    target = FunctionTarget(
        "execution.python_targets", "echoes", passes_captime=True, directory=str(tmp_path)
    )
    outcome = run(backend, target, {"x": 0.1, "mode": "é"})
    assert outcome.status is RunStatus.FINISHED
    assert outcome.output_tail == f"{{'x': 0.1, 'mode': 'é'}} 'some instance' 4 30.0 {tmp_path}\n"


def test_only_the_call_is_metered(backend):
    outcome = run(backend, FunctionTarget.of(python_targets.burns), {"seconds": 0.3})
    assert outcome.status is RunStatus.FINISHED
    assert outcome.runtime_s == outcome.cpu_s == pytest.approx(0.3, rel=0.02, abs=0.02)


def test_a_function_is_stopped_at_its_captime_with_all_it_started(backend, monkeypatch):
    mark = secrets.token_hex(8)
    monkeypatch.setenv(MARK, mark)
    with LocalBackend(workers=1) as own:
        outcome = run(own, FunctionTarget.of(python_targets.burns_in_a_daemon), captime_s=0.2)
        assert outcome.status is RunStatus.TIMEOUT
        assert outcome.runtime_s == 0.2
        assert len(alive(mark)) == 3  # guardian, supervisor, and the process that has imported the module
    assert alive_after_a_while(mark) == []


def test_an_exception_is_a_crash_with_its_traceback(backend):
    outcome = run(backend, FunctionTarget.of(python_targets.raises))
    assert outcome.status is RunStatus.CRASHED
    assert outcome.detail.endswith("ValueError: no luck on some instance\n")
    assert "ValueError" in outcome.output_tail


@pytest.mark.parametrize("reports_runtime", [False, True])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("says_half_a_character", (RunStatus.CRASHED, "\\ud800")),
        ("prints_half_a_character", (RunStatus.CRASHED, "half \\udfff")),
        ("forks_a_child_that_raises", (RunStatus.FINISHED, "")),
        ("forks_a_child_that_returns", (RunStatus.FINISHED, "")),
        ("writes_over_the_report", (RunStatus.CRASHED, "")),
        ("closes_everything", (RunStatus.CRASHED, "without returning")),
        ("loses_its_streams", (RunStatus.CRASHED, "seen nevertheless")),
        ("raises_what_cannot_be_shown", (RunStatus.CRASHED, "Unspeakable")),
        ("returns_what_cannot_be_shown", (RunStatus.CRASHED, "RuntimeError: no")),
        ("recurses", (RunStatus.CRASHED, "RecursionError")),
    ],
)
def test_whatever_a_function_does_is_an_outcome_that_can_be_stored(
    backend, tmp_path, function, expected, reports_runtime
):
    status, text = expected
    target = FunctionTarget("execution.python_targets", function, reports_runtime=reports_runtime)
    outcome = run(backend, target)
    assert (outcome.status, text in outcome.detail) == (status, True), outcome
    with contextlib.closing(open_run_folder(tmp_path / "run", Snapshot({}, "digest"))) as store:
        store.add_configuration(ConfigurationRecord(0, {"x": 1}, StoredOrigin.DEFAULT))
        store.add_run(RunRecord(RunRequest(0, 0, 30.0), outcome))
        [kept] = store.runs()
    assert kept.outcome.status is status


@pytest.mark.parametrize("power", [400, 5000])
@pytest.mark.parametrize("reports_runtime", [False, True])
def test_a_number_beyond_all_bounds_is_no_runtime(backend, power, reports_runtime):
    target = FunctionTarget.of(python_targets.returns_a_huge_number, reports_runtime=reports_runtime)
    outcome = run(backend, target, {"power": power})
    assert outcome.status is (RunStatus.CRASHED if reports_runtime else RunStatus.FINISHED)


@pytest.mark.parametrize(("function", "text"), [("exits", "exit code 5"), ("leaves", "SystemExit")])
def test_leaving_without_returning_is_a_crash(backend, function, text):
    outcome = run(backend, FunctionTarget("execution.python_targets", function))
    assert outcome.status is RunStatus.CRASHED
    assert text in outcome.detail


def test_every_call_finds_the_module_untouched(backend):
    target = FunctionTarget.of(python_targets.counts_calls, reports_runtime=True)
    assert [run(backend, target).runtime_s for _ in range(3)] == [1.0, 1.0, 1.0]


def test_a_reported_runtime_is_compared_with_the_captime_afterwards(backend):
    target = FunctionTarget.of(python_targets.returns, reports_runtime=True)
    assert run(backend, target, {"value": 0.005}, captime_s=0.01).runtime_s == 0.005
    late = run(backend, target, {"value": 5.0}, captime_s=0.01)
    assert (late.status, late.runtime_s, late.overshoot_s) == (RunStatus.TIMEOUT, 0.01, 0.0)


@pytest.mark.parametrize("name", ["no_such_module_anywhere:f", "execution.python_targets:no_such_function"])
def test_what_cannot_be_imported_is_reported_every_time(backend, name):
    module, _, function = name.partition(":")
    target = FunctionTarget(module, function)
    call = target.prepare(Invocation({}, "i", 1, 1.0))
    for _ in range(2):
        backend.submit(0, Job(call, limits()))
        [(_, raw)] = backend.wait(60)
        assert f"the function {name} cannot be imported" in raw.launch_error


def test_a_module_that_imports_for_ever_can_be_cancelled(backend, tmp_path):
    (tmp_path / "endless_import.py").write_text("import time\ntime.sleep(1e9)\n")
    backend.submit(0, Job(Call("endless_import", "f", {}, (str(tmp_path),)), limits()))
    assert backend.wait(0.2) == []
    backend.cancel(0)
    [(_, raw)] = backend.wait(60)
    assert raw.ending is Ending.CANCELLED
    assert run(backend, FunctionTarget.of(python_targets.returns), {"value": None}).finished


def test_a_function_tells_of_solutions_while_it_runs(backend):
    target = FunctionTarget("execution.python_targets", "tells", reports_quality=True).anytime()
    outcome = run(backend, target, {"qualities": [9, 7.5, 8]}, measure=Measure.WALL, anytime=True)
    assert outcome.status is RunStatus.FINISHED
    assert [(point.quality, point.bound) for point in outcome.trace] == [(9, 1), (7.5, 1), (8, 1)]
    times = [point.time_s for point in outcome.trace]
    assert 0 < times[0] < times[1] < times[2] <= outcome.runtime_s
    assert outcome.quality == 8
    assert "solution" not in outcome.output_tail


def test_what_a_function_told_before_it_was_stopped_is_kept(backend):
    target = FunctionTarget("execution.python_targets", "tells", reports_quality=True).anytime()
    outcome = run(backend, target, {"qualities": [9, 7], "rest": 60}, 1.5, Measure.WALL, anytime=True)
    assert outcome.status is RunStatus.TIMEOUT
    assert [point.quality for point in outcome.trace] == [9, 7]


def test_a_generator_yields_solutions_and_what_it_returns_is_its_last(backend):
    target = FunctionTarget("execution.python_targets", "yields", reports_quality=True).anytime()
    outcome = run(backend, target, {"qualities": [5, 4]}, anytime=True)
    assert [(point.quality, point.bound) for point in outcome.trace] == [
        (5, None),
        (4, None),
        (3, 2.5),
        (1.5, 1),
    ]
    assert (outcome.quality, outcome.bound) == (1.5, 1)


@pytest.mark.parametrize("bad", ["much", None, [1]])
def test_what_is_no_number_is_no_solution(backend, bad):
    target = FunctionTarget("execution.python_targets", "tells", reports_quality=True).anytime()
    outcome = run(backend, target, {"qualities": [9, bad]}, anytime=True)
    assert outcome.status is RunStatus.CRASHED
    assert "Error" in outcome.detail
    assert [point.quality for point in outcome.trace] == [9]


def test_a_function_that_tells_nothing_is_refused():
    with pytest.raises(
        ScenarioError, match="the function returns tells nothing while it runs: let it take an"
    ):
        FunctionTarget("execution.python_targets", "returns").anytime()


def test_a_dictionary_may_hold_quality_and_bound(backend):
    target = FunctionTarget("execution.python_targets", "returns", reports_quality=True)
    outcome = run(backend, target, {"value": {"quality": 4, "bound": 2.5}})
    assert (outcome.status, outcome.quality, outcome.bound) == (RunStatus.FINISHED, 4, 2.5)

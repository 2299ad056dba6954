"""Python functions run through a real backend: fresh processes, metered like any other run."""

from __future__ import annotations

import secrets

import pytest

from execution import python_targets
from execution.running import MARK, alive, alive_after_a_while, limits
from utilitune.domain import Measure, RunStatus
from utilitune.execution.backend import Job
from utilitune.execution.local import LocalBackend
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Call, Ending, Invocation
from utilitune.targets.function import FunctionTarget


@pytest.fixture(scope="module")
def backend():
    with LocalBackend(workers=1) as backend:
        yield backend


def run(backend, target, parameters=None, captime_s=30.0, measure=Measure.CPU):
    rules = RunRules(target, measure)
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
        assert len(alive(mark)) == 2  # the supervisor and the process that has imported the module
    assert alive_after_a_while(mark) == []


def test_an_exception_is_a_crash_with_its_traceback(backend):
    outcome = run(backend, FunctionTarget.of(python_targets.raises))
    assert outcome.status is RunStatus.CRASHED
    assert outcome.detail.endswith("ValueError: no luck on some instance\n")
    assert "ValueError" in outcome.output_tail


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

from __future__ import annotations

import functools
import importlib
import json
import sys

import pytest

from execution import python_targets
from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError, TargetError
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.function import FunctionTarget

np = pytest.importorskip("numpy")
INVOCATION = Invocation({"x": np.float64(0.5), "n": np.int64(3), "c": "a"}, "i", seed=2, captime_s=1.5)


def judge(target: FunctionTarget, value):
    raw = RawResult(Ending.EXITED, exit_code=0, report=json.dumps({"returned": value}))
    return target.judge(INVOCATION, raw)


@pytest.mark.parametrize("given", [python_targets.echoes, "execution.python_targets:echoes"])
def test_a_function_is_described_by_its_name(given):
    target = FunctionTarget.of(given)
    assert (target.module, target.function) == ("execution.python_targets", "echoes")
    assert target.passes_captime
    target.check()


def test_a_call_holds_plain_values_and_the_way_to_the_module():
    call = FunctionTarget.of(python_targets.returns).prepare(INVOCATION)
    assert call.arguments == {"configuration": {"x": 0.5, "n": 3, "c": "a"}, "instance": "i", "seed": 2}
    assert json.loads(json.dumps(call.arguments)) == call.arguments
    assert call.search_path == tuple(sys.path)
    assert "captime" in FunctionTarget.of(python_targets.echoes).prepare(INVOCATION).arguments


def in_main(configuration, instance, seed):
    """Pretends to live in the script being run."""


@pytest.mark.parametrize("kind", ["lambda", "nested", "main", "partial"])
def test_what_has_no_name_elsewhere_is_put_where_it_can_be_found(kind, monkeypatch):
    def nested(configuration, instance, seed):
        return 7

    monkeypatch.setattr(in_main, "__module__", "__main__")
    function = {
        "lambda": lambda configuration, instance, seed: 7,
        "nested": nested,
        "main": in_main,
        "partial": functools.partial(nested),
    }[kind]
    target = FunctionTarget.of(function)
    again = FunctionTarget.of(f"{target.module}:{target.function}")
    assert again == target
    found = getattr(importlib.import_module(target.module), target.function)
    assert found(configuration={}, instance="i", seed=1) == (None if kind == "main" else 7)


def test_a_carried_function_is_missed_with_advice():
    with pytest.raises(TargetError, match="lives in a script or notebook: start this run from there"):
        FunctionTarget.of("utilitune_carried_of_another_process:f")


@pytest.mark.parametrize("name", ["", "module", ":f", "module:", "module:a.b"])
def test_a_name_must_be_module_and_function(name):
    with pytest.raises(ScenarioError, match="write it as module:function"):
        FunctionTarget.of(name)


def test_a_name_that_leads_nowhere_is_named():
    with pytest.raises(TargetError, match="'no_such_module' of the target function cannot be imported"):
        FunctionTarget.of("no_such_module:f")
    with pytest.raises(TargetError, match="has no function 'nothing'"):
        FunctionTarget("execution.python_targets", "nothing").check()


def test_a_function_that_cannot_be_called_so_is_refused():
    with pytest.raises(ScenarioError, match="it lacks configuration, instance, seed"):
        FunctionTarget.of("os:getcwd")
    for no_function in (5, dict):
        with pytest.raises(ScenarioError, match="is no Python function: one must take the arguments"):
            FunctionTarget.of(no_function)

    def unnamed(configuration, instance, seed, /): ...

    def demanding(configuration, instance, seed, tolerance, *, depth, width=3): ...

    with pytest.raises(ScenarioError, match="all by their names; it lacks configuration, instance, seed"):
        FunctionTarget.of(unnamed)
    with pytest.raises(ScenarioError, match="needs tolerance, depth, which nobody gives it"):
        FunctionTarget.of(demanding)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (None, RunStatus.FINISHED),
        (True, RunStatus.FINISHED),
        (0, RunStatus.FINISHED),
        (False, RunStatus.CRASHED),
        ({}, RunStatus.FINISHED),
        ({"status": "wrong-answer"}, RunStatus.WRONG_ANSWER),
        ({"status": "nonsense"}, RunStatus.CRASHED),
    ],
)
def test_return_values_are_judged(value, status):
    assert judge(FunctionTarget("m", "f"), value).status is status


def test_details_are_kept():
    verdict = judge(FunctionTarget("m", "f"), {"status": "memout", "detail": "too big"})
    assert (verdict.status, verdict.detail) == (RunStatus.MEMOUT, "too big")


@pytest.mark.parametrize(
    ("value", "runtime_s"),
    [(2, 2.0), (0.0, 0.0), ({"runtime": 1.5}, 1.5), (None, None), (True, None), (-1.0, None), ({}, None)],
)
def test_reported_runtimes_are_taken_over_where_they_make_sense(value, runtime_s):
    verdict = judge(FunctionTarget("m", "f", reports_runtime=True), value)
    assert verdict.runtime_s == runtime_s
    assert (verdict.status is RunStatus.FINISHED) == (runtime_s is not None)


def test_a_function_that_raised_or_left_has_crashed():
    target = FunctionTarget("m", "f")
    raised = RawResult(Ending.EXITED, exit_code=1, report=json.dumps({"raised": "x" * 9000 + "ValueError"}))
    verdict = target.judge(INVOCATION, raised)
    assert verdict.status is RunStatus.CRASHED
    assert verdict.detail.endswith("ValueError")
    assert len(verdict.detail) <= 2000
    assert "exit code 3" in target.judge(INVOCATION, RawResult(Ending.EXITED, exit_code=3)).detail


async def awaited(configuration, instance, seed):
    return True


def yielding(configuration, instance, seed):
    yield 1.0


@pytest.mark.parametrize(("function", "why"), [(awaited, "is async"), (yielding, "yields")])
def test_a_function_whose_call_does_nothing_yet_is_refused(function, why):
    """Its runs were counted as finished at once."""
    with pytest.raises(TargetError, match=why):
        FunctionTarget.of(function).check()
    if function is yielding:
        FunctionTarget.of(function).anytime().check()

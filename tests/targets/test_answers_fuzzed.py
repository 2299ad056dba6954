"""Whatever a program prints or a function leaves behind is judged, and never an error of ours."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from utilitune.domain import RunStatus
from utilitune.errors import TargetError
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.function import FunctionTarget
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules

INVOCATION = Invocation({}, "a.cnf", seed=1, captime_s=5.0)
ANYTHING = st.text(st.characters(), max_size=300)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANYTHING,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANYTHING, inner, max_size=3),
    max_leaves=8,
)
EXIT_CODES = st.none() | st.integers(-64, 255)


@pytest.mark.parametrize("reports_runtime", [False, True])
@given(
    report=ANYTHING
    | PLAIN.map(json.dumps)
    | PLAIN.map(lambda value: json.dumps({"returned": value}))
    | st.fixed_dictionaries({}, optional={"status": PLAIN, "runtime": PLAIN, "detail": PLAIN}).map(
        lambda value: json.dumps({"returned": value})
    )
    | PLAIN.map(lambda value: json.dumps({"raised": value})),
    exit_code=EXIT_CODES,
)
@example(report="[" * 100_000, exit_code=0)
@example(report='{"returned": 1' + "0" * 400 + "}", exit_code=0)
@example(report='{"returned": 1' + "0" * 9000 + "}", exit_code=0)
@example(report='{"returned": 1e999}', exit_code=0)
def test_any_report_of_a_function_is_judged(reports_runtime, report, exit_code):
    target = FunctionTarget("module", "function", reports_runtime)
    verdict = target.judge(INVOCATION, RawResult(Ending.EXITED, exit_code=exit_code, report=report))
    assert verdict.status in RunStatus
    assert verdict.runtime_s is None or verdict.runtime_s >= 0
    assert len(verdict.detail) < 3000


@pytest.mark.parametrize("reports_runtime", [False, True])
@pytest.mark.parametrize("contract", list(Contract))
@given(answer=st.none() | ANYTHING, exit_code=EXIT_CODES)
@example(answer='{"status": ' + "[" * 980, exit_code=0)
@example(answer="1_5", exit_code=0)
@example(answer="SAT, 1_5, 0, 0, 1", exit_code=0)
def test_any_answer_of_a_wrapper_is_judged(contract, reports_runtime, answer, exit_code):
    rules = WrapperRules(contract, reports_runtime)
    raw = RawResult(Ending.EXITED, exit_code=exit_code, matches=(answer,))
    try:
        verdict = rules.judge(INVOCATION, raw)
    except TargetError as error:
        assert "ABORT" in str(error)  # noqa: PT017 -- the wrapper asked for it
        return
    assert verdict.status in RunStatus
    assert verdict.runtime_s is None or 0 <= verdict.runtime_s < float("inf")


@given(found=st.none() | ANYTHING, exit_code=EXIT_CODES)
@example(found="1_5", exit_code=0)
def test_any_reported_runtime_is_judged(found, exit_code):
    rules = VerdictRules(runtime_pattern="(.*)")
    verdict = rules.judge(INVOCATION, RawResult(Ending.EXITED, exit_code=exit_code, matches=(found,)))
    assert verdict.runtime_s is None or 0 <= verdict.runtime_s < float("inf")
    if found == "1_5":
        assert verdict.status is RunStatus.CRASHED

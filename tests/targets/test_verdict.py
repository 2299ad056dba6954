from __future__ import annotations

import pytest

from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.verdict import VerdictRules

FINISHED, CRASHED = RunStatus.FINISHED, RunStatus.CRASHED


def judge(rules: VerdictRules, exit_code: int | None = 0, **found: str):
    names = [
        name
        for name in VerdictRules.__dataclass_fields__
        if name.endswith("_pattern") and getattr(rules, name)
    ]
    matches = tuple(found.get(name.removesuffix("_pattern")) for name in names)
    return rules.judge(
        Invocation({}, "i", 0, 1.0), RawResult(Ending.EXITED, exit_code=exit_code, matches=matches)
    )


@pytest.mark.parametrize(
    ("rules", "exit_code", "found", "status"),
    [
        (VerdictRules(), 0, {}, FINISHED),
        (VerdictRules(), 1, {}, CRASHED),
        (VerdictRules(), -11, {}, CRASHED),
        (VerdictRules(exit_codes=frozenset({10, 20})), 20, {}, FINISHED),
        (VerdictRules(exit_codes=frozenset({10, 20})), 0, {}, CRASHED),
        (VerdictRules(success_pattern="ok"), 0, {}, CRASHED),
        (VerdictRules(success_pattern="ok"), 3, {"success": "ok"}, FINISHED),
        (VerdictRules(success_pattern="ok"), -9, {"success": "ok"}, CRASHED),
        (VerdictRules(success_pattern="ok", exit_codes=frozenset({0})), 3, {"success": "ok"}, CRASHED),
        (VerdictRules(failure_pattern="bad"), 0, {"failure": "bad"}, CRASHED),
        (VerdictRules(timeout_pattern="late"), 1, {"timeout": "late"}, RunStatus.TIMEOUT),
        (VerdictRules(memout_pattern="full"), 1, {"memout": "full"}, RunStatus.MEMOUT),
        (VerdictRules(memout_pattern="full"), 0, {}, FINISHED),
    ],
)
def test_exit_code_and_output_decide(rules, exit_code, found, status):
    verdict = judge(rules, exit_code, **found)
    assert verdict.status is status
    assert bool(verdict.detail) == (status is not FINISHED)


def test_the_first_pattern_that_applies_decides():
    rules = VerdictRules(timeout_pattern="t", failure_pattern="f", success_pattern="s")
    assert judge(rules, timeout="t", failure="f", success="s").status is RunStatus.TIMEOUT
    assert judge(rules, failure="f", success="s").status is CRASHED


@pytest.mark.parametrize(
    ("exit_code", "found", "status"),
    [
        (10, {}, RunStatus.WRONG_ANSWER),
        (20, {}, FINISHED),
        (20, {"answer": " UNSAT "}, FINISHED),
        (20, {"answer": "SAT"}, RunStatus.WRONG_ANSWER),
        (30, {}, CRASHED),
    ],
)
def test_answers_are_checked_against_known_ones(exit_code, found, status):
    rules = VerdictRules(
        exit_codes=frozenset({10, 20, 30}),
        answer_pattern="a (.*)",
        answer_exit_codes={10: "SAT", 20: "UNSAT"},
        answers={"i": "UNSAT"},
    )
    assert judge(rules, exit_code, **found).status is status


def test_an_instance_without_a_known_answer_passes():
    rules = VerdictRules(answer_pattern="(.*)", answers={"other": "x"})
    assert judge(rules).status is FINISHED


def test_the_reported_runtime_is_taken_over():
    rules = VerdictRules(runtime_pattern="t=(.*)")
    assert judge(rules, runtime="1.25").runtime_s == 1.25
    for nonsense in ("x", "-1", "nan", "inf"):
        assert judge(rules, runtime=nonsense).status is CRASHED
    assert judge(rules).status is CRASHED


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"success_pattern": "("}, "success_pattern '(' is not a regular expression"),
        ({"runtime_pattern": "t"}, "runtime_pattern 't' has no group; put parentheses"),
        ({"answers": {"i": "x"}}, "add answer_pattern or answer_exit_codes"),
    ],
)
def test_mistakes_are_named(values, text):
    with pytest.raises(ScenarioError) as caught:
        VerdictRules(**values)
    assert text in str(caught.value)

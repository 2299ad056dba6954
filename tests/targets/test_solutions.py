"""What targets report of their solutions, and what becomes of a run that reports none."""

from __future__ import annotations

import json

import pytest

from utilitune.domain import Measure, RunStatus
from utilitune.errors import ScenarioError
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.command import CommandTarget
from utilitune.targets.function import FunctionTarget
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules

INVOCATION = Invocation({}, "a.tsp", seed=1, captime_s=5.0)


def outcome(
    rules: VerdictRules | WrapperRules, *matches: str | None, ending: Ending = Ending.EXITED, **raw: object
):
    target = CommandTarget(("solver", "{instance}"), rules=rules)
    result = RawResult(ending, cpu_s=1.0, exit_code=0, matches=matches, **raw)
    return RunRules(target, Measure.CPU).outcome(INVOCATION, result)


@pytest.mark.parametrize(
    ("contract", "answer", "quality"),
    [
        (Contract.IRACE, "60.5", 60.5),
        (Contract.IRACE, "-60.5 12.3", -60.5),
        (Contract.IRACE, "1e3\t9999", 1000.0),
        (Contract.SMAC, "SUCCESS, 1.5, 0, 17.25, 42", 17.25),
        (Contract.SMAC, "SAT,1.5,0,-3,42,extra, words", -3.0),
        (Contract.ACLIB2, '{"status": "SUCCESS", "cost": 4.5, "runtime": 1.5}', 4.5),
        (Contract.ACLIB2, '{"status": "SUCCESS", "runtime": 1.5, "quality": "8"}', 8.0),
        (Contract.ACLIB2, '{"status": "SUCCESS", "cost": 4.5, "runtime": 1.5, "misc": "cut of', 4.5),
        (Contract.SMAC3, "cost=0.25; runtime=1.5; status=SUCCESS", 0.25),
    ],
)
def test_wrappers_report_a_quality_and_their_time_says_nothing(
    contract: Contract, answer: str, quality: float
):
    found = outcome(WrapperRules(contract, reports_quality=True), answer)
    assert (found.status, found.quality, found.runtime_s) == (RunStatus.FINISHED, quality, 1.0)
    assert outcome(WrapperRules(contract), answer).quality is None


@pytest.mark.parametrize(
    ("contract", "answer", "status", "detail"),
    [
        (Contract.IRACE, "Inf", RunStatus.CRASHED, "the wrapper rejects this configuration"),
        (Contract.IRACE, None, RunStatus.CRASHED, "printed no answer of the form 'irace'"),
        (
            Contract.SMAC,
            "SUCCESS, 1.5, 0",
            RunStatus.CRASHED,
            "the target reported no quality, but the quality",
        ),
        (
            Contract.SMAC,
            "SUCCESS, 1.5, 0, nan, 1",
            RunStatus.CRASHED,
            "the reported quality 'nan' is no number",
        ),
        (Contract.SMAC, "SUCCESS, 1.5, 0, Infinity, 1", RunStatus.CRASHED, "quality 'Infinity' is no number"),
        (Contract.SMAC, "CRASHED, 1.5, 0, 7, 1", RunStatus.CRASHED, "the wrapper answered CRASHED"),
        (Contract.SMAC, "TIMEOUT, 1.5, 0, 7, 1", RunStatus.TIMEOUT, "the wrapper answered TIMEOUT"),
        (Contract.ACLIB2, '{"status": "SUCCESS", "cost": NaN}', RunStatus.CRASHED, "'nan' is no number"),
        (Contract.SMAC3, "cost=nan", RunStatus.CRASHED, "'nan' is no number"),
    ],
)
def test_what_is_no_quality_is_no_success(
    contract: Contract, answer: str | None, status: RunStatus, detail: str
):
    found = outcome(WrapperRules(contract, reports_quality=True), answer)
    assert found.status is status
    assert detail in found.detail


def test_a_wrapper_that_gives_up_keeps_the_quality_it_reached():
    rules = WrapperRules(Contract.SMAC, reports_quality=True)
    assert outcome(rules, "TIMEOUT, 1.5, 0, 7, 1").quality == 7.0


def test_patterns_read_the_last_quality_and_bound_also_of_a_run_that_was_stopped():
    rules = VerdictRules(quality_pattern=r"^o (\S+)", bound_pattern=r"^b (\S+)")
    assert rules.watch == (r"^o (\S+)", r"^b (\S+)")
    found = outcome(rules, "12", "10.5")
    assert (found.status, found.quality, found.bound) == (RunStatus.FINISHED, 12.0, 10.5)
    stopped = outcome(rules, "12", None, ending=Ending.CAPTIME)
    assert (stopped.status, stopped.quality, stopped.bound) == (RunStatus.TIMEOUT, 12.0, None)
    assert outcome(rules, None, None, ending=Ending.CAPTIME).quality is None
    assert outcome(rules, None, "3").status is RunStatus.CRASHED


def test_a_quality_pattern_needs_a_group():
    with pytest.raises(ScenarioError, match=r"quality_pattern 'o \.\*' has no group"):
        VerdictRules(quality_pattern="o .*")


@pytest.mark.parametrize(
    ("returned", "quality", "status"),
    [
        (3.5, 3.5, RunStatus.FINISHED),
        (-2, -2.0, RunStatus.FINISHED),
        ({"quality": 7, "bound": 6.5}, 7.0, RunStatus.FINISHED),
        ({"status": "wrong-answer", "quality": 7}, 7.0, RunStatus.WRONG_ANSWER),
        ({}, None, RunStatus.CRASHED),
        (None, None, RunStatus.CRASHED),
        (True, None, RunStatus.CRASHED),
        ("a lot", None, RunStatus.CRASHED),
    ],
)
def test_a_function_returns_its_quality(returned: object, quality: float | None, status: RunStatus):
    target = FunctionTarget("module", "function", reports_quality=True)
    raw = RawResult(Ending.EXITED, cpu_s=1.0, exit_code=0, report=json.dumps({"returned": returned}))
    found = RunRules(target, Measure.CPU).outcome(INVOCATION, raw)
    assert (found.quality, found.status) == (quality, status)
    stopped = RawResult(Ending.CAPTIME, cpu_s=6.0)
    assert RunRules(target, Measure.CPU).outcome(INVOCATION, stopped).quality is None

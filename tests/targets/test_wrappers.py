"""Wrappers of other tools: every answer they may print, and the exact words they are called with."""

from __future__ import annotations

import re

import pytest

from utilitune.domain import Measure, RunStatus
from utilitune.errors import ScenarioError, TargetError
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.command import CommandTarget
from utilitune.targets.wrappers import Contract, WrapperRules

FINISHED, TIMEOUT, CRASHED, MEMOUT = (
    RunStatus.FINISHED,
    RunStatus.TIMEOUT,
    RunStatus.CRASHED,
    RunStatus.MEMOUT,
)
INVOCATION = Invocation({"alpha": 0.5, "mode": "fast"}, "a b.cnf", seed=7, captime_s=2.5)


def last_match(contract: Contract, output: str) -> str | None:
    """What the collector of output would hand over."""
    (pattern,) = WrapperRules(contract).watch
    found = [match[1] for match in re.finditer(pattern, output, re.MULTILINE)]
    return found[-1] if found else None


def judge(contract: Contract, output: str, *, exit_code: int = 0, trusted: bool = False):
    raw = RawResult(
        Ending.EXITED, exit_code=exit_code, matches=(last_match(contract, output),), output_tail=output
    )
    return WrapperRules(contract, reports_runtime=trusted).judge(INVOCATION, raw)


@pytest.mark.parametrize(
    ("contract", "output", "status", "reported_s"),
    [
        (Contract.IRACE, "12.5\n", FINISHED, None),
        (Contract.IRACE, "12.5 1.25\n", FINISHED, 1.25),
        (Contract.IRACE, "-3e-2\t1\n", FINISHED, 1.0),
        (Contract.IRACE, "loading 3 files\n0 0.5\r\n", FINISHED, 0.5),
        (Contract.IRACE, "9 2.5\n", TIMEOUT, None),
        (Contract.IRACE, "Inf\n", CRASHED, None),
        (Contract.IRACE, "Inf 0.4\n", CRASHED, None),
        (Contract.IRACE, "no numbers at all\n", CRASHED, None),
        (Contract.SMAC, "Result for SMAC: SAT, 1.5, 0, 0, 7\n", FINISHED, 1.5),
        (Contract.SMAC, "Result for ParamILS: UNSAT, 1, -1, 0, 7, extra, words\n", FINISHED, 1.0),
        (Contract.SMAC, "Result of this algorithm run: SUCCESS, 0.1, 0, 3.5, 7\n", FINISHED, 0.1),
        (Contract.SMAC, "Result of algorithm run: TIMEOUT, 2.5, 0, 0, 7", TIMEOUT, None),
        (Contract.SMAC, "Result for SMAC: success, 1.5, 0, 0, 7\n", FINISHED, 1.5),
        (Contract.SMAC, "Result for SMAC: MEMOUT, 1.5, 0, 0, 7\n", MEMOUT, None),
        (Contract.SMAC, "Result for SMAC: CRASHED, 1.5, 0, 0, 7\n", CRASHED, None),
        (Contract.SMAC, "Result for SMAC: PUZZLED, 1.5, 0, 0, 7\n", CRASHED, None),
        (Contract.SMAC, "s SATISFIABLE\n", CRASHED, None),
        (
            Contract.SMAC,
            'Result of this algorithm run: {"status": "SUCCESS", "runtime": 0.3}\n',
            FINISHED,
            0.3,
        ),
        (
            Contract.ACLIB2,
            'Result of this algorithm run: {"status": "SAT", "cost": 1, "runtime": 0.3, "misc": ""}\n',
            FINISHED,
            0.3,
        ),
        (
            Contract.ACLIB2,
            'Result of this algorithm run: {"status": "SUCCESS", "runtime": 0.25, "misc": "cut o',
            FINISHED,
            0.25,
        ),
        (Contract.ACLIB2, 'Result of this algorithm run: {"status": "TIMEOUT"}\n', TIMEOUT, None),
        (Contract.ACLIB2, 'Result of this algorithm run: {"cost": 3}\n', CRASHED, None),
        (Contract.SMAC3, "cost=0.5; runtime=0.01; status=SUCCESS; additional_info=test\n", FINISHED, 0.01),
        (Contract.SMAC3, "cost = 0.5\n", FINISHED, None),
        (Contract.SMAC3, "cost=1;status=MEMORYOUT\n", MEMOUT, None),
        (Contract.SMAC3, "costs nothing\n", CRASHED, None),
        (Contract.SMAC3, "cost=1; status=StatusType.TIMEOUT\n", TIMEOUT, None),
        (Contract.SMAC3, "cost=1; runtime=2; status=SUCCESS\nthe cost = high\n", FINISHED, 2.0),
        (Contract.SMAC3, "cost=abc\n", CRASHED, None),
    ],
)
def test_every_answer_has_its_meaning(contract: Contract, output: str, status: RunStatus, reported_s: float):
    verdict = judge(contract, output)
    assert (verdict.status, verdict.reported_s, verdict.runtime_s) == (status, reported_s, None)
    assert bool(verdict.detail) == (status in {CRASHED, MEMOUT} or verdict.detail.startswith("the wrapper"))


def test_the_last_answer_counts():
    output = "Result for SMAC: CRASHED, 0, 0, 0, 0\nResult for SMAC: SAT, 1.0, 0, 0, 7\n"
    assert judge(Contract.SMAC, output).status is FINISHED


@pytest.mark.parametrize("contract", [Contract.IRACE, Contract.SMAC3])
def test_an_exit_code_that_means_failure_is_believed(contract: Contract):
    output = {"irace": "1.0 0.5\n", "smac3": "cost=1;runtime=0.5\n"}[contract.value]
    verdict = judge(contract, output, exit_code=3)
    assert (verdict.status, verdict.detail) == (CRASHED, "exit code 3, expected 0")


def test_old_wrappers_may_exit_as_they_like():
    assert judge(Contract.SMAC, "Result for SMAC: SAT, 1.0, 0, 0, 7\n", exit_code=10).status is FINISHED


def test_abort_stops_everything_with_what_the_wrapper_said():
    output = "no licence server\nResult for SMAC: ABORT, 0, 0, 0, 7, no licence\n"
    with pytest.raises(
        TargetError, match=r"answered ABORT on instance 'a b.cnf'.*no licence server \| Result"
    ):
        judge(Contract.SMAC, output)


def test_the_reported_runtime_counts_where_it_is_chosen():
    verdict = judge(Contract.SMAC, "Result for SMAC: SAT, 1.5, 0, 0, 7\n", trusted=True)
    assert verdict.runtime_s == 1.5
    assert judge(Contract.SMAC3, "cost=1\n", trusted=True).detail == "the wrapper reported no runtime"


def rules(trusted: bool) -> RunRules:
    target = CommandTarget(("wrapper",), rules=WrapperRules(Contract.SMAC, reports_runtime=trusted))
    return RunRules(target, Measure.CPU)


@pytest.mark.parametrize(
    ("reported", "measured_s", "warned"),
    [(1.0, 1.05, False), (1.0, 1.3, True), (0.01, 0.09, False), (2.0, 1.0, True)],
)
@pytest.mark.parametrize("trusted", [False, True])
def test_a_figure_more_than_a_tenth_off_is_told(
    reported: float, measured_s: float, warned: bool, trusted: bool
):
    raw = RawResult(
        Ending.EXITED, cpu_s=measured_s, wall_s=9.0, exit_code=0, matches=(f"SAT, {reported}, 0, 0, 7",)
    )
    judged = rules(trusted).judge(INVOCATION, raw)
    text = rules(trusted).disagreement(INVOCATION, judged)
    assert bool(text) == warned
    if warned:
        counts = "what it reports counts" if trusted else "what was measured counts"
        assert counts in text
        assert f"{reported:.3g} s" in text
        assert "cpu time" in text
    assert judged.outcome.runtime_s == (reported if trusted else measured_s)


def test_a_small_difference_can_be_told_as_well():
    raw = RawResult(Ending.EXITED, cpu_s=0.09, exit_code=0, matches=("SAT, 0.05, 0, 0, 7",))
    judged = rules(trusted=False).judge(INVOCATION, raw)
    assert rules(trusted=False).disagreement(INVOCATION, judged) == ""
    told = rules(trusted=False).disagreement(INVOCATION, judged, unnoticed_s=0.0)
    assert "reported 0.05 s for a run of which 0.09 s of cpu time were measured" in told
    assert "target.reported_runtime chooses the other, after 'utilitune convert'" in told


def test_runs_that_were_stopped_are_not_compared():
    raw = RawResult(Ending.CAPTIME, cpu_s=2.6, matches=("SAT, 0.1, 0, 0, 7",))
    assert rules(trusted=False).disagreement(INVOCATION, rules(trusted=False).judge(INVOCATION, raw)) == ""


def test_placeholders_of_other_tools_are_filled_exactly():
    target = CommandTarget(
        ("./wrapper", "{instance}", "{specifics}", "{whole_captime}", "{captime}", "{seed}", "{parameters}"),
        default_template=("-{name}", "{value}"),
        specifics={"a b.cnf": ("SAT known",), "": ("0",)},
    )
    assert target.prepare(INVOCATION).argv == (
        "./wrapper",
        "a b.cnf",
        "SAT known",
        "3",
        "2.5",
        "7",
        "-alpha",
        "0.5",
        "-mode",
        "fast",
    )
    other = Invocation({}, "other.cnf", seed=7, captime_s=float("inf"))
    assert target.prepare(other).argv[2:5] == ("0", "inf", "inf")


def test_identifiers_name_configurations_and_instances():
    target = CommandTarget(("x", "{configuration_id}", "{instance_id}"))
    words = target.prepare(INVOCATION).argv
    again = target.prepare(Invocation(dict(INVOCATION.parameters), "a b.cnf", 99, 1.0)).argv
    other = target.prepare(Invocation({"alpha": 0.6, "mode": "fast"}, "c.cnf", 7, 2.5)).argv
    assert words == again
    assert words[1] != other[1]
    assert words[2] != other[2]
    assert all(word.isdecimal() for word in words[1:])


def test_specifics_stand_alone():
    with pytest.raises(ScenarioError, match=r"\{specifics\} inside '-s=\{specifics\}'"):
        CommandTarget(("x", "-s={specifics}"))


def test_an_instance_that_is_known_by_its_words_alone_has_a_place_in_the_command_shown():
    """Lines of an irace list that are no files: `best` showed a command without any instance."""
    target = CommandTarget(("./run", "{instance_id}", "{specifics}"), specifics={"17 a": ("17", "a")})
    assert target.prepare(Invocation({}, "INSTANCE", 1, 2.0)).argv[2:] == ("INSTANCE",)
    assert target.prepare(Invocation({}, "17 a", 1, 2.0)).argv[2:] == ("17", "a")


def test_an_instance_without_words_of_its_own_stands_in_its_place_once():
    target = CommandTarget(("./run", "{instance}", "{specifics}"), specifics={"a": ("known",)})
    assert target.prepare(Invocation({}, "b", 1, 2.0)).argv == ("./run", "b")

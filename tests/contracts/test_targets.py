"""Every target, with every way of judging, passes the suite that people who write their own are given."""

from __future__ import annotations

import sys

import pytest

from utilitune import RuntimeMatrix
from utilitune.domain import RunStatus
from utilitune.targets.base import NO_SOLUTION, Command, Ending, Invocation, RawResult, Verdict
from utilitune.targets.command import CommandTarget
from utilitune.targets.function import FunctionTarget
from utilitune.targets.recorded import RecordedTarget
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules
from utilitune.testing import ContractError, TargetSuite

ARGV = (sys.executable, "-c", "pass", "{instance}", "{seed}", "{captime}", "{parameters}")
ANSWERS = {
    Contract.IRACE: "3.5 0.5",
    Contract.SMAC: "SAT, 0.5, 0, 0, 1",
    Contract.ACLIB2: '{"status": "SUCCESS", "runtime": 0.5, "cost": 1}',
    Contract.SMAC3: "cost=0.5; runtime=0.5; status=SUCCESS",
}


class OurTarget(TargetSuite):
    def __init__(self, target, finished: RawResult | None = None, failed: list[RawResult] | None = None):
        self.target = target
        self._finished = finished
        self._failed = failed

    def make(self):
        return self.target

    def invocations(self):
        return [
            Invocation({"alpha": 0.5, "mode": "a b", "row": "first"}, "one", seed=7, captime_s=2.5),
            Invocation({"alpha": 0.25, "mode": "it's", "row": "second"}, "two", seed=8, captime_s=0.125),
        ]

    def finished(self):
        return super().finished() if self._finished is None else self._finished

    def failed(self):
        return super().failed() if self._failed is None else self._failed


def exited(code: int = 0, **seen) -> RawResult:
    return RawResult(Ending.EXITED, cpu_s=0.5, wall_s=0.5, exit_code=code, **seen)


def wrapper(contract: Contract, *, trusted: bool) -> OurTarget:
    rules = WrapperRules(contract, reports_runtime=trusted)
    failed = [exited(matches=(None,)), exited(1), exited(matches=("{",)), exited(-9, output_tail="Killed")]
    return OurTarget(CommandTarget(ARGV, rules=rules), exited(matches=(ANSWERS[contract],)), failed)


TARGETS = {
    "command": OurTarget(CommandTarget(ARGV)),
    "command, exit codes": OurTarget(
        CommandTarget(ARGV, rules=VerdictRules(exit_codes=frozenset({10, 20}))),
        exited(10),
        [exited(0), exited(1), exited(-6)],
    ),
    "function": OurTarget(
        FunctionTarget("json", "dumps"),
        exited(report='{"returned": 1}'),
        [exited(1), exited(0, report=""), exited(-11)],
    ),
    "function, quality": OurTarget(
        FunctionTarget("json", "dumps", reports_quality=True), exited(report='{"returned": 1}')
    ),
    "command, quality": OurTarget(
        CommandTarget(ARGV, rules=WrapperRules(Contract.SMAC, reports_quality=True)),
        exited(matches=("SAT, 0.5, 0, 3.5, 1",)),
    ),
    "recorded": OurTarget(
        RecordedTarget(
            RuntimeMatrix.from_array(
                [[1.0, 2.0], [3.0, 4.0]], configurations=["first", "second"], instances=["one", "two"]
            ),
            "row",
        ),
        failed=[],
    ),
    **{
        f"{contract} wrapper{', trusted' * trusted}": wrapper(contract, trusted=trusted)
        for contract in Contract
        for trusted in (False, True)
    },
}


@pytest.mark.parametrize("check", TargetSuite.checks())
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_keeps_its_contract(name: str, check: str):
    getattr(TARGETS[name], check)()


class Sloppy:
    """A target that breaks the contract in four ways."""

    reports_runtime = False
    reports_quality = False

    def check(self):
        pass

    def prepare(self, invocation):
        return Command(("solver",))

    def judge(self, invocation, raw):
        float(raw.output_tail or 0)
        return Verdict(RunStatus.FINISHED, runtime_s=1.0)

    def solution(self, raw):
        return NO_SOLUTION


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("test_a_run_is_always_written_the_same_way", "different runs are written the same way"),
        ("test_a_finished_run_counts_as_finished", "exactly where the target reports it"),
        ("test_a_failed_run_never_counts_as_finished_and_says_why", "counts as finished"),
        ("test_whatever_a_program_prints_is_judged", "raised ValueError"),
    ],
)
def test_a_target_that_breaks_the_contract_is_found(check: str, sentence: str):
    with pytest.raises(ContractError, match=sentence):
        getattr(OurTarget(Sloppy()), check)()

"""What every target keeps: the same run is written the same way, and whatever a program does is judged."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from copy import deepcopy
from itertools import product
from typing import TYPE_CHECKING

from utilitune.domain import RunStatus
from utilitune.errors import TargetError
from utilitune.targets.base import Call, Ending, RawResult
from utilitune.testing.base import ContractError, Suite, expect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.targets.base import Invocation, Target, Verdict

_ODD_TEXTS = ("", "\0", "{", '{"status": 3}', "nan inf -1", "Result for SMAC: ,,,", "\u2603" * 5000)


class TargetSuite(Suite):
    """The contract of `Target`."""

    @abstractmethod
    def make(self) -> Target:
        """The target to check; its program can be run here."""

    @abstractmethod
    def invocations(self) -> Sequence[Invocation]:
        """At least two different runs of it."""

    def finished(self) -> RawResult:
        """What is seen of a run that finished."""
        return RawResult(Ending.EXITED, cpu_s=0.5, wall_s=0.5, exit_code=0)

    def failed(self) -> Sequence[RawResult]:
        """What is seen of runs that ended by themselves without an answer; none if that cannot happen."""
        return [RawResult(Ending.EXITED, exit_code=1), RawResult(Ending.EXITED, exit_code=-11)]

    def test_the_program_can_be_run(self) -> None:
        """`check` has nothing to object to."""
        self.make().check()

    def test_a_run_is_always_written_the_same_way(self) -> None:
        """By every copy of the target, without touching what was asked."""
        target, invocations = self.make(), self.invocations()
        before = deepcopy(list(invocations))
        tasks = [target.prepare(invocation) for invocation in invocations]
        again = [self.make().prepare(invocation) for invocation in reversed(invocations)]
        expect(tasks == again[::-1], "the same run was written in two ways")
        expect(list(invocations) == before, "`prepare` changed the run it was given")
        expect(any(task != tasks[0] for task in tasks[1:]), "different runs are written the same way")

    def test_a_call_survives_json(self) -> None:
        """It travels to another process as text."""
        for invocation in self.invocations():
            task = self.make().prepare(invocation)
            if isinstance(task, Call):
                arguments = json.loads(json.dumps(dict(task.arguments)))
                expect(
                    arguments == dict(task.arguments), "the arguments of a call change on their way as JSON"
                )

    def test_a_finished_run_counts_as_finished(self) -> None:
        """With the reported runtime where that counts, else with the measured one."""
        target = self.make()
        verdict = self._judged(self.finished())
        expect(
            verdict.status is RunStatus.FINISHED,
            f"a finished run counts as {verdict.status}: {verdict.detail}",
        )
        expect(
            (verdict.runtime_s is not None) == target.reports_runtime,
            "a verdict has a runtime exactly where the target reports it",
        )

    def test_a_failed_run_never_counts_as_finished_and_says_why(self) -> None:
        """A failure that counts as an answer would break every promise."""
        for raw in self.failed():
            verdict = self._judged(raw)
            expect(verdict.status is not RunStatus.FINISHED, f"a failed run counts as finished: {raw}")
            expect(verdict.detail and "\n" not in verdict.detail, f"no sentence says why it failed: {raw}")

    def test_whatever_a_program_prints_is_judged(self) -> None:
        """A target may stop everything with a `TargetError`; any other error is a fault of the target."""
        for text in _ODD_TEXTS:
            matches = self._matches(text)
            for code in (0, 1, None):
                raw = RawResult(Ending.EXITED, exit_code=code, output_tail=text, matches=matches, report=text)
                verdict = self._judged(raw)
                runtime_s = verdict.runtime_s
                sound = runtime_s is None or (math.isfinite(runtime_s) and runtime_s >= 0.0)
                expect(sound, f"after printing {text[:20]!r} the runtime is {runtime_s}")

    def test_whatever_a_program_prints_its_solution_can_be_asked_for(self) -> None:
        """Also of runs that were stopped half-way through a line; a quality is a finite number or none."""
        target = self.make()
        for text, ending in product(_ODD_TEXTS, Ending):
            raw = RawResult(ending, output_tail=text, matches=self._matches(text), report=text)
            try:
                quality = target.solution(raw).quality
            except Exception as error:
                raise ContractError(f"asking for the solution of {raw} raised {error!r}") from error
            expect(quality is None or math.isfinite(quality), f"the quality {quality} is no number")
            expect(quality is None or target.reports_quality, "a target that reports no quality reported one")

    def _matches(self, text: str) -> tuple[str, ...]:
        """This text as the match of every pattern that is watched for."""
        task = self.make().prepare(self.invocations()[0])
        return () if isinstance(task, Call) else (text,) * len(task.watch)

    def _judged(self, raw: RawResult) -> Verdict:
        target, invocation = self.make(), self.invocations()[0]
        try:
            verdict = target.judge(invocation, raw)
        except TargetError:
            raise
        except Exception as error:
            raise ContractError(f"judging {raw} raised {error!r}") from error
        expect(target.judge(invocation, raw) == verdict, f"{raw} is judged in two ways")
        return verdict

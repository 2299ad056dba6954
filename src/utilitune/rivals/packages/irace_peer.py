"""irace: iterated racing, in R.

irace plans its iterations from the whole budget, so it must be told one. Its answer is meant to be used at
its end; before that, the best after each iteration is read from irace's own log. It runs as a process of its
own that asks us for runs through a pipe (see `irace_files`); one run is made after the other. irace is told
what a run takes also where it is known already, so that it never plans with more than the budget; where it
asks for such runs, it ends with less paid than it counts, and says so. The answer is the best of its final
elite configurations.

Where costs are runtimes, irace's adaptive capping says where to stop each run.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from utilitune.domain.stopping import finished
from utilitune.errors import MissingExtraError, TargetError, UsageError, UtilituneError
from utilitune.execution.watcher import guarded
from utilitune.rivals.packages.arena import HaltError
from utilitune.rivals.packages.irace_files import END, SEPARATOR, IraceTask, read_values
from utilitune.rivals.packages.peer import Peer
from utilitune.rivals.rival import RankedBy

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from utilitune.domain import StopReason
    from utilitune.rivals.packages.arena import Arena
    from utilitune.rivals.rival import RivalStanding

_LONGEST_ERROR = 300
_WANTED = re.compile(r"'(?P<what>maxTime|maxExperiments)' of at least '(?P<least>[\d.]+(?:e\+\d+)?)'")
_MS = 1000


@dataclass(frozen=True)
class Irace(Peer):
    """irace and its settings."""

    name: ClassVar[str] = "irace"
    anytime: ClassVar[bool] = False
    plans_ahead: ClassVar[bool] = True
    one_run_at_a_time: ClassVar[bool] = True

    @classmethod
    def is_installed(cls) -> bool:
        """Whether R and its package irace are there."""
        return _irace_is_installed(shutil.which("Rscript"))

    def require_installed(self) -> None:
        """Refuse to play without R and irace."""
        if not self.is_installed():
            raise MissingExtraError(
                "irace", install="R with its package irace (on Debian and Ubuntu: apt install r-cran-irace)"
            )

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        """Let irace race; yield its best after each iteration, and its answer at the end."""
        task = self._task(arena)
        account = _Account(in_time=self.objective is RankedBy.RUNTIME)
        halt: HaltError | None = None
        with (
            tempfile.TemporaryDirectory(prefix="utilitune-irace-") as name,
            _racing(Path(name), task.write_driver(Path(name))) as process,
        ):
            for kind, *fields in process.questions():
                if kind == "version":
                    task.write(Path(name), fields[0])
                    process.answer("ready")
                elif kind == "run":
                    try:
                        process.answer(account.run(arena, fields))
                    except HaltError as error:
                        halt = error
                        process.answer(END)
                elif kind in {"best", "elite"} and fields[0] in account.numbers:
                    yield account.numbers[fields[0]]
                    if kind == "best" and halt is None:
                        return finished(account.at_its_end(arena.standing(), timed=task.max_runs is None))
            raise halt or _failure(process.last_error())

    def _task(self, arena: Arena) -> IraceTask:
        budget = arena.budget
        timed = budget.max_time_s != math.inf
        if not timed and budget.max_runs is None:
            raise UsageError("irace plans its whole budget: say with --max-time how much run time it has")
        return IraceTask(
            space=arena.space,
            given=arena.given,
            instances=arena.positions,
            max_time_ms=math.ceil(budget.max_time_s * _MS) if timed else None,
            max_runs=None if timed else budget.run_limit,
            seed=self.own_seed,
            bound_ms=math.ceil(arena.captime_s * _MS) if self._caps(arena) else None,
        )

    def _caps(self, arena: Arena) -> bool:
        """Whether irace's adaptive capping applies: costs are runtimes, and there is a largest one."""
        return self.objective is RankedBy.RUNTIME and math.isfinite(arena.captime_s)


class _Account:
    """What irace believes: which configuration has which number, and what it has spent.

    Args:
        in_time: Whether costs are runtimes, which irace compares with its bounds in milliseconds.
    """

    def __init__(self, *, in_time: bool = False) -> None:
        self._cost_unit = _MS if in_time else 1
        self.numbers: dict[str, int] = {}
        """Our number of a configuration by irace's."""
        self._runs = 0
        self._time_s = 0.0

    def run(self, arena: Arena, fields: list[str]) -> str:
        """Make the run irace asks for, note whose number irace calls it by, and say what it cost."""
        number, instance, bound, *words = fields
        values = read_values(arena.space, dict(zip(words[::2], words[1::2], strict=True)))
        self.numbers[number] = arena.number(values)
        bound_s = float(bound) / _MS or None
        (played,) = arena.run(self.numbers[number], [int(instance)], bound_s)
        self._runs += 1
        self._time_s += played.time_s
        return f"{-played.score * self._cost_unit!r} {played.time_s * _MS!r}"

    def at_its_end(self, paid: RivalStanding, *, timed: bool) -> str:
        """How much irace has run by its own count, and how much of that cost nothing as it was known."""
        option, counted, known = "--max-runs", f"{self._runs:,} runs", f"{self._runs - paid.runs:,}"
        if timed:
            option, counted = "--max-time", f"{self._time_s:,.2f} s of runs"
            known = f"{self._time_s - paid.total_time_s:,.2f} s"
        free = f", {known} of them known already and free" if self._runs > paid.runs else ""
        return (
            f"irace has ended its races after {counted} by its own count{free}: "
            f"a larger {option} lets it go further."
        )


class SmallBudgetError(UsageError):
    """The budget is too small for irace's races.

    Attributes:
        least: How much irace needs: seconds, or runs where it has a number of runs.
    """

    def __init__(self, least: int, option: str) -> None:
        super().__init__(f"the budget is too small for irace's races: give it a {option}")
        self.least = least


def _failure(error: str) -> UtilituneError:
    """What to tell of an irace that ended without an answer."""
    wanted = _WANTED.search(error)
    if wanted is None:
        return TargetError(f"irace ended without an answer: {error[:_LONGEST_ERROR] or 'it gave no reason'}")
    least = float(wanted["least"])
    if wanted["what"] == "maxTime":
        least_s = math.ceil(least / _MS)
        return SmallBudgetError(least_s, f"--max-time of at least {least_s} s")
    return SmallBudgetError(math.ceil(least), f"--max-runs of at least {math.ceil(least)}")


@functools.cache
def _irace_is_installed(program: str | None) -> bool:
    if program is None:
        return False
    question = 'quit(save = "no", status = as.integer(!requireNamespace("irace", quietly = TRUE)))'
    asked = subprocess.run([program, "--vanilla", "-e", question], capture_output=True, check=False)
    return asked.returncode == 0


@contextlib.contextmanager
def _racing(folder: Path, driver: Path) -> Iterator[_Process]:
    """Let irace work for as long as the block does, and no longer than we do.

    Args:
        folder: Where it runs.
        driver: The R program.
    """
    program = shutil.which("Rscript") or "Rscript"
    log = folder / "output.txt"
    questions, their_questions = os.pipe()
    their_answers, answers = os.pipe()
    with (
        os.fdopen(questions, encoding="utf-8") as asked,
        os.fdopen(answers, "wb", buffering=0) as answered,
        log.open("wb") as output,
        guarded(
            [program, "--vanilla", str(driver), str(their_questions), str(their_answers)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(their_questions, their_answers),
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        ),
    ):
        os.close(their_questions)
        os.close(their_answers)
        yield _Process(log, asked, answered)


class _Process:
    """irace at work, seen from our side of the two pipes.

    Args:
        log: Where its output goes.
        questions: What it writes.
        answers: What it reads.
    """

    def __init__(self, log: Path, questions: IO[str], answers: IO[bytes]) -> None:
        self._log = log
        self._questions = questions
        self._answers = answers

    def questions(self) -> Iterator[list[str]]:
        """What irace asks, until it ends."""
        for line in self._questions:
            yield line.rstrip("\n").split(SEPARATOR)

    def answer(self, text: str) -> None:
        """Answer the latest question; if irace is gone by then, its end is seen at the next."""
        with contextlib.suppress(BrokenPipeError):
            self._answers.write(f"{text}\n".encode())

    def last_error(self) -> str:
        """The last error it told of, in one line; nothing where there is none."""
        _, error, after = self._log.read_text(encoding="utf-8", errors="replace").rpartition("Error")
        return " ".join(f"{error}{after}".split()) if error else ""

"""Who would win under a utility that somebody is still thinking about.

A `Contest` is a run, or recorded data, made ready once; after that any utility is judged in a few
milliseconds. Its bounds hold for all utilities at once, so a curve may be dragged until the winner pleases,
and what is shown stays true. `Contest.shifts` stretches the whole curve along time: how far could one's sense
of time be off before another configuration wins?
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.data.reading import read_matrix
from utilitune.data.synthetic import LOOKALIKES, generate
from utilitune.domain import rounded_up
from utilitune.errors import UsageError, did_you_mean
from utilitune.procedures.bounds.every_utility import CensoredRuns
from utilitune.reports.whatif import SolutionWhatIf, whatif, whatif_known, whatif_run
from utilitune.store import read_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.data import RuntimeMatrix
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.reports.whatif import Recommendation, WhatIf
    from utilitune.utility import Utility

SHIPPED = {
    "shipped:kissat": "kissat, a SAT solver (measured; milliseconds)",
    "lookalike:minisat": "a SAT solver (invented data like minisat's; seconds)",
    "lookalike:cplex_rcw": "a MIP solver (invented data like CPLEX's; minutes)",
}
"""Data that are always there, with what to call them."""

SHOWN = 8
"""How many configurations a ranking shows at most, besides the default."""

_LOOKALIKE_SHAPE = (120, 1_000)
_ALIKE = 0.005  # worths that differ by less look the same
_STRETCHES = 2.0 ** (np.arange(-16, 17) / 4)  # a sixteenth to sixteen times, and exactly 1 in the middle
_OF_SOLUTIONS = (
    "a curve says what an answer after some time is worth, but these runs are about the quality of "
    "solutions: leave the run out, or ask with 'utilitune whatif'"
)


@dataclass(frozen=True, slots=True)
class Contest:
    """Configurations that can be ranked under any utility.

    Attributes:
        answers: Their bounds under every utility.
        names: What to call each of them.
        note: What the ranking is about, and how sure it is.
    """

    answers: WhatIf
    names: tuple[str, ...]
    note: str

    def ranking(self, utility: Utility) -> dict[str, Any]:
        """The winner, how sure that is, and the best few with their bounds, as plain values."""
        found = self.answers.under(utility)
        ranked = np.argsort(-found.lower, kind="stable")
        order = ranked[found.first[ranked] == ranked][:SHOWN].tolist()
        shown = order if 0 in order else [*order, 0]
        return {
            "winner": found.best_index,
            "epsilon": found.epsilon,
            "contenders": found.contenders,
            "configurations": self.answers.different,
            "verdict": self._verdict(found),
            "rows": [
                {
                    "number": number,
                    "name": self.names[number],
                    "runs": self.answers.run_counts[number],
                    "low": float(found.lower[number]),
                    "high": float(found.upper[number]),
                }
                for number in shown
            ],
            "note": self.note,
        }

    def _verdict(self, found: Recommendation) -> str:
        """The ranking as a sentence."""
        ran = np.array(self.answers.run_counts) > 0
        if ran.any() and float(found.upper[ran].max() - found.lower[ran].min()) < _ALIKE:
            return (
                f"This curve does not tell the configurations apart: all are worth "
                f"{float(found.lower[ran].min()):.2f}, because it hardly changes where these runs end."
            )
        name = _begun(self.names[found.best_index])
        if not found.contenders:
            near = found.lower > found.upper[found.best_index] - _ALIKE
            close = int(np.count_nonzero(near & found.others))
            but = (
                f" But {close} {'is' if close == 1 else 'are'} less than {_ALIKE} behind."
                if close > 0
                else ""
            )
            return f"{name} wins: no other of the {self.answers.different} can be better.{but}"
        others = "another one" if found.contenders == 1 else f"{found.contenders} others"
        return (
            f"Take {self.names[found.best_index]}: it is within ε = {rounded_up(found.epsilon)} of the best, "
            f"but {others} of the {self.answers.different} may be better."
        )

    def shifts(self, utility: Utility) -> list[dict[str, Any]]:
        """Who wins where all times of the utility are stretched by a factor, in ranges of the factor."""
        winners = [self.answers.stretched_winner(utility, float(factor)) for factor in _STRETCHES]
        found = []
        for number, group in groupby(
            zip(_STRETCHES.tolist(), winners, strict=True), key=lambda each: each[1]
        ):
            factors = [factor for factor, _ in group]
            found.append(
                {"from": factors[0], "to": factors[-1], "number": number, "name": self.names[number]}
            )
        return found


def stability_in_words(shifts: list[dict[str, Any]]) -> str:
    """How far all times may be off before another configuration wins, as a sentence."""
    here = next(place for place, each in enumerate(shifts) if each["from"] <= 1.0 <= each["to"])
    winner = shifts[here]
    if len(shifts) == 1:
        return f"{_begun(winner['name'])} wins even if all your times were 16 times shorter or longer."
    told = []
    if here > 0:
        before = shifts[here - 1]
        factor = 1.0 / math.sqrt(before["to"] * winner["from"])
        told.append(f"about {factor:.2g} times shorter, {before['name']} would win")
    if here < len(shifts) - 1:
        after = shifts[here + 1]
        factor = math.sqrt(winner["to"] * after["from"])
        told.append(f"about {factor:.2g} times longer, {after['name']} would win")
    return f"If all your times were {'; if they were '.join(told)}."


def _begun(text: str) -> str:
    """A sentence begins with a capital letter."""
    return text[:1].upper() + text[1:]


def contest_of_run(folder: Path, evidence: LiveEvidence | None = None) -> Contest:
    """The configurations of a stored run.

    Args:
        folder: The run.
        evidence: Its runs, where somebody has read them already: of a large run that takes seconds.

    Raises:
        StoreError: There is no such run, or it has no configuration yet.
        UsageError: It is about the quality of solutions.
    """
    if evidence is None:
        answers = whatif_run(folder)
    else:
        with contextlib.closing(read_run_folder(folder)) as store:
            answers = whatif_known(store, evidence)
    if isinstance(answers, SolutionWhatIf):
        raise UsageError(_OF_SOLUTIONS)
    names = ("the default", *(f"configuration {number}" for number in range(1, answers.configurations)))
    return Contest(answers, names, answers.promise())


def contest_of_data(source: str) -> Contest:
    """The configurations of data that come with the package, or of recorded runtimes in a file."""
    matrix = _matrix(source)
    if matrix.solutions is not None:
        raise UsageError(_OF_SOLUTIONS)
    order = matrix.columns
    runs = [CensoredRuns.capped(row[order], matrix.cutoff_s) for row in np.asarray(matrix.runtimes_s)]
    answers = whatif(runs, population=matrix.positions)
    note = (
        f"All {matrix.rows} configurations were run on all {matrix.positions} instances, so this is exact "
        "for these instances, except where runs reached their time limit."
    )
    return Contest(answers, _names(source, matrix), note)


def _names(source: str, matrix: RuntimeMatrix) -> tuple[str, ...]:
    """Rows by number, the first one as the default where it is; names of the user's own as they are."""
    if source not in SHIPPED:
        return matrix.configurations
    first = "the default" if source == "shipped:kissat" else "configuration 0"
    return (first, *(f"configuration {number}" for number in range(1, matrix.rows)))


def _matrix(source: str) -> RuntimeMatrix:
    kind, _, name = source.partition(":")
    if kind == "lookalike" and name in LOOKALIKES:
        rows, columns = _LOOKALIKE_SHAPE
        return generate(replace(LOOKALIKES[name], rows=rows, columns=columns), source=source)
    return read_matrix(source)


def telling_data(utility: Utility) -> str:
    """The one of `SHIPPED` whose configurations a utility tells apart best: its times are like theirs."""

    def spread(source: str) -> float:
        rows = contest_of_data(source).answers.under(utility).lower
        return float(rows.max() - np.median(rows))

    return max(SHIPPED, key=spread)


def shipped_contest(source: str) -> Contest:
    """One of `SHIPPED`; nothing else, so that a name from outside is never a path."""
    if source not in SHIPPED:
        raise UsageError(f"there is no data set {source!r}; {did_you_mean(source, SHIPPED)}")
    return contest_of_data(source)

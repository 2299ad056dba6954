"""Does the promise hold where the quality of solutions counts? Many small searches, counted.

The worlds and searches are those of ``python -m benchmarks.audit``, which counts thousands of them; here a
few of each, and intervals that are broken on purpose, which must be found out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.audit.solutions import AT_ANY_TIME, AT_THE_END, WORLDS, Kind, solution_search

from utilitune.procedures.judged_evidence import JudgedEvidence
from utilitune.scenario.judging import AnytimeJudge

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome, RunRequest
    from utilitune.procedures.anytime_evidence import Looks

DELTA = 0.2
SEARCHES = 15
BROKEN_SEARCHES = 40


class Hopeful(AnytimeJudge):
    """Broken on purpose: what a run has found when it is looked at counts as all that it will find."""

    def looks(
        self, position: int, outcome: RunOutcome, default: RunOutcome | None, captimes_s: np.ndarray
    ) -> Looks:
        least, _ = super().looks(position, outcome, default, captimes_s)
        return least, np.minimum(1.0, least + 1e-9)


class Hasty(JudgedEvidence):
    """Broken on purpose: what a run has reached when it is stopped early counts as its end."""

    def _is_over(self, request: RunRequest, outcome: RunOutcome) -> bool:
        del request, outcome
        return True


def failures(kind: Kind, world: str, procedure: str, searches: int) -> int:
    failed = sum(
        bool(solution_search(np.random.default_rng([number, 14]), kind, world, procedure, DELTA))
        for number in range(searches)
    )
    sys.stdout.write(f"{kind.objective}, {world}, {procedure}: {failed} of {searches} promises broken\n")
    return failed


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    ("kind", "procedure"),
    [(AT_ANY_TIME, "wager"), (AT_THE_END, "wager"), (AT_THE_END, "oup"), (AT_THE_END, "up")],
    ids=["anytime-wager", "quality-wager", "quality-oup", "quality-up"],
)
def test_promises_are_kept(kind: Kind, world: str, procedure: str):
    assert failures(kind, world, procedure, SEARCHES) <= SEARCHES * DELTA


def test_a_look_that_is_taken_for_the_end_breaks_promises():
    hopeful = replace(AT_ANY_TIME, judge=Hopeful)
    assert failures(hopeful, "jumps at the end", "wager", BROKEN_SEARCHES) > 1.5 * BROKEN_SEARCHES * DELTA


def test_a_quality_that_is_taken_for_the_end_breaks_promises():
    hasty = replace(AT_THE_END, evidence=Hasty)
    assert failures(hasty, "jumps at the end", "wager", BROKEN_SEARCHES) > 1.5 * BROKEN_SEARCHES * DELTA

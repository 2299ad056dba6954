"""The audit's cells can fail: with bounds that are too narrow, far more than δ of their searches do.

What is printed (``pytest -s``) is how many searches of each broken version failed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.audit import searches
from benchmarks.audit.cells import all_cells
from benchmarks.audit.counting import Counter
from benchmarks.audit.page import Line, too_many
from benchmarks.audit.worlds import GROWING

from utilitune.live import evaluation
from utilitune.procedures import growth, naive
from utilitune.procedures.bounds import every_utility
from utilitune.procedures.naming import build_engine

if TYPE_CHECKING:
    from benchmarks.audit.counting import Count

    from utilitune.domain import Progress
    from utilitune.procedures.engine import Engine
    from utilitune.procedures.paper.engine import PaperEngine

CELLS = {cell.name: cell for cell in all_cells()}
SEARCHES = 60


def counted(name: str, searches: int = SEARCHES) -> Count:
    """What a cell counts; printed."""
    found, _ = Counter().count(CELLS[name], range(searches))
    print(f"{name}: {found.failures} of {searches} failed")  # noqa: T201 -- the finding
    return found


def is_caught(name: str, searches: int = SEARCHES) -> bool:
    """Whether the audit would end with a complaint about a cell."""
    return bool(too_many([Line(CELLS[name], counted(name, searches))]))


class Claiming:
    """An engine that claims a part only of the ε that it has proved."""

    def __init__(self, engine: Engine, part: float) -> None:
        self._engine, self._part = engine, part

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def progress(self) -> Progress:
        progress = self._engine.progress()
        return replace(progress, epsilon=self._part * progress.epsilon if progress.epsilon < 1 else 1.0)


class Narrow(Claiming):
    """An engine of the paper whose bounds are that part as wide when it is asked for its answer."""

    _engine: PaperEngine

    def progress(self) -> Progress:
        progress, arms = self._engine.progress(), self._engine.arms
        if progress.epsilon >= 1:
            return progress
        middle, half = (arms.upper + arms.lower) / 2, self._part * (arms.upper - arms.lower) / 2
        best = int(np.argmax(middle - half))
        upper = np.delete(middle + half, best).max()
        return replace(progress, best_index=best, epsilon=max(0.0, upper - (middle - half)[best]))


def broken_by(kind: type[Claiming], part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "build_engine", lambda *a, **k: kind(build_engine(*a, **k), part))


@pytest.mark.parametrize("place", ["many instances", "long list"])
@pytest.mark.parametrize(("procedure", "part"), [("oup", 0.2), ("up", 0.15)])
def test_bounds_of_the_paper_that_are_too_narrow_are_caught(procedure, part, place, monkeypatch):
    broken_by(Narrow, part, monkeypatch)
    assert is_caught(f"{procedure}: fixed set, {place}")


@pytest.mark.parametrize("place", ["even space", "nine wide levels"])
def test_coup_with_bounds_that_are_too_narrow_is_caught(place, monkeypatch):
    broken_by(Narrow, 0.2, monkeypatch)
    assert is_caught(f"coup: growing in three phases, {place}")


@pytest.mark.parametrize("place", ["nine wide levels", "list"])
def test_wager_in_phases_that_claims_too_much_is_caught(place, monkeypatch):
    broken_by(Claiming, 0.2, monkeypatch)
    assert is_caught(f"wager: growing in three phases, {place}")


@pytest.mark.parametrize("procedure", ["coup", "wager"])
def test_too_few_draws_for_their_fraction_are_caught(procedure, monkeypatch):
    least = growth.least_gamma
    monkeypatch.setattr(growth, "least_gamma", lambda *numbers: least(*numbers) / 6)
    assert is_caught(f"{procedure}: growing in three phases, one in ten")


@pytest.mark.parametrize("place", ["many instances", "long list"])
def test_naive_with_a_small_part_of_its_runs_is_caught(place, monkeypatch):
    runs = naive.naive_runs
    monkeypatch.setattr(naive, "naive_runs", lambda *numbers: runs(*numbers) // 30)
    assert is_caught(f"naive: fixed set, {place}")


@pytest.mark.parametrize("place", ["", ", list"])
def test_bands_that_are_too_narrow_are_caught(place, monkeypatch):
    width = every_utility.band_width
    monkeypatch.setattr(every_utility, "band_width", lambda *numbers: 0.33 * width(*numbers))
    assert is_caught(f"whatif: every deadline at once{place}")


def test_an_evaluation_with_eight_times_its_share_of_error_is_not_in_order(monkeypatch):
    interval = evaluation.mean_interval
    monkeypatch.setattr(evaluation, "mean_interval", lambda *numbers: interval(*numbers[:3], 8 * numbers[3]))
    name = "evaluate: rare losses, 50 test instances"
    assert counted(name, 200).failures > CELLS[name].limit * 200


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"{name}: fixed set, {place}"
            for name in ("oup", "up", "naive")
            for place in ("many instances", "long list")
        ),
        *(f"{name}: growing in three phases, {place}" for name in ("wager", "coup") for place in GROWING),
        "whatif: every deadline at once",
        "whatif: every deadline at once, list",
    ],
)
def test_the_worst_answer_is_caught_nearly_always(name):
    found = counted(name, 20)
    assert found.failures <= 2
    assert found.caught >= 10

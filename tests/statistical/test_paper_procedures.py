"""Do the promises hold? Many random searches with known expected utilities, counted.

Upper bounds only fall and lower bounds only rise, so the bounds at the end of a search (or phase)
show a violation at any moment of it. The true runtimes go on beyond the recorded cutoff: what the
procedures do not see still counts in the expected utility.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune import ProcedureSpec, RuntimeMatrix, Utility, parse_utility
from utilitune.domain.stopping import Budget
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import SCHEDULES, listed_schedule
from utilitune.procedures.naming import build_engine
from utilitune.replaying.replay import drive
from utilitune.replaying.row_supply import RowsInOrder

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.procedures.paper.engine import PaperEngine

SEARCHES = 200
DELTA = 0.2
SCHEDULE = listed_schedule([0.9, 0.8, 0.7], [0.95, 0.9, 0.85])


@dataclass(frozen=True)
class World:
    """Runtimes each configuration may have, with their probabilities, as one row per configuration."""

    runtimes_s: tuple[tuple[float, ...], ...]
    chances: tuple[tuple[float, ...], ...]
    utility: str
    cutoff_s: float = math.inf

    def worths(self) -> np.ndarray:
        """The true expected utility of each configuration, cutoff or not."""
        utility = parse_utility(self.utility)
        return (utility(np.array(self.runtimes_s)) * np.array(self.chances)).sum(axis=1)

    def matrix(self, instances: int, generator: np.random.Generator) -> RuntimeMatrix:
        rows = [
            generator.choice(runtimes, size=instances, p=chances)
            for runtimes, chances in zip(self.runtimes_s, self.chances, strict=True)
        ]
        return RuntimeMatrix.from_array(np.array(rows), self.cutoff_s)


WORLDS = {
    # At once or never: the largest variance there is, and the best leads by 0.02 only.
    "near-ties": World(
        runtimes_s=((0.0, math.inf),) * 8,
        chances=tuple((p, 1 - p) for p in (0.5, 0.5, 0.52, 0.5, 0.48, 0.5, 0.5, 0.5)),
        utility="uniform(k0=8)",
    ),
    # Most runs last longer than the cutoff of 6 s, where an answer is still worth a lot.
    "heavy censoring": World(
        runtimes_s=((1.0, 7.0, 500.0), (3.0, 20.0, 90.0)) * 4,
        chances=((0.3, 0.2, 0.5), (0.2, 0.6, 0.2)) * 4,
        utility="log-laplace(k0=30)",
        cutoff_s=6.0,
    ),
    # Captimes double many times: a tenth of the worth lies in ever longer runs.
    "long tails": World(
        runtimes_s=((0.5, 3.0, 17.0, 130.0, 1100.0),) * 8,
        chances=tuple((0.3, 0.25, 0.2, 0.15 - d, 0.1 + d) for d in (0, 0.05, 0.1, 0.02, 0.1, 0.15, 0.1, 0)),
        utility="log-laplace(k0=60)",
    ),
}


def search(world: World, spec: ProcedureSpec, matrix: RuntimeMatrix, utility: Utility) -> PaperEngine:
    evidence = RecordedEvidence(matrix, utility)
    engine = build_engine(
        replace(spec, captime_limit_s=world.cutoff_s), evidence, utility, configurations=matrix.rows
    )
    drive(engine, RowsInOrder(engine, np.arange(matrix.rows)), Budget())
    return engine


def rate_line(what: str, failures: int, searches: int) -> str:
    """A rate with its 95 % interval (Wilson)."""
    share, z = failures / searches, 1.96
    middle = (share + z * z / (2 * searches)) / (1 + z * z / searches)
    half = z * math.sqrt(share * (1 - share) / searches + z * z / (4 * searches**2)) / (1 + z * z / searches)
    return f"{what}: {share:.4f} in [{max(0.0, middle - half):.4f}, {middle + half:.4f}], allowed {DELTA}"


def count(world: World, spec: ProcedureSpec, fails: Callable[[PaperEngine], bool]) -> int:
    """In how many searches something fails."""
    utility, generator = parse_utility(world.utility), np.random.default_rng(20250411)
    matrices = (world.matrix(500, generator) for _ in range(SEARCHES))
    return sum(fails(search(world, spec, matrix, utility)) for matrix in matrices)


def violates_a_bound(engine: PaperEngine, worths: np.ndarray, shrink: float = 1.0) -> bool:
    """Whether the expected utility of any configuration lies outside its bounds, narrowed if asked."""
    upper, lower = engine.arms.upper, engine.arms.lower
    middle, half = (upper + lower) / 2, shrink * (upper - lower) / 2
    inside = worths[: len(upper)]
    return bool(((inside > middle + half) | (inside < middle - half)).any())


def answers_wrongly(engine: PaperEngine, worths: np.ndarray) -> bool:
    """Whether the answer is further from the best in play than the ε that is claimed."""
    progress = engine.progress()
    in_play = worths[: progress.configurations]
    return bool(in_play[progress.best_index] < in_play.max() - progress.epsilon)


@pytest.mark.parametrize("name", ["up", "oup"])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_up_and_oup_keep_their_promise(name: str, world: str, epsilon: float | None):
    worths = WORLDS[world].worths()
    spec = ProcedureSpec(name, delta=DELTA, epsilon=epsilon)
    failures = count(
        WORLDS[world],
        spec,
        lambda engine: violates_a_bound(engine, worths) or answers_wrongly(engine, worths),
    )
    print(rate_line(f"{name}, {world}, target {epsilon}", failures, SEARCHES))  # noqa: T201 -- the finding
    assert failures <= DELTA * SEARCHES


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("phases", [1, 3])
def test_coup_keeps_its_promise_in_every_phase(world: str, phases: int):
    worths = WORLDS[world].worths()
    spec = ProcedureSpec("coup", delta=DELTA, schedule=SCHEDULE, phases=phases)
    failures = count(
        WORLDS[world],
        spec,
        lambda engine: violates_a_bound(engine, worths) or answers_wrongly(engine, worths),
    )
    print(rate_line(f"coup, {world}, {phases} phases", failures, SEARCHES))  # noqa: T201 -- the finding
    assert failures <= DELTA * SEARCHES


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_draws_of_every_phase_reach_into_the_best_of_the_space(schedule: str):
    # A configuration's rank in the space is uniform; the best of the first n_p must rank within γ_p.
    phases = [SCHEDULES[schedule].phase(number, DELTA) for number in range(1, 9)]
    ranks = np.random.default_rng(7).random((2000, phases[-1].configurations))
    best = np.minimum.accumulate(ranks, axis=1)
    missed = np.zeros(len(ranks), dtype=bool)
    for phase in phases:
        missed |= best[:, phase.configurations - 1] > phase.gamma
    print(rate_line(f"γ, {schedule} (half of δ)", int(missed.sum()), len(ranks)))  # noqa: T201 -- the finding
    assert missed.mean() <= DELTA / 2


@pytest.mark.parametrize("epsilon", [0.5, 0.3])
def test_naive_keeps_its_promise(epsilon: float):
    world = WORLDS["near-ties"]
    worths = world.worths()
    spec = ProcedureSpec("naive", delta=DELTA, epsilon=epsilon, captime_s=8.0)
    failures = count(world, spec, lambda engine: answers_wrongly(engine, worths))
    print(rate_line(f"naive, target {epsilon}", failures, SEARCHES))  # noqa: T201 -- the finding
    assert failures <= DELTA * SEARCHES


def test_bounds_a_quarter_as_wide_would_be_found_out():
    worths = WORLDS["near-ties"].worths()
    spec = ProcedureSpec("up", delta=DELTA)
    failures = count(WORLDS["near-ties"], spec, lambda engine: violates_a_bound(engine, worths, shrink=0.25))
    print(rate_line("a quarter as wide", failures, SEARCHES))  # noqa: T201 -- the finding
    assert failures > DELTA * SEARCHES

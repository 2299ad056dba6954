"""One search on recorded runs, by the engine itself, looked at again and again.

This is the quick way to count: no store, no clock, no processes. What drivers add is counted in `drivers`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from utilitune import ProcedureSpec, Recording, RuntimeMatrix
from utilitune.domain import RunOutcome, RunStatus
from utilitune.live.evaluation import compare
from utilitune.procedures.bounds.every_utility import CensoredRuns
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import listed_schedule
from utilitune.procedures.naming import build_engine
from utilitune.replaying.row_supply import row_supply
from utilitune.reports.whatif import whatif
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from benchmarks.audit.worlds import World

    from utilitune.domain import Progress
    from utilitune.procedures.engine import Engine
    from utilitune.procedures.naming import Beforehand

TOLERANCE = 1e-9
SCHEDULE = listed_schedule([0.9, 0.8, 0.7], [0.95, 0.9, 0.85])
MOST_ROUNDS = 1500


def moments() -> list[int]:
    """After how many rounds a search is looked at: often at first, then every fifth more."""
    found = [1, 2, 3, 4, 5, 6, 8, 10]
    while found[-1] < MOST_ROUNDS:
        found.append(math.ceil(found[-1] * 1.2))
    return found


def broken(world: World, progress: Progress) -> bool:
    """Whether the promise at a moment is false."""
    promise = progress.promise
    if promise.epsilon >= 1 or (promise.gamma is not None and promise.gamma >= 1):
        return False
    best = float(world.worth.max()) if promise.gamma is None else world.best_but(promise.gamma)
    return best - world.worth[progress.best_index] > promise.epsilon + TOLERANCE


def specification(procedure: str, rows: int, **settings: object) -> ProcedureSpec:
    """A procedure with what all its searches share."""
    plain = ProcedureSpec(procedure, captime0_s=0.5, captime_limit_s=64.0, configurations=rows)
    if procedure == "naive":
        plain = replace(plain, epsilon=0.5, captime_s=64.0)
    if procedure == "coup":
        plain = replace(plain, schedule=SCHEDULE, phases=3)
    return replace(plain, **settings)


def engine_search(world: World, spec: ProcedureSpec, beforehand: Beforehand | None = None) -> bool:
    """Whether a promise of one search is ever false; rows join as random draws, in their order.

    Args:
        world: What is searched.
        spec: The procedure and its settings.
        beforehand: What is settled before the first run.
    """
    matrix = RuntimeMatrix.from_array(world.runtimes_s, world.cutoff_s)
    limited = replace(spec, captime_limit_s=min(spec.captime_limit_s, world.cutoff_s))
    engine = build_engine(
        limited,
        RecordedEvidence(matrix, world.utility),
        world.utility,
        configurations=matrix.rows,
        beforehand=beforehand,
    )
    return looked_at(engine, world, matrix.rows)


def looked_at(engine: Engine, world: World, rows: int) -> bool:
    """Whether a promise of an engine is ever false; its configurations join as random draws, in order."""
    for rounds in moments():
        while True:
            halt = engine.advance(PauseAt(rounds, math.inf, 10**9))
            if halt is not Halt.NEEDS_CONFIGURATIONS:
                break
            for _ in range(min(engine.missing_configurations, rows - engine.added)):
                engine.add(Origin.RANDOM)
            if engine.missing_configurations:
                engine.no_more()
        if engine.added and broken(world, engine.progress()):
            return True
        if halt is Halt.DONE:
            break
    return False


def proposal_search(world: World, spec: ProcedureSpec, generator: np.random.Generator) -> bool:
    """The same with a model's proposals by turns, from features that tell it which rows did well by luck.

    The features are the row's own results on the first positions: the worst a model could be given.
    """
    seen = world.utility(world.runtimes_s[:, :24])
    features = np.stack([seen.mean(axis=1), generator.random(len(seen))], axis=1)
    plain = RuntimeMatrix.from_array(world.runtimes_s, world.cutoff_s)
    matrix = replace(plain, features=features, feature_names=("luck", "noise"))
    recording = Recording.of(matrix, world.utility)
    limited = replace(spec, captime_limit_s=min(spec.captime_limit_s, world.cutoff_s))
    engine = build_engine(limited, recording.evidence, world.utility, configurations=matrix.rows)
    supply, _ = row_supply(recording, limited, engine, recording.evidence)
    if supply is None:
        raise RuntimeError("proposals need scikit-learn")
    for rounds in moments():
        while (halt := engine.advance(PauseAt(rounds, math.inf, 10**9))) is Halt.NEEDS_CONFIGURATIONS:
            supply.feed()
            if engine.missing_configurations:
                engine.no_more()
        if engine.added:
            progress = engine.progress()
            if broken(world, replace(progress, best_index=supply.rows[progress.best_index])):
                return True
        if halt is Halt.DONE:
            break
    return False


def whatif_search(world: World, delta: float, generator: np.random.Generator, *, finite: bool) -> bool:
    """Whether any utility, also one chosen after looking, gets an answer that is farther from the best.

    Captimes are chosen by looking as well: long where a configuration did badly so far.
    """
    positions = world.runtimes_s.shape[1]
    for count in sorted({min(count, positions) for count in (5, 20, 80, positions)}):
        caps = np.where(generator.random((len(world.runtimes_s), count)) < 0.5, 4.0, 64.0)
        runs = [
            CensoredRuns.capped(row[:count], cap) for row, cap in zip(world.runtimes_s, caps, strict=True)
        ]
        answers = whatif(runs, delta=delta, population=positions if finite else 0)
        for deadline in (0.25, 0.75, 1.2, 2.0, 5.0, 9.0, 30.0, 63.0):
            utility = parse_utility(f"step(deadline={deadline})")
            worth = true_worth(world, utility, finite=finite)
            found = answers.under(utility)
            if worth.max() - worth[found.best_index] > found.epsilon + TOLERANCE:
                return True
    return False


def true_worth(world: World, utility: object, *, finite: bool) -> np.ndarray:
    """What every configuration is worth under another utility; only for lists and for all-or-nothing runs."""
    if finite:
        return np.asarray(utility(world.runtimes_s)).mean(axis=1)
    return world.worth * float(utility(0.0))


def evaluation_search(generator: np.random.Generator, pairs: int, loss: float) -> bool:
    """Whether an evaluation says "better" or "worse" of an equal one: small gains, rare losses, mean 0."""
    gain = 0.05
    chance = gain / (gain + loss)
    lost = generator.random(pairs) < chance
    utility = parse_utility("uniform(k0=10)")
    base = 5.0
    ours = np.where(lost, base + 10 * loss, base - 10 * gain)
    outcomes = [
        [RunOutcome(RunStatus.FINISHED, float(time_s)) for time_s in times]
        for times in (ours, np.full(pairs, base))
    ]
    found = compare((1, outcomes[0]), (0, outcomes[1]), utility, 20.0)
    return found.excludes_no_gain or (
        found.difference_interval is not None and found.difference_interval.high < 0
    )

"""One search on recorded runs, by the engine itself, looked at again and again.

This is the quick way to count: no store, no clock, no processes. What drivers add is counted in `drivers`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict

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
    from collections.abc import Sequence

    from benchmarks.audit.worlds import Lasting, World

    from utilitune.domain import Progress
    from utilitune.procedures.engine import Engine
    from utilitune.procedures.naming import Beforehand

TOLERANCE = 1e-9
SCHEDULE = listed_schedule([0.7, 0.5, 0.4], [0.6, 0.3, 0.09])
"""Phases that end with 64 draws and a promise about all but less than a tenth of the space."""
MOST_ROUNDS = 1500
MANY_ROUNDS = 40_000
"""What the wide bounds of the paper need."""
NAIVE_EPSILON = 0.2
GIVEN_UP = 0.02
"""The share of the runs that are given up where `whatif` is asked."""


def moments(most: int = MOST_ROUNDS) -> list[int]:
    """After how many rounds a search is looked at: often at first, then every fifth more."""
    found = [1, 2, 3, 4, 5, 6, 8, 10]
    while found[-1] < most:
        found.append(math.ceil(found[-1] * 1.2))
    return found


def seen(world: World, progress: Progress, rows: Sequence[int]) -> Verdict:
    """Whether the promise at a moment is false, of the answer and of the worst in play.

    Args:
        world: What is searched.
        progress: What is said at that moment.
        rows: The rows in play, by the numbers of the search.
    """
    promise = progress.promise
    if promise.epsilon >= 1 or (promise.gamma is not None and promise.gamma >= 1):
        return Verdict(failed=False, caught=False)
    best = float(world.worth.max()) if promise.gamma is None else world.best_but(promise.gamma)
    worths = world.worth[list(rows)]
    least = best - promise.epsilon - TOLERANCE
    return Verdict(bool(worths[progress.best_index] < least), bool(worths.min() < least))


def specification(procedure: str, rows: int, **settings: object) -> ProcedureSpec:
    """A procedure with what all its searches share."""
    plain = ProcedureSpec(procedure, captime0_s=0.5, captime_limit_s=64.0, configurations=rows)
    if procedure == "naive":
        plain = replace(plain, epsilon=NAIVE_EPSILON, captime_s=64.0)
    if procedure == "coup":
        plain = replace(plain, schedule=SCHEDULE, phases=3)
    return replace(plain, **settings)


def engine_search(world: World, spec: ProcedureSpec, beforehand: Beforehand | None = None) -> Verdict:
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
    return looked_at(engine, world, matrix.rows, MOST_ROUNDS if spec.name == "wager" else MANY_ROUNDS)


def looked_at(engine: Engine, world: World, rows: int, most: int = MOST_ROUNDS) -> Verdict:
    """Whether a promise of an engine is ever false; its configurations join as random draws, in order."""
    verdict = NOTHING_SEEN
    for rounds in moments(most):
        while True:
            halt = engine.advance(PauseAt(rounds, math.inf, 10**9))
            if halt is not Halt.NEEDS_CONFIGURATIONS:
                break
            for _ in range(min(engine.missing_configurations, rows - engine.added)):
                engine.add(Origin.RANDOM)
            if engine.missing_configurations:
                engine.no_more()
        if engine.added:
            verdict |= seen(world, engine.progress(), range(engine.added))
        if verdict.failed or halt is Halt.DONE:
            break
    return verdict


def proposal_search(world: World, spec: ProcedureSpec, generator: np.random.Generator) -> Verdict:
    """The same with a model's proposals by turns, from features that tell it which rows did well by luck.

    The features are the row's own results on the first positions: the worst a model could be given.
    """
    lucky = world.utility(world.runtimes_s[:, :24])
    features = np.stack([lucky.mean(axis=1), generator.random(len(lucky))], axis=1)
    plain = RuntimeMatrix.from_array(world.runtimes_s, world.cutoff_s)
    matrix = replace(plain, features=features, feature_names=("luck", "noise"))
    recording = Recording.of(matrix, world.utility)
    limited = replace(spec, captime_limit_s=min(spec.captime_limit_s, world.cutoff_s))
    engine = build_engine(limited, recording.evidence, world.utility, configurations=matrix.rows)
    supply, _ = row_supply(recording, limited, engine, recording.evidence)
    if supply is None:
        raise RuntimeError("proposals need scikit-learn")
    verdict = NOTHING_SEEN
    for rounds in moments():
        while (halt := engine.advance(PauseAt(rounds, math.inf, 10**9))) is Halt.NEEDS_CONFIGURATIONS:
            supply.feed()
            if engine.missing_configurations:
                engine.no_more()
        if engine.added:
            verdict |= seen(world, engine.progress(), supply.rows)
        if verdict.failed or halt is Halt.DONE:
            break
    return verdict


DEADLINES_S = tuple(float(time_s) for time_s in np.geomspace(0.7, 2.8, 8))
"""So close together that one of them is about the worst that anybody could choose after looking."""
NUMBERS_OF_RUNS = (*range(5, 15), 16, 18, 20, 24, 28, 40, 80, 160, 320, 600)


def whatif_search(lasting: Lasting, delta: float, *, finite: bool) -> Verdict:
    """Whether any utility, also one chosen after looking, gets an answer that is farther from the best.

    Captimes are chosen by looking as well: the quickest runs are given up just before they would end.
    """
    positions = lasting.runtimes_s.shape[1]
    verdict = NOTHING_SEEN
    for count in sorted({min(count, positions) for count in NUMBERS_OF_RUNS}):
        made = lasting.runtimes_s[:, :count]
        captimes_s = np.where(made < np.quantile(made, GIVEN_UP, method="lower"), 0.99 * made, 64.0)
        runs = [CensoredRuns.capped(row, caps) for row, caps in zip(made, captimes_s, strict=True)]
        answers = whatif(runs, delta=delta, population=positions if finite else 0)
        for deadline in DEADLINES_S:
            worth = lasting.done_by(deadline, finite=finite)
            found = answers.under(parse_utility(f"step(deadline={deadline})"))
            least = worth.max() - found.epsilon - TOLERANCE
            verdict |= Verdict(bool(worth[found.best_index] < least), bool(worth.min() < least))
    return verdict


def evaluation_search(generator: np.random.Generator, pairs: int, gain: float, loss: float) -> Verdict:
    """Whether an evaluation says "better" or "worse" of an equal one: it gains or loses this, 0 on average.

    What it does not gain, the default does: all or nothing, where both are 1.
    """
    lost = generator.random(pairs) < gain / (gain + loss)
    utility = parse_utility("uniform(k0=10)")
    ours = np.where(lost, 5.0 + 5.0 * loss, 5.0 - 5.0 * gain)
    outcomes = [
        [RunOutcome(RunStatus.FINISHED, float(time_s)) for time_s in times] for times in (ours, 10.0 - ours)
    ]
    found = compare((1, outcomes[0]), (0, outcomes[1]), utility, 20.0)
    worse = found.difference_interval is not None and found.difference_interval.high < 0
    return Verdict(found.excludes_no_gain or worse)

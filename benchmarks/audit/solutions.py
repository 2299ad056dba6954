"""Searches where the quality of solutions counts, at the end of a run or while it runs.

Every run is a trace that the judges of real scenarios judge, into the evidence of live runs. The worlds are
unkind to intervals: worths are 0 or 1, tie, or depend on the default's own luck; traces jump just before the
limit, and those of the best configuration show nothing before; bounds are tight and sometimes reached late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.searches import TOLERANCE, moments
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict

from utilitune.domain import Objective, RunOutcome, RunRequest, RunStatus, TracePoint
from utilitune.procedures.anytime_evidence import AnytimeEvidence
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.judged_evidence import JudgedEvidence
from utilitune.procedures.naming import Beforehand, ProcedureSpec, build_engine
from utilitune.scenario.judging import AnytimeJudge, QualityJudge
from utilitune.scenario.model import QualityRules
from utilitune.utility import parse_solution_utility, parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.engine import Engine

LIMIT_S = 8.0
LATE_S = 0.999 * LIMIT_S
ENDLESS = 80
LISTS = (1, 2, 3, 12, 40)
CHANCES = (0.62, 0.4, 0.4, 0.38, 0.38, 0.3)

Trace = tuple[TracePoint, ...]


@dataclass(frozen=True, eq=False)
class Solved:
    """What configurations find on the positions of one instance order.

    Attributes:
        traces: The trace of every run, by configuration and position.
        truth: What each configuration is worth on average over all instances like these.
        utility: What a solution is worth.
        bounds: What is known of the instances, by position.
    """

    traces: Sequence[Sequence[Trace]]
    truth: NDArray[np.float64]
    utility: str = "gap(best=0, worst=1)"
    bounds: dict[str, float] = field(default_factory=dict)

    def name(self, position: int) -> str:
        """What an instance is called."""
        return str(position)


def _trace(*found: tuple[float, float]) -> Trace:
    return tuple(TracePoint(float(time_s), float(quality)) for time_s, quality in found)


def _coins(generator: np.random.Generator, positions: int) -> tuple[np.ndarray, np.ndarray]:
    chances = generator.permutation(CHANCES)
    return chances, generator.random((len(chances), positions)) < chances[:, None]


def all_or_nothing(generator: np.random.Generator, positions: int) -> Solved:
    """A solution is worth 1 or 0; the best configuration finds its own just before the limit."""
    chances, won = _coins(generator, positions)
    times = generator.uniform(0.0, LIMIT_S, won.shape)
    times[int(chances.argmax())] = LATE_S
    traces = [
        [_trace((time_s, 0.0 if good else 1.0)) for time_s, good in zip(*row, strict=True)]
        for row in zip(times, won, strict=True)
    ]
    return Solved(traces, chances)


def jumps(generator: np.random.Generator, positions: int) -> Solved:
    """All begin with the same bad solution; the best jumps late, the others jump early or not at all."""
    chances, won = _coins(generator, positions)
    jump_s = np.full(len(chances), 1.0)
    jump_s[int(chances.argmax())] = LATE_S
    traces = [
        [_trace((0.1, 0.9), (jump_s[i], 0.0)) if good else _trace((0.1, 0.9)) for good in row]
        for i, row in enumerate(won)
    ]
    return Solved(traces, chances + 0.1 * (1 - chances))


def ties(generator: np.random.Generator, positions: int) -> Solved:
    """Nearly all reach the same everywhere; one is better now and then, and late."""
    base, better = generator.choice([0.0, 0.5, 1.0], positions), generator.random(positions) < 0.1
    best, truth = int(generator.integers(5)), np.full(5, 0.5)
    truth[best] = 0.55
    times = generator.uniform(0.0, LIMIT_S, positions)
    traces = [
        [
            _trace((LATE_S, 0.0)) if i == best and better[j] else _trace((times[j], base[j]))
            for j in range(positions)
        ]
        for i in range(5)
    ]
    return Solved(traces, truth)


def discounted(generator: np.random.Generator, positions: int) -> Solved:
    """A solution loses its worth with time; it comes early or just before the limit."""
    chances, early = _coins(generator, positions)
    traces = [[_trace((0.5 if soon else LATE_S, 0.0)) for soon in row] for row in early]
    soon, late = (float(parse_utility("log-laplace(k0=1)")(time_s)) for time_s in (0.5, LATE_S))
    text = "product(gap(best=0, worst=1), log-laplace(k0=1))"
    return Solved(traces, chances * soon + (1 - chances) * late, text)


def bounded(generator: np.random.Generator, positions: int) -> Solved:
    """Of every instance a bound is known, and who reaches it does so at once or just before the limit."""
    chances, won = _coins(generator, positions)
    bounds = generator.choice([0.8, 0.4, 0.0], positions)
    late = generator.random(won.shape) < 0.5
    traces = [
        [_trace((LATE_S if late[i, j] else 0.1, bounds[j] if won[i, j] else 1.0)) for j in range(positions)]
        for i in range(len(chances))
    ]
    known = {str(position): float(bound) for position, bound in enumerate(bounds)}
    return Solved(traces, chances * 0.6, bounds=known)


def against_default(generator: np.random.Generator, positions: int) -> Solved:
    """Solutions are compared with the default's, whose own luck changes what all others are worth."""
    text, levels = "compared(to=default, alpha=5)", np.array([0.8, 1.0, 1.25])
    chances = np.array([[0.3, 0.4, 0.3], *generator.permutation([[0.5, 0.3, 0.2], *[[0.3, 0.3, 0.4]] * 3])])
    qualities = np.stack([generator.choice(levels, positions, p=chance) for chance in chances])
    times = generator.choice([0.2, LATE_S], qualities.shape)
    worth = np.array([[_compared(own / other) for other in levels] for own in levels])
    truth = np.array([0.5, *(chance @ worth @ chances[0] for chance in chances[1:])])
    traces = [[_trace(run) for run in zip(*row, strict=True)] for row in zip(times, qualities, strict=True)]
    return Solved(traces, truth, text)


def _compared(ratio: float) -> float:
    return 0.5 * ratio**-5 if ratio >= 1 else 1 - 0.5 * ratio**5


WORLDS: dict[str, Callable[[np.random.Generator, int], Solved]] = {
    "all or nothing": all_or_nothing,
    "jumps at the end": jumps,
    "ties": ties,
    "discounted": discounted,
    "known bounds": bounded,
    "against the default": against_default,
}


@dataclass(frozen=True)
class Kind:
    """How runs are judged and noted: by the product's own parts, or by broken ones.

    Attributes:
        objective: What counts.
        judge: What runs are worth.
        evidence: What procedures read.
    """

    objective: Objective
    judge: type[QualityJudge]
    evidence: type[JudgedEvidence]


AT_THE_END = Kind(Objective.QUALITY, QualityJudge, JudgedEvidence)
AT_ANY_TIME = Kind(Objective.ANYTIME, AnytimeJudge, AnytimeEvidence)


def solution_search(
    generator: np.random.Generator, kind: Kind, world: str, procedure: str, delta: float
) -> Verdict:
    """Whether a search ever promises too much, on an endless source or a list of instances by turns."""
    finite = bool(generator.integers(2))
    positions = int(generator.choice(LISTS)) if finite else ENDLESS
    solved = WORLDS[world](generator, positions)
    rules = QualityRules(kind.objective, bounds=solved.bounds)
    judge = kind.judge(parse_solution_utility(solved.utility), rules, solved, LIMIT_S)
    evidence, rows = kind.evidence(judge, positions), len(solved.traces)
    spec = ProcedureSpec(
        procedure,
        delta,
        captime0_s=LIMIT_S / 64 if kind.objective is Objective.ANYTIME else LIMIT_S,
        captime_limit_s=LIMIT_S,
        configurations=rows,
        growth="fixed",
        population="finite" if finite else "infinite",
    )
    settled = Beforehand(default=procedure == "wager")
    engine = build_engine(spec, evidence, evidence.utility, configurations=rows, beforehand=settled)
    outcomes = _tell(evidence, solved, goes_on=kind.objective is Objective.ANYTIME)
    engine.add(Origin.GIVEN)
    for _ in range(1, rows):
        engine.add(Origin.RANDOM)
    return _ever_wrong(engine, _means(judge, outcomes) if finite else solved.truth)


def _tell(evidence: JudgedEvidence, solved: Solved, *, goes_on: bool) -> list[list[RunOutcome]]:
    """Have every run made: first for a quarter of the time, then to its end."""
    told = []
    for i, row in enumerate(solved.traces):
        told.append([_outcome(trace, LIMIT_S, goes_on=goes_on) for trace in row])
        for j, (trace, ended) in enumerate(zip(row, told[-1], strict=True)):
            evidence.tell(RunRequest(i, j, LIMIT_S / 4), _outcome(trace, LIMIT_S / 4, goes_on=goes_on))
            evidence.tell(RunRequest(i, j, LIMIT_S), ended)
    return told


def _outcome(trace: Trace, captime_s: float, *, goes_on: bool) -> RunOutcome:
    """What a run has shown by a captime; it ends with its last solution, or goes on for ever."""
    seen = tuple(point for point in trace if point.time_s <= captime_s)
    ended = seen == trace and not goes_on
    return RunOutcome(
        RunStatus.FINISHED if ended else RunStatus.TIMEOUT,
        trace[-1].time_s if ended else captime_s,
        quality=seen[-1].quality if seen else None,
        trace=seen,
    )


def _means(judge: QualityJudge, outcomes: list[list[RunOutcome]]) -> NDArray[np.float64]:
    """What configurations are worth over a list."""
    return np.array(
        [np.mean([judge.worth(j, run, outcomes[0][j]) for j, run in enumerate(row)]) for row in outcomes]
    )


def _ever_wrong(engine: Engine, worth: NDArray[np.float64]) -> Verdict:
    verdict = NOTHING_SEEN
    for rounds in moments():
        halt = engine.advance(PauseAt(rounds, math.inf, 10**9))
        progress = engine.progress()
        promise = progress.promise
        least = worth.max() - promise.epsilon - TOLERANCE
        if promise.gain is not None:
            least = max(least, worth[0] + promise.gain - TOLERANCE)
        verdict |= Verdict(bool(worth[progress.best_index] < least), bool(worth.min() < least))
        if verdict.failed or halt is Halt.DONE:
            break
    return verdict

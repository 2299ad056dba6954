"""Replay: let a procedure work on recorded runtimes, in one call.

`replay` turns names into objects once, drives the engine to its end and returns a `ReplayResult`.
The engine is the same one that works live; only its evidence is recorded. `replay_rival` does the same for
the rivals of `utilitune.rivals`, which have an answer and a price but promise nothing about utility.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from utilitune.domain import (
    PhaseRecord,
    Progress,
    Promise,
    StopReason,
    no_promise,
)
from utilitune.domain.stopping import Budget, interrupted, next_point
from utilitune.errors import UsageError
from utilitune.live.standing.card import compared, html_table, line, spent
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.procedures.naming import ProcedureSpec, build_engine
from utilitune.replaying.recording import Recording
from utilitune.replaying.row_supply import RowsInOrder, RowSupply, row_supply
from utilitune.rivals.rival import POINTS_PER_DECADE, Rival, RivalStanding, play_rival
from utilitune.scenario.model import usual_smallest_captime_s

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from utilitune.data import RuntimeMatrix
    from utilitune.procedures.engine import Engine
    from utilitune.replaying.judging import JudgedRuns
    from utilitune.utility import SolutionUtility, Utility

State = TypeVar("State", Progress, PhaseRecord, RivalStanding)

_ROUNDS_PER_CALL = 100_000


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay found, proved and paid.

    Attributes:
        procedure: Name of the procedure.
        best: Name of the answer.
        progress: Final state: answer, ε, γ, δ, total time, runs, rounds, configurations left.
        stop_reason: Why it stopped and what to do next.
        phases: State at the end of each phase, for procedures with phases.
        trajectory: State at logarithmically spaced total times, the final one last.
        time_each_s: Seconds of run time spent on every row of the data.
        wall_s: Seconds the replay itself took.
        note: Where the recorded cutoff limits the promise, a sentence that says so.
        population: Whether the promise is about instances like these, or exactly these.
        condition: What the promise rests on, where the data was taken as it is stored.
        last_phase: Where the phase under way proves less so far, a sentence on what the one before proved.
    """

    procedure: str
    best: str
    progress: Progress
    stop_reason: StopReason
    phases: tuple[PhaseRecord, ...]
    trajectory: tuple[Progress, ...]
    time_each_s: tuple[float, ...]
    wall_s: float
    note: str = ""
    population: str = "infinite"
    condition: str = ""
    last_phase: str = ""

    @property
    def promise(self) -> Promise:
        """What is proved about the answer."""
        return replace(self.progress.promise, population=self.population, condition=self.condition)

    def __repr__(self) -> str:
        return line(type(self).__name__, self.best, self.promise)

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, what is proved of it, what it cost."""
        return html_table(
            f"Utilitune: the answer of {self.procedure}",
            [
                ("Answer", self.best),
                ("Promise", self.promise.sentence()),
                ("Phase before", self.last_phase),
                ("Spent", spent(self.progress)),
                ("Compared", compared(self.progress)),
                ("State", self.stop_reason.advice),
                ("Note", self.note),
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as printed by ``utilitune replay --json``."""
        final = asdict(self.progress)
        return {
            "procedure": self.procedure,
            "best": self.best,
            **final,
            "stop_reason": self.stop_reason.code,
            "advice": self.stop_reason.advice,
            "note": self.note,
            "population": self.population,
            "condition": self.condition,
            "promise": self.promise.sentence(),
            "last_phase": self.last_phase,
            "phases": [asdict(phase) for phase in self.phases],
            "trajectory": [asdict(point) for point in self.trajectory],
            "wall_s": self.wall_s,
        }


@dataclass(frozen=True, slots=True)
class RivalResult:
    """What a rival found and paid; it proves nothing.

    Attributes:
        procedure: Name of the rival.
        best: Name of its answer.
        standing: Final state: answer, total time, runs, configurations.
        stop_reason: Why it stopped and what to do next.
        trajectory: How its answer changed, the final state last.
        anytime: Whether the earlier answers are meant to be used; else only the last one is.
        wall_s: Seconds the replay itself took.
    """

    procedure: str
    best: str
    standing: RivalStanding
    stop_reason: StopReason
    trajectory: tuple[RivalStanding, ...]
    anytime: bool
    wall_s: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values under the names of `ReplayResult`; what a rival does not have is None."""
        return {
            "procedure": self.procedure,
            "best": self.best,
            **_as_progress(self.standing),
            "stop_reason": self.stop_reason.code,
            "advice": self.stop_reason.advice,
            "note": "",
            "population": None,
            "condition": "",
            "promise": no_promise(self.procedure),
            "last_phase": "",
            "phases": [],
            "trajectory": [_as_progress(point) for point in self.trajectory],
            "wall_s": self.wall_s,
        }


def _as_progress(standing: RivalStanding) -> dict[str, Any]:
    shared = {field.name: getattr(standing, field.name, None) for field in fields(Progress)}
    return {**shared, "rounds": standing.runs}


def replay(
    data: Recording | RuntimeMatrix | str | Path,
    specification: ProcedureSpec | None = None,
    *,
    utility: Utility | SolutionUtility | str | None = None,
    budget: Budget | None = None,
    seed: int | None = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> ReplayResult:
    """Let a procedure work on recorded runtimes.

    Args:
        data: A `Recording` or a matrix, or what `utilitune.read_matrix` understands: a file, a folder, a
            data set's name.
        specification: Which procedure with which settings; the default procedure if left out.
        utility: The utility function, or its text form; if left out ``log-laplace(k0=60)``, or that of the
            `Recording`, or for recorded solutions that with which they were recorded.
        budget: When to end although the procedure could go on.
        seed: Seed of the random orders in which instances and configurations are taken, except where the
            data is in random order already (`RuntimeMatrix.resample`, `Recording.shuffled`). None takes both
            as they are stored, and the promise says what it rests on.
        on_progress: Called now and then with where the procedure stands.

    Example:
        >>> from utilitune import ProcedureSpec, replay
        >>> oup = ProcedureSpec("oup", delta=0.1, epsilon=0.3)
        >>> result = replay("synthetic:rows=5,columns=2000,seed=1", oup)
        >>> result.stop_reason.code
        'epsilon-reached'
    """
    started = time.perf_counter()
    recording = Recording.of(data, utility)
    if seed is not None:
        recording = recording.in_random_order(seed)
    matrix = recording.matrix
    spec = specification or ProcedureSpec()
    size = spec.configurations or matrix.rows
    if size > matrix.rows:
        raise UsageError(f"{size} configurations were asked for, but the data holds only {matrix.rows}")
    spec = replace(spec, configurations=size, captime_limit_s=min(matrix.cutoff_s, spec.captime_limit_s))
    if recording.judged is not None:
        spec = _on_solutions(spec, recording.judged)
    evidence, utility_left = recording.played_by(spec.name)
    engine = build_engine(spec, evidence, utility_left, configurations=size)
    proposing, why_none = row_supply(recording, spec, engine, evidence)
    supply = proposing or RowsInOrder(engine, recording.repeats)
    points, stop = drive(engine, supply, budget or Budget(), on_progress)
    rows = recording.rows if proposing is None else recording.rows[proposing.rows]
    points = [_at_row(point, rows) for point in points]
    phases = tuple(_at_row(phase, rows) for phase in engine.phases)
    final = points[-1]
    rests_on = recording.condition(growing=final.gamma is not None)
    promise = replace(final.promise, population=spec.population, condition=rests_on)
    return ReplayResult(
        procedure=spec.name,
        best=matrix.configurations[final.best_index],
        progress=final,
        stop_reason=stop,
        phases=phases,
        trajectory=tuple(points),
        time_each_s=_time_each_s(engine, rows, matrix.rows),
        wall_s=time.perf_counter() - started,
        note=" ".join(filter(None, [why_none, _repeats_note(supply, spec), engine.captime_note().strip()])),
        population=spec.population,
        condition=rests_on,
        last_phase=phases[-1].proved_more(promise, matrix.configurations[phases[-1].best_index])
        if phases
        else "",
    )


def _repeats_note(supply: RowSupply | RowsInOrder, spec: ProcedureSpec) -> str:
    """What was made of rows that are the same configuration as an earlier one."""
    if not supply.repeated:
        return ""
    rows = "1 row repeats" if supply.repeated == 1 else f"{supply.repeated:,} rows repeat"
    ran = "nothing was run again" if spec.name == "wager" else f"{spec.name} runs each row all the same"
    return f"{rows} an earlier one, with the same features and the same runs: {ran}."


def _on_solutions(specification: ProcedureSpec, judged: JudgedRuns) -> ProcedureSpec:
    """Captimes for runs that say something before their end, or nothing."""
    limit_s = judged.judge.limit_s
    if judged.looks_early(specification.name):
        first_s = specification.captime0_s or usual_smallest_captime_s(limit_s)
        return replace(specification, captime0_s=min(first_s, limit_s))
    naive = specification.name == "naive"
    return replace(specification, captime0_s=limit_s, captime_s=limit_s if naive else None)


def replay_rival(
    data: Recording | RuntimeMatrix | str | Path,
    rival: Rival,
    *,
    utility: Utility | SolutionUtility | str | None = None,
    seed: int | None = None,
    budget: Budget | None = None,
    on_progress: Callable[[RivalStanding], None] | None = None,
) -> RivalResult:
    """Let a rival work on recorded runtimes.

    Args:
        data: A `Recording` or a matrix, or what `utilitune.read_matrix` understands: a file, a folder, a
            data set's name.
        rival: The rival with its settings.
        utility: The utility function, or its text form; if left out ``log-laplace(k0=60)``, or that of the
            `Recording`.
        seed: Seed of the random order in which configurations are drawn; the order of the rows if left out.
        budget: When to end although the rival could go on.
        on_progress: Called now and then with where the rival stands.

    Example:
        >>> from utilitune.rivals.successive_halving import SuccessiveHalving
        >>> result = replay_rival("synthetic:rows=8,columns=200,seed=1", SuccessiveHalving(budget=240))
        >>> result.standing.runs, result.stop_reason.code
        (240, 'finished')
    """
    started = time.perf_counter()
    recording = Recording.of(data, utility)
    limits = budget or Budget()
    points, stop = play_rival(
        rival,
        recording.runs(seed),
        limits,
        on_progress,
    )
    points = [_at_row(point, recording.rows) for point in points]
    return RivalResult(
        procedure=rival.name,
        best=recording.matrix.configurations[points[-1].best_index],
        standing=points[-1],
        stop_reason=stop,
        trajectory=tuple(points),
        anytime=rival.anytime,
        wall_s=time.perf_counter() - started,
    )


def _at_row(state: State, rows: NDArray[np.int64]) -> State:
    """A state that names its answer by the row of the data."""
    return replace(state, best_index=int(rows[state.best_index]))


def _time_each_s(engine: Engine, rows: NDArray[np.int64], count: int) -> tuple[float, ...]:
    """Seconds spent on every row of the data; one that was proposed and drawn has both."""
    each_s = np.asarray(engine.time_each_s)
    return tuple(np.bincount(rows[: len(each_s)], weights=each_s, minlength=count).tolist())


def drive(
    engine: Engine,
    rows: RowSupply | RowsInOrder,
    budget: Budget,
    on_progress: Callable[[Progress], None] | None = None,
) -> tuple[list[Progress], StopReason]:
    """Take an engine on recorded evidence to its end; return its trajectory and why it stopped.

    Args:
        engine: The procedure.
        rows: Who decides which row is next.
        budget: When to end although the procedure could go on.
        on_progress: Called now and then with where the procedure stands.
    """
    points: list[Progress] = []
    checkpoint_s = 1e-300
    stop = None
    try:
        while stop is None:
            here = engine.progress()
            if here.total_time_s >= checkpoint_s:
                points.append(here)
                checkpoint_s = next_point(here.total_time_s, POINTS_PER_DECADE)
            if on_progress is not None:
                on_progress(here)
            stop = _step(engine, here, rows, budget, checkpoint_s)
    except KeyboardInterrupt:
        stop = interrupted(goes_on=False)
    last = engine.progress()
    if not points or points[-1] != last:
        points.append(last)
    return points, stop


def _step(
    engine: Engine, here: Progress, rows: RowSupply | RowsInOrder, budget: Budget, checkpoint_s: float
) -> StopReason | None:
    """One call of the engine and what its answer asks for; the reason if that ends the replay."""
    spent = budget.spent(here.total_time_s, here.runs)
    if spent is not None:
        return spent
    halt = engine.advance(
        PauseAt(
            rounds=here.rounds + _ROUNDS_PER_CALL,
            total_time_s=min(checkpoint_s, budget.max_time_s),
            runs=budget.run_limit,
        )
    )
    if halt is Halt.DONE:
        return engine.stop_reason()
    if halt is Halt.NEEDS_RUNS:
        raise UsageError("the recorded data does not hold a run that the procedure needs")
    if halt is Halt.NEEDS_CONFIGURATIONS:
        rows.feed()
        if engine.missing_configurations:
            engine.no_more()
    return None

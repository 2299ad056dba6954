"""One procedure on one data set with one seed, as a value; and what came of it.

A `Job` is plain and frozen, so that it can be sent to another process and named by a fingerprint of all that
its result depends on. The seed shuffles the rows (the order in which configurations are drawn) and the
instances. An `Outcome` speaks of rows as they are stored, whatever the shuffle was.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune import ProcedureSpec, parse_utility, read_matrix
from utilitune.baselines.naming import RIVALS, rival_named
from utilitune.baselines.rival import Allowance, RecordedRuns, play_rival
from utilitune.errors import UsageError
from utilitune.peers import PEERS
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import least_gamma, listed_schedule, named_schedule
from utilitune.replaying import Budget, drive
from utilitune.reproduction.setting import POSITIONS
from utilitune.specification import build_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.baselines.rival import Rival
    from utilitune.data import RuntimeMatrix
    from utilitune.procedures.growth import Schedule

TO_THE_END = "to-the-end"
"""COUP's default schedule, with a last phase that has all configurations and ends with the instances."""

_LAST_EPSILON = 0.001
_DECIDING_ROOMS = ("baselines", "bounds", "peers", "procedures", "utility")


@dataclass(frozen=True, slots=True)
class Job:
    """What to run.

    Attributes:
        source: The data.
        digest: Its fingerprint.
        procedure: Name of a procedure or a rival.
        utility: The utility function.
        seed: Seed of both shuffles.
        settings: What the procedure is told; for a rival in the words of ``--set``.
        max_time_s: When to stop it in any case.
    """

    source: str
    digest: str
    procedure: str
    utility: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    max_time_s: float | None = None

    def key(self) -> str:
        """A fingerprint of all that the result depends on."""
        meaning = {**asdict(self), "code": code_digest(), "positions": POSITIONS}
        del meaning["source"]
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Point:
    """Where a procedure stood: what it had paid, its answer, and, unless a rival, what was proved."""

    time_s: float
    row: int
    epsilon: float | None = None
    gamma: float | None = None
    configurations: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job.

    Attributes:
        points: How it went, the final state last; empty if it was refused.
        phases: Its state at the end of each phase.
        time_each_s: Seconds spent on every row; empty for rivals.
        anytime: Whether answers before the last one are meant to be used.
        refused: Why the procedure cannot work on this data with these settings.
    """

    points: tuple[Point, ...] = ()
    phases: tuple[Point, ...] = ()
    time_each_s: tuple[float, ...] = ()
    anytime: bool = True
    refused: str = ""

    @property
    def final(self) -> Point:
        """The final state."""
        return self.points[-1]

    def time_to(self, epsilon: float) -> float:
        """Seconds until this ε was proved; infinite if it never was."""
        reached = (point.time_s for point in self.points if (point.epsilon or 0.0) <= epsilon)
        return next(reached, math.inf)

    def plain(self) -> dict[str, Any]:
        """The outcome as JSON values."""
        return asdict(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Outcome:
        """What `plain` gave."""
        return cls(
            points=tuple(Point(**point) for point in values["points"]),
            phases=tuple(Point(**point) for point in values["phases"]),
            time_each_s=tuple(values["time_each_s"]),
            anytime=values["anytime"],
            refused=values["refused"],
        )


@functools.cache
def code_digest() -> str:
    """A fingerprint of the code that decides what a procedure does: results of other code do not count."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for room in _DECIDING_ROOMS:
        folder = resources.files("utilitune").joinpath(room)
        for path in sorted(Path(str(folder)).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()


def run_job(job: Job) -> Outcome:
    """Let a procedure work."""
    matrix = _matrix(job.source)
    rows = np.random.default_rng(job.seed).permutation(matrix.rows)
    shown = matrix.resample(POSITIONS, job.seed) if matrix.positions < POSITIONS else matrix
    columns = shown.columns if shown is not matrix else matrix.shuffle_columns(job.seed).columns
    evidence = _evidence(job.source, job.utility).arranged(rows, columns)
    try:
        play = _play_rival if job.procedure in {*RIVALS, *PEERS} else _play_procedure
        return play(job, matrix, evidence, rows)
    except UsageError as error:
        return Outcome(refused=str(error))


@functools.lru_cache(maxsize=1)
def _matrix(source: str) -> RuntimeMatrix:
    return read_matrix(source)


_laid_out: dict[tuple[str, str], RecordedEvidence] = {}


def _evidence(source: str, utility: str) -> RecordedEvidence:
    """The runs with their utilities: gigabytes of them, so the old ones go before the new ones come."""
    if (source, utility) not in _laid_out:
        _laid_out.clear()
        _laid_out[source, utility] = RecordedEvidence(_matrix(source), parse_utility(utility))
    return _laid_out[source, utility]


def _play_rival(job: Job, matrix: RuntimeMatrix, evidence: RecordedEvidence, rows: Any) -> Outcome:  # noqa: ANN401 -- an array of row numbers
    rival = _rival(job)
    runs = RecordedRuns(
        evidence=evidence.arrays,
        utility=parse_utility(job.utility),
        configurations=matrix.rows,
        positions=evidence.positions,
        limit_s=matrix.cutoff_s,
        order=np.arange(matrix.rows),
        features=None if matrix.features is None else matrix.features[rows],
    )
    points, _ = play_rival(rival, runs, Allowance(math.inf if job.max_time_s is None else job.max_time_s))
    kept = points if rival.anytime else points[-1:]
    return Outcome(
        points=tuple(Point(point.total_time_s, int(rows[point.best_index])) for point in kept),
        anytime=rival.anytime,
    )


def _rival(job: Job) -> Rival:
    if job.procedure in PEERS:
        return PEERS[job.procedure](seed=job.seed, **job.settings)
    return rival_named(job.procedure, dict(job.settings))


def _play_procedure(job: Job, matrix: RuntimeMatrix, evidence: RecordedEvidence, rows: Any) -> Outcome:  # noqa: ANN401 -- an array of row numbers
    spec = replace(_specification(job, matrix.rows), captime_limit_s=matrix.cutoff_s)
    engine = build_engine(
        spec, evidence, parse_utility(job.utility), configurations=spec.configurations or matrix.rows
    )
    budget = Budget() if job.max_time_s is None else Budget(max_time_s=job.max_time_s)
    points, _ = drive(engine, matrix.rows, budget)
    each_s = engine.time_each_s
    spent = np.zeros(matrix.rows)
    spent[rows[: len(each_s)]] = each_s
    return Outcome(
        points=tuple(_point(point, rows) for point in points),
        phases=tuple(_point(phase, rows) for phase in engine.phases),
        time_each_s=tuple(float(f"{seconds:.6g}") for seconds in spent),
    )


def _specification(job: Job, rows: int) -> ProcedureSpec:
    settings = dict(job.settings)
    if settings.get("schedule") == TO_THE_END:
        settings["schedule"] = _to_the_end(rows, settings["delta"])
    return ProcedureSpec(job.procedure, **settings)


def _to_the_end(rows: int, delta: float) -> Schedule:
    """The default schedule while its phases need fewer configurations than there are, then all of them."""
    usual = named_schedule("default")
    epsilons: list[float] = []
    gammas: list[float] = []
    while (phase := usual.phase(len(gammas) + 1, delta)) is not None and phase.configurations < rows:
        epsilons.append(phase.epsilon)
        gammas.append(phase.gamma)
    least = least_gamma(len(gammas) + 1, rows, delta) * (1 + 1e-9)
    if gammas and least >= gammas[-1]:  # the last of them has nearly all configurations already
        del epsilons[-1], gammas[-1]
        least = least_gamma(len(gammas) + 1, rows, delta) * (1 + 1e-9)
    return listed_schedule([*epsilons, _LAST_EPSILON], [*gammas, least])


def _point(state: Any, rows: Any) -> Point:  # noqa: ANN401 -- a Progress or a PhaseRecord, and an array
    return Point(
        time_s=state.total_time_s,
        row=int(rows[state.best_index]),
        epsilon=state.epsilon,
        gamma=state.gamma,
        configurations=state.configurations,
    )

"""One procedure on one data set with one seed, as a value; and what came of it.

A `FigureJob` is plain and frozen, so that it can be sent to another process and named by a fingerprint of all
that its result depends on. The seed shuffles the rows (the order in which configurations are drawn) and the
instances. An `Outcome` speaks of rows as they are stored, whatever the shuffle was.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune import (
    Budget,
    ProcedureSpec,
    Recording,
    named_schedule,
    read_matrix,
    replay,
    replay_rival,
)
from utilitune.errors import UsageError
from utilitune.reports.reproduction.setting import POSITIONS
from utilitune.rivals import RIVALS, rival_named
from utilitune.rivals.packages import PEERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune import PhaseRecord, Progress, RuntimeMatrix, StopReason
    from utilitune.rivals import Rival

TO_THE_END = "to-the-end"
"""COUP's default schedule, with a last phase that has all configurations and ends with the instances."""

_LAST_EPSILON = 0.001
_DECIDING_PACKAGES = ("numba", "numpy", "optuna", "smac")


@dataclass(frozen=True, slots=True)
class FigureJob:
    """One thing to compute: a procedure or a rival on some data.

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
        if self.procedure in PEERS:
            meaning["packages"] = _versions()
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
        reached = (
            point.time_s for point in self.points if point.epsilon is not None and point.epsilon <= epsilon
        )
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
    """A fingerprint of this package's code: results of other code do not count."""
    found = hashlib.sha256()
    for path in sorted(Path(str(resources.files("utilitune"))).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    """The versions of the packages that peers are, and are computed with, as far as they are installed."""
    found = {}
    for name in _DECIDING_PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def run_job(job: FigureJob) -> Outcome:
    """Let a procedure work.

    Raises:
        KeyboardInterrupt: It was interrupted: what it had until then is no outcome.
    """
    try:
        return _play_procedure(job) if job.procedure not in {*RIVALS, *PEERS} else _play_rival(job)
    except UsageError as error:
        return Outcome(refused=str(error))


@functools.lru_cache(maxsize=1)
def _matrix(source: str) -> RuntimeMatrix:
    return read_matrix(source)


_laid_out: dict[tuple[str, str], Recording] = {}


def _recording(job: FigureJob) -> Recording:
    """The job's runs in its order: gigabytes when laid out, so the old ones go before the new ones come.

    Both orders follow from the one stream that the published figures were made with.
    """
    if (job.source, job.utility) not in _laid_out:
        _laid_out.clear()
        gc.collect()
        _laid_out[job.source, job.utility] = Recording.of(_matrix(job.source), job.utility)
    recording = _laid_out[job.source, job.utility]
    matrix = recording.matrix
    few = matrix.positions < POSITIONS
    columns = matrix.resample(POSITIONS, job.seed) if few else matrix.shuffle_columns(job.seed)
    return recording.arranged(np.random.default_rng(job.seed).permutation(matrix.rows), columns)


def _play_rival(job: FigureJob) -> Outcome:
    if job.procedure in PEERS:
        rival: Rival = PEERS[job.procedure](seed=job.seed, **job.settings)
    else:
        rival = rival_named(job.procedure, dict(job.settings))
    result = replay_rival(_recording(job), rival, budget=_budget(job))
    _require_complete(result.stop_reason)
    kept = result.trajectory if result.anytime else result.trajectory[-1:]
    points = tuple(Point(point.total_time_s, point.best_index) for point in kept)
    return Outcome(points=points, anytime=result.anytime)


def _play_procedure(job: FigureJob) -> Outcome:
    recording = _recording(job)
    settings = dict(job.settings)
    if settings.get("schedule") == TO_THE_END:
        usual = named_schedule("default")
        settings["schedule"] = usual.ending_with(recording.matrix.rows, settings["delta"], _LAST_EPSILON)
    # Rows are drawn at random by all, so that what a model would propose is no part of the comparison.
    spec = ProcedureSpec(job.procedure, proposals=0.0, **settings)
    result = replay(recording, spec, budget=_budget(job), seed=None)  # in the job's order
    _require_complete(result.stop_reason)
    return Outcome(
        points=tuple(_point(point) for point in result.trajectory),
        phases=tuple(_point(phase) for phase in result.phases),
        time_each_s=tuple(float(f"{seconds:.6g}") for seconds in result.time_each_s),
    )


def _require_complete(why: StopReason) -> None:
    if why.code == "interrupted":
        raise KeyboardInterrupt


def _budget(job: FigureJob) -> Budget:
    return Budget() if job.max_time_s is None else Budget(max_time_s=job.max_time_s)


def _point(state: Progress | PhaseRecord) -> Point:
    return Point(
        time_s=state.total_time_s,
        row=state.best_index,
        epsilon=state.epsilon,
        gamma=state.gamma,
        configurations=state.configurations,
    )

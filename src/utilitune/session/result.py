"""What a run found, kept in its store and read back: the answer, the promise, the way there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus, no_promise
from utilitune.errors import MissingExtraError, StoreError
from utilitune.scenario.model import Scenario
from utilitune.scenario.targets import build_target
from utilitune.session.reusing import condition_of
from utilitune.specification import PROCEDURES
from utilitune.store.export import run_rows
from utilitune.targets.base import Command, Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.domain import Progress, Promise, StopReason
    from utilitune.procedures.engine import Engine
    from utilitune.store.base import Store, StoreReader
    from utilitune.targets.base import Task

_MANY_TIMEOUTS = 5


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a live run found, proved and paid.

    Attributes:
        best: The answer: values of the active parameters by name.
        command: The answer as a command line, with INSTANCE in place of an instance.
        progress: Where the procedure stands.
        promise: What is proved about the answer.
        last_phase: Where the phase under way proves less so far, a sentence on what the one before proved.
        stop_reason: Why the latest session ended; None while it is at work.
        trajectory: Where it stood at logarithmically spaced times spent.
        warnings: What the user should know.
        note: Where captimes limit the promise, or no run has finished, a sentence that says so.
        folder: Where the run is kept, if anywhere.
        runs: Every run as a plain row, where they were asked for.
    """

    best: Mapping[str, Any]
    command: str
    progress: Progress
    promise: Promise
    last_phase: str
    stop_reason: StopReason | None
    trajectory: tuple[Progress, ...]
    warnings: tuple[str, ...]
    note: str
    folder: Path | None
    runs: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(
        cls,
        store: StoreReader,
        folder: Path | None,
        *,
        final: Progress | None = None,
        note: str = "",
        with_runs: bool = True,
    ) -> RunResult:
        """Read a result from a store; `final` is more recent than the stored trajectory where given."""
        points = tuple(record.progress for record in store.trajectory())
        if final is None and not points:
            raise StoreError("this run has made no progress yet: let it run a little longer")
        progress = points[-1] if final is None else final
        scenario = Scenario.from_snapshot(store.snapshot.scenario)
        phases = store.phases()
        configurations = store.configurations()  # last: a run at work stores them before all that names them
        if not configurations:
            raise StoreError("this run has no configuration yet: let it run a little longer")
        best = configurations[progress.best_index].assignment
        promise = replace(
            progress.promise,
            population=scenario.population.value,
            condition=condition_of(store),
            refusal="" if scenario.procedure in PROCEDURES else no_promise(scenario.procedure),
        )
        last_phase = ""
        if phases:
            its_answer = command_text(scenario, configurations[phases[-1].best_index].assignment)
            last_phase = phases[-1].proved_more(promise, its_answer)
        sessions = store.sessions()
        return cls(
            best=best,
            command=command_text(scenario, best),
            progress=progress,
            promise=promise,
            last_phase=last_phase,
            stop_reason=sessions[-1].stop if sessions else None,
            trajectory=points,
            warnings=tuple(event.text for event in store.events() if event.kind == "warning"),
            note=" ".join(filter(None, [note, _none_finished(store)])),
            folder=folder,
            runs=tuple(run_rows(store, configurations)) if with_runs else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as printed by ``utilitune best --format json`` and ``utilitune status --json``."""
        return {
            "best": dict(self.best),
            "command": self.command,
            **asdict(self.progress),
            "promise": self.promise.sentence(),
            "last_phase": self.last_phase,
            "population": self.promise.population,
            "stop_reason": None if self.stop_reason is None else self.stop_reason.code,
            "advice": None if self.stop_reason is None else self.stop_reason.advice,
            "warnings": list(self.warnings),
            "note": self.note,
        }

    def to_pandas(self) -> Any:  # noqa: ANN401 -- a pandas.DataFrame
        """Every run as a row of a data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("A data frame", "export") from None
        return pd.DataFrame(list(self.runs))


def keep_standing(store: Store, engine: Engine, progress: Progress) -> None:
    """Add a point to the trajectory, after the phases that have ended since the last one.

    A phase that the user's ε has ended is not kept: with a smaller one it goes on.
    """
    ended = engine.phases[:-1] if engine.stop_reason().code == "epsilon-reached" else engine.phases
    for phase in ended[len(store.phases()) :]:
        store.add_phase(phase)
    store.add_progress(progress)


def _none_finished(store: StoreReader) -> str:
    """A sentence where every run of many was stopped at its captime, else nothing."""
    counts = store.counts()
    if counts[RunStatus.TIMEOUT] < _MANY_TIMEOUTS or counts[RunStatus.TIMEOUT] < sum(counts.values()):
        return ""
    return (
        "No run has finished within its captime, so nothing is known of any configuration but that: see with "
        "'utilitune check' how long one run takes; then give the search more time, raise largest_captime in "
        "the scenario, or choose a utility that still values later answers."
    )


def command_text(scenario: Scenario, assignment: Mapping[str, Any], instance: str = "INSTANCE") -> str:
    """A configuration as a command line to paste into a shell."""
    captime_s = scenario.max_captime_s or scenario.captime0_s
    return task_text(
        build_target(scenario).prepare(Invocation(assignment, instance, scenario.seed, captime_s))
    )


def task_text(task: Task) -> str:
    """What is run, to be repeated by hand: a line for a shell, or a function with its arguments."""
    if isinstance(task, Command):
        return task.shell_text()
    return f"{task.module}:{task.function}({dict(task.arguments)})"

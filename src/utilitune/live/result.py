"""What a run found, kept in its store and read back: the answer, the promise, the way there."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus, no_promise
from utilitune.errors import MissingExtraError, StoreError
from utilitune.errors.outside import user_path
from utilitune.live.above import reports
from utilitune.live.places import run_folder, unanswered
from utilitune.live.reusing import condition_of
from utilitune.live.rows import named_rows
from utilitune.live.standing import standing_of
from utilitune.live.standing.card import compared, html_table, line, spent
from utilitune.live.task import Task
from utilitune.live.use_of_time import UseOfTime
from utilitune.procedures.naming import PROCEDURES
from utilitune.store import read_run_folder
from utilitune.store.base import NOTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from utilitune.domain import Progress, Promise, StopReason
    from utilitune.live.standing import Standing
    from utilitune.store.base import StoreReader

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
        trajectory: Where it stood, at logarithmically spaced times in runs.
        warnings: What the user should know.
        note: Where more is proved of another configuration, captimes limit the promise, or no run has
            finished, a sentence that says so.
        standing: How good the answer and the default are, what ε means, what more time would bring, failures.
        folder: Where the run is kept, if anywhere.
        runs: Every run as a plain row, where they were asked for.
        use: What part of the time in runs was of use, where several workers made them.
        store: The facts of a run that is kept nowhere else; None for one in a folder.
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
    standing: Standing
    folder: Path | None
    runs: tuple[Mapping[str, Any], ...]
    use: UseOfTime | None = None
    store: StoreReader | None = field(default=None, repr=False, compare=False)

    @classmethod
    def read(
        cls,
        store: StoreReader,
        folder: Path | None,
        *,
        task: Task | None = None,
        final: Progress | None = None,
        with_runs: bool = True,
    ) -> RunResult:
        """Read a result from a store.

        Args:
            store: The run.
            folder: Where it is kept, if anywhere.
            task: What is configured, where somebody has resolved it already.
            final: Where the procedure stands, if that is more recent than the stored trajectory.
            with_runs: Whether to read every run too.
        """
        points = tuple(record.progress for record in store.trajectory())
        if final is None and not points:
            raise unanswered(store, "made no progress")
        progress = points[-1] if final is None else final
        task = task or Task.stored(store)
        scenario = task.scenario
        phases = store.phases()
        configurations = store.configurations()  # last: a run at work stores them before all that names them
        if not configurations:
            raise unanswered(store, "no configuration")
        if progress.best_index >= len(configurations):
            raise StoreError(
                "this run folder is damaged: its answer is no configuration of it; restore a copy"
            )
        best = configurations[progress.best_index].assignment
        promise = replace(
            progress.promise,
            population=scenario.population.value,
            condition=condition_of(store),
            refusal="" if scenario.procedure in PROCEDURES else no_promise(scenario.procedure),
        )
        last_phase = ""
        if phases:
            its_answer = task.command_text(configurations[phases[-1].best_index].assignment)
            last_phase = phases[-1].proved_more(promise, its_answer)
        sessions = store.sessions()
        finished_note = _none_finished(store) if scenario.quality is None else ""
        return cls(
            best=best,
            command=task.command_text(best),
            progress=progress,
            promise=promise,
            last_phase=last_phase,
            stop_reason=sessions[-1].stop if sessions else None,
            trajectory=points,
            warnings=tuple(event.text for event in store.events() if event.kind == "warning"),
            note=" ".join(filter(None, [store.facts().get(NOTE), finished_note])),
            standing=standing_of(store, task, configurations, progress, points),
            folder=folder,
            runs=tuple(named_rows(store, task, configurations)) if with_runs else (),
            use=UseOfTime.read(store),
            store=store if folder is None else None,
        )

    @contextlib.contextmanager
    def reading(self) -> Iterator[StoreReader]:
        """The facts behind this result, as they are now, for as long as the block runs."""
        if self.folder is not None:
            with contextlib.closing(read_run_folder(self.folder)) as store:
                yield store
        elif self.store is not None:
            yield self.store
        else:
            raise StoreError("this result was kept without its run: load it from a run folder")

    def __repr__(self) -> str:
        return line(type(self).__name__, dict(self.best), self.promise)

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, how good it is, what is proved, what it cost."""
        stop = self.stop_reason
        return html_table(
            "Utilitune: the answer",
            [
                ("Answer", self.command),
                ("Mean utility", self.standing.utilities()),
                ("Promise", self.promise.sentence()),
                ("Gain", self.standing.gain()),
                ("ε means", self.standing.epsilon_means),
                ("Phase before", self.last_phase),
                ("Spent", spent(self.progress)),
                ("Compared", "" if self.promise.refusal else compared(self.progress, self.standing.entered)),
                ("State", "at work, or killed before it could stop" if stop is None else stop.advice),
                ("Failures", "; ".join(each.sentence() for each in self.standing.failures)),
                ("Note", self.note),
                ("Warnings", " ".join(self.warnings)),
            ],
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
            "standing": self.standing.to_dict(),
            "useful_share": None if self.use is None else self.use.share,
        }

    def to_pandas(self, what: str = "runs") -> Any:  # noqa: ANN401 -- a pandas.DataFrame
        """A table of the run as a data frame.

        Args:
            what: "runs" (every run of this result), "configurations" (each with its mean utility, the ends
                of its interval and its parameters), "instances" (each with its features and how the answer
                did on it), or "trajectory" (what was proved after how much time). All but the runs are read
                as they are stored now.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("A data frame", "export") from None
        if what == "runs" and self.runs:
            return pd.DataFrame(list(self.runs))
        with self.reading() as store:
            return pd.DataFrame(list(reports("tables").table_rows(store, what)))

    @property
    def plot(self) -> Any:  # noqa: ANN401 -- a utilitune.reports.plots.Plots
        """Pictures of the run: ``result.plot.promise()`` and others, see `utilitune.reports.plots.Plots`."""
        return reports("plots").Plots(self)


def load(place: Path | str) -> RunResult:
    """What a run has found, read from where it is kept; works while the run goes on, too.

    Args:
        place: The run folder, or the scenario file it belongs to.

    Raises:
        StoreError: There is no run, or it has not found anything yet.
    """
    folder = run_folder(user_path(place))
    with contextlib.closing(read_run_folder(folder)) as store:
        return RunResult.read(store, folder)


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

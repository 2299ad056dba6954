"""One configuration of a stored run: its command, how good it is, and what became of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.errors import TargetError, UsageError
from utilitune.live.places import unanswered
from utilitune.live.standing.standing import DEFAULT
from utilitune.live.standing.worths import Estimate, Sharing, estimate, fill, kind_numbers
from utilitune.live.task import Task, task_text
from utilitune.targets.base import Invocation
from utilitune.targets.command import written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, RunRecord

BEST = "best"
"""The word for the answer of a run."""

NAMED_DEFAULT = "default"
"""The word for the configuration with the number 0."""


@dataclass(frozen=True, slots=True)
class ConfigurationFacts:
    """Everything stored about one configuration.

    Attributes:
        number: Its number.
        origin: Where it came from.
        assignment: The values of its active parameters.
        command: It as a command line, with INSTANCE in place of an instance.
        estimate: Its mean utility.
        differences: Name, own value and default value of every parameter that differs from the default.
        runs: Its runs, oldest first, with instance and output.
        reproduce: The command of its latest run; empty without runs.
        measure_name: What the runs are measured in: "runtime", or "quality".
    """

    number: int
    origin: str
    assignment: Mapping[str, Any]
    command: str
    estimate: Estimate
    differences: tuple[tuple[str, str, str], ...]
    runs: tuple[dict[str, Any], ...]
    reproduce: str
    measure_name: str

    def counts_text(self) -> str:
        """How its runs ended, in words."""
        counts: dict[str, int] = {}
        for run in self.runs:
            counts[run["status"]] = counts.get(run["status"], 0) + 1
        return ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "none yet"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "configuration": self.number,
            "origin": self.origin,
            "parameters": dict(self.assignment),
            "command": self.command,
            "utility": self.estimate.to_dict(),
            "differences": [
                {"parameter": name, "value": ours, "default": theirs}
                for name, ours, theirs in self.differences
            ],
            "runs": list(self.runs),
            "reproduce": self.reproduce,
        }


def configuration_facts(store: StoreReader, which: int | str, task: Task | None = None) -> ConfigurationFacts:
    """Look one configuration up.

    Args:
        store: The run.
        which: Its number, or "best" or "default".
        task: What is configured, where somebody has resolved it already.

    Raises:
        UsageError: There is no such configuration.
    """
    records = store.configurations()
    record = _chosen(store, records, which)
    task = task or Task.stored(store)
    evidence = task.evidence()
    fill(evidence, store, (DEFAULT, record.index))
    runs = list(store.runs(configuration=record.index))
    return ConfigurationFacts(
        number=record.index,
        origin=record.origin.value,
        assignment=record.assignment,
        command=task.command_text(record.assignment),
        estimate=estimate(evidence, record, kind_numbers(records)[record.index], Sharing.of(store)),
        differences=differences(record.assignment, records[DEFAULT].assignment, task.space.names),
        runs=tuple(_run_row(run, task.training.name(run.request.position)) for run in runs),
        reproduce=_reproduced(task, record, runs[-1]) if runs else "",
        measure_name="runtime" if task.scenario.quality is None else "quality",
    )


def differences(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], names: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    """Name and both values, as texts, of every parameter that differs; "–" where it does not apply.

    Numbers are rounded, for they are only looked at; where that would make them look alike, they are not.
    """
    found = []
    for name in names:
        if (name in ours) != (name in theirs) or ours.get(name) != theirs.get(name):
            own, other = (_text(values, name, _rounded) for values in (ours, theirs))
            if own == other:
                own, other = (_text(values, name, written) for values in (ours, theirs))
            found.append((name, own, other))
    return tuple(found)


def _text(values: Mapping[str, Any], name: str, shown: Callable[[Any], str]) -> str:
    return shown(values[name]) if name in values else "–"


def _rounded(value: Any) -> str:  # noqa: ANN401 - whatever values parameters have
    return written(float(f"{value:.6g}") if isinstance(value, float) else value)


def _chosen(
    store: StoreReader, records: Sequence[ConfigurationRecord], which: int | str
) -> ConfigurationRecord:
    if not records:
        raise unanswered(store, "no configuration")
    if which == NAMED_DEFAULT:
        return records[DEFAULT]
    if which == BEST:
        last = store.last_progress()
        if last is None:
            raise unanswered(store)
        return records[last.progress.best_index]
    text = str(which).removeprefix("#")
    if not (text.isascii() and text.isdigit()) or int(text) >= len(records):
        raise UsageError(
            f"there is no configuration {which!r}: this run knows 0 to {len(records) - 1}, '{BEST}' and "
            f"'{NAMED_DEFAULT}'"
        )
    return records[int(text)]


def _run_row(run: RunRecord, instance: str) -> dict[str, Any]:
    request, outcome = run.request, run.outcome
    return {
        "sequence": run.sequence,
        "position": request.position,
        "instance": instance,
        "seed": run.seed,
        "status": outcome.status.value,
        "runtime_s": outcome.runtime_s,
        "captime_s": request.captime_s,
        "quality": outcome.quality,
        "exit_code": outcome.exit_code,
        "detail": outcome.detail,
        "output": outcome.output_tail,
    }


def _reproduced(task: Task, record: ConfigurationRecord, run: RunRecord) -> str:
    """The command of a run, as it was made."""
    instance = task.training.name(run.request.position)
    made = Invocation(record.assignment, instance, run.seed, run.request.captime_s)
    try:
        return task_text(task.target.prepare(made))
    except TargetError:  # a function that lives elsewhere: the call can be written down all the same
        return task.command_text(record.assignment, instance, run.seed)

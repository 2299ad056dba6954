"""Where runs are made, from a text: ``local:8``, ``tcp://host:8786``, or a file that describes a cluster.

A file names one source of workers and how they are used::

    ship = true          # send programs and instances to workers that do not have them
    clock = "scaled"     # times in seconds of the first worker, where workers differ in speed

    [slurm]              # or [pbs], [sge]; or instead of a table: address = "tcp://host:8786", or local = 8
    queue = "batch"
    cores = 8            # runs at the same time in one job
    memory = "16 GiB"
    walltime = "04:00:00"
    jobs = 4
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.errors import ScenarioError, UsageError, did_you_mean
from utilitune.execution.cluster.places import (
    Clock,
    Cluster,
    LocalWorkers,
    QueuedWorkers,
    RunningCluster,
    System,
)
from utilitune.scenario.source import Source

if TYPE_CHECKING:
    from utilitune.scenario.source import Table

HERE = "none"
"""Names no cluster: runs are made by processes on this machine."""

_LOCAL = "local:"
_SCHEMES = ("tcp://", "tls://")
_INSTRUCTIONS = (
    "instructions are not counted yet, because few machines let ordinary users read the counters: use "
    'clock = "scaled" or workers of one kind'
)


def read_cluster(text: str, directory: Path | None = None) -> Cluster | None:
    """The cluster that a text names; None for this machine.

    Args:
        text: As its user wrote it.
        directory: Where a relative path starts; the current directory if left out.

    Raises:
        UsageError: The text names no cluster.
        ScenarioError: The file describes none.
    """
    if text == HERE:
        return None
    if text.startswith(_LOCAL):
        count = text.removeprefix(_LOCAL)
        if not count.isdecimal():
            raise UsageError(f"{text!r} must say how many workers, such as local:8")
        return Cluster(text, LocalWorkers(int(count[:9])))
    if text.startswith(_SCHEMES):
        return Cluster(text, RunningCluster(text))
    if not text.endswith(".toml"):
        raise UsageError(
            f"{text!r} is no cluster: write local:8, tcp://host:8786, or the name of a file that ends in "
            ".toml"
        )
    return _from_file(text, Source.read((directory or Path.cwd()) / text, "the cluster file").top)


def _from_file(text: str, top: Table) -> Cluster:
    sources = [*System, "address", "local"]
    named = [key for key in sources if top.raw(key) is not None]
    ship, clock = top.boolean("ship"), _clock(top)
    if len(named) != 1:
        known = f"one of {', '.join(sources)}"
        found = f"not {' and '.join(named)}" if named else "and names none"
        raise ScenarioError(f"a cluster file names {known}, {found}", path=top.source.path)
    workers = _workers(named[0], top)
    top.finish()
    return Cluster(text, workers, bool(ship), clock)


def _clock(top: Table) -> Clock:
    word = top.text("clock") or Clock.MEASURED
    if word == "instructions":
        raise top.problem("clock", _INSTRUCTIONS)
    if word not in list(Clock):
        raise top.problem(
            "clock", f"there is no clock {word!r}; {did_you_mean(word, [clock.value for clock in Clock])}"
        )
    return Clock(word)


def _workers(source: str, top: Table) -> LocalWorkers | RunningCluster | QueuedWorkers:
    if source == "address":
        address = str(top.text("address"))
        if not address.startswith(_SCHEMES):
            raise top.problem("address", f"{address!r} is no address of a scheduler, such as tcp://host:8786")
        return RunningCluster(address)
    if source == "local":
        return LocalWorkers(top.integer("local", least=1) or 1)
    table = top.table(source)
    jobs = table.integer("jobs", least=1)
    if jobs is None:
        raise table.need("jobs", "say how many")
    cores = table.integer("cores", least=1) or 1
    options = _options(table)
    table.finish()
    return QueuedWorkers(System(source), cores, jobs, options)


def _options(table: Table) -> dict[str, Any]:
    """What a job queue is told beside the number of jobs, by the names that dask-jobqueue has for it."""
    memory = table.memory("memory")
    if memory is None:
        raise table.need("memory", 'say how much one job gets, such as "16 GiB"')
    found: dict[str, Any] = {
        "memory": f"{memory}B",
        "processes": table.integer("processes", least=1) or 1,
        "queue": table.text("queue"),
        "account": table.text("account"),
        "walltime": table.text("walltime"),
        "interface": table.text("interface"),
        "python": table.text("python"),
        "log_directory": table.text("logs"),
        "local_directory": table.text("scratch"),
        "job_extra_directives": _listed(table.texts("directives")),
        "job_script_prologue": _listed(table.texts("prologue")),
    }
    return {name: value for name, value in found.items() if value is not None}


def _listed(values: tuple[str, ...] | None) -> list[str] | None:
    return None if values is None else list(values)

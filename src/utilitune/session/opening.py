"""From a scenario and a folder to a run: started, resumed, ended in good order."""

from __future__ import annotations

import contextlib
import math
import signal
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from utilitune.domain import Measure, RunStatus, StopReason
from utilitune.errors import TargetError, UsageError, UtilituneError
from utilitune.execution.local import LocalBackend
from utilitune.execution.machine import available_cores, oversubscribed
from utilitune.execution.runs import RunRules
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.procedures.evidence import LiveEvidence
from utilitune.scenario.instances import instance_source
from utilitune.scenario.model import FailurePolicy
from utilitune.scenario.targets import build_target
from utilitune.session.coordinator import Coordinator, LiveBudget, Parts
from utilitune.session.making import patience_s
from utilitune.session.result import RunResult, command_text
from utilitune.session.reusing import CONDITION
from utilitune.session.supply import ConfigurationSupply, given_configurations, model_for
from utilitune.specification import build_engine, specification_from_options, warm_up
from utilitune.store import MemoryStore, Snapshot, open_run_folder
from utilitune.store.base import note_once
from utilitune.targets.base import Command
from utilitune.targets.recorded import RecordedTarget
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from utilitune.execution.backend import Backend, Job
    from utilitune.scenario.model import Scenario
    from utilitune.session.coordinator import View
    from utilitune.session.events import Event
    from utilitune.session.reusing import EarlierRuns
    from utilitune.specification import ProcedureSpec
    from utilitune.store.base import Store

MOST_WORKERS = 4096
"""More processes than any machine has cores; such a number is a mistake."""

_ENDLESS = 2**31


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a start of a run adds to its scenario; budget, ε, γ and workers may differ between two starts.

    Attributes:
        specification: The procedure and its settings.
        budget: When to end although the procedure could go on.
        workers: How many runs at once.
        earlier: Runs of an earlier run folder that count here too.
    """

    specification: ProcedureSpec
    budget: LiveBudget
    workers: int
    earlier: EarlierRuns | None = None

    def stored(self) -> dict[str, Any]:
        """What the store keeps of it."""
        return {"procedure": self.specification.plain(), "workers": self.workers}


def settings_of(scenario: Scenario, *, workers: int | None = None) -> RunSettings:
    """The settings a scenario asks for."""
    stop = scenario.stop
    specification = specification_from_options(
        scenario.procedure,
        scenario.options,
        delta=scenario.delta,
        epsilon=stop.epsilon,
        gamma=stop.gamma,
        captime0_s=scenario.captime0_s,
        captime_limit_s=math.inf if scenario.max_captime_s is None else scenario.max_captime_s,
        population=scenario.population.value,
    )
    budget = LiveBudget(
        max_time_s=math.inf if stop.cpu_time_s is None else stop.cpu_time_s,
        max_wall_s=math.inf if stop.wall_time_s is None else stop.wall_time_s,
        max_runs=math.inf if stop.runs is None else stop.runs,
    )
    return RunSettings(specification, budget, worker_count(scenario, workers))


def worker_count(scenario: Scenario, asked: int | None) -> int:
    """How many runs are made at once: as many as asked for, as the scenario says, or as there are cores."""
    count = (scenario.workers or available_cores()) if asked is None else asked
    if count < 1:
        raise UsageError(f"the number of workers must be at least 1, not {count}")
    if count > MOST_WORKERS:
        raise UsageError(
            f"the number of workers must be at most {MOST_WORKERS}, not {count}: each is a process on this "
            f"machine, which has {_cores()}"
        )
    return count


def run_scenario(
    scenario: Scenario,
    folder: Path | None = None,
    settings: RunSettings | None = None,
    *,
    on_update: Callable[[View], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    backend: Backend | None = None,
) -> RunResult:
    """Start or resume the run of a scenario, and work until it stops.

    Args:
        scenario: What to configure.
        folder: Where the run is kept; nowhere if left out.
        settings: Procedure, budget and workers; those of the scenario if left out.
        on_update: Called a few times a second with what there is to show.
        on_event: Called with everything that happens, see `utilitune.session.events`.
        backend: What makes the runs; processes on this machine if left out.
    """
    chosen = settings or settings_of(scenario)
    snapshot = Snapshot(scenario.snapshot(), scenario.digest())
    store: Store = MemoryStore(snapshot) if folder is None else open_run_folder(folder, snapshot)
    with contextlib.closing(store):
        warm_up(chosen.specification, parse_utility(scenario.utility))
        with backend or backend_for(scenario, chosen.workers) as workers:
            parts = _assemble(scenario, chosen, store, workers)
            coordinator = Coordinator(parts, chosen.budget, on_update, on_event)
            store.begin_session(chosen.stored())
            _note_condition(store, chosen.earlier)
            _warn(store, scenario.measure, chosen.workers)
            reason = StopReason("failed", "The run ended with an error: mend it and start again.")
            try:
                with _stopping_on_signals(coordinator):
                    reason = coordinator.run()
            except UtilituneError as error:
                reason = StopReason("failed", str(error))
                raise
            finally:
                store.end_session(reason)
        if reason.code == "target-fails":
            raise TargetError(reason.advice)
        return RunResult.read(store, folder, final=coordinator.progress, note=coordinator.captime_note())


def backend_for(scenario: Scenario, workers: int) -> Backend:
    """Processes on this machine, or a virtual clock where runs are only looked up."""
    target = build_target(scenario)
    if isinstance(target, RecordedTarget):
        return SimulatedBackend(workers, lambda job: SimulatedRun(_recorded_s(target, job)))
    return LocalBackend(workers)


def _recorded_s(target: RecordedTarget, job: Job) -> float:
    if not isinstance(job.task, Command):
        raise TypeError("recorded runs are written down as commands")
    return target.runtime_s(job.task)


def _assemble(
    scenario: Scenario,
    settings: RunSettings,
    store: Store,
    backend: Backend,
) -> Parts:
    target = build_target(scenario)
    target.check()
    utility = parse_utility(scenario.utility)
    instances = instance_source(scenario)
    evidence = LiveEvidence(utility, _ENDLESS if instances.count is None else instances.count)
    spec = settings.specification
    live = not isinstance(backend, SimulatedBackend)
    if isinstance(target, RecordedTarget):
        spec = replace(spec, captime_limit_s=min(spec.captime_limit_s, target.matrix.cutoff_s))
    engine = build_engine(spec, evidence, utility, configurations=spec.set_size())
    return Parts(
        engine=engine,
        evidence=evidence,
        store=store,
        backend=backend,
        rules=RunRules(target, scenario.measure, scenario.memory_bytes),
        instances=instances,
        supply=ConfigurationSupply(
            scenario.space,
            scenario.seed,
            given_configurations(scenario),
            model_for(scenario, spec, store, engine, evidence, live=live),
        ),
        abort_on=frozenset(
            status for status in RunStatus if scenario.policies.get(status) is FailurePolicy.ABORT
        ),
        command_of=partial(command_text, scenario),
        patience_s=patience_s(backend),
        earlier=settings.earlier,
    )


def _note_condition(store: Store, earlier: EarlierRuns | None) -> None:
    """Keep, once, what the promise rests on where it uses runs of an earlier run folder."""
    if earlier is not None:
        note_once(store, CONDITION, earlier.condition())


def _warn(store: Store, measure: Measure, workers: int) -> None:
    """Keep a warning where wall-clock times would be distorted by too many runs at once."""
    if measure is not Measure.WALL or not oversubscribed(workers):
        return
    crowd = f"{workers} workers share {_cores()}" if workers > available_cores() else "the machine is busy"
    note_once(
        store,
        "warning",
        f"Runtimes are wall-clock times, but {crowd}: runs disturb each other; use measure = 'cpu' or fewer "
        "workers.",
    )


def _cores() -> str:
    count = available_cores()
    return "1 core" if count == 1 else f"{count} cores"


@contextlib.contextmanager
def _stopping_on_signals(coordinator: Coordinator) -> Iterator[None]:
    """While the block runs, Ctrl-C and SIGTERM end the run in good order; a second one at once."""
    asked = False

    def handle(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        coordinator.stop()

    try:
        previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller has its own way to stop
        previous = {}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)

"""From a scenario and a folder to a run: started or resumed, taken to its end, and read back as a result."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from utilitune.domain import Guesses, Objective
from utilitune.domain.stopping import TARGET_FAILS
from utilitune.errors import ScenarioError, TargetError, UsageError
from utilitune.errors.outside import shell_line
from utilitune.execution.backend import TellsNews
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.driver import Driver
from utilitune.live.earlier_promise import proved_earlier
from utilitune.live.events import Listeners
from utilitune.live.exploring import Exploring
from utilitune.live.first_start import (
    NOMINEES_LOOKED_AT,
    fresh_from,
    nominees_from,
    settle_after,
    settled,
)
from utilitune.live.hunting import OWN_METHODS, Found, Hunt, hunt_for, searcher_named
from utilitune.live.live_run import LiveRun, Terms
from utilitune.live.meetings import HEAD_START, Shares, Stored
from utilitune.live.nominating import Orders
from utilitune.live.paused import PausedRuns
from utilitune.live.prelude import ready_asker
from utilitune.live.proof import Proof, proof_of
from utilitune.live.result import RunResult
from utilitune.live.reusing import CONDITION
from utilitune.live.task import Task
from utilitune.procedures.naming import build_engine, specification_from_options, warm_up
from utilitune.scenario.model import NO_SEARCH, Population, RecordedSpec, SearchRules
from utilitune.search.naming import is_reference
from utilitune.store import MemoryStore, open_run_folder
from utilitune.store.base import note_once
from utilitune.store.sqlite_errors import DATABASE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from utilitune.domain import Progress
    from utilitune.domain.stopping import Budget
    from utilitune.execution.backend import Backend
    from utilitune.live.events import Event, View
    from utilitune.live.prelude import Prelude
    from utilitune.live.reusing import EarlierRuns
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.scenario.model import Scenario
    from utilitune.spaces import Assignment
    from utilitune.store.base import Store


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a start of a run adds to its scenario.

    Budget, ε, γ, workers and guesses may differ between two starts.

    Attributes:
        specification: The procedure and its settings.
        budget: When to end although the procedure could go on.
        workers: How many runs at once.
        earlier: Runs of an earlier run folder that count here too.
        search: How good configurations are looked for.
        found: A configuration found elsewhere that is to be proved, in place of a search.
        guesses: Which runs are made ahead of need.
    """

    specification: ProcedureSpec
    budget: Budget
    workers: int
    earlier: EarlierRuns | None = None
    search: SearchRules = NO_SEARCH
    found: Assignment | None = None
    guesses: Guesses = Guesses.USEFUL

    def terms(self) -> Terms:
        """The same for a live run."""
        return Terms(
            self.budget,
            self.workers,
            earlier=self.earlier,
            settings=self.stored(),
            configurations=self.specification.set_size(),
        )

    def stored(self) -> dict[str, Any]:
        """What the store keeps of it."""
        found = None if self.found is None else dict(self.found)
        search = {
            **asdict(self.search),
            "head_start": HEAD_START,
            "workers": self.workers,
            "found": found,
            "budget_s": None if self.budget.max_time_s == math.inf else self.budget.max_time_s,
        }
        return {
            "procedure": self.specification.plain(),
            "workers": self.workers,
            "search": search,
            "guesses": self.guesses.value,
        }


def settings_of(scenario: Scenario, *, workers: int | None = None) -> RunSettings:
    """The settings a scenario asks for."""
    stop = scenario.stop
    smallest_s, largest_s = scenario.captimes_s
    specification = specification_from_options(
        scenario.procedure,
        scenario.options,
        delta=scenario.delta,
        epsilon=stop.epsilon,
        gamma=stop.gamma,
        captime0_s=smallest_s,
        captime_limit_s=largest_s,
        population=scenario.population.value,
    )
    if (configurations := specification.configurations or 0) > MOST_CONFIGURATIONS:
        raise UsageError(
            f"the number of configurations must be at most {MOST_CONFIGURATIONS}, not {configurations}: "
            "leave it out, and the set grows as far as the time allows"
        )
    count = Task(scenario).worker_count(workers)
    return RunSettings(specification, stop.budget(), count, search=scenario.search, guesses=scenario.guesses)


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
        on_event: Called with everything that happens, see `utilitune.live.events`.
        backend: What makes the runs; processes on this machine if left out.
    """
    chosen = settings or settings_of(scenario)
    task = Task(scenario)
    check_procedure(task, chosen, folder)
    check_search(task, chosen, folder)
    store = open_store(task, folder)
    with contextlib.closing(store):
        check_resumed(store, chosen, folder)
        go_on_searching(task, chosen, store, folder)
        if chosen.earlier is not None:
            settle_after(
                chosen.earlier,
                store,
                task,
                chosen.specification,
                found=chosen.found is not None,
                search=_begun_search(store, chosen),
            )
        _tell_of_search(task, chosen, store)
        with backend or task.backend(chosen.workers, folder, store.facts()) as workers:
            if isinstance(workers, TellsNews):
                chosen = replace(chosen, workers=workers.slots)
            on_a_clock = not isinstance(workers, SimulatedBackend)
            if not on_a_clock:
                warm_up(chosen.specification, task.evidence().utility)
            asker = (
                _asker_on_a_clock(task, chosen, store) if on_a_clock else next_asker(task, chosen, store)()
            )
            live = LiveRun(task, store, asker, chosen.terms(), Listeners(on_update, on_event))
            driver = Driver(live, workers, PausedRuns.of(task, workers))
            with live.session():
                reason = driver.work()
                live.close(reason)
        if reason.code == TARGET_FAILS:
            raise TargetError(reason.advice)
        return RunResult.read(store, folder, task=task, final=live.progress())


def _asker_on_a_clock(task: Task, settings: RunSettings, store: Store) -> Proof | Exploring | Prelude:
    """Who decides what to run, or begins to where the rules for that are still being compiled."""
    specification = settings.specification
    settled(store, task, specification)  # before this start is stored as one
    begun = _begun_search(store, settings)
    _fresh_from(store, specification, begun)
    last = store.last_progress()
    return ready_asker(
        next_asker(task, settings, store, live=True),
        task,
        settings,
        None if last is None else last.progress,
        lambda: _search_meanwhile(task, settings, begun),
    )


def _begun_search(store: Store, settings: RunSettings) -> dict[str, Any]:
    """How the first start of a run searched, and so every other."""
    sessions = store.sessions()
    begun = sessions[0].settings.get("search", asdict(NO_SEARCH)) if sessions else settings.stored()["search"]
    return dict(begun)


def _fresh_from(store: Store, specification: ProcedureSpec, begun: Mapping[str, Any]) -> int:
    """The first position that what search finds from now on may be judged on."""
    searched = begun["share"] > 0 and not begun.get("found") and specification.grows
    return fresh_from(store, specification, replays=not searched or begun["method"] in OWN_METHODS)


def searches(task: Task, settings: RunSettings, begun: Mapping[str, Any]) -> bool:
    """Whether somebody looks for configurations in a run that was begun like this.

    Args:
        task: What is configured.
        settings: The procedure.
        begun: The search of its first start.
    """
    wanted = begun["share"] > 0 and not begun.get("found")
    return wanted and settings.specification.grows and _can_search(task)


def check_procedure(task: Task, settings: RunSettings, folder: Path | None = None) -> None:
    """Refuse a procedure that cannot begin, before anything is written.

    A fixed set must have room for all configurations that are to be tried first. Only Naive settles all of
    its runs beforehand, so it alone may find that they cannot be made.

    Args:
        task: What is configured.
        settings: The procedure and its settings.
        folder: Where the run is kept, or will be.

    Raises:
        UsageError: It needs more instances or a larger set, or settings that are missing.
    """
    specification = settings.specification
    size, given = specification.fixed_size, len(task.given)
    if size is not None and given > size:
        raise UsageError(
            f"a set of {size} has no room for the {given} configurations to try first, counting the default: "
            f"set procedure.configurations to {given} or more, or list fewer"
        )
    begun = folder is not None and (folder / DATABASE_NAME).exists()
    if specification.name == "naive" and not begun:
        evidence = task.evidence()
        build_engine(specification, evidence, evidence.utility, configurations=specification.set_size())


def check_search(task: Task, settings: RunSettings, folder: Path | None = None) -> None:
    """Refuse a search method that cannot be used, before anything is written.

    A class of the user is made once for that, and let go. A run that was begun searches as it was begun.

    Args:
        task: What is configured.
        settings: How it is searched.
        folder: Where the run is kept, or will be.

    Raises:
        ScenarioError: There is no such method, its package is missing, or the user's class does not work.
    """
    asked = settings.stored()["search"]
    begun = folder is not None and (folder / DATABASE_NAME).exists()
    if begun or not searches(task, settings, asked):
        return
    searcher_named(asked["method"], task.scenario.directory)
    if is_reference(asked["method"]):
        _hunt(task, settings, asked).close()


def go_on_searching(task: Task, settings: RunSettings, store: Store, folder: Path | None) -> None:
    """Say how a resumed run goes on searching where the scenario asks for something else now.

    Raises:
        UsageError: The search that it was begun with cannot be used.
    """
    begun, asked = _begun_search(store, settings), asdict(settings.search)
    if searches(task, settings, begun):
        try:
            searcher_named(begun["method"], task.scenario.directory)
        except ScenarioError as error:
            raise UsageError(
                f"{folder} was begun with search.method = {json.dumps(begun['method'])} and can only go on "
                f"with it, but {error}. To search differently, choose another --folder, and if the runs made "
                f"there are to count, name it with: {shell_line(['--reuse', folder])}"
            ) from None
    elif not searches(task, settings, asked | {"found": begun.get("found")}):
        return
    keys = ("share", "method") if begun["share"] > 0 else ("share",)
    kept = [f"search.{key} = {json.dumps(begun[key])}" for key in keys if begun[key] != asked[key]]
    if kept:
        note_once(
            store,
            "warning",
            f"This run goes on with {' and '.join(kept)}, with which it was begun; to search differently, "
            "start in another folder.",
        )


def _search_meanwhile(task: Task, settings: RunSettings, begun: Mapping[str, Any]) -> Hunt | None:
    """A search of our own like that of the asker, to go on while nothing can be proved; None without one."""
    own = begun["method"] in OWN_METHODS and searches(task, settings, begun)
    return _hunt(task, settings, begun) if own else None


def _hunt(task: Task, settings: RunSettings, begun: Mapping[str, Any]) -> Hunt:
    return hunt_for(
        task,
        method=begun["method"],
        workers=begun["workers"],
        captime_limit_s=settings.specification.captime_limit_s,
        budget_s=begun["share"] * _planned_s(settings, begun),
    )


def _planned_s(settings: RunSettings, begun: Mapping[str, Any]) -> float:
    """The time of the whole run as its first start named it, or the present one where it named none."""
    planned_s = begun.get("budget_s")
    return settings.budget.max_time_s if planned_s is None else float(planned_s)


def next_asker(
    task: Task, settings: RunSettings, store: Store, *, live: bool = False
) -> Callable[[], Proof | Exploring]:
    """Makes who decides what to run in a start that is not stored yet; see `asker_for`."""
    earlier = proved_earlier(store, settings.specification)
    return lambda: asker_for(task, settings, store, live=live, earlier=earlier)


def asker_for(
    task: Task,
    settings: RunSettings,
    store: Store,
    *,
    live: bool = False,
    earlier: Progress | None = None,
) -> Proof | Exploring:
    """Who decides what to run: a search beside a proof or, where there is nothing to search, a proof alone.

    A run that is resumed goes on as it was begun: share, head start, method, number of workers and planned
    time of the search are those of the first start, because what was searched and nominated follows from
    them.

    Args:
        task: What is configured.
        settings: Procedure, budget, workers and search.
        store: What is known already.
        live: Whether time passes.
        earlier: What an earlier start has proved, see `Proved`.
    """
    begun = _begun_search(store, settings)
    spec, found = settings.specification, begun.get("found")
    if (begun["share"] == 0 and not found) or not _can_search(task):
        return proof_of(task, spec, store, live=live, guesses=settings.guesses, earlier=earlier)
    searching = replace(spec, proposals=0.0, epsilon=None if found else spec.epsilon)
    fresh = _fresh_from(store, spec, begun)
    orders = Orders.of(store, task.positions, spec.entropy)._replace(fresh_from=fresh)
    proof = proof_of(
        task, searching, store, live=live, orders=orders, guesses=settings.guesses, earlier=earlier
    )
    if proof.engine.takes_proposals() is None:
        return proof_of(task, spec, store, live=live, guesses=settings.guesses, earlier=earlier)
    if found:
        hunt = Hunt(Found(task.space.default(), task.space.validate(found)), task.evidence(), 1)
        shares = Shares(0.5)  # nothing is searched: all time goes to the proof
    else:
        shares = Shares(begun["share"], begun.get("head_start", 0.0))
        hunt = _hunt(task, settings, begun)
    looked_at = nominees_from(store, NOMINEES_LOOKED_AT)
    nominations = Stored(store.nominations(), nominees_from(store), looked_at)
    return Exploring(
        proof,
        hunt,
        shares,
        nominations=nominations,
        epsilon=spec.epsilon,
        gamma=spec.gamma,
        proves_one=bool(found),
    )


MOST_CONFIGURATIONS = 100_000
"""More than a fixed set ever needs; room is made for all of them at the start, about 200 bytes each."""

NO_SEARCH_AT_ANY_TIME = (
    'there is no search for objective = "anytime" yet, so configurations are drawn at random or proposed '
    "by a model"
)
"""What users of this objective do without."""

_NOT_TUNED = "It holds if this configuration was not chosen by{} runs on these very instances."


def _tell_of_search(task: Task, settings: RunSettings, store: Store) -> None:
    """Say where nothing is searched, and refuse to prove a configuration where none can be nominated."""
    if _can_search(task):
        if settings.found and task.scenario.population is Population.INFINITE and not store.sessions():
            note_once(store, CONDITION, _NOT_TUNED.format("" if settings.earlier is None else " other"))
        return
    if settings.found:
        raise UsageError(
            "a configuration from elsewhere cannot be proved for recorded runs and for objective = "
            '"anytime": list it under initial in the scenario, so that it takes part'
        )
    if task.scenario.objective is Objective.ANYTIME and settings.search.share > 0:
        note_once(store, "warning", f"{NO_SEARCH_AT_ANY_TIME[0].upper()}{NO_SEARCH_AT_ANY_TIME[1:]}.")


def _can_search(task: Task) -> bool:
    """Whether there is a space to search, and a run is worth one number."""
    recorded = isinstance(task.scenario.target, RecordedSpec)
    return not recorded and task.scenario.objective is not Objective.ANYTIME


def check_resumed(store: Store, settings: RunSettings, folder: Path | None) -> None:
    """Refuse settings that may not differ from those of the first start of the same run.

    Raises:
        UsageError: It has another procedure, or it proves another configuration, or none in particular.
    """
    sessions = store.sessions()
    if not sessions:
        return
    settings.specification.check_resumed(sessions[0].settings.get("procedure", {}))
    begun, asked = sessions[0].settings.get("search", {}).get("found"), settings.found
    if begun != (None if asked is None else dict(asked)):
        what = (
            "is a run that looks for a configuration itself"
            if begun is None
            else "proves one configuration and looks for no other ('utilitune prove' goes on with it)"
            if asked is None
            else "proves another configuration"
        )
        raise UsageError(
            f"{folder} {what}: choose another --folder, and if the runs made there are to count, name it "
            f"with: {shell_line(['--reuse', folder])}"
        )


def open_store(task: Task, folder: Path | None, afresh: str | None = None) -> Store:
    """Where a run is kept: in a folder, started or found again, or in memory.

    Args:
        task: What is run.
        folder: The folder; none for memory.
        afresh: How a user chooses another folder; by the option of 'utilitune run' if left out.
    """
    if folder is None:
        return MemoryStore(task.snapshot)
    return open_run_folder(folder, task.snapshot, afresh=afresh)

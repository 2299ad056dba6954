"""What a procedure has looked at: the stored runs, told to it once more.

Workers make runs ahead of need, and a stop cancels others, so which runs are stored depends on how many
workers there were and on when a run was stopped. What the procedure has *looked at* does not: it follows from
the outcomes alone. So that is what a certificate holds: each pair of a configuration and an instance once, up
to the captime to which the procedure has looked at it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from utilitune.domain import RunStatus
from utilitune.domain.stopping import EPSILON_REACHED, NO_LIMIT
from utilitune.errors import UsageError
from utilitune.live.asker import Again, Ended, Join, Nominate, Room, pair_of
from utilitune.live.earlier_promise import targets
from utilitune.live.hunting import OWN_METHODS
from utilitune.live.proof import Proof
from utilitune.live.running import RunSettings, asker_for, searches
from utilitune.procedures.naming import ProcedureSpec
from utilitune.scenario.model import Population
from utilitune.store.records import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from utilitune.domain import Progress
    from utilitune.live.asker import Asker, Pair
    from utilitune.live.task import Task
    from utilitune.store.base import Store, StoreReader
    from utilitune.store.records import SessionRecord


@dataclass(frozen=True, slots=True)
class Retraced:
    """Where a procedure stands after all stored runs.

    Attributes:
        progress: Its answer and what is proved of it.
        looked_at: The captime up to which it has looked at each pair that it has looked at.
        joined: Every configuration in play, in the order of joining, and from which position on it counts.
        nominations: The same for every nomination.
    """

    progress: Progress
    looked_at: Mapping[Pair, float]
    joined: list[tuple[int, int]]
    nominations: list[tuple[int, int]]


class _UpTo:
    """A stored run as one of its starts saw it: with no later start, and with all runs there are now."""

    def __init__(self, store: StoreReader, starts: int) -> None:
        self._store, self._starts = store, starts

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def sessions(self) -> list[SessionRecord]:
        return self._store.sessions()[: self._starts]


def retraced(task: Task, store: StoreReader) -> Retraced | None:
    """Let the procedure of a stored run look at its runs once more; nothing is stored.

    It goes the way of the latest start. If that has not proved what was asked for, and earlier starts asked
    for another ε or γ, it goes their ways, too, and the one counts by which most is proved.
    Another package that searches cannot be asked once more. What it nominated is stored, and all runs count.

    Returns:
        Where it stands; None if it has not begun.
    """
    sessions = store.sessions()
    if not sessions:
        return None
    search, last = sessions[0].settings.get("search"), sessions[-1].settings
    settings = RunSettings(specification_of(last["procedure"]), NO_LIMIT, last["workers"])
    if search and search["method"] not in OWN_METHODS and searches(task, settings, search):
        return _all_that_is_stored(task, store)
    latest = _by_the_way_of_the_last(task, store)
    if latest is None:
        return None
    found, proof = latest
    if proof.engine.stop_reason().code == EPSILON_REACHED:
        return found
    ways = {targets(each.settings["procedure"]): number for number, each in enumerate(sessions, 1)}
    del ways[targets(last["procedure"])]
    for starts in ways.values():
        other = _by_the_way_of_the_last(task, cast("StoreReader", _UpTo(store, starts)))
        if other is not None and proof.worth(other[0].progress) < proof.worth(found.progress):
            found = other[0]
    return found


def _by_the_way_of_the_last(task: Task, store: StoreReader) -> tuple[Retraced, Proof] | None:
    """Where the latest start stands after all stored runs."""
    start = store.sessions()[-1].settings
    settings = RunSettings(specification_of(start["procedure"]), NO_LIMIT, start["workers"])
    asker = asker_for(task, settings, cast("Store", store), live=False)  # all it would keep is kept
    try:
        asker.restore(store.configurations())
        for run in store.runs():
            asker.hear(Ended(run.request, run.outcome, run.taken_over))
        _walk(asker, Room(start["workers"], {}, 0.0), len(store.nominations()))
        proof = asker if isinstance(asker, Proof) else asker.proof
        progress = asker.progress()
        if progress is None:
            return None
        joined, nominations = proof.in_play()
        if asker.is_over or task.scenario.population is not Population.FINITE:
            counts = proof.looked_at()
        else:
            counts = _stored_of(store, {number for number, _ in [*joined, *nominations]})
        return Retraced(progress, counts, joined, nominations), proof
    finally:
        asker.close()


def _all_that_is_stored(task: Task, store: StoreReader) -> Retraced | None:
    last = store.last_progress()
    if last is None:
        return None
    nominations = store.nominations()
    if nominations and task.scenario.population is not Population.FINITE:
        raise UsageError(
            "certificates of a search by another package exist for lists of instances only: take "
            'population = "finite", or search with method = "utilitune"'
        )
    records = [each for each in store.configurations() if each.origin is not StoredOrigin.CANDIDATE]
    joined = [(each.index, each.first_position) for each in records]
    proving = {number for number, _ in joined} | set(nominations)
    looked_at = _stored_of(store, proving)
    return Retraced(last.progress, looked_at, joined, [(number, 0) for number in nominations])


def _stored_of(store: StoreReader, proving: Collection[int]) -> dict[Pair, float]:
    """All runs there are of some configurations, and up to which captime; who is over is known at any."""
    found: dict[Pair, float] = {}
    for run in store.runs():
        pair = pair_of(run.request)
        if pair[0] in proving:
            over = run.outcome.status is not RunStatus.TIMEOUT
            found[pair] = max(math.inf if over else run.request.captime_s, found.get(pair, 0.0))
    return found


def specification_of(plain: Mapping[str, Any]) -> ProcedureSpec:
    """The procedure of a session, as its settings are stored."""
    names = {each.name for each in fields(ProcedureSpec)}
    values = {name: value for name, value in plain.items() if name in names}
    if values.get("captime_limit_s") is None:
        values["captime_limit_s"] = math.inf
    return ProcedureSpec(**values)


def _walk(asker: Asker, room: Room, nominations: int) -> None:
    """Follow the asker's instructions as far as they ask for nothing that is not stored."""
    while True:
        step = asker.ask(room)
        if isinstance(step, Join) and step.stored:
            for drawn, number in step.configurations:
                if number is not None:
                    asker.joined(number, drawn)
        elif isinstance(step, Nominate) and step.number <= nominations:
            asker.nominated(step.number, step.configuration)
        elif not isinstance(step, Again):
            return

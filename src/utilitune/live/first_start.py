"""What a later start of a run owes to the first one: what was settled then, and positions that are fresh.

Wishes that are announced before anything was seen are cheaper than others, so the γ of the first start counts
for ever. And a user who starts a run again with other settings has seen results: a proposal on an endless
source is judged on positions behind all that was consumed before it, and the procedure, which walks through
the stored runs anew under the new settings, may have consumed less than the results that were seen. So from
such a start on, no proposal is judged on a position that had a run by then (docs/theory.md, section 6).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.procedures.naming import Beforehand
from utilitune.search.proposers.base import first_fresh_position

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.live.reusing import EarlierRuns
    from utilitune.live.task import Task
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.store.base import Store, StoreReader

RULES = "rules"
"""Name of the fact with what was settled before the first run, for later starts and for certificates."""

FRESH_FROM = "fresh from"
"""Name of the fact that says from which position on proposals may be judged, whatever was consumed."""

SEEN_TO = "seen up to"
"""Name of the fact that says how far earlier runs went whose results were seen, whatever was taken over."""

NOMINEES_FROM = "nominees judged from"
"""Name of the fact that says for each nomination which position was the first behind all that shaped it."""

NOMINEES_LOOKED_AT = "nominees from"
"""Name of the fact in which earlier versions kept this only as far as search itself had looked."""


def settled(store: Store, task: Task, specification: ProcedureSpec) -> Beforehand:
    """What was settled before the first run of all; stored at the first start, then read back.

    Args:
        store: The run.
        task: What is configured.
        specification: The procedure and its settings, as they are now.
    """
    kept = store.facts().get(RULES)
    if kept is not None:
        rules = json.loads(kept)
        return Beforehand(**{name: rules[name] for name in Beforehand._fields if name in rules})
    found = Beforehand(
        announced_gamma=announced_gamma(store, specification),
        default=bool(task.given),
        given=bool(task.given),
        space_size=task.space.size,
    )
    if not store.sessions():
        found = found._replace(listed=specification.lists(found.space_size), undivided=True)
        rules = {"fixed": specification.fixed_size, **found._asdict()}
        store.keep_fact(RULES, json.dumps(rules))
    return found


def settle_after(
    earlier: EarlierRuns,
    store: Store,
    task: Task,
    specification: ProcedureSpec,
    *,
    found: bool,
    search: Mapping[str, object],
) -> None:
    """What a start of a run settles that uses earlier runs: who makes it has seen their results.

    The draws of both runs are the same ones, so only a γ that the earlier run announced was announced before
    anything was seen. And what is chosen with a view to those results is judged on fresh positions, also
    where a run was begun without them and uses them from a later start on. Settings that the earlier run
    itself had chosen after looking at results are no fresh choice here either.

    Args:
        earlier: The earlier runs.
        store: The run.
        task: What is configured.
        specification: The procedure and its settings.
        found: Whether a configuration is to be proved that may have been found by these runs.
        search: How this run searches: as it was chosen, or written, it may know these results, too.

    Raises:
        UsageError: A configuration is to be proved, and too few instances are left to judge it on.
    """
    past = earlier.past
    first = not store.sessions()
    if first:
        settled(store, task, replace(specification, gamma=past.announced_gamma))
    finite = specification.population == "finite"
    too_few = first_fresh_position(past.end, task.training.count, finite=finite) is None
    if first and found and too_few:
        raise UsageError(
            f"{earlier.folder} has used {past.end} of {task.training.count} instances, and too few are "
            "left to judge the configuration on: bring more instances"
        )
    _keep_most(store, SEEN_TO, past.end)
    if finite:
        return
    now, before = specification.plain(), past.procedures
    same = bool(before) and all(each and not _differs(now, each) for each in before)
    follows = same and not found and past.searched_like(search)
    _keep_most(store, FRESH_FROM, past.fresh_from if follows else past.end)


def position_in(store: StoreReader, fact: str) -> int:
    """A position that is kept as a fact; 0 if there is none."""
    return int(store.facts().get(fact, "0"))


def _keep_most(store: Store, fact: str, position: int) -> None:
    """Keep a position as a fact where it is larger than the one that is kept."""
    if position > position_in(store, fact):
        store.keep_fact(fact, str(position))


def announced_gamma(store: StoreReader, specification: ProcedureSpec | None = None) -> float | None:
    """The γ that was asked for at the first start of a run; that of the specification before it."""
    kept, sessions = store.facts().get(RULES), store.sessions()
    if kept is not None:
        gamma = json.loads(kept).get("announced_gamma")
    elif sessions:
        gamma = sessions[0].settings.get("procedure", {}).get("gamma")
    else:
        gamma = None if specification is None else specification.gamma
    return None if gamma is None else float(gamma)


def fresh_from(store: Store, specification: ProcedureSpec, *, replays: bool = True) -> int:
    """The first position that a new proposal may be judged on, as far as earlier sessions are concerned.

    Args:
        store: The run.
        specification: The procedure and its settings, as they are now.
        replays: Whether search takes the same way again from what it has looked at, as ours does. A package
            goes another way by which runs are stored, and a user may have rewritten a class of their own.
    """
    kept = position_in(store, FRESH_FROM)
    sessions = store.sessions()
    other_way = not replays and specification.population != "finite"
    if sessions and (
        other_way or _differs(specification.plain(), sessions[-1].settings.get("procedure", {}))
    ):
        last = max((run.request.position for run in store.runs()), default=-1)
        kept = max(kept, 1 + last, position_in(store, SEEN_TO))
        store.keep_fact(FRESH_FROM, str(kept))
    return kept


def nominees_from(store: StoreReader, fact: str = NOMINEES_FROM) -> dict[int, int]:
    """The first position behind all that shaped a nominee, by the number of its nomination.

    Who searches may look at other runs in a later start, such as a package that plans its whole budget. What
    an earlier start has nominated was shaped by what that start looked at. And it is judged from this
    position on for ever: with another beginning at every start, its share of δ would be spent each time.
    """
    kept = json.loads(store.facts().get(fact, "{}"))
    return {int(number): int(first) for number, first in kept.items()}


def keep_first_fresh(store: Store, number: int, first: int) -> None:
    """Keep the first position behind all that shaped a nominee that is about to be stored."""
    store.keep_fact(NOMINEES_FROM, json.dumps({**nominees_from(store), number: first}))


def _differs(now: Mapping[str, object], before: Mapping[str, object]) -> bool:
    """Whether a setting has another value than before; settings that did not exist then do not count."""
    return any(now.get(name) != value for name, value in before.items())

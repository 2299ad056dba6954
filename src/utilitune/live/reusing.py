"""Runs of an earlier run folder that count in a new one.

The runtime of a configuration on an instance with a seed is one number, whoever measured it. So a run that
was made of the same program, on the same instances in the same order, need not be made again: for another
utility, δ, captime or procedure. Two things would spoil the promise, and are handled:

- a configuration that was chosen because of its runs looks better on them than it is. Runs of configurations
  that a model proposed are left out, and a configuration that the earlier run found is refused as the new
  default, and in the list of those to be tried first;
- a utility, δ, procedure, parameters or configurations that are chosen after looking at the runs are no
  longer fixed in advance: parameters may be narrowed to what the earlier run found, and of several δ the one
  may be taken for which the promise looks best. Nobody can see that from here, so the promise says that it
  rests on it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, UsageError
from utilitune.live.first_start import FRESH_FROM, SEEN_TO, announced_gamma, position_in
from utilitune.live.hunting import OWN_METHODS
from utilitune.live.inputs import INPUT_CONDITION
from utilitune.scenario.model import Scenario
from utilitune.spaces import Assignment
from utilitune.store.base import note_once
from utilitune.store.records import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.store.base import Store, StoreReader
    from utilitune.store.records import RunRecord

CONDITION = "condition"
"""Kind of the event that holds what a promise rests on."""

FREE_CONDITION = "condition-for-any-utility"
"""Kind of the event that holds what a promise about every utility at once rests on."""

_LISTED = "It holds if the configurations to try first were not chosen by runs on these very instances."

_SAME = {
    "target": "runs another program or judges it differently",
    "training": "has other training instances",
    "measure": "measures time differently",
    "memory_bytes": "has another memory limit",
    "seed": "has another seed, so its instances come in another order",
}

_CHOSEN = {
    "δ": ("delta",),
    "the procedure": ("procedure", "options", "population"),
    "the parameters": ("space",),
}
"""What may have been chosen by looking at the earlier runs where it differs, and the keys of it."""


_USES = "This uses runs of"
"""How every condition begins that is stated because of earlier runs."""

_OF_SEARCH = ("method", "share", "head_start", "workers")
"""What a search follows from, beside its seed and the runs it looks at."""


@dataclass(frozen=True, slots=True)
class Past:
    """How an earlier run was made, and how far its results were seen.

    Attributes:
        announced_gamma: The γ that it announced before anything was seen, if any.
        procedures: The settings of its procedure, at each of its starts.
        search: How it searched.
        end: The first position behind all its runs, and behind those of others that were named there.
        fresh_from: The first position on which it judged what it chose after looking at results.
        conditions: Kind and text of what its own promise rests on because of runs that it used.
    """

    announced_gamma: float | None
    procedures: Sequence[Mapping[str, object]]
    search: Mapping[str, object]
    end: int
    fresh_from: int
    conditions: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, store: StoreReader) -> Past:
        """What its run folder says."""
        sessions = store.sessions()
        last = max((run.request.position for run in store.runs()), default=-1)
        fresh_from = position_in(store, FRESH_FROM)
        return cls(
            announced_gamma=announced_gamma(store),
            procedures=[each.settings.get("procedure", {}) for each in sessions],
            search=sessions[0].settings.get("search", {}) if sessions else {},
            end=max(1 + last, fresh_from, position_in(store, SEEN_TO)),
            fresh_from=fresh_from,
            conditions=[
                (event.kind, event.text)
                for event in store.events()
                if event.kind == FREE_CONDITION or (event.kind == CONDITION and event.text.startswith(_USES))
            ],
        )

    def searched_like(self, search: Mapping[str, object]) -> bool:
        """Whether it searched in this way, by a method of ours, which follows from what it looks at."""
        if not search.get("share") or not self.search.get("share"):
            return not search.get("share") and not self.search.get("share")
        same = all(self.search.get(key) == search.get(key) for key in _OF_SEARCH)
        return same and search.get("method") in OWN_METHODS


class EarlierRuns:
    """What an earlier run knows of each configuration.

    Args:
        folder: Where it is kept.
        runs: Its runs by configuration.
        found: Configurations that it came upon itself, and that may have been chosen for their runs.
        past: How it was made.
        others: Which settings were not those of now, in words.
    """

    def __init__(
        self,
        folder: Path,
        runs: Mapping[Assignment, Sequence[RunRecord]],
        found: frozenset[Assignment],
        past: Past,
        *,
        others: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.past = past
        self._runs = runs
        self._found = found
        self._others = tuple(others)

    @classmethod
    def read(cls, store: StoreReader, folder: Path, scenario: Scenario) -> EarlierRuns:
        """Take the runs out of a run folder.

        Raises:
            UsageError: Its runs are not those the scenario would make.
        """
        earlier = Scenario.from_snapshot(store.snapshot.scenario)
        before, now = earlier.snapshot(), scenario.snapshot()
        for key, difference in _SAME.items():
            if before[key] != now[key]:
                raise UsageError(f"the runs of {folder} cannot be used here: that run {difference}")
        if _fingerprint(earlier) != store.snapshot.digest:
            raise UsageError(
                f"the runs of {folder} cannot be used here: an instance has changed since they were made"
            )
        configurations = store.configurations()
        runs: defaultdict[Assignment, list[RunRecord]] = defaultdict(list)
        for run in store.runs():
            record = configurations[run.request.configuration]
            if not record.origin.searched:
                runs[Assignment(record.assignment)].append(run)
        beforehand = (StoredOrigin.DEFAULT, StoredOrigin.USER)
        given, found = (
            {Assignment(each.assignment) for each in configurations if (each.origin in beforehand) is first}
            for first in (True, False)
        )
        others = [words for words, keys in _CHOSEN.items() if any(before[key] != now[key] for key in keys)]
        result = cls(folder, runs, frozenset(found - given), Past.of(store), others=others)
        result.check_listed(scenario)
        return result

    def check_listed(self, scenario: Scenario) -> None:
        """Refuse a default or a configuration to try first that the earlier run found on these instances."""
        names = [
            "the default",
            *(f"configuration {n} to try first" for n in range(1, len(scenario.initial) + 1)),
        ]
        for name, assignment in zip(names, [scenario.space.default(), *scenario.initial], strict=True):
            if assignment in self._found:
                raise UsageError(
                    f"{name} was found by {self.folder} on the same instances in the same order, where it "
                    "looks better than it is: give the scenario another seed and do without the earlier runs"
                )

    def of(self, assignment: Mapping[str, object]) -> Sequence[RunRecord]:
        """The runs of a configuration, in the order in which they were made."""
        return self._runs.get(Assignment(dict(assignment)), ())  # type: ignore[arg-type]

    def note(self, store: Store) -> None:
        """Keep, once, what the promise of a run that uses these runs rests on.

        A run that was begun without them may have announced a γ that is chosen by them, too. What the
        earlier run chose after looking at runs that it used itself was chosen so here as well.
        """
        for kind, text in self.past.conditions:
            note_once(store, kind, text)
        gamma = ["γ"] if announced_gamma(store) not in (None, self.past.announced_gamma) else []
        fixed = " nor ".join([*gamma, *self._others, "the configurations to try first"])
        uses, looked = f"{_USES} {self.folder}: it holds if", "chosen after looking at them."
        note_once(store, CONDITION, f"{uses} neither the utility nor {fixed} were {looked}")
        without = f"neither {fixed} were" if " nor " in fixed else f"{fixed} were not"
        note_once(store, FREE_CONDITION, f"{uses} {without} {looked}")


def uses_earlier_runs(store: StoreReader) -> bool:
    """Whether runs of an earlier run folder count in this one; a promise can rest on other things, too."""
    return any(event.kind == FREE_CONDITION for event in store.events())


def condition_of(store: StoreReader, *, any_utility: bool = False) -> str:
    """What the promise of a stored run rests on, beside what every promise does.

    That is what its earlier runs, or the configurations that the scenario lists to be tried first, could
    spoil: along the common order of the instances these must not have been chosen by runs on the same ones.

    Args:
        store: The run.
        any_utility: Whether the promise is about every utility at once, so that it may be chosen at any time.
    """
    texts: dict[str, list[str]] = {CONDITION: [], FREE_CONDITION: [], INPUT_CONDITION: []}
    for event in store.events():
        texts.get(event.kind, []).append(event.text)
    given = [_LISTED] if store.snapshot.scenario.get("initial") else []
    earlier = (any_utility and texts[FREE_CONDITION]) or texts[CONDITION]
    return " ".join([*earlier, *given, *texts[INPUT_CONDITION]])


def _fingerprint(scenario: Scenario) -> str:
    try:
        return scenario.digest()
    except ScenarioError:
        return ""

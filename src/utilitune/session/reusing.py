"""Runs of an earlier run folder that count in a new one.

The runtime of a configuration on an instance with a seed is one number, whoever measured it. So a run that
was made of the same program, on the same instances in the same order, need not be made again: for another
utility, δ, captime or procedure. Two things would spoil the promise, and are handled:

- a configuration that was chosen because of its runs looks better on them than it is. Runs of configurations
  that a model proposed are left out, and a configuration that the earlier run found and that is now listed to
  be tried first is refused;
- a utility that is chosen after looking at the runs is no longer fixed in advance. Nobody can see that from
  here, so the promise says that it rests on it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, UsageError
from utilitune.scenario.model import Scenario
from utilitune.spaces import Assignment
from utilitune.store.records import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.store.base import StoreReader
    from utilitune.store.records import RunRecord

CONDITION = "condition"
"""Kind of the event that holds what a promise rests on."""

_SAME = {
    "target": "runs another program or judges it differently",
    "training": "has other training instances",
    "measure": "measures time differently",
    "memory_bytes": "has another memory limit",
    "seed": "has another seed, so its instances come in another order",
}


class EarlierRuns:
    """What an earlier run knows of each configuration.

    Args:
        folder: Where it is kept.
        runs: Its runs by configuration.
        found: Configurations that it came upon itself, and that may have been chosen for their runs.
    """

    def __init__(
        self, folder: Path, runs: Mapping[Assignment, Sequence[RunRecord]], found: frozenset[Assignment]
    ) -> None:
        self.folder = folder
        self._runs = runs
        self._found = found

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
            if record.origin is not Origin.MODEL:
                runs[Assignment(record.assignment)].append(run)
        given = (Origin.DEFAULT, Origin.USER)
        found = frozenset(Assignment(each.assignment) for each in configurations if each.origin not in given)
        result = cls(folder, runs, found)
        result.check_listed(scenario)
        return result

    def check_listed(self, scenario: Scenario) -> None:
        """Refuse a configuration to be tried first that the earlier run found on the same instances."""
        for number, assignment in enumerate(scenario.initial, 1):
            if assignment in self._found:
                raise UsageError(
                    f"configuration {number} to try first was found by {self.folder} on the same instances "
                    "in the same order, where it looks better than it is: give the scenario another seed "
                    "and do without the earlier runs"
                )

    def of(self, assignment: Mapping[str, object]) -> Sequence[RunRecord]:
        """The runs of a configuration, in the order in which they were made."""
        return self._runs.get(Assignment(dict(assignment)), ())  # type: ignore[arg-type]

    def condition(self) -> str:
        """What the promise rests on."""
        return (
            f"This uses runs of {self.folder}: it holds if neither the utility nor the configurations to try "
            "first were chosen after looking at them."
        )


def condition_of(store: StoreReader) -> str:
    """What the promise of a stored run rests on; nothing where it has no earlier runs."""
    return " ".join(event.text for event in store.events() if event.kind == CONDITION)


def _fingerprint(scenario: Scenario) -> str:
    try:
        return scenario.digest()
    except ScenarioError:
        return ""

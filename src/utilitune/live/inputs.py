"""What a live run does when its inputs change: it says so, in the promise too, and stores nothing false.

Instances are looked at before every run and after it (`utilitune.scenario.fingerprints`); the files of the
program before every run, and at every start against the start before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utilitune.scenario.fingerprints import InputChangedError, ProgramWatch, program_condition
from utilitune.store.base import note_once

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.errors import UtilituneError
    from utilitune.scenario.model import Scenario
    from utilitune.store.base import Store

INPUT_CONDITION = "condition-about-inputs"
"""Kind of the event that says what a promise rests on because inputs have changed."""

PROGRAM = "program"
"""Where the settings of a start keep what its program was."""


class Inputs:
    """The program of one start of a run.

    Args:
        scenario: What is run.
        store: Where it is said.
    """

    def __init__(self, scenario: Scenario, store: Store) -> None:
        self._store = store
        self._program = ProgramWatch.of(scenario)

    def settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a start, with what its program is; says so where it was another one before."""
        before = [session.settings.get(PROGRAM) for session in self._store.sessions()]
        earlier = next((kept for kept in reversed(before) if kept is not None), None)
        self._note(self._program.differs_from(earlier), "between two starts of this run")
        return {**settings, PROGRAM: self._program.stored()}

    def look(self) -> None:
        """Look whether the program is still what it was."""
        self._note(self._program.changes(), "while this run was at work")

    def _note(self, changed: tuple[str, ...], when: str) -> None:
        if changed:
            note_once(self._store, INPUT_CONDITION, program_condition(changed, when))


def note_changed_instance(store: Store, error: UtilituneError) -> None:
    """Say in the promise that an instance has changed, where that is what ended a run."""
    if isinstance(error, InputChangedError):
        note_once(store, INPUT_CONDITION, error.condition())

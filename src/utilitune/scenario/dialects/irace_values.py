"""The values of an irace scenario, by key and type; every complaint names the line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError
from utilitune.errors.outside import exists, resolved
from utilitune.scenario.dialects.understanding import Notes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.scenario.dialects.r_literals import Assigned, Literal


class IraceValues:
    """The assignments of one file.

    Attributes:
        path: The file.
        folder: Its folder, where relative paths start.
        assigned: What is assigned, by key.
        notes: What was understood of it.
    """

    def __init__(self, path: Path, assigned: Mapping[str, Assigned]) -> None:
        self.path = path
        self.folder = path.parent.resolve()
        self.assigned = assigned
        self.notes = Notes()

    def problem(self, key: str, reason: str) -> ScenarioError:
        """An error at the line of a key."""
        line = self.assigned[key].line if key in self.assigned else None
        return ScenarioError(reason, path=self.path, line=line)

    def raw(self, key: str) -> Literal:
        """The value of a key; an empty text says as little as NULL."""
        value = self.assigned[key].value if key in self.assigned else None
        return None if value == "" else value

    def text(self, key: str) -> str | None:
        """A text in quotes, or None."""
        value = self.raw(key)
        if value is not None and not isinstance(value, str):
            raise self.problem(key, f"{key} must be a text in quotes, not {value!r}")
        return value

    def number(self, key: str) -> float | None:
        """A number that is not negative; irace writes 0 where a limit is not meant, so 0 stays."""
        value = self.raw(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, float) or not 0 <= value < math.inf:
            raise self.problem(key, f"{key} must be a number from 0 up, not {value!r}")
        return value

    def whole(self, key: str) -> int | None:
        """A whole number that is not negative, or None."""
        value = self.number(key)
        if value is not None and not value.is_integer():
            raise self.problem(key, f"{key} must be a whole number, not {value:g}")
        return None if value is None else int(value)

    def switch(self, key: str) -> bool | None:
        """What is on or off: TRUE and FALSE, or 1 and 0."""
        value = self.raw(key)
        if value is not None and (isinstance(value, list) or value not in {True, False, "0", "1"}):
            raise self.problem(key, f"{key} must be TRUE or FALSE, or 1 or 0, not {value!r}")
        return None if value is None else value not in {False, "0"}

    def file(self, key: str, usual: str, what: str) -> Path:
        """A file or folder beside the scenario; it must exist."""
        named = self.text(key) or usual
        found = resolved(self.folder / named)
        if not exists(found):
            raise self.problem(key, f"{what}, {named!r}, does not exist beside the scenario; check {key}")
        return found

"""What reading a parameter file gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.spaces.space import ParameterSpace

DIALECTS: dict[str, str] = {
    "pcs-old": "a PCS file in the form of ParamILS and SMAC 1",
    "pcs-new": "a PCS file in the form of SMAC 2",
    "irace": "an irace parameter file",
    "ranges": "a list of name, minimum, default and maximum",
    "configspace": "a ConfigSpace JSON file",
}
"""The formats, by the name a caller uses, in words."""


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """A parameter file, understood.

    Attributes:
        path: The file.
        dialect: Its format, a key of `DIALECTS`.
        space: The parameter space.
        switches: For formats that say so, the text that goes directly before the value of a parameter on
            the command line; blanks in it count.
        digits: For irace, the decimal places of real numbers.
        notes: What was understood but changes nothing, or was decided because the format does not say it.
        idle: Parameters of the file that can never be active and are left out of the space.
    """

    path: Path
    dialect: str
    space: ParameterSpace
    switches: Mapping[str, str] = field(default_factory=dict)
    digits: int | None = None
    notes: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def describe(self) -> str:
        """One sentence: what was detected."""
        count = len(self.space.parameters)
        parts = [f"{count} parameter{'s' if count != 1 else ''}"]
        parts += [f"{len(self.space.conditions)} with a condition"] if self.space.conditions else []
        parts += [f"{len(self.space.ranges)} with a dependent range"] if self.space.ranges else []
        clauses = len(self.space.forbidden)
        parts += [f"{clauses} forbidden clause{'s' if clauses != 1 else ''}"] if clauses else []
        return f"{self.path} was read as {DIALECTS[self.dialect]}: {', '.join(parts)}"

"""What a tool would answer after some time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utilitune.spaces import Assignment


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        spent_s: Run time spent so far.
        configuration: The configuration that would be answered.
    """

    spent_s: float
    configuration: Assignment

"""Two or more utilities of time put together: their product, and the smallest of them.

Both never rise and stay inside [0, 1], because every part does. So "useless after ten minutes, and 0.05 less
per hour before that" is ``product(step(10m), cost-per-hour(value=1, rate=0.05))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from utilitune.errors import UtilityError
from utilitune.utility.base import Family, Utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FEWEST_PARTS = 2


@dataclass(frozen=True, slots=True)
class Combination(Family):
    """Utilities of time put together.

    Attributes:
        parts: The utilities.
    """

    parts: tuple[Utility, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        require_parts(self.name, self.example, self.parts)
        for part in self.parts:
            if not isinstance(part, Utility):
                raise UtilityError(
                    f"{self.name} is made of utilities, not of {part!r}: write e.g. {self.example}"
                )

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parts))})"

    @classmethod
    def from_arguments(cls, arguments: Sequence[str]) -> Self:
        """Build one from the texts of its parts."""
        from utilitune.utility.text import parse_utility

        return cls(tuple(parse_utility(argument) for argument in arguments))


@dataclass(frozen=True, slots=True)
class Product(Combination):
    """u(t) = u1(t) · u2(t) · …: every part takes its share.

    Attributes:
        parts: The utilities.
    """

    name: ClassVar[str] = "product"
    summary: ClassVar[str] = "the product of utilities: each takes its share of the worth"
    example: ClassVar[str] = "product(step(deadline=600), cost-per-hour(value=1, rate=0.05))"

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = self.parts[0](time_s)
        for part in self.parts[1:]:
            worth = worth * part(time_s)
        return worth

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"the product of: {'; and: '.join(part.describe() for part in self.parts)}"


@dataclass(frozen=True, slots=True)
class Minimum(Combination):
    """u(t) = min(u1(t), u2(t), …): the strictest part decides.

    Attributes:
        parts: The utilities.
    """

    name: ClassVar[str] = "minimum"
    aliases: ClassVar[tuple[str, ...]] = ("min",)
    summary: ClassVar[str] = "the smallest of several utilities: the strictest decides"
    example: ClassVar[str] = "minimum(uniform(k0=600), log-laplace(k0=60, alpha=1))"

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = self.parts[0](time_s)
        for part in self.parts[1:]:
            worth = np.minimum(worth, part(time_s))
        return worth

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"the smallest of: {'; and: '.join(part.describe() for part in self.parts)}"


def require_parts(name: str, example: str, parts: Sequence[object]) -> None:
    """Refuse a combination of fewer than two."""
    if len(parts) < _FEWEST_PARTS:
        raise UtilityError(f"{name} needs at least two utilities: write e.g. {example}")

"""What a utility function is: the worth of an answer as a function of the time it took.

`Utility` owns everything that is the same for all of them: any shape of input, blocks that keep
temporaries small, rejection of what is not a time, the inverse. A subclass gives the formula for
one flat block. `Family` adds what a utility needs to be written as text: a name, an example, and
a way back from its arguments.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from utilitune.errors import UtilityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_BLOCK = 1 << 15  # 256 KiB of floats: a block and its temporaries stay in the processor's cache


class Utility(ABC):
    """A non-increasing function from runtimes in seconds to [0, 1].

    Call it with a time or with an array of times; it returns worths of the same shape. Time may be
    infinite ("never"): the worth is then `infimum`. ``str(utility)`` is a text that `parse_utility`
    turns back into an equal utility.
    """

    __slots__ = ()

    @abstractmethod
    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """The worths of one flat block of times in [0, ∞], as a new array."""

    @abstractmethod
    def describe(self) -> str:
        """The utility in one line of plain words."""

    @overload
    def __call__(self, time_s: float) -> np.float64: ...
    @overload
    def __call__(self, time_s: NDArray[Any] | Sequence[Any]) -> NDArray[np.float64]: ...
    def __call__(self, time_s: ArrayLike) -> np.float64 | NDArray[np.float64]:
        """The worth of an answer after each of these times."""
        times = np.asarray(time_s, dtype=np.float64)
        flat = times.reshape(-1)
        if flat.size and not flat.min() >= 0:
            wrong = flat[~(flat >= 0)][0]
            raise UtilityError(f"a runtime is a number of seconds from 0 up, not {wrong}: correct the data")
        worth = np.empty_like(flat)
        with np.errstate(under="ignore"):
            for start in range(0, flat.size, _BLOCK):
                block = slice(start, start + _BLOCK)
                worth[block] = self._evaluate(flat[block])
        shaped: np.float64 | NDArray[np.float64] = worth.reshape(times.shape)[()]
        return shaped

    @property
    def infimum(self) -> float:
        """The worth of an answer that never comes."""
        return float(self(math.inf))

    def require_falling(self) -> Utility:
        """This utility; a `UtilityError` if an answer at once is worth no more than one that never comes."""
        if self(0.0) <= self.infimum:
            raise UtilityError(
                f"this utility is {self.infimum:g} at all times, so no configuration is better than another: "
                "let it fall with time"
            )
        return self

    def time_to_fall_to(self, level: float) -> float:
        """The first time, in seconds, at which the worth is at most `level`; infinite if there is none.

        Bisects over the floating-point numbers themselves (non-negative ones are ordered like their
        bit patterns), so the answer is exact for whatever formula.
        """
        if self(0.0) <= level:
            return 0.0
        if self.infimum > level:
            return math.inf
        above, at_most = np.array([0.0, math.inf]).view(np.int64).tolist()
        while at_most - above > 1:
            middle = (above + at_most) // 2
            if self(_float_from_bits(middle)) <= level:
                at_most = middle
            else:
                above = middle
        return _float_from_bits(at_most)


def _float_from_bits(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


class Family(Utility):
    """A utility with a name in the text form, listed in `FAMILIES`.

    Attributes:
        name: The name in the text form.
        aliases: Other names that are understood.
        summary: One line on what it means and when to use it.
        example: A text that `parse_utility` accepts.
    """

    __slots__ = ()

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    summary: ClassVar[str]
    example: ClassVar[str]

    @classmethod
    @abstractmethod
    def from_arguments(cls, arguments: Sequence[str]) -> Self:
        """Build one from the texts between the parentheses, already split at commas."""


def exact_text(number: float) -> str:
    """The shortest text that reads back as exactly this number, without a trailing ``.0``."""
    return repr(number).removesuffix(".0")

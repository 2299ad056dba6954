"""What a solution is worth: utilities of its quality and of the time it took.

A quality is a number that the target reports, such as the length of a tour. What it is worth depends on what
is known of the instance: the `Standard` holds the direction in which a quality is better and the numbers it
can be compared with. A `SolutionUtility` never falls when the quality gets better, never rises with time, and
stays inside [0, 1]. A run without a solution is worth nothing.

Let e be by how much a quality q is worse than a reference r: q − r where smaller is better, else r − q. All
formulas are written in e, so they hold for both directions and for numbers of any sign.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from utilitune.errors import UtilityError
from utilitune.utility.combining import Minimum, Product, require_parts
from utilitune.utility.parameters import NUMBER, ParameterKind, Parametric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.utility.base import Utility


class Goal(StrEnum):
    """Which qualities are better."""

    SMALLER = "smaller"
    LARGER = "larger"

    def shortfall(self, quality: float, reference: float) -> float:
        """By how much a quality is worse than a reference; negative where it is better."""
        if quality == reference:  # also where both are infinite
            return 0.0
        return quality - reference if self is Goal.SMALLER else reference - quality

    @property
    def opposite(self) -> Goal:
        """The other direction."""
        return Goal.LARGER if self is Goal.SMALLER else Goal.SMALLER

    @property
    def best(self) -> float:
        """A quality that no other exceeds."""
        return -math.inf if self is Goal.SMALLER else math.inf

    def better(self, one: float, other: float) -> float:
        """The better of two qualities."""
        return min(one, other) if self is Goal.SMALLER else max(one, other)


KNOWN, DEFAULT, BOUND = "known", "default", "bound"
REFERENCES = {
    KNOWN: "the known quality of the instance",
    DEFAULT: "the quality of the default configuration on the same instance",
    BOUND: "the bound that the run reports for the instance",
}
"""The numbers that differ between instances, by the word that stands for each."""


@dataclass(frozen=True, slots=True)
class Standard:
    """What a quality is measured against on one instance.

    Attributes:
        goal: Which qualities are better.
        known: What is known of the instance beforehand, such as the best known quality.
        default: The quality that the default configuration reached on it.
        bound: A quality that cannot be surpassed on it.
    """

    goal: Goal = Goal.SMALLER
    known: float | None = None
    default: float | None = None
    bound: float | None = None

    def value(self, level: float | str) -> float | None:
        """A number, or the one that a word stands for; None where it is missing."""
        if isinstance(level, str):
            number: float | None = getattr(self, level)
            return number
        return level


class SolutionUtility(ABC):
    """A function from quality and time to [0, 1].

    It never falls when the quality gets better and never rises with time. ``str(utility)`` is a text that
    `parse_solution_utility` turns back into an equal one.
    """

    __slots__ = ()

    @abstractmethod
    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        """The worth of a quality, which may be infinite but is a number."""

    @abstractmethod
    def describe(self) -> str:
        """The utility in one line of plain words."""

    @property
    @abstractmethod
    def references(self) -> frozenset[str]:
        """The words for numbers that differ between instances and are used here."""

    @property
    @abstractmethod
    def levels(self) -> tuple[float, ...]:
        """The qualities that it names as numbers."""

    @property
    def times(self) -> tuple[Utility, ...]:
        """The utilities of time alone that it is made of."""
        return ()

    def ceiling(self, time_s: float) -> float:  # noqa: ARG002 - a quality alone loses nothing with time
        """The most that any solution can be worth after a time."""
        return 1.0

    def check(self, goal: Goal) -> None:  # noqa: B027 - most contradict nothing
        """Raise a `UtilityError` where it contradicts the direction in which a quality is better."""

    def __call__(self, quality: float | None, time_s: float, standard: Standard) -> float:
        """The worth of a solution that was there after a time; no solution is worth nothing.

        Where it is compared with a bound that nobody reported, its gap is unknown, and it is worth nothing.
        """
        if quality is None or math.isnan(quality):
            return 0.0
        if BOUND in self.references and standard.bound is None:
            return 0.0
        return min(1.0, max(0.0, self._evaluate(quality, time_s, standard)))


LEVEL = {
    "kind": ParameterKind("quality", "100 or known", is_time=False, is_quality=True, names=tuple(REFERENCES))
}
SHARE = {"kind": ParameterKind("positive share", "0.1 or 10%", is_time=False, is_share=True)}


@dataclass(frozen=True, slots=True)
class QualityFamily(Parametric, SolutionUtility):
    """A utility of the quality alone, given by its parameters.

    Attributes:
        name: The name in the text form.
        summary: One line on what it means and when to use it.
        example: A text that `parse_solution_utility` accepts.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]

    def __post_init__(self) -> None:
        self._check_fields()

    @property
    def references(self) -> frozenset[str]:
        """The words for numbers that differ between instances and are used here."""
        return frozenset(value for value in self._qualities() if isinstance(value, str))

    @property
    def levels(self) -> tuple[float, ...]:
        """The qualities that it names as numbers."""
        return tuple(value for value in self._qualities() if not isinstance(value, str))

    def _qualities(self) -> list[float | str]:
        return [getattr(self, each.name) for each in fields(self) if each.metadata["kind"].is_quality]


def _in_words(level: float | str) -> str:
    return REFERENCES[level] if isinstance(level, str) else f"{level:g}"


def _all_or_nothing(shortfall: float) -> float:
    return 1.0 if shortfall <= 0 else 0.0


@dataclass(frozen=True, slots=True)
class Gap(QualityFamily):
    """v(q) = (worst − q)/(worst − best), not below 0 nor above 1.

    Where `worst` is missing on an instance, or no worse than `best`, a quality as good as `best` is worth 1
    and any other nothing. Where `best` is missing, any solution is worth 1.

    Attributes:
        best: The quality that is worth 1.
        worst: The quality that is worth nothing.
    """

    name: ClassVar[str] = "gap"
    summary: ClassVar[str] = "a straight line from 1 at the best quality to 0 at the worst"
    example: ClassVar[str] = "gap(best=0, worst=100)"

    best: float | str = field(metadata=LEVEL)
    worst: float | str = field(metadata=LEVEL)

    def __post_init__(self) -> None:
        self._check_fields()
        if self.best == self.worst:
            raise UtilityError(f"best and worst of gap are the same: write e.g. {self.example}")

    def check(self, goal: Goal) -> None:
        """Refuse a best quality that is the worse one."""
        if isinstance(self.best, str) or isinstance(self.worst, str):
            return
        if goal.shortfall(self.worst, self.best) < 0:
            raise UtilityError(
                f"{self} calls {self.best:g} better than {self.worst:g}, but here {goal.value} is better: "
                f'exchange the two numbers, or set better = "{goal.opposite.value}"'
            )

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        del time_s
        best, worst = standard.value(self.best), standard.value(self.worst)
        if best is None:
            return 1.0
        short = standard.goal.shortfall(quality, best)
        width = 0.0 if worst is None else standard.goal.shortfall(worst, best)
        return _all_or_nothing(short) if width <= 0 else 1.0 - short / width

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return (
            f"worth 1 at {_in_words(self.best)}, falling in a straight line to 0 at {_in_words(self.worst)}"
        )


@dataclass(frozen=True, slots=True)
class RelativeGap(QualityFamily):
    """v(q) = 1 − e/(limit·|r|), not below 0 nor above 1, for the reference r.

    Where r is 0, a quality as good as r is worth 1 and any other nothing; where r is missing, any solution is
    worth 1.

    Attributes:
        to: The reference r.
        limit: The share of |r| by which a worthless quality is worse than r.
    """

    name: ClassVar[str] = "relative-gap"
    summary: ClassVar[str] = "1 at a reference, falling to 0 where a quality is a given share worse"
    example: ClassVar[str] = "relative-gap(to=known, limit=0.1)"

    to: float | str = field(metadata=LEVEL)
    limit: float = field(metadata=SHARE)

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        del time_s
        reference = standard.value(self.to)
        if reference is None:
            return 1.0
        short, width = standard.goal.shortfall(quality, reference), self.limit * abs(reference)
        return _all_or_nothing(short) if width == 0 else 1.0 - short / width

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return (
            f"worth 1 at {_in_words(self.to)} or better, falling in a straight line to 0 where a quality is "
            f"{100 * self.limit:g} % worse"
        )


@dataclass(frozen=True, slots=True)
class Compared(QualityFamily):
    """v(q) = ½ (1 + x)^(−α) for x ≥ 0, 1 − ½ (1 + x)^α for −1 < x < 0, else 1, with x = e/|r|.

    The log-Laplace utility of the ratio q/r, for a reference r: one half at r itself, and never quite 0 or 1
    where qualities are positive. Where r is 0, every better quality is worth 1 and every worse one nothing;
    where r is missing, any solution is worth 1.

    Attributes:
        to: The reference r.
        alpha: How much a small difference counts: 1 % better is worth about α/200 more.
    """

    name: ClassVar[str] = "compared"
    summary: ClassVar[str] = "worth 1/2 at a reference: for when only the scale of qualities is known"
    example: ClassVar[str] = "compared(to=default, alpha=5)"

    to: float | str = field(metadata=LEVEL)
    alpha: float = field(default=5.0, metadata=NUMBER)

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        del time_s
        reference = standard.value(self.to)
        if reference is None:
            return 1.0
        short = standard.goal.shortfall(quality, reference)
        if short == 0:
            return 0.5
        if reference == 0 or math.isinf(short):
            return _all_or_nothing(short)
        share = short / abs(reference)
        if share > 0:
            return 0.5 * math.exp(-self.alpha * math.log1p(share))
        return 1.0 if share <= -1 else 1.0 - 0.5 * math.exp(self.alpha * math.log1p(share))

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return (
            f"worth 1/2 at {_in_words(self.to)}; a quality 1 % better is worth "
            f"{self(0.99, 0.0, Standard(known=1.0, default=1.0, bound=1.0)) - 0.5:.2g} more"
            if isinstance(self.to, str)
            else f"worth 1/2 at {_in_words(self.to)}, more below and less above, by the power {self.alpha:g}"
        )


@dataclass(frozen=True, slots=True)
class Reached(QualityFamily):
    """v(q) = 1 where q is as good as the target, else 0.

    Where the target is missing, any solution is worth 1.

    Attributes:
        target: The quality that is good enough.
    """

    name: ClassVar[str] = "reached"
    summary: ClassVar[str] = "full worth for a quality that is good enough, nothing else"
    example: ClassVar[str] = "reached(target=known)"

    target: float | str = field(metadata=LEVEL)

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        del time_s
        target = standard.value(self.target)
        return 1.0 if target is None else _all_or_nothing(standard.goal.shortfall(quality, target))

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"worth 1 at {_in_words(self.target)} or better, nothing else"


@dataclass(frozen=True, slots=True)
class SolutionCombination(SolutionUtility):
    """Utilities of quality and of time put together.

    Attributes:
        parts: The utilities; one of the quality at least.
    """

    kind: ClassVar[type[Product | Minimum]]

    parts: tuple[SolutionUtility | Utility, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        require_parts(self.kind.name, self.kind.example, self.parts)

    @property
    def references(self) -> frozenset[str]:
        """The words for numbers that differ between instances and are used here."""
        return frozenset().union(*(part.references for part in self._judges))

    @property
    def levels(self) -> tuple[float, ...]:
        """The qualities that it names as numbers."""
        return tuple(level for part in self._judges for level in part.levels)

    @property
    def times(self) -> tuple[Utility, ...]:
        """The utilities of time alone that it is made of."""
        own = tuple(part for part in self.parts if not isinstance(part, SolutionUtility))
        return (*own, *(time for part in self._judges for time in part.times))

    @property
    def _judges(self) -> Sequence[SolutionUtility]:
        return [part for part in self.parts if isinstance(part, SolutionUtility)]

    def check(self, goal: Goal) -> None:
        """Refuse what a part refuses."""
        for part in self._judges:
            part.check(goal)

    def _ceilings(self, time_s: float) -> list[float]:
        return [
            part.ceiling(time_s) if isinstance(part, SolutionUtility) else float(part(time_s))
            for part in self.parts
        ]

    def _worths(self, quality: float, time_s: float, standard: Standard) -> list[float]:
        return [
            part(quality, time_s, standard) if isinstance(part, SolutionUtility) else float(part(time_s))
            for part in self.parts
        ]

    def __str__(self) -> str:
        return f"{self.kind.name}({', '.join(map(str, self.parts))})"

    def describe(self) -> str:
        """The utility in one line of plain words."""
        what = "product" if self.kind is Product else "smallest"
        return f"the {what} of: {'; and: '.join(part.describe() for part in self.parts)}"


@dataclass(frozen=True, slots=True)
class SolutionProduct(SolutionCombination):
    """w(q, t) = the product of its parts."""

    kind: ClassVar[type[Product | Minimum]] = Product

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        return math.prod(self._worths(quality, time_s, standard))

    def ceiling(self, time_s: float) -> float:
        """The most that any solution can be worth after a time."""
        return math.prod(self._ceilings(time_s))


@dataclass(frozen=True, slots=True)
class SolutionMinimum(SolutionCombination):
    """w(q, t) = the smallest of its parts."""

    kind: ClassVar[type[Product | Minimum]] = Minimum

    def _evaluate(self, quality: float, time_s: float, standard: Standard) -> float:
        return min(self._worths(quality, time_s, standard))

    def ceiling(self, time_s: float) -> float:
        """The most that any solution can be worth after a time."""
        return min(self._ceilings(time_s))

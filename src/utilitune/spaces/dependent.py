"""Ranges that depend on other parameters, such as 1 to ``min(ants, 10)``.

Such a parameter is drawn after those its range mentions, uniformly between the two ends they give it. It is
active only where all of them are. A combination that leaves it no value does not exist, like one that a
clause forbids. Its plain bounds are the hull of the range: no value ever lies outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.parameters import NumberParameter, Parameter, number_default
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import Interval, Term, evaluate, hull, names_in, term_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DependentRange:
    """The two ends of a range, at least one of them a calculation."""

    low: Term
    high: Term

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters the ends mention, each once."""
        return tuple(dict.fromkeys((*names_in(self.low), *names_in(self.high))))

    def ends(
        self, columns: Mapping[str, NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both ends for every configuration."""
        return evaluate(self.low, columns), evaluate(self.high, columns)

    def hull(self, name: str, parameters: Mapping[str, Parameter]) -> Interval:
        """The smallest and the largest value either end can have."""
        where = ("parameters", name, "range")
        ranges: dict[str, Interval] = {}
        for mentioned in self.names:
            if mentioned not in parameters:
                hint = did_you_mean(mentioned, parameters)
                raise SpaceError(
                    f"the range of {name!r} mentions {mentioned!r}, which is no parameter; {hint}", where
                )
            parameter = parameters[mentioned]
            if not isinstance(parameter, NumberParameter):
                raise SpaceError(
                    f"the range of {name!r} calculates with {mentioned!r}, which is not a number", where
                )
            ranges[mentioned] = (parameter.low, parameter.high)
        low, high = hull(self.low, ranges)[0], hull(self.high, ranges)[1]
        if not (math.isfinite(low) and math.isfinite(high)):
            raise SpaceError(
                f"the range of {name!r}, {self}, can grow without limit; avoid dividing by what may be 0",
                where,
            )
        return low, high

    def __str__(self) -> str:
        return f"[{term_text(self.low)}, {term_text(self.high)}]"


@dataclass(frozen=True, slots=True)
class DependentNumber:
    """A number with a dependent range, before the parameters it mentions are known."""

    name: str
    range: DependentRange
    integer: bool
    log: bool
    digits: int | None = None
    default: float | None = None

    def settled(self, parameters: Mapping[str, Parameter]) -> NumberParameter:
        """The parameter, given those its range mentions; without a default, the middle they leave."""
        low, high = self.range.hull(self.name, parameters)
        if self.integer:
            low, high = math.ceil(low), math.floor(high)
        elif self.digits is not None:
            step = 10**self.digits
            low, high = math.floor(low * step) / step, math.ceil(high * step) / step
        default = self._middle(parameters, low, high) if self.default is None else self.default
        return NumberParameter(
            self.name, low, high, default, integer=self.integer, log=self.log, digits=self.digits
        )

    def _middle(self, parameters: Mapping[str, Parameter], low: float, high: float) -> float:
        defaults = {name: np.array([parameters[name].default], dtype=float) for name in self.range.names}
        first, last = (float(np.clip(end, low, high).item()) for end in self.range.ends(defaults))
        middle = number_default(first, last, integer=self.integer, log=self.log, digits=self.digits)
        return min(max(middle, low), high) if low <= high else low


def settle(
    numbers: Mapping[str, DependentNumber], parameters: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """Turn every dependent number into a parameter, after those that its range depends on."""
    known = dict(parameters)

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            circle = " → ".join((*trail[trail.index(name) :], name))
            raise SpaceError(
                f"the ranges go in a circle: {circle}; make one of them plain numbers",
                ("parameters", name, "range"),
            )
        if name in numbers and name not in known:
            for mentioned in numbers[name].range.names:
                visit(mentioned, (*trail, name))
            known[name] = numbers[name].settled(known)

    for name in numbers:
        visit(name, ())
    return {name: known[name] for name in numbers}

"""Whether a condition can hold for some configuration at all.

A parameter is active only where its own condition holds, so a condition brings those of the parameters
it mentions with it. The search keeps for every parameter the region of codes still possible, narrows it
by each comparison, and tries the branches of an ``or`` one after the other. Comparisons of two
parameters or of calculations narrow nothing unless their ranges are apart: the answer "cannot hold" is
always right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from utilitune.spaces.expressions import (
    OPERATORS,
    AllOf,
    AnyOf,
    Expression,
    Leaf,
    Membership,
    Presence,
    Relation,
    TermComparison,
    ValueComparison,
    comparison_code,
    names_of,
)
from utilitune.spaces.parameters import NumberParameter, Parameter
from utilitune.spaces.terms import hull

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Region:
    """The codes a parameter may still have: an interval, minus some points, perhaps only some points."""

    low: float
    high: float
    whole: bool
    only: frozenset[float] | None = None
    without: frozenset[float] = frozenset()

    @classmethod
    def of(cls, parameter: Parameter) -> Region:
        """The whole domain of a parameter."""
        if isinstance(parameter, NumberParameter):
            return cls(parameter.low, parameter.high, whole=parameter.integer)
        return cls(0, len(parameter.choices) - 1, whole=True)

    def narrowed(self, symbol: str, code: float) -> Region:
        """The part where ``x symbol code`` holds."""
        if math.isnan(code):
            return self.within(frozenset())
        if symbol == "==":
            return self.within(frozenset({code}))
        if symbol == "!=":
            return replace(self, without=self.without | {code})
        if symbol in {"<", "<="}:
            top = math.nextafter(code, -math.inf) if symbol == "<" else code
            return replace(
                self, high=min(self.high, math.floor(top) if self.whole and math.isfinite(top) else top)
            )
        bottom = math.nextafter(code, math.inf) if symbol == ">" else code
        return replace(
            self, low=max(self.low, math.ceil(bottom) if self.whole and math.isfinite(bottom) else bottom)
        )

    def within(self, codes: frozenset[float]) -> Region:
        """The part inside a set of codes."""
        return replace(self, only=codes if self.only is None else self.only & codes)

    @property
    def empty(self) -> bool:
        """Whether no code is left."""
        if self.only is not None:
            return not any(self.low <= code <= self.high for code in self.only - self.without)
        if self.low > self.high:
            return True
        inside = sum(self.low <= code <= self.high for code in self.without)
        return inside > self.high - self.low if self.whole else inside > 0 and self.low == self.high


Regions = dict[str, Region]


def satisfiable(
    expression: Expression, parameters: Mapping[str, Parameter], conditions: Mapping[str, Expression]
) -> bool:
    """Whether some configuration satisfies a checked expression and activates all it needs."""
    return _search([expression], {}, parameters, conditions)


def _search(
    pending: list[Expression],
    regions: Regions,
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Expression],
) -> bool:
    """Settle everything certain first, then try the branches of the first ``or`` that is left."""
    wanted = dict(regions)
    certain, choices = list(pending), list[AnyOf]()
    while certain:
        first = certain.pop()
        if isinstance(first, AllOf):
            certain.extend(first.terms)
        elif isinstance(first, AnyOf):
            choices.append(first)
        elif isinstance(first, Presence) and not first.active:
            if first.name not in conditions:
                return False
        else:
            for name in names_of(first):
                if name not in wanted:
                    wanted[name] = Region.of(parameters[name])
                    certain.extend([conditions[name]] if name in conditions else [])
            if not _narrow(first, wanted, parameters):
                return False
    if not choices:
        return True
    return any(_search([term, *choices[1:]], wanted, parameters, conditions) for term in choices[0].terms)


def _narrow(leaf: Leaf, regions: Regions, parameters: Mapping[str, Parameter]) -> bool:
    """Narrow the regions in place by one comparison; False if nothing is left."""
    match leaf:
        case Membership(name, values, negative):
            region = regions[name]
            codes = frozenset(parameters[name].code(value) for value in values)
            region = replace(region, without=region.without | codes) if negative else region.within(codes)
        case ValueComparison(name, symbol, value):
            region = regions[name].narrowed(symbol, comparison_code(parameters[name], value))
        case Relation(name, symbol, other):
            return _possible(regions[name], symbol, regions[other])
        case TermComparison(left, symbol, right):
            ranges = {name: (region.low, region.high) for name, region in regions.items()}
            sides = (Region(*hull(term, ranges), whole=False) for term in (left, right))
            return _possible(next(sides), symbol, next(sides))
        case Presence():
            return True
    regions[name] = region
    return not region.empty


def _possible(left: Region, symbol: str, right: Region) -> bool:
    """Whether two regions, taken as intervals, leave room for a comparison."""
    if symbol == "!=":
        return True
    if symbol == "==":
        return left.low <= right.high and right.low <= left.high
    ends = (left.low, right.high) if symbol in {"<", "<="} else (left.high, right.low)
    return bool(OPERATORS[symbol](*ends))

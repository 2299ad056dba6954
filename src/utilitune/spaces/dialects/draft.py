"""What a reader collects from a file before it becomes a `ParameterSpace`."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

from utilitune.spaces.dependent import DependentNumber, settle
from utilitune.spaces.dialects.resolving import ALWAYS, NEVER, folded, without
from utilitune.spaces.dialects.source import Place
from utilitune.spaces.expressions import AllOf, Expression, Presence, to_text
from utilitune.spaces.grammar import all_of
from utilitune.spaces.parameters import Parameter
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.satisfiability import satisfiable
from utilitune.spaces.space import ParameterSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from utilitune.errors import Mistakes, ScenarioError
    from utilitune.spaces.dependent import DependentRange
    from utilitune.spaces.dialects.source import SourceText

Declared = Parameter | DependentNumber
_WORD = re.compile(r"[^\s,{}\[\]()|#\"'&=<>!%*/^+`]+")


class Draft:
    """Parameters, conditions and clauses of a file, each with its place.

    Arguments:
        source: The file.

    Attributes:
        notes: What was understood but changes nothing, or was decided because the format does not say it.
        idle: Parameters that can never be active and are therefore left out of the space.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.notes: list[str] = []
        self.idle: dict[str, None] = {}
        self._declared: dict[str, Declared] = {}
        self._conditions: dict[str, list[Expression]] = {}
        self._clauses: list[tuple[Expression, Place, SourceText]] = []
        self._places: dict[tuple[str, str], Place] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What has been declared."""
        return tuple(self._declared)

    def declare(
        self, name: str, place: Place, make: Callable[[], Declared], pieces: Mapping[str, Place]
    ) -> None:
        """Add a parameter; `pieces` says where its range, values, default and so on stand."""
        if name in self._declared:
            first = self._places[name, ""].line
            raise self.source.problem(
                f"the parameter {name!r} is declared twice, first in line {first}", place
            )
        self._places[name, ""] = place
        for key, where in pieces.items():
            self._places[name, key] = where
        try:
            self._declared[name] = make()
        except SpaceError as error:
            raise self._located(error) from None

    def condition(self, name: str, expression: Expression, place: Place) -> None:
        """Add a condition; several of one parameter must all hold."""
        self._conditions.setdefault(name, []).append(expression)
        self._places.setdefault((name, "when"), place)

    def clause(self, expression: Expression, place: Place, source: SourceText | None = None) -> None:
        """Add a forbidden clause, perhaps from another file."""
        self._clauses.append((expression, place, source or self.source))

    def is_broken(self, text: str) -> bool:
        """Whether a text names a parameter whose declaration is wrong, so that nothing can be said of it."""
        words = set(_WORD.findall(text))
        return any(key == "" and name not in self._declared and name in words for name, key in self._places)

    def parameters(self, mistakes: Mistakes | None = None) -> dict[str, Parameter]:
        """Every parameter, those with dependent ranges settled.

        Arguments:
            mistakes: Where a range that cannot be settled is told; raised if left out.
        """
        plain = {name: each for name, each in self._declared.items() if not isinstance(each, DependentNumber)}
        dependent = {name: each for name, each in self._declared.items() if isinstance(each, DependentNumber)}
        collecting = nullcontext() if mistakes is None else mistakes.collected()
        with collecting:
            try:
                plain |= settle(dependent, plain)
            except SpaceError as error:
                raise self._located(error) from None
        return {name: plain[name] for name in self._declared if name in plain}

    def space(self, *, search_default: bool = False) -> ParameterSpace:
        """The space; clauses that can never hold and parameters that are never active are left out.

        Arguments:
            search_default: Whether the format has no defaults, so that any allowed configuration may be it.
        """
        parameters = self.parameters()
        conditions = {name: all_of(terms) for name, terms in self._conditions.items()}
        ranges = {name: n.range for name, n in self._declared.items() if isinstance(n, DependentNumber)}
        clauses = self._clauses
        try:
            self._leave_out_idle(parameters, conditions, ranges)
            clauses = [
                (kept, place, source)
                for expression, place, source in self._clauses
                if (kept := self._possible_part(expression)) not in (ALWAYS, NEVER)
            ]
            free = ParameterSpace(parameters.values(), conditions, (), ranges, search_default=search_default)
            clauses = [clause for clause in clauses if self._can_hold(free, clause)]
            forbidden = [expression for expression, _, _ in clauses]
            space = ParameterSpace(
                parameters.values(), conditions, forbidden, ranges, search_default=search_default
            )
        except SpaceError as error:
            raise self._located(error, clauses) from None
        if space.parameters != parameters:
            self.notes.append(
                "the middle of all ranges is forbidden, so the default is the nearest allowed one found"
            )
        return space

    def _leave_out_idle(
        self,
        parameters: dict[str, Parameter],
        conditions: dict[str, Expression],
        ranges: dict[str, DependentRange],
    ) -> None:
        """Drop parameters that can never be active, and what depends on them, from what is given."""
        while True:
            activity = {
                name: folded(AllOf((conditions.get(name, ALWAYS), *_presences(name, ranges, conditions))))
                for name in (*conditions, *(name for name in ranges if name not in conditions))
            }
            activity = {name: expression for name, expression in activity.items() if expression != ALWAYS}
            idle = next(
                (name for name, when in activity.items() if not satisfiable(when, parameters, activity)), None
            )
            if idle is None:
                return
            self._drop(idle, parameters, conditions, ranges)

    def _drop(
        self,
        name: str,
        parameters: dict[str, Parameter],
        conditions: dict[str, Expression],
        ranges: dict[str, DependentRange],
    ) -> None:
        place = self._places.get((name, "when")) or self._places[name, ""]
        if len(parameters) == 1:
            raise self.source.problem(f"{name!r} can never be active, and there is no other parameter", place)
        self.notes.append(
            f"{self.source.path}:{place.line}:{place.column}: {name!r} can never be active, because its "
            "condition never holds, so it is left out"
        )
        self.idle[name] = None
        del parameters[name]
        conditions.pop(name, None)
        ranges.pop(name, None)
        for other, ends in ranges.items():
            if name in ends.names:
                conditions[other] = NEVER
        for other, expression in list(conditions.items()):
            kept = without(expression, name)
            if kept == ALWAYS:
                del conditions[other]
            else:
                conditions[other] = kept

    def _possible_part(self, clause: Expression) -> Expression:
        """A clause without what never holds because a parameter is never active."""
        for name in self.idle:
            clause = without(clause, name)
        return clause

    def _can_hold(self, space: ParameterSpace, clause: tuple[Expression, Place, SourceText]) -> bool:
        expression, place, source = clause
        possible = satisfiable(expression, space.parameters, space.activity)
        if not possible:
            self.notes.append(
                f"{source.path}:{place.line}:{place.column}: the forbidden clause {to_text(expression)} "
                "can never hold, so it changes nothing"
            )
        return possible

    def _located(
        self, error: SpaceError, clauses: Sequence[tuple[Expression, Place, SourceText]] = ()
    ) -> ScenarioError:
        """The error at the place its key path points to."""
        match error.where:
            case ("parameters", str(name), str(key)) if (name, "") in self._places:
                place = self._places.get((name, key)) or self._places[name, ""]
                return self.source.located(error, place)
            case ("forbidden", int(position), *_) if position < len(clauses):
                _, place, source = clauses[position]
                return source.located(error, place)
            case _:
                first = next(iter(self._places.values()), Place(1, 1))
                return self.source.located(error, first)


def _presences(
    name: str, ranges: Mapping[str, DependentRange], conditions: Mapping[str, Expression]
) -> list[Expression]:
    """What must be active for a number to have a range."""
    if name not in ranges:
        return []
    return [Presence(parent) for parent in ranges[name].names if parent in conditions or parent in ranges]

"""What a reader collects from a file before it becomes a `ParameterSpace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.spaces.dependent import DependentNumber, settle
from utilitune.spaces.dialects.source import Place
from utilitune.spaces.expressions import Expression, to_text
from utilitune.spaces.grammar import all_of
from utilitune.spaces.parameters import Parameter
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.satisfiability import satisfiable
from utilitune.spaces.space import ParameterSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from utilitune.errors import ScenarioError
    from utilitune.spaces.dialects.source import SourceText

Declared = Parameter | DependentNumber


class Draft:
    """Parameters, conditions and clauses of a file, each with its place.

    Arguments:
        source: The file.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.notes: list[str] = []
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

    def parameters(self) -> dict[str, Parameter]:
        """Every parameter, those with dependent ranges settled."""
        plain = {name: each for name, each in self._declared.items() if not isinstance(each, DependentNumber)}
        dependent = {name: each for name, each in self._declared.items() if isinstance(each, DependentNumber)}
        try:
            plain |= settle(dependent, plain)
        except SpaceError as error:
            raise self._located(error) from None
        return {name: plain[name] for name in self._declared}

    def space(self, *, search_default: bool = False) -> ParameterSpace:
        """The space; clauses that can never hold are left out with a note.

        Arguments:
            search_default: Whether the format has no defaults, so that any allowed configuration may be it.
        """
        parameters = self.parameters()
        conditions = {name: all_of(terms) for name, terms in self._conditions.items()}
        ranges = {name: n.range for name, n in self._declared.items() if isinstance(n, DependentNumber)}
        clauses = self._clauses
        try:
            free = ParameterSpace(parameters.values(), conditions, (), ranges, search_default=search_default)
            clauses = [clause for clause in self._clauses if self._can_hold(free, clause)]
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

"""The parameter space: its default configuration, uniform draws, and vectors for models."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.assignment import Assignment
from utilitune.spaces.expressions import Expression, check, holds, names_of, to_text
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.satisfiability import satisfiable
from utilitune.spaces.tables import read_tables, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.spaces.parameters import Parameter, Value

INACTIVE = -1.0
"""What `ParameterSpace.encode` writes for an inactive parameter."""

_SMALLEST_SHARE = 1e-4
_FEWEST_DRAWS = 200_000


class ParameterSpace:
    """Parameters, the conditions under which they are active, and clauses no configuration may satisfy.

    Everything is checked on construction: names, domains, cycles, conditions and clauses that can never
    hold, and a default configuration that is forbidden.

    Arguments:
        parameters: The parameters, in the order in which they appear on a command line.
        conditions: For a parameter that is not always active, when it is.
        forbidden: Clauses; a configuration in which one holds does not exist.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        conditions: Mapping[str, Expression] | None = None,
        forbidden: Sequence[Expression] = (),
    ) -> None:
        self.parameters: dict[str, Parameter] = {}
        for parameter in parameters:
            if parameter.name in self.parameters:
                raise SpaceError(f"the parameter {parameter.name!r} is defined twice", ("parameters",))
            self.parameters[parameter.name] = parameter
        if not self.parameters:
            raise SpaceError("there are no parameters to configure; add at least one", ("parameters",))
        self.conditions: dict[str, Expression] = dict(conditions or {})
        self.forbidden: tuple[Expression, ...] = tuple(forbidden)
        self._check_conditions()
        self._order = self._activation_order()
        self._check_satisfiable()
        self._default = self._checked_default()

    @property
    def names(self) -> tuple[str, ...]:
        """All parameter names, in order."""
        return tuple(self.parameters)

    def default(self) -> Assignment:
        """The default configuration."""
        return self._default

    def sample(self, generator: np.random.Generator, count: int) -> list[Assignment]:
        """Independent draws, uniform under the conditions and outside the forbidden clauses.

        Every parameter is drawn on its own scale and dropped where it is inactive; a draw in which a
        forbidden clause holds is drawn again. The result follows from the state of the generator and
        `count` alone.
        """
        accepted: list[NDArray[np.float64]] = []
        wanted, drawn = count, 0
        while wanted > 0:
            found = sum(block.shape[1] for block in accepted)
            share = max((found + 1) / (drawn + 1), _SMALLEST_SHARE)
            size = min(int(wanted / share * 1.1) + 8, max(count, _FEWEST_DRAWS))
            codes = self._draw(generator, size)
            block = codes[:, ~self._is_forbidden(codes)][:, :wanted]
            accepted.append(block)
            drawn += size
            wanted -= block.shape[1]
            if drawn >= _FEWEST_DRAWS and count - wanted < _SMALLEST_SHARE * drawn:
                raise SpaceError(
                    f"the forbidden clauses exclude nearly everything: {count - wanted} of {drawn} random "
                    "configurations were allowed; narrow the ranges or use conditions instead of clauses",
                    ("forbidden",),
                )
        return self._assignments(np.concatenate(accepted, axis=1)) if accepted else []

    def encode(self, assignments: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        """One row per configuration, one column per parameter scaled to [0, 1]; inactive is `INACTIVE`."""
        codes = self._codes(assignments)
        rows = [
            np.where(np.isnan(column), INACTIVE, parameter.to_unit(column))
            for parameter, column in zip(self.parameters.values(), codes, strict=True)
        ]
        return np.stack(rows, axis=1)

    def validate(self, assignment: Mapping[str, Value]) -> Assignment:
        """The assignment in the order and types of the space; a `SpaceError` if it is not a point of it."""
        for name in assignment:
            if name not in self.parameters:
                raise SpaceError(f"there is no parameter {name!r}; {did_you_mean(name, self.parameters)}")
        codes = self._codes([assignment])
        columns = self._columns(codes.copy())
        for name in self.names:
            active = not np.isnan(columns[name][0])
            condition = to_text(self.conditions[name]) if name in self.conditions else ""
            if name in self.conditions and not self._condition_holds(name, columns)[0]:
                if active:
                    raise SpaceError(f"{name!r} is set, but it only applies when {condition}; leave it out")
            elif not active:
                why = f" because {condition}" if condition else ""
                raise SpaceError(f"{name!r} has no value, but needs one{why}")
        for clause in self.forbidden:
            if holds(clause, self.parameters, columns)[0]:
                raise SpaceError(f"the configuration is forbidden by the clause {to_text(clause)}")
        return self._assignments(codes)[0]

    @classmethod
    def from_tables(
        cls, parameters: Mapping[str, Any], forbidden: Sequence[Mapping[str, Any]] = ()
    ) -> ParameterSpace:
        """Build a space from its plain tables, see `utilitune.spaces.tables`."""
        return cls(*read_tables(parameters, forbidden))

    def to_tables(self) -> dict[str, Any]:
        """The keys "parameters" and "forbidden" from which `from_tables` builds the same space."""
        return write_tables(self.parameters.values(), self.conditions, self.forbidden)

    def digest(self) -> str:
        """A fingerprint of everything that defines the space."""
        text = json.dumps(self.to_tables(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParameterSpace):
            return NotImplemented
        return self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        clauses = f"{len(self.conditions)} conditions, {len(self.forbidden)} forbidden clauses"
        return f"ParameterSpace({len(self.parameters)} parameters, {clauses})"

    def _check_conditions(self) -> None:
        for name, condition in self.conditions.items():
            where = ("parameters", name, "when")
            if name not in self.parameters:
                raise SpaceError(f"there is a condition for {name!r}, which is not a parameter", where)
            try:
                check(condition, self.parameters)
            except SpaceError as error:
                raise SpaceError(f"the condition of {name!r} is wrong: {error.reason}", where) from None
        for position, clause in enumerate(self.forbidden):
            try:
                check(clause, self.parameters)
            except SpaceError as error:
                where_clause = ("forbidden", position, "clause")
                raise SpaceError(f"the forbidden clause is wrong: {error.reason}", where_clause) from None

    def _activation_order(self) -> tuple[str, ...]:
        """The conditional parameters, each after those its condition mentions."""
        order: dict[str, None] = {}

        def visit(name: str, trail: tuple[str, ...]) -> None:
            if name in trail:
                circle = " → ".join((*trail[trail.index(name) :], name))
                raise SpaceError(
                    f"the conditions go in a circle: {circle}; break it by removing one of them",
                    ("parameters", name, "when"),
                )
            if name in self.conditions and name not in order:
                for parent in names_of(self.conditions[name]):
                    visit(parent, (*trail, name))
                order[name] = None

        for name in self.conditions:
            visit(name, ())
        return tuple(order)

    def _check_satisfiable(self) -> None:
        for name, condition in self.conditions.items():
            if not satisfiable(condition, self.parameters, self.conditions):
                raise SpaceError(
                    f"{name!r} can never be active, because {to_text(condition)} never holds; "
                    "correct the condition or remove the parameter",
                    ("parameters", name, "when"),
                )
        for position, clause in enumerate(self.forbidden):
            if not satisfiable(clause, self.parameters, self.conditions):
                raise SpaceError(
                    f"the forbidden clause {to_text(clause)} never holds; correct or remove it",
                    ("forbidden", position, "clause"),
                )

    def _checked_default(self) -> Assignment:
        defaults = [[parameter.code(parameter.default)] for parameter in self.parameters.values()]
        codes = self._deactivated(np.array(defaults))
        columns = self._columns(codes)
        for position, clause in enumerate(self.forbidden):
            if holds(clause, self.parameters, columns)[0]:
                raise SpaceError(
                    f"the default configuration is forbidden by the clause {to_text(clause)}; "
                    "change a default or the clause",
                    ("forbidden", position, "clause"),
                )
        return self._assignments(codes)[0]

    def _columns(self, codes: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return dict(zip(self.parameters, codes, strict=True))

    def _condition_holds(self, name: str, columns: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        return holds(self.conditions[name], self.parameters, columns)

    def _deactivated(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Write NaN, in place, wherever a parameter is not active."""
        columns = self._columns(codes)
        for name in self._order:
            columns[name][~self._condition_holds(name, columns)] = np.nan
        return codes

    def _draw(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        return self._deactivated(np.stack([p.draw(generator, count) for p in self.parameters.values()]))

    def _is_forbidden(self, codes: NDArray[np.float64]) -> NDArray[np.bool_]:
        result = np.zeros(codes.shape[1], dtype=np.bool_)
        columns = self._columns(codes)
        for clause in self.forbidden:
            result |= holds(clause, self.parameters, columns)
        return result

    def _codes(self, assignments: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        rows = [
            [parameter.code(assignment[name]) if name in assignment else np.nan for assignment in assignments]
            for name, parameter in self.parameters.items()
        ]
        return np.array(rows, dtype=np.float64).reshape(len(self.parameters), len(assignments))

    def _assignments(self, codes: NDArray[np.float64]) -> list[Assignment]:
        rows: list[dict[str, Value]] = [{} for _ in range(codes.shape[1])]
        for (name, parameter), column in zip(self.parameters.items(), codes, strict=True):
            active = np.flatnonzero(~np.isnan(column))
            for position, value in zip(active.tolist(), parameter.values(column[active]), strict=True):
                rows[position][name] = value
        return [Assignment(row) for row in rows]

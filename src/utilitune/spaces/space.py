"""The parameter space: its default configuration, uniform draws, and vectors for models."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.assignment import Assignment
from utilitune.spaces.expressions import AllOf, Expression, Presence, check, holds, names_of, to_text
from utilitune.spaces.nearby import nearby
from utilitune.spaces.parameters import NumberParameter, with_default
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.satisfiability import satisfiable
from utilitune.spaces.tables import read_tables, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.spaces.dependent import DependentRange
    from utilitune.spaces.parameters import Parameter, Value

INACTIVE = -1.0
"""What `ParameterSpace.encode` writes for an inactive parameter."""

_SMALLEST_SHARE = 1e-4
_FEWEST_DRAWS = 200_000
_DEFAULT_TRIALS = 1000
_MOST_COUNTED = 10_000


class ParameterSpace:
    """Parameters, the conditions under which they are active, and clauses no configuration may satisfy.

    Everything is checked on construction: names, domains, cycles, conditions and clauses that can never
    hold, and a default configuration that is forbidden.

    Arguments:
        parameters: The parameters, in the order in which they appear on a command line.
        conditions: For a parameter that is not always active, when it is.
        forbidden: Clauses; a configuration in which one holds does not exist.
        ranges: For a number whose range depends on others, its two ends.
        search_default: For a format without defaults: where those of the parameters are not allowed
            together, the nearest of a thousand random configurations becomes the default.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        conditions: Mapping[str, Expression] | None = None,
        forbidden: Sequence[Expression] = (),
        ranges: Mapping[str, DependentRange] | None = None,
        *,
        search_default: bool = False,
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
        self.ranges: dict[str, DependentRange] = dict(ranges or {})
        self._check_conditions()
        self._check_ranges()
        self._order = self._activation_order()
        self.activity = self._activity_conditions()
        self._check_satisfiable()
        if search_default:
            self._search_default()
        self._default = self._checked_default()

    @property
    def names(self) -> tuple[str, ...]:
        """All parameter names, in order."""
        return tuple(self.parameters)

    @cached_property
    def size(self) -> int | None:
        """How many different configurations there are; None if there is no end of them, or over 10 000.

        Counted over all combinations of values, so that conditions, ranges and clauses are heeded; None
        also where these combinations, before anything is dropped, are more than 10 000.
        """
        codes = self._all_codes()
        return None if codes is None else codes.shape[1]

    def configurations(self) -> list[Assignment]:
        """Every configuration there is, once, in an order that follows from the space; see `size`."""
        codes = self._all_codes()
        if codes is None:
            raise SpaceError("there are too many configurations to list", ("parameters",))
        return self.assignments(codes)

    def _all_codes(self) -> NDArray[np.float64] | None:
        """The codes of all configurations, one column each, sorted; None where there are too many."""
        tables = [parameter.all_codes(_MOST_COUNTED) for parameter in self.parameters.values()]
        listed = [table for table in tables if table is not None]
        if len(listed) < len(tables) or math.prod(len(table) for table in listed) > _MOST_COUNTED:
            return None
        codes = np.stack([grid.ravel() for grid in np.meshgrid(*listed, indexing="ij")])
        self._deactivated(codes)
        allowed = codes[:, ~self._is_forbidden(codes)]
        different = np.unique(np.nan_to_num(allowed, nan=math.inf), axis=1)
        different[np.isinf(different)] = math.nan
        return different

    def default(self) -> Assignment:
        """The default configuration."""
        return self._default

    def sample(self, generator: np.random.Generator, count: int) -> list[Assignment]:
        """Independent draws, uniform under the conditions and outside the forbidden clauses.

        Every parameter is drawn on its own scale and dropped where it is inactive; one whose range depends
        on others is drawn after them. A draw in which a forbidden clause holds, or a range is empty, is
        drawn again. The result follows from the state of the generator and `count` alone.
        """
        return self.assignments(self.sample_codes(generator, count))

    def sample_codes(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """The codes of what `sample` draws, one column per draw."""
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
                what = "the forbidden clauses" + (" and the ranges without a value" if self.ranges else "")
                raise SpaceError(
                    f"{what} exclude nearly everything: {count - wanted} of {drawn} random "
                    "configurations were allowed; narrow the ranges or use conditions instead of clauses",
                    ("forbidden",),
                )
        return np.concatenate([np.empty((len(self.parameters), 0)), *accepted], axis=1)

    def neighbour_codes(
        self, bases: NDArray[np.float64], generator: np.random.Generator, count: int
    ) -> NDArray[np.float64]:
        """The codes of up to `count` neighbours of each of these configurations, one column per neighbour.

        Each changes one active parameter, drawn at random, to a nearby value. Parameters that become active
        are drawn as in `sample`; what the clauses or ranges exclude is left out.
        """
        codes = np.repeat(bases, count, axis=1)
        active = ~np.isnan(codes)
        changed = _one_of_each_column(active, generator)
        parameters = list(self.parameters.values())
        for row in np.flatnonzero(~active.all(axis=1)).tolist():
            drawn = parameters[row].draw(generator, codes.shape[1])
            codes[row] = np.where(active[row], codes[row], drawn)
        for row in np.unique(changed).tolist():
            chosen = changed == row
            codes[row, chosen] = nearby(parameters[row], codes[row, chosen], generator)
        return self.allowed_codes(codes)

    def allowed_codes(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The configurations among these that are allowed, one column each.

        Every parameter has a value. NaN is written, in place, where a parameter is not active.
        """
        return codes[:, ~self._is_forbidden(self._deactivated(codes))]

    def encode(self, assignments: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        """One row per configuration, one column per parameter scaled to [0, 1]; inactive is `INACTIVE`."""
        return self.encode_codes(self.codes(assignments))

    def encode_codes(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for configurations that are given by their codes."""
        units = np.empty(codes.shape[::-1])
        for place, (parameter, column) in enumerate(zip(self.parameters.values(), codes, strict=True)):
            units[:, place] = parameter.to_unit(column)
        units[np.isnan(units)] = INACTIVE
        return units

    def codes(self, assignments: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        """One column per configuration, one row per parameter: its code, NaN where it is inactive."""
        rows = [
            [parameter.code(assignment[name]) if name in assignment else np.nan for assignment in assignments]
            for name, parameter in self.parameters.items()
        ]
        return np.array(rows, dtype=np.float64).reshape(len(self.parameters), len(assignments))

    def assignments(self, codes: NDArray[np.float64]) -> list[Assignment]:
        """The configurations of many codes, built row by row: a dictionary is fastest filled at once."""
        inactive = np.isnan(codes)
        filled = np.where(inactive, 0.0, codes)
        columns: list[list[Value | None]] = []
        for parameter, column, dropped in zip(self.parameters.values(), filled, inactive, strict=True):
            values = np.empty(len(column), dtype=object)
            values[:] = parameter.values(column)
            values[dropped] = None
            columns.append(values.tolist())
        names = self.names
        return [
            Assignment.owning(
                {name: value for name, value in zip(names, row, strict=True) if value is not None}
            )
            for row in zip(*columns, strict=True)
        ]

    def completed(self, values: Mapping[str, Value]) -> Assignment:
        """The values, with defaults where they say nothing and without parameters that are not active."""
        for name in values:
            if name not in self.parameters:
                raise SpaceError(f"there is no parameter {name!r}; {did_you_mean(name, self.parameters)}")
        everything = {name: values.get(name, each.default) for name, each in self.parameters.items()}
        codes = self._deactivated(self.codes([everything]))
        self._check_allowed(self._columns(codes))
        return self.assignments(codes)[0]

    def filled(self, value_of: Callable[[Parameter], Value]) -> Assignment:
        """The configuration with the values that are given for active parameters, parents before children."""
        codes = np.full((len(self.parameters), 1), np.nan)
        columns = self._columns(codes)
        for name in (*(each for each in self.parameters if each not in self._order), *self._order):
            if name not in self.activity or self._is_active(name, columns)[0]:
                columns[name][0] = self.parameters[name].code(value_of(self.parameters[name]))
        self._check_allowed(columns)
        return self.assignments(codes)[0]

    def validate(self, assignment: Mapping[str, Value]) -> Assignment:
        """The assignment in the order and types of the space; a `SpaceError` if it is not a point of it."""
        for name in assignment:
            if name not in self.parameters:
                raise SpaceError(f"there is no parameter {name!r}; {did_you_mean(name, self.parameters)}")
        codes = self.codes([assignment])
        columns = self._columns(codes.copy())
        for name in self.names:
            active = not np.isnan(columns[name][0])
            condition = to_text(self.activity[name]) if name in self.activity else ""
            if name in self.activity and not self._is_active(name, columns)[0]:
                if active:
                    raise SpaceError(f"{name!r} is set, but it only applies when {condition}; leave it out")
            elif not active:
                why = f" because {condition}" if condition else ""
                raise SpaceError(f"{name!r} has no value, but needs one{why}")
        self._check_allowed(columns)
        return self.assignments(codes)[0]

    def _check_allowed(self, columns: dict[str, NDArray[np.float64]]) -> None:
        for name, ends in self.ranges.items():
            if self._outside(name, columns)[0]:
                (value,) = self.parameters[name].values(columns[name])
                raise SpaceError(f"{value!r} is outside the range of {name!r}, which is {ends}")
        for clause in self.forbidden:
            if holds(clause, self.parameters, columns)[0]:
                raise SpaceError(f"the configuration is forbidden by the clause {to_text(clause)}")

    @classmethod
    def from_tables(
        cls, parameters: Mapping[str, Any], forbidden: Sequence[Mapping[str, Any]] = ()
    ) -> ParameterSpace:
        """Build a space from its plain tables, see `utilitune.spaces.tables`."""
        return cls(*read_tables(parameters, forbidden))

    def to_tables(self) -> dict[str, Any]:
        """The keys "parameters" and "forbidden" from which `from_tables` builds the same space."""
        return write_tables(self.parameters.values(), self.conditions, self.forbidden, self.ranges)

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

    def _check_ranges(self) -> None:
        for name, ends in self.ranges.items():
            where = ("parameters", name, "range")
            parameter = self.parameters.get(name)
            if not isinstance(parameter, NumberParameter):
                raise SpaceError(f"there is a range for {name!r}, which is not a number", where)
            low, high = ends.hull(name, self.parameters)
            if parameter.integer:
                low, high = np.ceil(low), np.floor(high)
            if low < parameter.low or high > parameter.high:
                raise SpaceError(f"the range {ends} of {name!r} goes beyond its {parameter.domain}", where)

    def _activation_order(self) -> tuple[str, ...]:
        """The parameters that depend on others, each after those its condition and range mention."""
        order: dict[str, None] = {}

        def visit(name: str, trail: tuple[str, ...]) -> None:
            if name in trail:
                circle = " → ".join((*trail[trail.index(name) :], name))
                what = "conditions and ranges" if self.ranges else "conditions"
                raise SpaceError(
                    f"the {what} go in a circle: {circle}; break it by removing one of them",
                    ("parameters", name, "when" if name in self.conditions else "range"),
                )
            if name not in order:
                for parent in self._mentioned(name):
                    visit(parent, (*trail, name))
                order[name] = None

        for name in (*self.conditions, *self.ranges):
            visit(name, ())
        return tuple(name for name in order if name in self.conditions or name in self.ranges)

    def _mentioned(self, name: str) -> Iterator[str]:
        if name in self.conditions:
            yield from names_of(self.conditions[name])
        if name in self.ranges:
            yield from self.ranges[name].names

    def _activity_conditions(self) -> dict[str, Expression]:
        """When a parameter is active: by its condition, and where all that its range mentions is."""
        activity: dict[str, Expression] = {}
        for name in self._order:
            terms = [self.conditions[name]] if name in self.conditions else []
            if name in self.ranges:
                terms += [Presence(parent) for parent in self.ranges[name].names if parent in activity]
            if terms:
                activity[name] = terms[0] if len(terms) == 1 else AllOf(tuple(terms))
        return activity

    def _check_satisfiable(self) -> None:
        for name, condition in self.activity.items():
            if not satisfiable(condition, self.parameters, self.activity):
                raise SpaceError(
                    f"{name!r} can never be active, because {to_text(condition)} never holds; "
                    "correct the condition or remove the parameter",
                    ("parameters", name, "when"),
                )
        for position, clause in enumerate(self.forbidden):
            if not satisfiable(clause, self.parameters, self.activity):
                raise SpaceError(
                    f"the forbidden clause {to_text(clause)} never holds; correct or remove it",
                    ("forbidden", position, "clause"),
                )

    def _search_default(self) -> None:
        """Replace defaults that are not allowed together."""
        middle = self._deactivated(self._default_codes())
        if not self._is_forbidden(middle)[0]:
            return
        draws = self._draw(np.random.default_rng(0), _DEFAULT_TRIALS)
        allowed = draws[:, ~self._is_forbidden(draws)]
        if not allowed.shape[1]:
            raise SpaceError(
                f"nearly everything is forbidden: none of {_DEFAULT_TRIALS} random configurations is allowed",
                ("forbidden", 0),
            )
        distances = np.abs(self.encode_codes(allowed) - self.encode_codes(middle)).sum(axis=1)
        (chosen,) = self.assignments(allowed[:, [int(distances.argmin())]])
        for name, value in chosen.items():
            self.parameters[name] = with_default(self.parameters[name], value)

    def _default_codes(self) -> NDArray[np.float64]:
        return np.array([[parameter.code(parameter.default)] for parameter in self.parameters.values()])

    def _checked_default(self) -> Assignment:
        codes = self._deactivated(self._default_codes())
        columns = self._columns(codes)
        for name in self.ranges:
            if self._outside(name, columns)[0]:
                raise SpaceError(
                    f"the default {self.parameters[name].default!r} of {name!r} is outside its range "
                    f"{self.ranges[name]} when the others have their defaults",
                    ("parameters", name, "default"),
                )
        for position, clause in enumerate(self.forbidden):
            if holds(clause, self.parameters, columns)[0]:
                raise SpaceError(
                    f"the default configuration is forbidden by the clause {to_text(clause)}; "
                    "change a default or the clause",
                    ("forbidden", position, "clause"),
                )
        return self.assignments(codes)[0]

    def _columns(self, codes: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return dict(zip(self.parameters, codes, strict=True))

    def _is_active(self, name: str, columns: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        return holds(self.activity[name], self.parameters, columns)

    def _outside(self, name: str, columns: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        low, high = self.ranges[name].ends(columns)
        return (columns[name] < low) | (columns[name] > high)

    def _deactivated(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Write NaN, in place, wherever a parameter is not active."""
        columns = self._columns(codes)
        for name in self.activity:
            columns[name][~self._is_active(name, columns)] = np.nan
        return codes

    def _draw(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        codes = np.stack(
            [
                generator.random(count) if name in self.ranges else parameter.draw(generator, count)
                for name, parameter in self.parameters.items()
            ]
        )
        columns = self._columns(codes)
        for name in self._order:
            parameter = self.parameters[name]
            if name in self.ranges and isinstance(parameter, NumberParameter):
                columns[name][:] = parameter.between(columns[name], *self.ranges[name].ends(columns))
            if name in self.activity:
                columns[name][~self._is_active(name, columns)] = np.nan
        return codes

    def _is_forbidden(self, codes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where a clause holds, or a value lies outside a range that depends on others."""
        result = np.zeros(codes.shape[1], dtype=np.bool_)
        columns = self._columns(codes)
        for name in self.ranges:
            result |= self._outside(name, columns)
        for clause in self.forbidden:
            result |= holds(clause, self.parameters, columns)
        return result


def _one_of_each_column(candidates: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.intp]:
    """In every column the row of one of its candidates, each equally likely; columns have at least one."""
    rank = (generator.random(candidates.shape[1]) * candidates.sum(axis=0)).astype(np.intp)
    return np.asarray(np.argmax(np.cumsum(candidates, axis=0) > rank, axis=0))

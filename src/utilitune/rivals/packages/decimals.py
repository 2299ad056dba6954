"""Decimal places, which other tools do not know, or know for all parameters at once."""

from __future__ import annotations

from utilitune.spaces import ParameterSpace


def without_digits(space: ParameterSpace) -> ParameterSpace:
    """The space with exact numbers; whoever proposes gets its proposals rounded afterwards."""
    tables = space.to_tables()
    for table in tables["parameters"].values():
        table.pop("digits", None)
    return ParameterSpace.from_tables(**tables)

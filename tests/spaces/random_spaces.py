"""Random parameter spaces in table form, for property tests."""

from __future__ import annotations

import random

from utilitune.spaces import ParameterSpace, SpaceError


def _domain(chance: random.Random) -> dict[str, object]:
    kind = chance.choice(["float", "integer", "categorical", "ordinal", "bool"])
    if kind in {"float", "integer"}:
        log = chance.random() < 0.4
        low = chance.randint(1 if log else -20, 20)
        table: dict[str, object] = {"type": kind, "range": [low, low + chance.randint(1, 100)]}
        return {**table, "log": True} if log else table
    if kind == "bool":
        return {"type": kind}
    return {"type": kind, "values": [f"v{k}" for k in range(chance.randint(2, 5))]}


def _leaf(chance: random.Random, name: str, table: dict) -> str:
    if table["type"] == "bool":
        return f"{name} == {chance.choice(['true', 'false'])}"
    if table["type"] in {"float", "integer"}:
        low, high = table["range"]
        symbol = chance.choice(["<", "<=", ">", ">=", "!="])
        return f"{name} {symbol} {chance.randint(low, high)}"
    symbols = ["==", "!="] + (["<", ">="] if table["type"] == "ordinal" else [])
    value = chance.choice(table["values"])
    if chance.random() < 0.3:
        return f"{name} {chance.choice(['in', 'not in'])} ['{value}', '{table['values'][0]}']"
    return f"{name} {chance.choice(symbols)} '{value}'"


def _expression(chance: random.Random, tables: dict[str, dict]) -> str:
    parts = [
        _leaf(chance, name, tables[name]) for name in chance.choices(list(tables), k=chance.randint(1, 3))
    ]
    text = f" {chance.choice(['and', 'or'])} ".join(parts)
    return f"not ({text})" if chance.random() < 0.2 else text


def random_space(seed: int) -> ParameterSpace:
    """A valid random space; conditions point to earlier parameters, so there are no circles."""
    chance = random.Random(seed)
    tables: dict[str, dict] = {}
    clauses: list[dict[str, str]] = []
    for number in range(chance.randint(1, 10)):
        table = _domain(chance)
        if tables and chance.random() < 0.5:
            table["when"] = _expression(chance, tables)
        try:
            ParameterSpace.from_tables({**tables, f"p{number}": table})
        except SpaceError:
            table.pop("when")
        tables[f"p{number}"] = table
    for _ in range(chance.randint(0, 2)):
        clause = {"clause": _expression(chance, tables)}
        try:
            ParameterSpace.from_tables(tables, [*clauses, clause])
        except SpaceError:
            continue
        clauses.append(clause)
    return ParameterSpace.from_tables(tables, clauses)

"""A slow second opinion on configurations: Python's own parser, one configuration at a time.

It reads the tables of a space, not its trees, and shares no code with the package. Texts are turned into
Python by substitution, and the syntax tree is walked; nothing is executed. None is "neither true nor false".
"""

from __future__ import annotations

import ast
import math
import operator
import re

COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
FUNCTIONS = {
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "floor": math.floor,
    "ceiling": math.ceil,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
}
PIECE = re.compile(r"""(?P<text>'(?:[^'\\]|\\.)*')|`(?P<quoted>[^`]+)`|(?P<name>[^\W\d][\w.-]*)|\^""")
WORDS = {"and", "or", "not", "in"}


class Naive:
    """The tables of a space, ready to judge configurations."""

    def __init__(self, tables: dict) -> None:
        self.parameters = tables["parameters"]
        self.places = {name: number for number, name in enumerate(self.parameters)}
        self.conditions = {n: self._parsed(t["when"]) for n, t in self.parameters.items() if "when" in t}
        self.clauses = [self._parsed(entry["clause"]) for entry in tables["forbidden"]]
        self.ranges = {
            name: [self._parsed(str(end)) for end in table["range"]]
            for name, table in self.parameters.items()
            if any(isinstance(end, str) for end in table.get("range", ()))
        }

    def complaint(self, configuration: dict) -> str | None:
        """Why this is no configuration of the space."""
        for name in self.parameters:
            if (name in configuration) != self._active(name, configuration):
                return f"{name} is {'set' if name in configuration else 'missing'}"
        for name, value in configuration.items():
            if not self._inside(name, value, configuration):
                return f"{name} = {value} is outside"
        for number, clause in enumerate(self.clauses):
            if self._value(clause, configuration) is True:
                return f"clause {number} holds"
        return None

    def _active(self, name: str, configuration: dict) -> bool:
        ends = self.ranges.get(name, [])
        if any(self._value(end, configuration) is None for end in ends):
            return False
        return name not in self.conditions or self._value(self.conditions[name], configuration) is True

    def _inside(self, name: str, value: object, configuration: dict) -> bool:
        table = self.parameters[name]
        if table["type"] not in {"integer", "float"}:
            return value in table.get("values", [False, True])
        low, high = table["range"]
        if name in self.ranges:
            low, high = (self._value(end, configuration) for end in self.ranges[name])
        kind = isinstance(value, int if table["type"] == "integer" else float)
        return kind and low <= value <= high and round(value, table.get("digits", 300)) == value

    def _parsed(self, text: str) -> ast.expr:
        def python(match: re.Match) -> str:
            if match["text"]:
                return match[0]
            name = match["quoted"] or match["name"]
            if name is None:
                return "**"
            if match["name"] and (name in WORDS or (name in FUNCTIONS and name not in self.places)):
                return name
            if match["name"] and name in {"true", "false"}:
                return name.title()
            return "active" if name == "active" and name not in self.places else f"p_{self.places[name]}"

        return ast.parse(PIECE.sub(python, text), mode="eval").body

    def _value(self, node: ast.expr, configuration: dict) -> object:  # noqa: C901, PLR0911 - a case per kind
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return configuration.get(list(self.parameters)[int(name[2:])])
            case ast.List(elts=items):
                return [self._value(item, configuration) for item in items]
            case ast.BoolOp(op=joint, values=terms):
                values = [self._value(term, configuration) for term in terms]
                strong = isinstance(joint, ast.Or)
                return strong if strong in values else None if None in values else not strong
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self._value(operand, configuration)
                return None if value is None else not value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._value(operand, configuration)
                return None if value is None else -value
            case ast.BinOp(left=left, op=symbol, right=right):
                return self._calculated(symbol, *(self._value(side, configuration) for side in (left, right)))
            case ast.Compare(left=left, ops=[symbol], comparators=[right]):
                return self._compared(left, symbol, right, configuration)
            case ast.Call(func=ast.Name(id="active"), args=[inner]):
                return self._value(inner, configuration) is not None
            case ast.Call(func=ast.Name(id=name), args=arguments):
                values = [self._value(argument, configuration) for argument in arguments]
                return None if None in values else FUNCTIONS[name](*values)
            case _:
                raise AssertionError(ast.dump(node))

    def _calculated(self, symbol: ast.operator, left: object, right: object) -> object:
        if left is None or right is None:
            return None
        if isinstance(symbol, ast.Div):
            return left / right if right else None if left == 0 else math.copysign(math.inf, left)
        return ARITHMETIC[type(symbol)](left, right)

    def _compared(self, left: ast.expr, symbol: ast.cmpop, right: ast.expr, configuration: dict) -> object:
        first, second = self._value(left, configuration), self._value(right, configuration)
        if first is None or second is None:
            return None
        if isinstance(symbol, ast.In | ast.NotIn):
            return (first in second) == isinstance(symbol, ast.In)
        if isinstance(left, ast.Name):
            table = self.parameters[list(self.parameters)[int(left.id[2:])]]
            if table["type"] == "ordinal":
                first, second = table["values"].index(first), table["values"].index(second)
        return COMPARE[type(symbol)](first, second)

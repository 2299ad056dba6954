"""Conditions and forbidden clauses in the notation of PCS files; `grammar` has the rules.

A word is a value where the parameter on the other side of the comparison has such a value, else the name of
a parameter, else a number. Calculations need blanks around ``-``, since names may hold one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from utilitune.errors.outside import read_number
from utilitune.spaces.dialects.resolving import ResolvingParser
from utilitune.spaces.dialects.source import NUMBER, spelling_hint
from utilitune.spaces.expressions import MIRRORED, Expression, Membership, ValueComparison
from utilitune.spaces.grammar import Literal, Node, Operand, Token, tokens_of
from utilitune.spaces.parameters import ChoiceParameter, Value
from utilitune.spaces.terms import INFIX, Constant, Reference, Term

if TYPE_CHECKING:
    from collections.abc import Callable

NEW_OPERATORS = re.compile(r"==|!=|<|>|&&|\|\||[()]")
_TOKEN = re.compile(
    r"""\s*(?:(?P<symbol>==|!=|<=|>=|<|>|\(|\)|\{|\}|,|&&|\|\|)|(?P<name>[^\s,{}\[\]()|\#&=<>!]+))""",
    re.VERBOSE,
)
_WORDS = {"&&": "and", "||": "or"}
_BRACKETS = {"{": "[", "}": "]"}
_HINTS = {"=": "write == here", "|": "write ||", "&": "write &&", "!": "write !="}


def pcs_tokens(text: str, first_column: int, problem: Callable[[str, int], Exception]) -> list[Token]:
    """The tokens of a condition or clause that begins at a column of its line."""

    def unexpected(rest: str, column: int) -> Exception:
        return problem(f"has an unexpected {rest[0]!r}; {_HINTS.get(rest[0], 'remove it')}", column)

    return tokens_of(_TOKEN, text, first_column, _named, unexpected)


def _named(kind: str, content: str, _column: int) -> tuple[str, str]:
    if content in INFIX:
        kind = "symbol"
    elif content in _WORDS or content == "in":
        kind = "word"
    return kind, _WORDS.get(content, _BRACKETS.get(content, content))


class PcsParser(ResolvingParser):
    """Words stay texts until the other side of the comparison is known."""

    presence = None
    spellings = {"ceil": "ceiling"}  # noqa: RUF012 - nobody changes it
    wanted_value = "a value"
    wanted_end = "'&&', '||' or the end"

    def _atom(self) -> Operand:
        token = self._peek()
        if token.kind != "name":
            self._expected(self._wanted)
        self._refuse_call()
        self._next += 1
        return Literal(token.text)

    def _right_side(self, left: Node) -> Node:
        if isinstance(self._choice(left), ChoiceParameter):
            return Literal(self._raw())
        return self._sum()

    def _raw(self) -> str:
        """The next word as it stands, even one that looks like an operator."""
        token = self._peek()
        if token.kind not in {"name", "word"} and token.text not in INFIX:
            self._expected("a value")
        self._next += 1
        return token.text

    def _choice(self, node: Node) -> ChoiceParameter | None:
        if not isinstance(node, Literal):
            return None
        parameter = self._parameters.get(str(node.value))
        return parameter if isinstance(parameter, ChoiceParameter) else None

    def _as_term(self, node: Node, column: int) -> Term:
        if not isinstance(node, Literal):
            return super()._as_term(node, column)
        raw = str(node.value)
        if raw in self._parameters:
            if isinstance(self._parameters[raw], ChoiceParameter):
                self._refuse(f"{raw!r} is not a number", column)
            return Reference(raw)
        if not NUMBER.fullmatch(raw):
            blanks = " (put blanks around + - * / ^)" if set(raw) & INFIX else ""
            hint = spelling_hint(raw, self._parameters)
            self._refuse(f"{raw!r} is neither a number nor a parameter; {hint}{blanks}", column)
        sign = -1 if raw.startswith("-") else 1
        return Constant(sign * read_number(raw.lstrip("+-")))

    def _contains(self, left: Node, column: int, *, outside: bool) -> Expression:
        if not isinstance(left, Literal):
            self._fail("needs a parameter name before the list", column)
        name = str(left.value)
        self._known(name, column)
        list_column = self._peek().column
        values = tuple(value for value in self._list(name) if self._is_possible(name, value))
        return self._checked(Membership(name, values, negated=outside), list_column)

    def _list(self, name: str) -> tuple[Value, ...]:
        if not self._take("["):
            self._expected("'{'")
        values: list[Value] = []
        while not values or self._take(","):
            column = self._peek().column
            values.append(self._value_for(name, self._raw(), column))
        if not self._take("]"):
            self._expected("',' or '}'")
        return tuple(values)

    def _value_for(self, name: str, raw: str, column: int) -> Value:
        if isinstance(self._parameters[name], ChoiceParameter):
            return raw
        if not NUMBER.fullmatch(raw):
            self._refuse(f"{name!r} is a number, and {raw!r} is not", column)
        value = read_number(raw)
        self._checked(ValueComparison(name, "==", value), column)
        return value

    def _compare(self, left: tuple[Node, int], symbol: str, right: tuple[Node, int]) -> Expression:
        if self._choice(left[0]) is None and self._choice(right[0]) is not None:
            left, right, symbol = right, left, MIRRORED[symbol]
        first, second = self._choice(left[0]), right[0]
        if first is None:
            terms = self._as_term(left[0], left[1]), self._as_term(second, right[1])
            return self._checked(super()._compare((terms[0], left[1]), symbol, (terms[1], right[1])), left[1])
        if not isinstance(second, Literal):
            self._refuse(f"{first.name!r} is not a number", left[1])
        raw = str(second.value)
        other = self._parameters.get(raw)
        if raw not in first.choices and isinstance(other, ChoiceParameter):
            return self._two_choices(first, symbol, other, left[1])
        if symbol in {"==", "!="}:
            return self._equality(first, symbol, raw)
        return self._checked(ValueComparison(first.name, symbol, raw), right[1])

    def _expected(self, what: str) -> NoReturn:
        super()._expected(what.replace("'['", "'{'").replace("']'", "'}'"))

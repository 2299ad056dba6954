"""Conditions, clauses and ranges as irace users write them, in a small part of R; `grammar` has the rules.

::

    == != < <= > >=   & &&   | ||   !   %in% c(1, "a", 2:5)   + - * / ^ %%   ( )
    min max round floor ceiling trunc abs sqrt exp log log10   is.na(x)   TRUE FALSE   "text" 'text'   `name`

Values of categorical and ordinal parameters are texts, and R compares texts: ``x == 1`` asks for "1", and
``x < 10`` goes by the alphabet. An order comparison is therefore read only where the alphabet agrees with
the order that is meant. In R a comparison with an inactive parameter is neither true nor false, as here;
but ``%in%`` is false there, so ``!(x %in% …)`` holds for an inactive x.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.spaces.dialects.resolving import ALWAYS, NEVER, ResolvingParser
from utilitune.spaces.dialects.source import NUMBER
from utilitune.spaces.expressions import (
    MIRRORED,
    OPERATORS,
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Presence,
    ValueComparison,
)
from utilitune.spaces.grammar import Literal, Node, Operand, Token, any_of, tokens_of
from utilitune.spaces.parameters import ChoiceParameter, Value
from utilitune.spaces.parser import unescaped
from utilitune.spaces.terms import Constant, Reference, Term

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?>\d+\.?\d*|\.\d+)(?>[eE][+-]?\d+)?)(?:L?(?![\w.]))
    | (?P<name>(?:[^\W\d_]|\.(?!\d))[\w.]*)
    | `(?P<quoted>[^`]+)`
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<symbol><-|==|!=|<=|>=|<|>|&&|&|\|\||\||!|%in%|%%|[-+*/^(),:])
    )""",
    re.VERBOSE,
)
_WORDS = {"&": "and", "&&": "and", "|": "or", "||": "or", "!": "not", "%in%": "in"}
_TRUTHS = {"TRUE": "true", "FALSE": "false"}
_LONGEST_SEQUENCE = 10_000


def r_tokens(text: str, first_column: int, problem: Callable[[str, int], Exception]) -> list[Token]:
    """The tokens of an expression that begins at a column of its line."""

    def named(kind: str, content: str, column: int) -> tuple[str, str]:
        if content == "<-":
            raise problem("has '<-', which is an assignment in R; write '< -' for a negative number", column)
        if kind == "text":
            return kind, unescaped(content)
        if content in _WORDS:
            return "word", _WORDS[content]
        if kind == "name" and content in _TRUTHS:
            return "word", _TRUTHS[content]
        return kind, "%" if content == "%%" and kind == "symbol" else content

    def unexpected(rest: str, column: int) -> Exception:
        return problem(f"has an unexpected {rest[0]!r}{_hint(rest)}", column)

    return tokens_of(_TOKEN, text, first_column, named, unexpected)


def _hint(rest: str) -> str:
    if rest[0] in "\"'":
        return "; close the quote"
    if rest[0] == "=":
        return "; write == to compare"
    return "; only %in% and %% are known" if rest[0] == "%" else "; this part of R is not understood"


class RParser(ResolvingParser):
    """The part of R that conditions need."""

    presence = "is.na"
    wanted_value = "a number, a quoted text, TRUE or FALSE"
    wanted_end = "'&', '|' or the end"

    def _atom(self) -> Operand:
        token = self._peek()
        self._refuse_call()
        operand = super()._atom()
        if isinstance(operand, Reference):
            self._known(operand.name, token.column, ", or put quotes around it if it is a value")
        return operand

    def _presence(self) -> Presence:
        found = super()._presence()
        self._known(found.name, self._peek().column)
        return Presence(found.name, active=False)

    def _as_expression(self, node: Node) -> Expression:
        if isinstance(node, Literal) and isinstance(node.value, bool):
            return ALWAYS if node.value else NEVER
        return super()._as_expression(node)

    def _as_term(self, node: Node, column: int) -> Term:
        if isinstance(node, Reference) and isinstance(self._parameters[node.name], ChoiceParameter):
            self._refuse(f"{node.name!r} is not a number", column)
        return super()._as_term(node, column)

    def _contains(self, left: Node, column: int, *, outside: bool) -> Expression:
        list_column = self._peek().column
        return self._checked(super()._contains(left, column, outside=outside), list_column)

    def _list(self, name: str) -> tuple[Value, ...]:
        """``c(…)``, a sequence ``2:5``, or a single value."""
        if not (self._peek().text == "c" and self._peek(1).text == "("):
            return tuple(value for value in self._items(name) if self._is_possible(name, value))
        self._next += 2
        values = self._items(name)
        while self._take(","):
            values += self._items(name)
        if not self._take(")"):
            self._expected("',' or ')'")
        return tuple(value for value in values if self._is_possible(name, value))

    def _items(self, name: str) -> list[Value]:
        column = self._peek().column
        first = self._value()
        if not self._take(":"):
            return [self._value_for(name, first, column)]
        last = self._value()
        if not (type(first) is int and type(last) is int and 0 <= last - first < _LONGEST_SEQUENCE):
            self._refuse("a sequence goes from a whole number up to another", column)
        return [self._value_for(name, number, column) for number in range(first, last + 1)]

    def _value_for(self, name: str, value: Value, column: int) -> Value:
        parameter = self._parameters[name]
        if isinstance(parameter, ChoiceParameter):
            return self._text(parameter, value)
        if isinstance(value, str | bool):
            self._refuse(f"{name!r} is a number; compare it with one, without quotes", column)
        self._checked(ValueComparison(name, "==", value), column)
        return value

    def _text(self, parameter: ChoiceParameter, value: Value) -> str:
        """A value as a text; a note where R writes the number otherwise than people do."""
        text = as_text(value)
        if isinstance(value, str | bool):
            return text
        in_r = r_number(value)
        if in_r in parameter.choices:
            return in_r
        if in_r != text and text in parameter.choices:
            self._note(
                f"{self._subject} has the number {text}, which R turns into the text {in_r}; for irace that "
                f"is no value of {parameter.name!r}, here it is {text}: put quotes around it"
            )
        return text

    def _compare(self, left: tuple[Node, int], symbol: str, right: tuple[Node, int]) -> Expression:
        if isinstance(left[0], Constant | Literal):
            left, right, symbol = right, left, MIRRORED[symbol]
        first, second = left[0], right[0]
        parameter = self._parameters[first.name] if isinstance(first, Reference) else None
        if isinstance(parameter, ChoiceParameter):
            if isinstance(second, Reference) and isinstance(self._parameters[second.name], ChoiceParameter):
                return self._two_choices(parameter, symbol, self._choice(second), left[1])
            if isinstance(second, Constant | Literal):
                return self._with_text(parameter, symbol, second.value, right[1])
            self._refuse(f"{parameter.name!r} is not a number", left[1])
        if isinstance(second, Literal):
            if isinstance(first, Reference):
                self._refuse(f"{first.name!r} is a number; compare it with one, without quotes", right[1])
            self._fail("calculates with something that is not a number", right[1])
        if isinstance(second, Reference):
            self._as_term(second, right[1])
        return self._checked(super()._compare(left, symbol, right), right[1])

    def _choice(self, reference: Reference) -> ChoiceParameter:
        parameter = self._parameters[reference.name]
        assert isinstance(parameter, ChoiceParameter)  # noqa: S101 - the caller has looked
        return parameter

    def _with_text(self, parameter: ChoiceParameter, symbol: str, value: Value, column: int) -> Expression:
        text = self._text(parameter, value)
        if symbol in {"==", "!="}:
            return self._equality(parameter, symbol, text)
        compare = OPERATORS[symbol]
        by_alphabet = [choice for choice in parameter.choices if compare(str(choice).lower(), text.lower())]
        if by_alphabet != self._as_meant(parameter, symbol, text, column):
            self._refuse(
                f"R compares the values of {parameter.name!r} by the alphabet, where {symbol} {text} means "
                f"{', '.join(map(str, by_alphabet)) or 'none of them'}; list the values with %in%",
                column,
            )
        return (
            any_of([ValueComparison(parameter.name, "==", choice) for choice in by_alphabet])
            if by_alphabet
            else NEVER
        )

    def _as_meant(self, parameter: ChoiceParameter, symbol: str, text: str, column: int) -> list[Value]:
        """The values that fulfil an order comparison by number or by the order of an ordinal parameter."""
        compare = OPERATORS[symbol]
        if all(NUMBER.fullmatch(str(choice)) for choice in (*parameter.choices, text)):
            return [choice for choice in parameter.choices if compare(float(choice), float(text))]
        self._checked(ValueComparison(parameter.name, symbol, text), column)
        position = parameter.code(text)
        return [choice for code, choice in enumerate(parameter.choices) if compare(code, position)]


def as_text(value: Value) -> str:
    """A value of R as a text."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return plain_number(value) if isinstance(value, float) else str(value)


def plain_number(value: float) -> str:
    """A number as people write it, without an exponent unless it is very small or large."""
    text = f"{value:.15g}"
    plain = f"{value:.20f}".rstrip("0").rstrip(".")
    return plain if "e-" in text and float(plain) == value else text


def r_number(value: float) -> str:
    """A number as R writes it in a text: with an exponent where that is shorter."""
    fixed = plain_number(value)
    mantissa, _, exponent = f"{value:.14e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    scientific = f"{mantissa}e{exponent}"
    return scientific if len(scientific) < len(fixed) else fixed


def with_inactive(expression: Expression, conditional: frozenset[str]) -> Expression:
    """The same, with ``!(x %in% …)`` holding where x, one of the conditional parameters, is inactive."""
    match expression:
        case AllOf(terms):
            return AllOf(tuple(with_inactive(term, conditional) for term in terms))
        case AnyOf(terms):
            return AnyOf(tuple(with_inactive(term, conditional) for term in terms))
        case Membership(name, _, True) if name in conditional:
            return AnyOf((expression, Presence(name, active=False)))
        case _:
            return expression

"""The grammar of conditions and forbidden clauses, read by recursive descent; nothing is executed.

::

    expression   = conjunction { "or" conjunction }
    conjunction  = negation { "and" negation }
    negation     = "not" negation | "(" expression ")" | comparison
    comparison   = name operator ( value | name ) | name [ "not" ] "in" "[" [ value { "," value } ] "]"
    operator     = "==" | "!=" | "<" | "<=" | ">" | ">="
    value        = number | 'text' | "text" | true | false
    name         = letters, digits, "_", "-", "." (not beginning with a digit) | `any name`
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.spaces.expressions import (
    OPERATORS,
    PLAIN_NAME,
    WORDS,
    AllOf,
    AnyOf,
    Comparison,
    Expression,
    Membership,
    Relation,
    negated,
)
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from utilitune.spaces.parameters import Value

_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<name>{PLAIN_NAME.pattern})
    | `(?P<quoted>[^`]+)`
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<symbol>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


def parse_expression(text: str) -> Expression:
    """Read one condition or clause; a `SpaceError` says at which character it goes wrong."""
    return _Parser(text).parse()


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            blank = len(text[position:]) - len(text[position:].lstrip())
            column = position + blank
            raise SpaceError(f"{text!r} has an unexpected {text[column]!r} at character {column + 1}")
        kind, content = match.lastgroup, match[match.lastgroup]
        if kind == "name" and content in WORDS:
            kind = "word"
        found.append(_Token(kind, content, match.start(match.lastgroup) + 1))
        position = match.end()
    found.append(_Token("end", "", end + 1))
    return found


class _Parser:
    """One pass over the tokens, one method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0

    def parse(self) -> Expression:
        result = self._expression()
        if self._peek().kind != "end":
            raise self._expected("'and', 'or' or the end")
        return result

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> _Token | None:
        """The next token if it is one of the symbols or words asked for."""
        token = self._peek()
        if token.kind in {"symbol", "word"} and token.text in texts:
            self._next += 1
            return token
        return None

    def _expected(self, what: str) -> SpaceError:
        token = self._peek()
        found = "the text ends" if token.kind == "end" else f"{token.text!r} stands"
        return SpaceError(f"{self._text!r} needs {what} where {found}, at character {token.column}")

    def _expression(self) -> Expression:
        terms = [self._conjunction()]
        while self._take("or"):
            terms.append(self._conjunction())
        return terms[0] if len(terms) == 1 else AnyOf(tuple(terms))

    def _conjunction(self) -> Expression:
        terms = [self._negation()]
        while self._take("and"):
            terms.append(self._negation())
        return terms[0] if len(terms) == 1 else AllOf(tuple(terms))

    def _negation(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SpaceError(f"the expression is nested more than {_DEEPEST} levels deep; write it flatter")
        if self._take("not"):
            result = negated(self._negation())
        elif self._take("("):
            result = self._expression()
            if not self._take(")"):
                raise self._expected("')'")
        else:
            result = self._comparison()
        self._depth -= 1
        return result

    def _comparison(self) -> Expression:
        name = self._name()
        if name is None:
            raise self._expected("a parameter name")
        if self._take("in"):
            return Membership(name, self._list())
        if self._take("not"):
            if not self._take("in"):
                raise self._expected("'in'")
            return Membership(name, self._list(), negated=True)
        symbol = self._take(*OPERATORS)
        if symbol is None:
            raise self._expected(f"one of {' '.join(OPERATORS)} in")
        other = self._name()
        if other is not None:
            return Relation(name, symbol.text, other)
        return Comparison(name, symbol.text, self._value())

    def _name(self) -> str | None:
        token = self._peek()
        if token.kind not in {"name", "quoted"}:
            return None
        self._next += 1
        return token.text

    def _list(self) -> tuple[Value, ...]:
        if not self._take("["):
            raise self._expected("'['")
        values: list[Value] = []
        while not self._take("]"):
            if values and not self._take(","):
                raise self._expected("',' or ']'")
            values.append(self._value())
        return tuple(values)

    def _value(self) -> Value:
        token = self._peek()
        if boolean := self._take("true", "false"):
            return boolean.text == "true"
        if token.kind == "number":
            self._next += 1
            return int(token.text) if re.fullmatch(r"[+-]?\d+", token.text) else float(token.text)
        if token.kind == "text":
            self._next += 1
            return re.sub(r"\\(.)", _unescaped, token.text[1:-1], flags=re.DOTALL)
        raise self._expected("a number, a quoted text, true or false")


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[1])

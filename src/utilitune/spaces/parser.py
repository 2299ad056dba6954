"""The notation of conditions and forbidden clauses in scenario files; `grammar` has the rules.

::

    or, and, not     as words
    operator         == != < <= > >=
    list             [ value, value, … ] after "in" or "not in"
    value            number | 'text' | "text" | true | false
    name             letters, digits, "_", "-", "." (not beginning with a digit) | `any name`
    calculation      + - * / ^ % and the functions of `terms`; a minus between names needs blanks around it
    active(name)     whether a parameter has a value at all
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.spaces.grammar import ExpressionParser, Token, tokens_of
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import PLAIN_NAME, WORDS, Term

if TYPE_CHECKING:
    from utilitune.spaces.expressions import Expression

_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>(?>\d+\.?\d*|\.\d+)(?>[eE][+-]?\d+)?(?![\w.]))
    | (?P<name>{PLAIN_NAME.pattern})
    | `(?P<quoted>[^`]+)`
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<symbol>==|!=|<=|>=|<|>|\(|\)|\[|\]|,|\+|-|\*|/|\^|%)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def parse_expression(text: str) -> Expression:
    """Read one condition or clause; a `SpaceError` says at which character it goes wrong."""
    return _parser(text).parse()


def parse_term(text: str) -> Term:
    """Read one calculation, such as the end of a range."""
    return _parser(text).parse_term()


def unescaped(quoted: str) -> str:
    """What stands between quotes, with its backslashes resolved."""
    return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[1]), quoted[1:-1], flags=re.DOTALL)


def _parser(text: str) -> ExpressionParser:
    def problem(reason: str, column: int) -> SpaceError:
        return SpaceError(f"{text!r} {reason}, at character {column}")

    return ExpressionParser(_tokens(text), problem)


def _tokens(text: str) -> list[Token]:
    def unexpected(rest: str, column: int) -> SpaceError:
        return SpaceError(f"{text!r} has an unexpected {rest[0]!r} at character {column}")

    return tokens_of(_TOKEN, text, 1, _named, unexpected)


def _named(kind: str, content: str, _column: int) -> tuple[str, str]:
    if kind == "text":
        return kind, unescaped(content)
    return "word" if kind == "name" and content in WORDS else kind, content

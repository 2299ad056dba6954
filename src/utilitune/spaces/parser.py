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

from utilitune.spaces.grammar import ExpressionParser, Token
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
    found: list[Token] = []
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
        elif kind == "text":
            content = unescaped(content)
        found.append(Token(kind, content, match.start(match.lastgroup) + 1))
        position = match.end()
    found.append(Token("end", "", end + 1))
    return found

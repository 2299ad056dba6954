"""The part of R that irace scenarios are written in: names assigned literal values.

::

    parameterFile = "./parameters.txt"     # texts in either kind of quotes
    maxExperiments <- 5000L                # numbers
    deterministic = TRUE                   # TRUE, FALSE, T, F
    testInstancesFile = NULL               # NULL and NA mean that nothing is said
    args = c("a", "b")                     # lists of these

Everything else is R code, which is refused with its line: nothing is ever evaluated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Literal = str | float | bool | list["str | float | bool"] | None

_TOKENS = re.compile(
    r"""(?P<blank>[ \t\r\f]+|\#[^\n]*)
      | (?P<newline>[\n;])
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<number>(?>0[xX][0-9a-fA-F]+|(?>\d+\.?\d*|\.\d+)(?>[eE][-+]?\d+)?)L?(?![\w.]))
      | (?P<name>[A-Za-z.][\w.]*)
      | (?P<word>[\w.]+)
      | (?P<sign><-|[=(),+-])
      | (?P<unclosed>["'].*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: dict[str, Literal] = {
    "TRUE": True,
    "T": True,
    "FALSE": False,
    "F": False,
    "NULL": None,
    "NA": None,
    "Inf": float("inf"),
}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|.)", re.DOTALL)
_MOST_HEX_DIGITS = 200
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Assigned:
    """A value, the line it stands in, and the lines of values of the same name that it replaces."""

    value: Literal
    line: int
    earlier: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def read_assignments(path: Path, text: str) -> dict[str, Assigned]:
    """Every assignment of a file; as in R, the last of a name counts.

    Raises:
        ScenarioError: A line is something else than the assignment of a literal.
    """
    return _Reader(path, [*_tokens(text), _Token("end", "", text.count("\n") + 1)]).read()


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKENS.finditer(text):
        kind = match.lastgroup or "other"
        if kind != "blank":
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")


class _Reader:
    """Walks over the tokens of one file."""

    def __init__(self, path: Path, tokens: list[_Token]) -> None:
        self._path = path
        self._tokens = tokens
        self._at = 0

    def read(self) -> dict[str, Assigned]:
        found: dict[str, Assigned] = {}
        while self._peek.kind != "end":
            if self._peek.kind == "newline":
                self._take()
                continue
            name = self._take()
            sign = self._take()
            if name.kind not in {"name", "text"} or sign.text not in {"=", "<-"}:
                raise self._refused(name)
            key = _unquoted(name.text)
            earlier = (*found[key].earlier, found[key].line) if key in found else ()
            found[key] = Assigned(self._value(), name.line, earlier)
            if self._peek.kind not in {"newline", "end"}:
                raise self._refused(name)
        return found

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._peek
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _refused(self, token: _Token) -> ScenarioError:
        return ScenarioError(
            'only literal values are read here (a text, a number, TRUE, FALSE, NULL, NA or c("a", "b")), '
            "and this is other R code; write its result instead",
            path=self._path,
            line=token.line,
        )

    def _skip_lines(self) -> None:
        while self._peek.kind == "newline" and self._peek.text == "\n":
            self._take()

    def _value(self) -> Literal:
        self._skip_lines()
        token = self._take()
        if token.kind == "name" and token.text == "c" and self._peek.text == "(":
            return self._list(token)
        return self._scalar(token)

    def _list(self, start: _Token) -> Literal:
        self._take()
        items: list[str | float | bool] = []
        while True:
            self._skip_lines()
            if self._peek.text == ")" and not items:
                break
            item = self._scalar(self._take())
            if item is None or isinstance(item, list):
                raise self._refused(start)
            items.append(item)
            self._skip_lines()
            if self._peek.text != ",":
                break
            self._take()
        if self._take().text != ")":
            raise self._refused(start)
        return items

    def _scalar(self, token: _Token) -> Literal:
        if token.kind == "text":
            return _unquoted(token.text)
        if token.text in {"-", "+"} and self._peek.kind in {"number", "name"}:
            value = self._scalar(self._take())
            if isinstance(value, float):
                return -value if token.text == "-" else value
        if token.kind == "number":
            digits = token.text.removesuffix("L")
            if not digits.lower().startswith("0x"):
                return float(digits)
            return float(int(digits, 16)) if len(digits) < _MOST_HEX_DIGITS else float("inf")
        if token.kind == "name" and token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        raise self._refused(token)


def _unquoted(text: str) -> str:
    if text[:1] not in {'"', "'"}:
        return text
    return _ESCAPE.sub(_escaped, text[1:-1])


def _escaped(match: re.Match[str]) -> str:
    sign = match[1]
    if sign[0] in "xu" and len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _ESCAPES.get(sign, sign)

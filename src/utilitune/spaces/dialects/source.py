"""The text of a parameter file: its lines, and places in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SPACE = re.compile(r"\s*")
_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class Place:
    """A character of a file; both counts begin at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file as lines, whatever ends them."""

    path: Path
    lines: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> SourceText:
        """Read a UTF-8 file, with or without a byte order mark."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ScenarioError(f"the parameter file cannot be read: {error.strerror}", path=path) from None
        except ValueError as error:  # a name that no file can have
            raise ScenarioError(f"the parameter file cannot be read: {error}", path=path) from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = content[: error.start].decode("utf-8-sig", errors="replace")
            line = before.count("\n") + 1
            column = len(before) - before.rfind("\n")
            raise ScenarioError(
                "this byte is not UTF-8; save the file in that encoding", path=path, line=line, column=column
            ) from None
        return cls(path, tuple(re.split(r"\r\n|\r|\n", text)))

    @property
    def text(self) -> str:
        """Everything, with plain line ends."""
        return "\n".join(self.lines)

    def problem(self, text: str, place: Place) -> ScenarioError:
        """The error for a place."""
        return ScenarioError(text, path=self.path, line=place.line, column=place.column)

    def located(self, error: ScenarioError, place: Place) -> ScenarioError:
        """The same error at a place."""
        return self.problem(getattr(error, "reason", str(error)), place)

    def scanners(self, without_comment: Callable[[str], str]) -> Iterator[Scanner]:
        """A scanner for every line that holds more than blanks and a comment."""
        for number, line in enumerate(self.lines, start=1):
            content = without_comment(line).rstrip()
            if content:
                yield Scanner(self, number, content)


def spelling_hint(name: str, known: Collection[str]) -> str:
    """A sentence fragment for an unknown name, short even where there are many known ones."""
    hint = did_you_mean(name, known)
    return "check the spelling" if hint.startswith("known: ") and len(known) > _MOST_LISTED else hint


def before_hash(line: str) -> str:
    """A line up to its comment."""
    return line.partition("#")[0]


class Scanner:
    """Reads one line from left to right.

    Arguments:
        source: The file.
        line: The number of the line.
        content: The line without its comment.
    """

    def __init__(self, source: SourceText, line: int, content: str) -> None:
        self.source = source
        self.line = line
        self.content = content
        self.position = 0
        self.skip()

    def skip(self) -> None:
        """Go past blanks."""
        match = _SPACE.match(self.content, self.position)
        self.position = match.end() if match else self.position

    @property
    def place(self) -> Place:
        """Where the next piece begins."""
        return Place(self.line, self.position + 1)

    @property
    def rest(self) -> str:
        """What is left of the line."""
        return self.content[self.position :]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The next piece if it fits the pattern."""
        match = pattern.match(self.content, self.position)
        if match is not None:
            self.position = match.end()
            self.skip()
        return match

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """The next piece, which must fit the pattern."""
        match = self.take(pattern)
        if match is None:
            raise self.expected(what)
        return match

    def expected(self, what: str) -> ScenarioError:
        """The error for a piece that is missing."""
        found = f"{self.rest.split()[0]!r} stands" if self.rest else "the line ends"
        return self.problem(f"this line needs {what} where {found}")

    def end(self) -> None:
        """Nothing more may follow."""
        if self.rest:
            raise self.problem(f"this line should end before {self.rest!r}")

    def problem(self, text: str, place: Place | None = None) -> ScenarioError:
        """The error for a place of this line, by default the next piece."""
        return self.source.problem(text, place or self.place)

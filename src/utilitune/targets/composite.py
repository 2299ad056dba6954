"""One argument made from several parameters, such as ``--restarts={policy},{base},{factor}``.

A parameter that is not active has no value. What is then left out follows one rule: **an inactive parameter
goes together with the text between it and the placeholder before it.** The text before the first placeholder
and after the last stays; an argument none of whose parameters is active is left out as a whole. With the
policy ``D``, a base of 100 and no factor, the argument above is ``--restarts=D,100``.

Where a program counts on a place being filled, ``{factor|0}`` names what to write instead.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_OTHERWISE = "|"


@dataclass(frozen=True, slots=True)
class Piece:
    """A placeholder and the text before it.

    Attributes:
        before: The text since the placeholder before it.
        name: Whose value is written.
        otherwise: What is written where it is inactive; None if it is then left out.
    """

    before: str
    name: str
    otherwise: str | None


@dataclass(frozen=True, slots=True)
class Composite:
    """An argument with placeholders, taken apart.

    Example:
        >>> restarts = Composite.of("--restarts={policy},{base},{factor}")
        >>> restarts.written({"policy": "D", "base": "100", "factor": "0.7"})
        '--restarts=D,100,0.7'
        >>> restarts.written({"policy": "L", "base": "60"})
        '--restarts=L,60'
        >>> Composite.of("--limit={steps|0}").written({"policy": "L"})
        '--limit=0'

    Attributes:
        pieces: The placeholders, each with the text before it.
        after: The text after the last.
    """

    pieces: tuple[Piece, ...]
    after: str

    @classmethod
    def of(cls, word: str) -> Composite:
        """Take an argument apart; whatever stands in braces is a name."""
        pieces: list[Piece] = []
        pending = ""
        for text, name, form, conversion in string.Formatter().parse(word):
            pending += text
            if name is None:
                continue
            if form or conversion:
                shown = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
                raise ScenarioError(
                    f"the command has the unknown placeholder {{{shown}}} in {word!r}; write the bare name"
                )
            bare, bar, otherwise = name.partition(_OTHERWISE)
            pieces.append(Piece(pending, bare.strip(), otherwise if bar else None))
            pending = ""
        return cls(tuple(pieces), pending)

    @property
    def names(self) -> tuple[str, ...]:
        """All names in braces."""
        return tuple(piece.name for piece in self.pieces)

    def written(self, values: Mapping[str, str], beside: Collection[str] = ()) -> str | None:
        """The argument for these values; None if none of its parameters has one.

        Args:
            values: The values there are.
            beside: Names that are no parameters, such as ``seed``, and so do not keep the argument alive.
        """
        found = [(piece, values.get(piece.name, piece.otherwise)) for piece in self.pieces]
        there = [(piece, value) for piece, value in found if value is not None]
        if all(piece.name in beside for piece, _ in there):
            return None
        joined = "".join(piece.before + text for piece, text in there[1:])
        return self.pieces[0].before + there[0][1] + joined + self.after


def parameters_in(words: Collection[str], placeholders: Collection[str]) -> dict[str, str]:
    """The names in the braces of words that are none of these placeholders, each with the word it is in."""
    return {
        name: word for word in words for name in Composite.of(word).names if name and name not in placeholders
    }

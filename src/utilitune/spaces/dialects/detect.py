"""Which format a parameter file has, by its first telling line, else by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.spaces.dialects.source import NUMBER, Place

if TYPE_CHECKING:
    from utilitune.spaces.dialects.source import SourceText

_NUMBER = NUMBER.pattern
_SIGNS = (
    ("irace", re.compile(r"""\s*[^\s"'{\[|]+\s+["']|\s*\[\s*(?:forbidden|global)\s*\]""")),
    (
        "pcs",
        re.compile(r"\s*[^\s\"'{}\[\]|]+\s*(?:\{|\[|\|)|\s*\S+\s+(?:integer|real|categorical|ordinal)\b"),
    ),
    ("ranges", re.compile(rf"\s*\S+\s+{_NUMBER}\s+{_NUMBER}(?!\S)")),
)
_ENDINGS = {".pcs": "pcs", ".json": "configspace"}


def detect(source: SourceText) -> str:
    """The family of a file: pcs, irace, ranges or configspace."""
    ending = _ENDINGS.get(source.path.suffix.lower())
    if ending == "configspace" or (
        source.text.lstrip().startswith("{") and '"hyperparameters"' in source.text
    ):
        return "configspace"
    telling = [(number, line) for number, line in enumerate(source.lines, start=1) if _says_something(line)]
    for _, line in telling:
        for dialect, sign in _SIGNS:
            if sign.match(line):
                return dialect
    if not telling:
        raise source.problem("the file holds no parameters; add at least one", Place(1, 1))
    if ending is not None:
        return ending
    number, line = telling[0]
    raise source.problem(
        "this line fits no parameter file: neither PCS, nor irace, nor name, minimum, default and maximum",
        Place(number, len(line) - len(line.lstrip()) + 1),
    )


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")

"""What the pages tell people to type: every line of a shell, and every block of TOML."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
_FENCE = re.compile(r"^ *```([\w-]*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(utilitune [^`]+)`")
_SHELLS = {"", "sh", "bash", "console", "shell"}
_ENDS = {"|", "||", "&&", ";", ">", "&"}


@dataclass(frozen=True)
class Line:
    """A command line of a page.

    Attributes:
        words: What follows ``utilitune``.
        whole: Whether it is a line to type, and no mention in a sentence that may leave arguments out.
    """

    words: tuple[str, ...]
    whole: bool


def lines_of(page: Path) -> list[Line]:
    """Every command line of a page, once."""
    text = page.read_text(encoding="utf-8")
    found = [
        Line(_words(line), whole=True)
        for kind, block in _FENCE.findall(text)
        if kind in _SHELLS
        for line in re.sub(r"\\\n", " ", block).splitlines()
        if re.match(r"\s*(?:\w*\$ )?utilitune\s", line)
    ]
    mentioned = _INLINE.findall(_FENCE.sub("", text))
    found += [Line(_words(line), whole=False) for line in mentioned]
    return list(dict.fromkeys(found))


def _words(line: str) -> tuple[str, ...]:
    words = shlex.split(line, comments=True)
    words = words[words.index("utilitune") + 1 :]
    end = next((place for place, word in enumerate(words) if word in _ENDS), len(words))
    return tuple(words[:end])


def toml_blocks(page: Path) -> list[str]:
    """The TOML of a page."""
    return [block for kind, block in _FENCE.findall(page.read_text(encoding="utf-8")) if kind == "toml"]

"""Typeset formulas: fences of `math` and `$…$` become MathML when the site is built; readers load no script.

On the page about theory, names with an index such as U_i or X_ij become letters with a subscript, too.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from latex2mathml.converter import convert

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

_BLOCK = re.compile(r"^( *)```math\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"\$([^$\n]+)\$")
_CODE = re.compile(
    r"(^ *```.*?^ *```$|`[^`\n]*`|^    .*$|\]\([^)]*\)|<math.*?</math>)", re.MULTILINE | re.DOTALL
)
_INDEXED = re.compile(
    r"(?<![\w.<&-])([A-Za-zα-ωΑ-Ω]{1,3}'?)"
    r"(?:_(\{[^}\n]{1,12}\}|[A-Za-zα-ω0-9⋆]+(?:,[A-Za-z0-9]+)*(?:[−+]\d)?))?"
    r"(?:\^(\{[^}\n]{1,12}\}|[A-Za-zα-ω0-9]+))?(?![\w])"
)
_WITH_INDICES = {"theory.md"}


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Replace formulas by MathML."""
    text = _BLOCK.sub(lambda found: found[1] + _typeset(found[2], "block"), markdown)
    indexed = page.file.src_uri in _WITH_INDICES
    parts = _CODE.split(text)
    return "".join(part if place % 2 else _words(part, indexed=indexed) for place, part in enumerate(parts))


def _words(text: str, *, indexed: bool) -> str:
    """Text outside of code."""
    text = _INLINE.sub(lambda found: _typeset(found[1], "inline"), text)
    if not indexed:
        return text
    pieces = re.split(r"(<math.*?</math>)", text, flags=re.DOTALL)
    return "".join(
        piece if place % 2 else _INDEXED.sub(_lowered, piece) for place, piece in enumerate(pieces)
    )


def _lowered(found: re.Match[str]) -> str:
    """A name with its index below and its exponent above."""
    name, below, above = found.groups()
    if below is None and above is None:
        return found[0]
    low = "" if below is None else f"<sub>{below.strip('{}')}</sub>"
    high = "" if above is None else f"<sup>{above.strip('{}')}</sup>"
    return f"<i>{name}</i>{low}{high}"


def _typeset(formula: str, display: str) -> str:
    words = html.unescape(formula.strip()).replace("{aligned}", "{align*}")
    if display == "block":
        words = re.sub(r"\\(max|min|sup|inf)_", r"\\\1\\limits_", words)
    made = convert(words, display=display)
    return f'<div class="formula">{made}</div>' if display == "block" else made

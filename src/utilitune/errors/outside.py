"""What comes from outside: names, numbers and texts of files, programs and users, none of which is trusted.

Such a text may hold control characters that would command a terminal, halves of characters that no file can
keep, or a million signs. Whoever shows it makes it `printable`; whoever keeps it makes it `storable`; whoever
reads a number from it asks `number_in` or `read_number`, which know what people write and not what only
Python reads; whoever looks for a file it names asks `is_file`, `is_folder` or `exists`.
"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_MESSAGE = 4000
"""Characters of a message; of a longer one the middle is left out."""

LONGEST_PATH = 4096
"""Characters of the longest path that systems take."""

LONGEST_WHOLE = 300
"""Digits of the largest whole number that is read as one: every such number is also a finite float."""


def printable(text: str, *, keep: str = "") -> str:
    r"""A text with everything made visible that is no ordinary sign.

    Example:
        >>> printable("a\x1b[31mb\n")
        'a\\x1b[31mb\\n'

    Args:
        text: Where it comes from does not matter.
        keep: Signs to leave as they are, such as line ends.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in keep else _escaped(sign) for sign in text)


def shell_word(text: str) -> str:
    r"""A text as one word of a shell's command line, with nothing in it that would command a terminal.

    Example:
        >>> print(shell_word("a.cnf"), shell_word("a b"), shell_word("a\x1b[31m'"))
        a.cnf 'a b' $'a\x1b[31m\x27'
    """
    if text.isprintable():
        return shlex.quote(text)
    signs = (sign if sign.isprintable() and sign not in "'\\" else _as_bytes(sign) for sign in text)
    return f"$'{''.join(signs)}'"


def shell_line(words: Iterable[object]) -> str:
    """Words as a line to paste into a shell: every advice that names a file is written by this rule.

    Example:
        >>> print(shell_line(["utilitune", "stop", "my run"]))
        utilitune stop 'my run'
    """
    return " ".join(shell_word(str(word)) for word in words)


def json_text(value: Any, **options: Any) -> str:  # noqa: ANN401 -- whatever JSON holds
    """A value as JSON in which every sign is printable; the options are those of `json.dumps`."""
    text = json.dumps(value, ensure_ascii=False, **options)
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def storable(text: str) -> str:
    """A text that any file can hold: halves of characters, which have no UTF-8, are written out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def shortened(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """A text without its middle where it is too long.

    Example:
        >>> shortened("abcdefghij" * 10, 30)
        'abcdefghij … (80 more) … abcdefghij'
    """
    if len(text) <= longest:
        return text
    half = longest // 3
    return f"{text[:half]} … ({len(text) - 2 * half} more) … {text[-half:]}"


def clipped(text: str, longest: int) -> str:
    """A text without its end where it is too long.

    Example:
        >>> clipped("abcdefghij", 5)
        'abcd…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number_in(text: str) -> float:
    """The number a text holds, in plain digits: 1_5 is refused, although Python reads 15 from it.

    Raises:
        ValueError: There is no number in it.
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"not a number: {text[:40]!r}")
    return float(text)


def read_number(text: str) -> int | float:
    """The number in a text of digits, sign, point and exponent: whole without the last two, unless too long.

    Example:
        >>> read_number("12"), read_number("1.5"), read_number("9" * 5000)
        (12, 1.5, inf)
    """
    digits = text.lstrip("+-")
    return int(text) if digits.isdecimal() and len(digits) <= LONGEST_WHOLE else float(text)


def exists(path: Path | str) -> bool:
    """Whether there is such a file or folder; False for a name that no file can have."""
    return os.path.exists(path)  # noqa: PTH110 -- the other way raises for names that are too long


def user_path(path: Path | str) -> Path:
    """A path as a user writes it: ~ is their home, also where no shell has read it."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 -- the other way raises where nobody has a home


def resolved(path: Path) -> Path:
    """A path without links and steps up; one that no file can have stays as it is."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def is_file(path: Path | str) -> bool:
    """Whether there is such a file; False for a name that no file can have."""
    return os.path.isfile(path)  # noqa: PTH113 -- the same


def is_folder(path: Path | str) -> bool:
    """Whether there is such a folder; False for a name that no folder can have."""
    return os.path.isdir(path)  # noqa: PTH112 -- the same


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def _as_bytes(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", "surrogateescape"))

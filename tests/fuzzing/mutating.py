"""Spoiling inputs: what bad disks, bad programs and bad people do to a file that was right."""

from __future__ import annotations

import random
import re

NUMBERS = (
    *(b"0", b"-1", b"1e400", b"-1e400", b"1_5", b"nan", b"inf", b"1e-400", b"0x10", b"1e308", b".", b"-0.0"),
    *(b"18446744073709551616", b"9" * 400, b"9" * 5000, b"2147483648", b"\xd9\xa3", b"1,5", b"1.5.5", b"00"),
)
PIECES = (
    *(
        b"\0",
        b"\x1b[31m",
        b"\x1b]0;owned\x07",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"\r",
        b"\n",
        b"\r\n",
    ),
    *(
        b"'",
        b'"',
        b'"""',
        b"\\",
        b"#",
        b"%",
        b"{",
        b"}",
        b"{}",
        b"{0.__class__}",
        b"[",
        b"]",
        b"(",
        b")",
        b"|",
    ),
    *(
        b"&&",
        b"||",
        b"!",
        b"..",
        b"/",
        b"../../../etc/passwd",
        b"/dev/zero",
        b"~",
        b"$(touch canary)",
        b"`id`",
    ),
    *(
        b"python:os:system",
        b"__import__('os').system('id')",
        b"a" * 300,
        b"a" * 5000,
        b"\xef\xbb\xbf",
        b"=" * 40,
    ),
)
_NUMBER = re.compile(rb"\d[\d.eE_+-]*")
_OPENING = (b"(", b"[", b"{", b"!(", b"-", b"[[", b"{'a':", b'{"a":', b"c(", b"not ", b"product(", b"'")


def spoiled(content: bytes, chance: random.Random, others: tuple[bytes, ...] = ()) -> bytes:
    """The content with one to four mistakes in it."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        content = chance.choice(_MISTAKES)(content, chance, others)
        if len(content) > _LONGEST:
            content = content[:_LONGEST]
    return content


_LONGEST = 60_000


def _place(content: bytes, chance: random.Random) -> int:
    return chance.randint(0, len(content))


def _flip(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    if not content:
        return b"\x80"
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _put(content: bytes, chance: random.Random, others: tuple[bytes, ...]) -> bytes:
    place = _place(content, chance)
    return content[:place] + chance.choice((*PIECES, *NUMBERS, *others[:1])) + content[place:]


def _cut(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    start = _place(content, chance)
    return content[:start] + content[start + chance.choice((1, 2, 5, 20, 200)) :]


def _end(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    return content[: _place(content, chance)]


def _repeat(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    start = _place(content, chance)
    part = content[start : start + chance.choice((1, 3, 10, 60))]
    return content[:start] + part * chance.choice((2, 3, 30, 1000)) + content[start:]


def _number(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _put(content, chance, ())
    match = chance.choice(found)
    return content[: match.start()] + chance.choice(NUMBERS) + content[match.end() :]


def _nest(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    place = _place(content, chance)
    return content[:place] + chance.choice(_OPENING) * chance.choice((2, 30, 1100, 9000)) + content[place:]


def _lines(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    lines = content.split(b"\n")
    match chance.randrange(3):
        case 0:
            chance.shuffle(lines)
        case 1:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
        case _:
            del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _join(content: bytes, chance: random.Random, others: tuple[bytes, ...]) -> bytes:
    other = chance.choice(others) if others else content
    return content[: _place(content, chance)] + other[_place(other, chance) :]


def _words(content: bytes, chance: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Two words change places."""
    words = re.split(rb"(\W+)", content)
    first, second = chance.randrange(len(words)), chance.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return b"".join(words)


_MISTAKES = (_flip, _put, _put, _cut, _end, _repeat, _number, _number, _nest, _lines, _join, _words)

"""Which line of a TOML text holds which key.

The standard library reads TOML but forgets where things stood. This scanner walks a text that
`tomllib` has already accepted, so it only follows structure (headers, keys, strings, arrays, inline
tables) and never judges.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right

KeyPath = tuple[str | int, ...]
"""Keys and array positions from the top of the file, such as ``("forbidden", 0, "clause")``."""


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, counted from 1, of every key, table and array element of a valid TOML text."""
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._starts = [0, *(position + 1 for position, sign in enumerate(text) if sign == "\n")]
        self._entries: dict[KeyPath, int] = {}

    def scan(self) -> None:
        table: KeyPath = ()
        while self._skip(" \t\r\n"):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _record(self, path: KeyPath, line: int) -> None:
        """Note a path and, where they are new, the tables above it."""
        for depth in range(1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def _skip(self, blanks: str) -> bool:
        """Pass over blanks and comments; False at the end of the text."""
        text = self._text
        while self._at < len(text):
            if text[self._at] == "#":
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif text[self._at] in blanks:
                self._at += 1
            else:
                return True
        return False

    def _header(self) -> KeyPath:
        line = self._line()
        entry = self._text.startswith("[[", self._at)
        self._at += 2 if entry else 1
        keys = self._dotted()
        self._at += 2 if entry else 1
        path = self._resolved(keys[:-1] if entry else keys)
        if entry:
            path = (*path, keys[-1])
            self._entries[path] = self._entries.get(path, -1) + 1
            path = (*path, self._entries[path])
        self._record(path, line)
        return path

    def _resolved(self, keys: tuple[str, ...]) -> KeyPath:
        """A table name with the position of the last entry wherever it passes through an array."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._entries:
                path = (*path, self._entries[path])
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = (*table, *self._dotted())
        self._record(path, line)
        self._at += 1  # the sign =
        self._skip(" \t")
        self._value(path)

    def _dotted(self) -> tuple[str, ...]:
        keys = []
        while True:
            self._skip(" \t")
            keys.append(self._key())
            self._skip(" \t")
            if self._text[self._at] != ".":
                return tuple(keys)
            self._at += 1

    def _key(self) -> str:
        start = self._at
        if self._text[start] in "\"'":
            self._string()
            return str(tomllib.loads(f"key = {self._text[start : self._at]}")["key"])
        while self._text[self._at].isalnum() or self._text[self._at] in "_-":
            self._at += 1
        return self._text[start : self._at]

    def _value(self, path: KeyPath) -> None:
        sign = self._text[self._at]
        if sign in "\"'":
            self._string()
        elif sign == "[":
            self._array(path)
        elif sign == "{":
            self._inline_table(path)
        else:
            while self._at < len(self._text) and self._text[self._at] not in ",]}#\n":
                self._at += 1

    def _string(self) -> None:
        quote = self._text[self._at]
        triple = self._text.startswith(quote * 3, self._at)
        fence = quote * 3 if triple else quote
        self._at += len(fence)
        while not self._text.startswith(fence, self._at):
            self._at += 2 if quote == '"' and self._text[self._at] == "\\" else 1
        self._at += len(fence)
        while triple and self._text.startswith(quote, self._at):
            self._at += 1

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        position = 0
        while self._skip(" \t\r\n,") and self._text[self._at] != "]":
            self._record((*path, position), self._line())
            self._value((*path, position))
            position += 1
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._skip(" \t\r\n,") and self._text[self._at] != "}":
            self._pair(path)
        self._at += 1

"""Collecting a program's output within bounds, however much it writes.

Only the last bytes are kept. Patterns are matched while the output streams by, line by line, so the one
line that matters is found even when megabytes follow it. A line longer than `LONGEST_LINE` is cut.
"""

from __future__ import annotations

import os
import re

LONGEST_LINE = 65536
LONGEST_MATCH = 1000
_READ_BYTES = 65536


class OutputCollector:
    """Reads a pipe that must not block, keeping the tail and each pattern's last match.

    Args:
        descriptor: The reading end of the pipe; it is made non-blocking and owned from here on.
        tail_bytes: How much of the end to keep.
        patterns: Regular expressions to match within lines.
    """

    def __init__(self, descriptor: int, tail_bytes: int, patterns: list[str]) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor: int | None = descriptor
        self.matches: list[str | None] = [None] * len(patterns)
        self._patterns = [re.compile(pattern, re.MULTILINE) for pattern in patterns]
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self._partial = b""

    @property
    def tail(self) -> str:
        """The end of the output as text."""
        return self._tail[-self._tail_bytes :].decode("utf-8", "replace") if self._tail_bytes else ""

    def read(self) -> bool:
        """Take in what is there now, at most one buffer; False if there was nothing."""
        if self.descriptor is None:
            return False
        try:
            chunk = os.read(self.descriptor, _READ_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._close()
            return False
        self._tail += chunk
        if len(self._tail) > 2 * self._tail_bytes + _READ_BYTES:
            del self._tail[: -self._tail_bytes or None]
        if self._patterns:
            self._match(chunk)
        return True

    def finish(self) -> None:
        """Take in what is left after the program's end, and close."""
        while self.read():
            pass
        self._match_lines(self._partial)
        self._partial = b""
        self._close()

    def _close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def _match(self, chunk: bytes) -> None:
        lines, newline, rest = chunk.rpartition(b"\n")
        if newline:
            self._match_lines(self._partial + lines)
            self._partial = rest
        else:
            self._partial += chunk
        if len(self._partial) > LONGEST_LINE:
            self._match_lines(self._partial)
            self._partial = b""

    def _match_lines(self, lines: bytes) -> None:
        if not lines:
            return
        text = lines.decode("utf-8", "replace")
        for index, pattern in enumerate(self._patterns):
            for match in pattern.finditer(text):
                found = match[1] if pattern.groups and match[1] is not None else match[0]
                self.matches[index] = found[:LONGEST_MATCH]

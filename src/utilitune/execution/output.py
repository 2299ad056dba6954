"""Collecting a program's output within bounds, however much it writes.

Only the last bytes are kept. Patterns look for the one line that matters even when megabytes follow it. A
line is a line: each pattern is matched within one line at a time, so that nothing depends on how the output
was cut into pieces on its way. A line longer than `LONGEST_LINE` counts as several.

**When patterns are matched.** Not while the run is metered, but after its end, in what was put aside until
then. Only when more than `MOST_WAITING` bytes wait is some of it matched earlier, for `SLICE_S` at a time.

**Patterns that never come to an end.** Some patterns need a time that is exponential in the length of a line
(`(a+)+$`). Python's engine looks for signals while it searches, so an alarm ends such a search. A line that
takes too long is tried again after the run; if all lines together take more than `MATCHING_S`, the pattern is
given up, and the result says so.

**Traces.** Where every solution counts and not only the last one, each line is stamped with the moment at
which it arrived, and all lines that match are kept, at most `MOST_POINTS`: where there are more, every second
one is dropped.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections import deque
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LONGEST_LINE = 65536
LONGEST_MATCH = 1000
MOST_WAITING = 1 << 20
SLICE_S = 0.005
MATCHING_S = 2.0
"""How long all patterns together may take after the end of a run."""

MOST_POINTS = 10_000
"""The most points of a trace that are kept."""

_READ_BYTES = 65536
_MOST_SLOW_LINES = 64
_RING_AGAIN_S = 0.001


class _TooSlow(Exception):  # noqa: N818 (this is how a search is told to end)
    """The alarm went off."""


class Tracer:
    """Keeps what every line says of solutions, with the moment at which it arrived.

    Args:
        patterns: Of a quality, of a bound and of a time that the program reports; None where it reports none.
        clock: What shows the moment.
    """

    def __init__(self, patterns: list[str | None], clock: Callable[[], float]) -> None:
        self.clock = clock
        self._patterns = [None if each is None else re.compile(each, re.MULTILINE) for each in patterns]
        self._points: list[tuple[int, float, list[str | None]]] = []

    def take(self, number: int, arrived_s: float, text: str) -> None:
        """Keep a line if it tells of a solution or of a bound, and of another than the line before."""
        found = [None if each is None else _last_match(each, text) for each in self._patterns]
        if found[0] is None and found[1] is None:
            return
        if self._points and self._points[-1][2][:2] == found[:2]:
            return
        if len(self._points) >= MOST_POINTS:
            self._points = self._points[::2]
        self._points.append((number, arrived_s, found))

    @property
    def seen(self) -> list[list[float | str | None]]:
        """What was kept, in the order of lines."""
        return [[arrived_s, *found] for _, arrived_s, found in sorted(self._points, key=lambda each: each[0])]


def _last_match(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = (match[1] if pattern.groups and match[1] is not None else match[0])[:LONGEST_MATCH]
    return found


class OutputCollector:
    """Reads a pipe that must not block, keeping the tail and each pattern's last match.

    Args:
        descriptor: The reading end of the pipe; it is made non-blocking and owned from here on.
        tail_bytes: How much of the end to keep.
        patterns: Regular expressions to match within lines.
        tracer: What keeps the lines of a trace, where one is wanted.
    """

    def __init__(
        self, descriptor: int, tail_bytes: int, patterns: list[str], tracer: Tracer | None = None
    ) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor: int | None = descriptor
        self.problem = ""
        self.tracer = tracer
        self._arrived_s = 0.0
        self._patterns = [re.compile(pattern, re.MULTILINE) for pattern in patterns]
        self._found: list[tuple[int, str] | None] = [None] * len(patterns)
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self._partial = b""
        self._waiting: deque[tuple[bytes, float]] = deque()
        self._waiting_bytes = 0
        self._lines_taken = 0
        self._slow: list[tuple[int, bytes, float]] = []

    @property
    def matches(self) -> list[str | None]:
        """For each pattern its last match so far."""
        return [None if found is None else found[1] for found in self._found]

    @property
    def tail(self) -> str:
        """The end of the output as text."""
        return self._tail[-self._tail_bytes :].decode("utf-8", "replace") if self._tail_bytes else ""

    def read(self) -> bool:
        """Take in what is there now, at most one buffer; False if there was nothing."""
        if self._waiting_bytes > MOST_WAITING:
            self._match_for(SLICE_S)
            return True
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
        if self.tracer is not None:
            self._arrived_s = self.tracer.clock()
        if self._patterns or self.tracer is not None:
            self._put_aside(chunk)
        return True

    def finish(self) -> None:
        """Take in what is left after the program's end, and close."""
        while self.read():
            pass
        if self._partial:
            self._put_aside(b"\n")
        self._match_the_rest()
        self._close()

    def abandon(self) -> None:
        """Nobody wants to know any more: close, and leave the rest."""
        self._close()

    def _close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def _put_aside(self, chunk: bytes) -> None:
        """Cut the output into lines, the same ones however it arrives."""
        *lines, rest = (self._partial + chunk).split(b"\n")
        for line in lines:
            for start in range(0, max(1, len(line)), LONGEST_LINE):
                self._add(line[start : start + LONGEST_LINE])
        while len(rest) >= 2 * LONGEST_LINE:
            self._add(rest[:LONGEST_LINE])
            rest = rest[LONGEST_LINE:]
        self._partial = rest

    def _add(self, line: bytes) -> None:
        self._waiting.append((line, self._arrived_s))
        self._waiting_bytes += len(line) + 1

    def _match_for(self, limit_s: float) -> None:
        """Match waiting lines for a while; one that takes as long by itself is put aside once more."""
        end_s = time.monotonic() + limit_s
        try:
            with _Alarm(2 * limit_s) as alarm:
                while self._waiting and time.monotonic() < end_s:
                    alarm.guard(self._match, self._lines_taken, *self._waiting[0])
                    self._taken()
        except _TooSlow:
            if len(self._slow) < _MOST_SLOW_LINES:
                self._slow.append((self._lines_taken, *self._waiting[0]))
                self._taken()
            else:
                self._give_up()

    def _taken(self) -> None:
        self._waiting_bytes -= len(self._waiting.popleft()[0]) + 1
        self._lines_taken += 1

    def _match_the_rest(self) -> None:
        """Match everything that still waits, within the time there is for it."""
        if not (self._patterns or self.tracer) or self.problem:
            return
        try:
            with _Alarm(MATCHING_S) as alarm:
                for number, line, arrived_s in self._slow:
                    alarm.guard(self._match, number, line, arrived_s)
                for number, (line, arrived_s) in enumerate(self._waiting, start=self._lines_taken):
                    alarm.guard(self._match, number, line, arrived_s)
        except _TooSlow:
            self._give_up()

    def _match(self, number: int, line: bytes, arrived_s: float) -> None:
        text = line.decode("utf-8", "replace")
        if self.tracer is not None:
            self.tracer.take(number, arrived_s, text)
        for index, pattern in enumerate(self._patterns):
            earlier = self._found[index]
            if earlier is not None and earlier[0] > number:
                continue
            if (found := _last_match(pattern, text)) is not None:
                self._found[index] = (number, found)

    def _give_up(self) -> None:
        self.problem = (
            f"the patterns took longer than {MATCHING_S:g} s on the output; write simpler ones, "
            "without a repetition inside a repetition"
        )
        self._waiting.clear()
        self._waiting_bytes = 0
        self._patterns = []
        self.tracer = None


class _Alarm:
    """Raises `_TooSlow` in what it guards when its time is up, and nowhere else; only in the main thread.

    Args:
        limit_s: How much CPU time all of that together may take: on a busy machine nothing else changes.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._armed = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGVTALRM, self._ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._limit_s, _RING_AGAIN_S)
        return self

    def guard(self, work: Callable[..., None], *arguments: object) -> None:
        """Do something that the alarm may end."""
        self._armed = True
        work(*arguments)
        self._armed = False

    def __exit__(self, *_: object) -> None:
        self._armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._before)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            self._armed = False
            raise _TooSlow

"""Tries one spoiled input and says what went wrong: a traceback, a hang, too much memory, a start."""

from __future__ import annotations

import math
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

from fuzzing.subjects import SUBJECTS, Subject, make_seeds
from utilitune.errors import UtilituneError

LONGEST_S = 2.0
"""CPU seconds that one input may take."""

MOST_BYTES = 500 << 20
"""Memory that one input may take."""

LONGEST_SENTENCE = 20_000
"""Characters of an error; the command line shows fewer still."""

_STARTS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "socket.connect"}
)
_started: list[str] = []


class _TooLong(BaseException):
    """The input takes too long."""


def _ring(*_: object) -> None:
    raise _TooLong


def watch() -> None:
    """From here on, whatever is started is noted, long inputs are interrupted and memory is limited."""
    sys.addaudithook(lambda event, _: _started.append(event) if event in _STARTS else None)
    signal.signal(signal.SIGPROF, _ring)
    make_seeds()


def limit_memory() -> None:
    """Let no input take more memory than it may; for a process of its own."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def attempt(subject: Subject, content: bytes, folder: Path) -> str:
    """Read one input; says what went wrong, or nothing."""
    _started.clear()
    problem = ""
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        subject.read(content, folder)
    except UtilituneError as error:
        problem = _judged(error)
    except _TooLong:
        problem = "hang: " + _last_places()
    except BaseException as error:  # noqa: BLE001 -- whatever it is, it is a finding
        if any(isinstance(each, _TooLong) for each in _chain(error)):
            problem = "hang"
        else:
            problem = "".join(traceback.format_exception(error, limit=-6))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if not problem and _started and not subject.code:
        problem = f"started: {_started}"
    return problem


def _last_places() -> str:
    error = sys.exc_info()[2]
    return "".join(traceback.format_tb(error, limit=-4)) if error else ""


def _judged(error: UtilituneError) -> str:
    chain = _chain(error)
    if any(isinstance(each, MemoryError) for each in chain):
        return f"took too much memory before it said: {str(error)[:300]}"
    if any(isinstance(each, _TooLong) for each in chain):
        return "hang, taken for a mistake in the input"
    if len(str(error)) > LONGEST_SENTENCE:
        return f"a sentence of {len(str(error))} characters: {str(error)[:200]}"
    return ""


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found:
        found.append(each)
        each = each.__cause__ or each.__context__
    return found


def hunt(
    name: str, seed: int, count: int, folder: Path, most_cpu_s: float = math.inf
) -> tuple[int, dict[str, bytes]]:
    """Try so many random inputs of a subject; returns how many were tried, and inputs by what went wrong."""
    subject = SUBJECTS[name]
    subject.prepare(folder)
    chance = random.Random(f"{name} {seed}")
    found: dict[str, bytes] = {}
    tried = 0
    while tried < count and time.process_time() < most_cpu_s:
        content = subject.input(chance)
        problem = attempt(subject, content, folder)
        tried += 1
        if problem:
            found.setdefault(problem, content)
    return tried, found

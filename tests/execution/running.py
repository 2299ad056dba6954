"""Helpers of the execution tests: jobs for nasty targets, and a look at who is still alive."""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path

from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command, RawResult

NASTY = str(Path(__file__).with_name("nasty_targets.py"))
MARK = "NASTY_MARK"


def nasty_command(kind: str, *arguments: str, mark: str = "", watch: tuple[str, ...] = ()) -> Command:
    argv = (sys.executable, "-I", "-S", NASTY, kind, *arguments)
    return Command(argv, environment={MARK: mark or secrets.token_hex(8)}, watch=watch)


def limits(
    captime_s: float | None = 30.0, measure: Measure = Measure.CPU, wall_limit_s: float = 60.0, **others
) -> RunLimits:
    return RunLimits(measure=measure, captime_s=captime_s, wall_limit_s=wall_limit_s, **others)


def run(backend: LocalBackend, command: Command, allowed: RunLimits | None = None) -> RawResult:
    backend.submit(0, Job(command, allowed or limits()))
    [(job_id, raw)] = backend.wait(120)
    assert job_id == 0
    return raw


def alive(mark: str) -> list[int]:
    """Processes whose environment carries the mark; zombies have none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def alive_after_a_while(mark: str, patience_s: float = 10.0) -> list[int]:
    deadline = time.monotonic() + patience_s
    while (left := alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left

"""How exactly runs are metered and stopped, and what that costs.

Prints: what a run costs beyond a plain `subprocess`, runs per second of a program that does nothing, the
share of the workers' time spent inside runs of 50 ms, how far runs overshoot their captimes, and how well
the CPU time of process trees agrees with what their processes know of themselves.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command, RawResult

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = (sys.executable, "-I", "-S", "-c")
BURN = """
import os, sys, threading, time
def burn(seconds):
    while time.process_time() < seconds: sum(range(2000))
def tell():
    os.write(1, b"consumed %.6f\\n" % time.process_time())
def child(seconds):
    pid = os.fork()
    if pid == 0:
        burn(seconds); tell(); os._exit(0)
    return pid
"""
TREES = {
    "single": "burn(1.0)",
    "forks": "[os.waitpid(pid, 0) for pid in [child(0.4) for _ in range(3)]]",
    "many short forks": (
        "import resource\n"
        "tell = lambda: None\n"
        "[os.waitpid(child(0.02), 0) for _ in range(50)]\n"
        "usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n"
        "tell = lambda: os.write(1, b'consumed %.6f' % sum(u.ru_utime + u.ru_stime for u in usage))"
    ),
    "threads": (
        "crew = [threading.Thread(target=burn, args=(1.0,)) for _ in range(4)]\n"
        "[t.start() for t in crew]; [t.join() for t in crew]"
    ),
    "detaches": (
        "reading, writing = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); child(1.0); os._exit(0)\n"
        "os.wait(); os.close(writing); os.read(reading, 1)"
    ),
}
SPIN = "while :; do :; done"
FOREVER = {
    "single": (*PYTHON, f"{BURN}\nburn(1e9)"),
    "tree of 4": ("/bin/sh", "-c", f"for i in 1 2 3; do {SPIN} & done; {SPIN}"),
    "tree of 4 Pythons": (*PYTHON, f"{BURN}\n[child(1e9) for _ in range(3)]; burn(1e9)"),
}
"""Programs that never end. The kernel needs some CPU time to clear away what is killed, the more the larger
it is, and that counts as theirs."""
CAPTIMES_S = (0.05, 0.1, 0.5, 1.0, 5.0)


def main() -> None:
    """Print every figure."""
    workers = len(os.sched_getaffinity(0))
    print(f"load average {os.getloadavg()[0]:.1f} on {workers} cores before the start")
    _overhead(runs=300)
    _throughput(workers, runs=10_000)
    _share_inside(workers, runs=100 * workers)
    _overshoot()
    _accuracy()


def _overhead(runs: int) -> None:
    started_s = time.perf_counter()
    before_s = _cpu_s(os.getpid())
    for _ in range(runs):
        subprocess.run(["/bin/true"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    plain_s = (time.perf_counter() - started_s) / runs
    plain_cpu_s = (_cpu_s(os.getpid()) - before_s) / runs
    with LocalBackend(workers=1) as backend:
        _run(backend, _command("/bin/true"), 1.0)
        processes = (os.getpid(), *backend.supervisors)
        started_s = time.perf_counter()
        before_s = sum(map(_cpu_s, processes))
        for _ in range(runs):
            _run(backend, _command("/bin/true"), 1.0)
        metered_s = (time.perf_counter() - started_s) / runs
        metered_cpu_s = (sum(map(_cpu_s, processes)) - before_s) / runs
    print(f"one no-op run: plain subprocess {plain_s * 1e3:.2f} ms, metered {metered_s * 1e3:.2f} ms")
    print(
        f"own CPU per run: plain subprocess {plain_cpu_s * 1e3:.2f} ms, metered (coordinator and supervisor, "
        f"spawning included) {metered_cpu_s * 1e3:.2f} ms; must stay within 2 ms beyond spawning"
    )


def _throughput(workers: int, runs: int) -> None:
    job = Job(_command("/bin/true"), _limits(1.0))
    with LocalBackend(workers) as backend:
        started_s = time.perf_counter()
        for _ in _stream(backend, job, runs):
            pass
        elapsed_s = time.perf_counter() - started_s
    print(
        f"{runs} no-op runs with {workers} workers: {elapsed_s:.1f} s ({runs / elapsed_s:.0f}/s); limit 60 s"
    )


def _share_inside(workers: int, runs: int) -> None:
    job = Job(_command("sleep", "0.05"), _limits(1.0))
    with LocalBackend(workers) as backend:
        list(_stream(backend, job, workers))
        started_s = time.perf_counter()
        inside_s = sum(raw.wall_s for raw in _stream(backend, job, runs))
        elapsed_s = time.perf_counter() - started_s
    share = inside_s / (workers * elapsed_s)
    print(f"share of the workers' time inside runs of 50 ms: {100 * share:.1f} %; must reach 90 %")


def _overshoot() -> None:
    with LocalBackend(workers=1) as backend:
        for name, argv in FOREVER.items():
            for captime_s in CAPTIMES_S:
                repetitions = max(3, min(25, round(4 / captime_s)))
                over_ms = [
                    1e3 * (_run(backend, _command(*argv), captime_s).cpu_s - captime_s)
                    for _ in range(repetitions)
                ]
                median_ms = statistics.median(over_ms)
                print(
                    f"overshoot, {name}, captime {captime_s:g} s: median {median_ms:.2f} ms, "
                    f"largest {max(over_ms):.2f} ms of {repetitions}; must stay within 2 and 50 ms"
                )


def _accuracy() -> None:
    with LocalBackend(workers=1) as backend:
        for name, code in TREES.items():
            raw = _run(backend, _command(*PYTHON, f"{BURN}\n{code}\ntell()"), 60.0)
            truth_s = sum(map(float, re.findall(r"consumed ([\d.]+)", raw.output_tail)))
            error = raw.cpu_s / truth_s - 1
            print(f"CPU time, {name}: {raw.cpu_s:.3f} s, truth {truth_s:.3f} s, off by {100 * error:+.2f} %")


def _command(*argv: str) -> Command:
    return Command(argv)


def _limits(captime_s: float) -> RunLimits:
    return RunLimits(Measure.CPU, captime_s, wall_limit_s=600.0)


def _run(backend: LocalBackend, command: Command, captime_s: float) -> RawResult:
    backend.submit(0, Job(command, _limits(captime_s)))
    [(_, raw)] = backend.wait()
    return raw


def _stream(backend: LocalBackend, job: Job, runs: int) -> Iterator[RawResult]:
    submitted = ended = 0
    while ended < runs:
        while submitted < runs and backend.free_slots:
            backend.submit(submitted, job)
            submitted += 1
        for _, raw in backend.wait():
            ended += 1
            yield raw


def _cpu_s(pid: int) -> float:
    """CPU time of a process itself, without its children, as the kernel's scheduler counts it."""
    fields = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(fields[0]) / 1e9


if __name__ == "__main__":
    main()

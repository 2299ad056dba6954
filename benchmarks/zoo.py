"""How exactly every program of the zoo is metered, against the kernel's accounts of a control group.

``python -m benchmarks.zoo [--user NAME] [--repetitions 5]``, as root. The measure is independent of ours: a
control group that this benchmark makes around the whole backend, in the hierarchy ``cpuacct`` where there is
one and else above the groups that supervisors make; less the CPU clocks of the backend's own processes. Every
program runs under each of the three ways in which CPU time is known: control groups, a task clock, parents
only; as root, or as an ordinary user where one is named. Prints a table in Markdown. A figure beyond
2 % + 2 ms is set in bold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pwd
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from execution import nasty_targets
from faults.zoo import KINDS
from utilitune.domain import Measure
from utilitune.execution import accounts, cgroups
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

ZOO = Path(__file__).resolve().parents[1] / "tests" / "faults" / "zoo.py"
MORE = (
    *("single", "forks", "threads", "detaches", "many_ignored_children", "many_waited_children"),
    *("threads_forever", "flood", "hog_in_a_file", "undumpable_hogs", "undumpable", "shares", "tidy"),
)
"""Programs of the execution tests that the fault trials do not use."""

SLEEPERS = (
    *("in_namespaces", "stops_itself", "undumpable_sleeper", "ignores_everything", "nameless_forever"),
    "sleeps",
)
"""Programs that end by the limit of time on the clock, which is short for them."""

CAPTIME_S = 0.25
WAYS = {
    "control groups": {},
    "task clock": {cgroups.OFF: "1"},
    "parents only": {cgroups.OFF: "1", accounts.OFF: "1"},
}
ALLOWED_SHARE, ALLOWED_S = 0.02, 0.002


class Metered(NamedTuple):
    """One run: what was metered, and what the kernel's accounts say."""

    cpu_s: float
    truth_s: float

    @property
    def error_s(self) -> float:
        return self.cpu_s - self.truth_s

    @property
    def allowed_s(self) -> float:
        return ALLOWED_SHARE * self.truth_s + ALLOWED_S


class Ledger:
    """A control group around everything that this benchmark starts in it, made by root."""

    def __init__(self) -> None:
        version_1 = Path("/sys/fs/cgroup/cpuacct")
        self._is_old = (version_1 / "cpuacct.usage").exists()
        parent = version_1 if self._is_old else Path(cgroups.group_path("x")).parent
        self.folder = parent / f"zoo-{os.getpid()}"
        self.folder.mkdir()
        self.enter()

    def enter(self) -> None:
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def cpu_s(self) -> float:
        if self._is_old:
            return int((self.folder / "cpuacct.usage").read_text()) * 1e-9
        return int((self.folder / "cpu.stat").read_text().split()[1]) * 1e-6

    def close(self) -> None:
        (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        _remove(self.folder)


@contextlib.contextmanager
def handed_over(user: pwd.struct_passwd) -> Iterator[None]:
    """A control group in which an ordinary user may make others, as in a systemd user session."""
    place = Path(cgroups.group_path("x")).parent
    folder = place / f"zoo-user-{os.getpid()}"
    folder.mkdir()
    for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
        os.chown(path, user.pw_uid, user.pw_gid)
    (folder / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield
    finally:
        (place / "cgroup.procs").write_text(str(os.getpid()))
        _remove(folder)


def _remove(folder: Path, patience_s: float = 10.0) -> None:
    """Remove a control group as soon as the last helper of a backend has left it."""
    deadline_s = time.monotonic() + patience_s
    while folder.exists() and time.monotonic() < deadline_s:
        with contextlib.suppress(OSError):
            folder.rmdir()
        time.sleep(0.05)


def measured(ledger: Ledger, way: str, repetitions: int) -> dict[str, list[Metered]]:
    """Every program, so often, in this process and in this way."""
    os.environ.update(WAYS[way])
    found: dict[str, list[Metered]] = {}
    with tempfile.TemporaryDirectory() as place, LocalBackend(workers=1) as backend:
        backend.submit(0, Job(Command(("true",)), RunLimits(Measure.CPU, CAPTIME_S, wall_limit_s=60.0)))
        backend.wait()  # the backend has started: what its helpers needed for that is no part of any run
        for name in (*KINDS, *MORE):
            instance = Path(place) / name
            instance.write_text(name)
            found[name] = [_metered(ledger, backend, name, instance) for _ in range(repetitions)]
    return found


def _metered(ledger: Ledger, backend: LocalBackend, name: str, instance: Path) -> Metered:
    python = (sys.executable, "-I", "-S")
    argv = (
        (*python, str(ZOO), "x", "0.5", str(instance))
        if name in KINDS
        else (*python, nasty_targets.__file__, name)
    )
    limits = RunLimits(
        measure=Measure.CPU,
        captime_s=CAPTIME_S,
        wall_limit_s=0.3 if name in SLEEPERS else 60.0,
        memory_bytes=150 << 20,
    )
    before_s = _others_s(ledger, backend)
    backend.submit(0, Job(Command(argv), limits))
    [(_, raw)] = backend.wait()
    if raw.launch_error:
        sys.exit(raw.launch_error)
    return Metered(raw.cpu_s, _others_s(ledger, backend) - before_s)


def _others_s(ledger: Ledger, backend: LocalBackend) -> float:
    """What all others in the group have consumed: not we, not the supervisors."""
    time.sleep(0.03)  # the dead leave the group, and supervisors come to rest
    own_s = sum(cgroups.process_clock_s(pid) for pid in (os.getpid(), *backend.supervisors))
    return ledger.cpu_s() - own_s


def in_a_process(ledger: Ledger, way: str, user: pwd.struct_passwd | None, repetitions: int) -> dict:
    """Measure in a process of its own, as root or as somebody else."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        code = 1
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user.pw_gid)
                os.setuid(user.pw_uid)
            with os.fdopen(writing, "w") as stream:
                json.dump(measured(ledger, way, repetitions), stream)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"the measurement with {way} failed")
    return {name: [Metered(*each) for each in runs] for name, runs in json.loads(text).items()}


def main(arguments: list[str] | None = None) -> None:
    """Measure every program in every way, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--user", type=pwd.getpwnam, help="measure as this ordinary user")
    parser.add_argument("--repetitions", type=int, default=5, help="how often each program runs")
    chosen = parser.parse_args([] if arguments is None else arguments)
    ledger = Ledger()
    columns = {}
    try:
        for way in WAYS:
            user = chosen.user
            groups = handed_over(user) if user and way == "control groups" else contextlib.nullcontext()
            with groups:
                columns[way] = in_a_process(ledger, way, user, chosen.repetitions)
    finally:
        ledger.close()
        _show(columns)


def _show(columns: dict[str, dict[str, list[Metered]]]) -> None:
    print(f"load average {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores\n")
    print("| program | CPU s | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    missed = 0
    for name in (*KINDS, *MORE):
        runs = [each for column in columns.values() for each in column[name]]
        cells = []
        for column in columns.values():
            worst = max(column[name], key=lambda run: abs(run.error_s) / run.allowed_s)
            beyond = abs(worst.error_s) > worst.allowed_s
            missed += beyond
            cells.append(f"{'**' if beyond else ''}{1e3 * worst.error_s:+.1f}{'**' if beyond else ''}")
        typical_s = sorted(run.truth_s for run in runs)[len(runs) // 2]
        print(f"| `{name}` | {typical_s:.3f} | " + " | ".join(cells) + " |")
    print(f"\n{missed} of {len(columns) * len(KINDS | dict.fromkeys(MORE))} cells beyond 2 % + 2 ms")


if __name__ == "__main__":
    main(sys.argv[1:])

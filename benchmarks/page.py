"""What the live page costs on a large run at work: 5 000 configurations, and 200 000 runs to begin with.

Prints how soon the page shows something, what an update costs the browser, how much memory and CPU time the
server and its helpers take, and what programs that fill all cores lose by it: server and browser are halted
and let go on in turn. By the clock they lose what the page takes, and what any other program takes; what they
do in a second of CPU time tells of memory that they share with it. Needs Chromium and Playwright for all that
has to do with a browser.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from benchmarks.live import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Event

    from numpy.typing import NDArray

CONFIGURATIONS, RUNS_EACH, INSTANCES = 5_000, 40, 400
RUNS_A_SECOND, TICK_S = 40, 0.1
LOADS = 5
WATCHED_S = 60.0
WINDOW_S, FOURS = 10.0, 3
CORES = os.cpu_count() or 1
WINDOW = {"width": 1280, "height": 900}
_TABLE, _STEP = 4_000_000, 65_536
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
_UPDATES = """() => {
    window.updates = [];
    new MutationObserver(() => setTimeout(() => {
        window.updates.push(Number(document.documentElement.dataset.updateMs) + U.drawnMs - window.drawn);
        window.drawn = U.drawnMs;
    }, 300)).observe(document.documentElement, {attributes: true, attributeFilter: ['data-update-ms']});
    window.drawn = U.drawnMs;
}"""


def main() -> None:
    """Run everything; about four minutes."""
    with (
        tempfile.TemporaryDirectory() as place,
        _at_work(Path(place)) as folder,
        _served(folder) as (pid, home),
    ):
        with _browser() as browser:
            if browser is None:
                print("no Chromium or no Playwright: only the server is measured")
                _cpu(pid, None)
                _loss([pid])
                return
            _first_paint(browser, home)
            page = browser.new_page(viewport=WINDOW)
            page.goto(home)
            page.wait_for_selector("main[data-ready]", timeout=60_000)
            page.evaluate(_UPDATES)
            _cpu(pid, page)
            _loss([pid, *_children(os.getpid(), "chrom")])
        _memory(pid)


# -- a run at work, its server, a browser -------------------------------------------------------------


@contextlib.contextmanager
def _at_work(place: Path) -> Iterator[Path]:
    """A run folder into which another process stores runs all the time, as a run of two workers would."""
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    writer = context.Process(target=_write, args=(place, ready, stop))
    writer.start()
    while not ready.wait(0.2):
        if not writer.is_alive():
            sys.exit("the run to look at could not be made")
    try:
        yield place / "large.run"
    finally:
        stop.set()
        writer.join()


def _write(place: Path, ready: Event, stop: Event) -> None:
    from reports.dashboard.stored_runs import Writer

    writer = Writer(place, instances=INSTANCES)
    writer.add_configurations(CONFIGURATIONS)
    writer.add_runs(RUNS_EACH)
    writer.add_trajectory()
    ready.set()
    chosen = np.random.default_rng(1).permutation(CONFIGURATIONS).tolist()
    tick, epsilon = 0, 0.08
    while not stop.wait(TICK_S):
        for number in range(round(RUNS_A_SECOND * TICK_S)):
            turn, which = divmod(tick * round(RUNS_A_SECOND * TICK_S) + number, CONFIGURATIONS)
            writer.add_run(chosen[which], RUNS_EACH + turn)
        tick += 1
        if tick % 10 == 0:
            epsilon *= 0.999
            writer.add_configurations(1)
            writer.add_progress(epsilon)
    writer.end()


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[tuple[int, str]]:
    """A server of its own, as a user starts it: its process and address."""
    command = [sys.executable, "-m", "utilitune", "serve", str(folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said = "" if server.stdout is None else server.stdout.readline()
        found = re.search(r"http://\S+?/", said)
        if found is None:
            sys.exit(f"the server says {said!r}")
        _wait_until_read(found.group())
        yield server.pid, found.group()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def _wait_until_read(home: str) -> None:
    """Until the server has read everything once, and has come to rest."""
    for _ in range(120):
        with urllib.request.urlopen(f"{home}api/runs") as answer:
            if json.load(answer)[0]["complete"]:
                break
        time.sleep(0.5)
    time.sleep(2)


@contextlib.contextmanager
def _browser() -> Iterator[Any]:
    from reports.dashboard.browsers import CHROMIUM, FLAGS

    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield None
        return
    if CHROMIUM is None:
        yield None
        return
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


# -- figures ------------------------------------------------------------------------------------------


def _first_paint(browser: Any, home: str) -> None:  # noqa: ANN401 - of Playwright, which may be absent
    painted_ms, numbers_ms, whole_ms = [], [], []
    for _ in range(LOADS):
        page = browser.new_page(viewport=WINDOW)
        began = time.perf_counter()
        page.goto(home)
        page.wait_for_selector("#numbers", timeout=60_000)
        numbers_ms.append(1e3 * (time.perf_counter() - began))
        page.wait_for_selector("main[data-ready]", timeout=60_000)
        whole_ms.append(1e3 * (time.perf_counter() - began))
        paints = page.evaluate("performance.getEntriesByType('paint').map(each => each.startTime)")
        painted_ms.append(max(paints))
        page.close()
    line(f"first paint, worst of {LOADS}", f"{max(painted_ms):.0f} ms", "< 1 s", max(painted_ms) < 1_000)
    line("... with the numbers of the run", f"{max(numbers_ms):.0f} ms", "< 1 s", max(numbers_ms) < 1_000)
    print(f"    everything, with all {CONFIGURATIONS:,} configurations: {max(whole_ms):.0f} ms")


def _cpu(pid: int, page: Any) -> None:  # noqa: ANN401 - the same
    """CPU time of the server with its helpers, and of the browser, while both follow a run at work."""
    browsers = [] if page is None else _children(os.getpid(), "chrom")
    server_s, browser_s = _cpu_s(pid), sum(map(_cpu_s, browsers))
    began = time.monotonic()
    if page is None:
        time.sleep(WATCHED_S)
    else:
        page.wait_for_timeout(1e3 * WATCHED_S)
    wall_s = time.monotonic() - began
    server = (_cpu_s(pid) - server_s) / wall_s
    line("server and helpers, of the machine", f"{server / CORES:.2%}", "< 1 %", server / CORES < 0.01)
    if page is None:
        return
    browser = (sum(map(_cpu_s, browsers)) - browser_s) / wall_s
    both = (server + browser) / CORES
    line("... with the browser", f"{both:.2%}", "< 1 %", both < 0.01)
    updates = page.evaluate("window.updates")
    worst = max(updates, default=0.0)
    line(f"worst of {len(updates)} updates", f"{worst:.0f} ms", "< 200 ms", worst < 200)


def _memory(pid: int) -> None:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    size_mb = int(found.group(1)) * 1024 / 1e6 if found else float("nan")
    line("server's memory, at most", f"{size_mb:.0f} MB", "< 300 MB", size_mb < 300)


def _loss(pids: Sequence[int]) -> None:
    """What programs on all cores lose: off, on, on, off, so that a slow drift of the machine cancels."""
    context = multiprocessing.get_context("spawn")
    counters = [context.Value("q", 0, lock=False) for _ in range(CORES)]
    programs = [context.Process(target=_busy, args=(counter,), daemon=True) for counter in counters]
    for program in programs:
        program.start()
    time.sleep(3)
    losses, slower = [], []
    numbers = [program.pid or 0 for program in programs]
    for _ in range(FOURS):
        off, on = np.zeros(2), np.zeros(2)
        for rates in (off, on, on, off):
            _signal(pids, signal.SIGCONT if rates is on else signal.SIGSTOP)
            np.add(rates, _steps(counters, numbers), out=rates)
        by_clock, by_cpu = 1 - on / off
        losses.append(by_clock)
        slower.append(by_cpu)
    _signal(pids, signal.SIGCONT)
    for program in programs:
        program.kill()
    for what, values in (("programs on all cores lose", losses), ("... of what a CPU second does", slower)):
        loss, error = statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5
        line(what, f"{loss:.2%} ± {error:.2%}", "< 1 %", loss < 0.01)
        print("    in turn: " + ", ".join(f"{each:.2%}" for each in values))


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _steps(counters: Sequence[Synchronized[int]], pids: Sequence[int]) -> NDArray[np.float64]:
    """Steps done in a second on the clock, and in a second of CPU time."""
    before, began, used_s = sum(each.value for each in counters), time.monotonic(), sum(map(_cpu_s, pids))
    time.sleep(WINDOW_S)
    made = sum(each.value for each in counters) - before
    return np.array([made / (time.monotonic() - began), made / (sum(map(_cpu_s, pids)) - used_s)])


def _busy(counter: Synchronized[int]) -> None:
    """A program that computes and reads memory here and there, as solvers do."""
    generator = np.random.default_rng(1)
    table = generator.integers(0, _TABLE, _TABLE, dtype=np.int64)
    places = table[:_STEP]
    while True:
        places = table[places]
        counter.value += 1


# -- processes ----------------------------------------------------------------------------------------


def _children(pid: int, name: str) -> list[int]:
    """All processes below one whose name holds a text."""
    found, waiting = [], [pid]
    while waiting:
        below = Path(f"/proc/{waiting.pop()}/task")
        with contextlib.suppress(OSError):
            numbers = [
                int(text) for task in below.iterdir() for text in (task / "children").read_text().split()
            ]
            waiting += numbers
            found += [each for each in numbers if name in Path(f"/proc/{each}/comm").read_text()]
    return found


def _cpu_s(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _CLOCK_TICKS

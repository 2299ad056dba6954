"""How fast the paper's procedures play on recorded runtimes, and how much memory they need.

Ratios are taken within one run, so that they mean the same on every machine:

- a round of OUP against a round of the plain-Python oracle of the tests, on the same 1 000 × 20 000
  runtimes, in the same rounds (the 3 000th to 4 000th), after both have played the rounds before;
- a round among 100 000 configurations against one among 1 000, when the average configuration has
  played 20 to 25 rounds: the first rounds, in which everybody is new, would be no fair comparison;
- the largest memory of a whole process that plays with 1 000 000 configurations;
- the second start of ``utilitune replay`` on a tiny file, less the start of Python itself.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from utilitune import RuntimeMatrix, parse_utility, read_matrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
from utilitune.procedures.paper.engine import PaperEngine, PaperSettings, oup

ROOT = Path(__file__).resolve().parents[1]
UTILITY = parse_utility("log-laplace(k0=60)")
SETTINGS = PaperSettings(delta=0.1)
MEGABYTE = 2**20


def main() -> None:
    cores = os.cpu_count() or 1
    print(f"load average {os.getloadavg()[0]:.1f} on {cores} cores before the start")
    print(f"{'figure':58} {'measured':>12} {'target':>12}")
    _against_the_oracle()
    _against_more_configurations()
    _memory_of_a_million()
    _second_start()


def _report(figure: str, measured: str, target: str = "", *, met: bool | None = None) -> None:
    verdict = "" if met is None else "ok" if met else "MISSED"
    print(f"{figure:58} {measured:>12} {target:>12}  {verdict}", flush=True)


# -- speed ---------------------------------------------------------------------------------------------


def _play_to(engine: PaperEngine, rounds: int) -> float:
    """Play to the end of a round; return the seconds it took."""
    started = time.perf_counter()
    halt = engine.advance(PauseAt(rounds=rounds, total_time_s=math.inf, runs=2**62))
    taken_s = time.perf_counter() - started
    assert halt is Halt.PAUSED, "a benchmark must not come to an end"
    return taken_s


def _engine(evidence: RecordedEvidence | LiveEvidence, configurations: int) -> PaperEngine:
    engine = oup(evidence, UTILITY, SETTINGS, configurations)
    for _ in range(configurations):
        engine.add(Origin.RANDOM)
    return engine


def _against_the_oracle(before: int = 3_000, after: int = 4_000) -> None:
    matrix = read_matrix("synthetic:rows=1000,columns=20000,seed=1")
    evidence = RecordedEvidence(matrix, UTILITY)
    taken_s = []
    for _ in range(5):
        engine = _engine(evidence, matrix.rows)
        _play_to(engine, before)
        taken_s.append(_play_to(engine, after))
    ours_s = statistics.median(taken_s) / (after - before)
    plain_s = _oracle_round_s(matrix, before, after, expected=engine.progress().total_time_s)
    ratio = plain_s / ours_s
    _report("one round of OUP, 1 000 × 20 000", f"{1e6 * ours_s:.2f} µs")
    _report("the same in plain Python", f"{1e6 * plain_s:.2f} µs")
    _report("plain Python / ours", f"{ratio:.0f} ×", "≥ 50 ×", met=ratio >= 50)


def _oracle_round_s(matrix: RuntimeMatrix, before: int, after: int, expected: float) -> float:
    sys.path.insert(0, str(ROOT / "tests"))
    import oracle

    # No configuration has more runs than there were rounds; lists of all runtimes would fill the memory.
    runtimes = matrix.runtimes_s[:, matrix.columns[:after]].tolist()
    setting = oracle.Setting(runtimes, oracle.log_laplace(60), SETTINGS.delta)
    table, scale = oracle.Table(setting, matrix.rows), 11 * matrix.rows / SETTINGS.delta
    alive, started = table.look(range(matrix.rows)), 0.0
    for number in range(after):
        if number == before:
            started = time.perf_counter()
        table.play(table.most_promising(alive), scale)
        alive = table.look(alive)
    taken_s = time.perf_counter() - started
    assert math.isclose(table.outcome.total_time, expected, rel_tol=1e-9), "both must have done the same"
    return taken_s / (after - before)


def _against_more_configurations() -> None:
    few_s, many_s = (
        statistics.median(_round_s(_shared_rows(count), count) for _ in range(3))
        for count in (1_000, 100_000)
    )
    ratio = many_s / few_s
    _report("one round among 1 000 configurations", f"{1e6 * few_s:.2f} µs")
    _report("one round among 100 000 configurations", f"{1e6 * many_s:.2f} µs")
    _report("100 000 / 1 000 configurations", f"{ratio:.2f} ×", "≤ 2 ×", met=ratio <= 2)


def _round_s(evidence: RecordedEvidence, count: int) -> float:
    engine = _engine(evidence, count)
    _play_to(engine, 20 * count)
    return _play_to(engine, 25 * count) / (5 * count)


def _shared_rows(configurations: int) -> RecordedEvidence:
    """Evidence in which all configurations share the runtimes of 1 000 stored ones."""
    stored = read_matrix("synthetic:rows=1000,columns=2000,seed=1").resample(50_000, seed=1)
    evidence = RecordedEvidence(stored, UTILITY)
    base = evidence.arrays.base[np.arange(configurations) % evidence.configurations]
    evidence.arrays = evidence.arrays._replace(base=base)
    evidence.configurations = configurations
    return evidence


# -- memory ----------------------------------------------------------------------------------------------


def _memory_of_a_million() -> None:
    for kind in ("recorded", "live"):
        code = f"from benchmarks.core import {kind}_million; {kind}_million()"
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        peak = float(run.stdout)
        figure = f"whole process with 1 000 000 configurations, {kind}"
        _report(figure, f"{peak:.0f} MB", "≤ 1024 MB", met=peak <= 1024)


def recorded_million() -> None:
    """Play a round with every one of a million configurations and some more; print the peak memory."""
    _play_to(_engine(_shared_rows(1_000_000), 1_000_000), 1_200_000)
    print(_peak_megabytes())


def live_million() -> None:
    """Keep one live run of each of a million configurations; print the peak memory."""
    evidence = LiveEvidence(UTILITY, positions=1_000_000)
    evidence.reserve_configurations(1_000_000)
    for configuration in range(0, 1_000_000, 100):
        evidence.record(configuration, 0, 1.0, 1.0)
    engine = _engine(evidence, 1_000_000)
    engine.advance(PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62))
    print(_peak_megabytes())


def _peak_megabytes() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says on Linux includes the memory of the process that started us
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) * 1024 / MEGABYTE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE


# -- start -------------------------------------------------------------------------------------------------


def _second_start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "tiny.csv"
        data.write_text("configuration,i1,i2\na,1,2\nb,2,3\n")
        ours = _start([sys.executable, "-m", "utilitune", "replay", str(data), "--resample", "500", "--json"])
    python = _start([sys.executable, "-c", "pass"])
    wall_s, cpu_s = (mine - theirs for mine, theirs in zip(ours, python, strict=True))
    _report("second start of utilitune replay, beyond Python's", f"{wall_s:.2f} s", "≤ 2 s", met=wall_s <= 2)
    _report("the same in CPU time, which other work disturbs less", f"{cpu_s:.2f} s")


def _start(command: list[str]) -> tuple[float, float]:
    """Wall and CPU time of the quickest of five starts, after a first one that does not count."""
    taken = []
    for _ in range(6):
        before = os.times()
        subprocess.run(command, capture_output=True, check=True)
        after = os.times()
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        taken.append((after.elapsed - before.elapsed, cpu_s))
    return min(taken[1:])


if __name__ == "__main__":
    main()

"""What `wager` saves against the paper's procedures, and how fast it plays.

All ratios are of total time (seconds of the configured programs), on the same data in the same order:

- OUP (new doubling rule, first captime k0/60) against `wager` until ε = 0.2, 0.1 and 0.05 are proved with
  δ = 0.1, for log-Laplace and uniform utility, on ASlib scenarios with columns resampled to 100 000 and on
  synthetic 1 000 × 20 000 matrices; k0 is 60 s, or the median finished runtime where 60 s lies outside the
  middle 80 % of finished runtimes;
- COUP with its default schedule and δ = 0.01 against `wager` with the same phases, at every phase;
- ε after at most N = 200 instances drawn without replacement, with up to 50 configurations.

Scenarios beside the repository are used where they exist. Captimes of `wager` end at the recorded cutoff.
"""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from utilitune import RuntimeMatrix, Utility, read_matrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import SCHEDULES, FixedSet, Phases
from utilitune.procedures.paper.engine import PaperSettings, coup, oup
from utilitune.procedures.wager import WagerEngine, WagerSettings
from utilitune.utility import LogLaplace, Uniform

if TYPE_CHECKING:
    from utilitune.procedures.engine import Engine

SCENARIOS = Path(__file__).resolve().parents[2] / "shared" / "data"
EPSILONS = (0.2, 0.1, 0.05)
SYNTHETIC = (
    "synthetic:rows=1000,columns=20000,seed=1,cutoff_s=7200",
    "synthetic:rows=1000,columns=20000,seed=2,hardness=0.8,noise=0.9,median_s=20,cutoff_s=7200",
    "synthetic:rows=1000,columns=20000,seed=3,hardness=2,spread=0.4,noise=0.6,median_s=20,cutoff_s=7200",
)
ENDLESS = PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62)


def main() -> None:
    scenarios = [(path.name, read_matrix(str(path))) for path in sorted(SCENARIOS.glob("*/"))]
    synthetic = [(f"synthetic {number}", read_matrix(text)) for number, text in enumerate(SYNTHETIC, 1)]
    resampled = [(name, matrix.resample(100_000, seed=1)) for name, matrix in scenarios]
    if ratios := _against_oup(resampled):
        report("OUP/wager on scenarios, geometric mean", statistics.geometric_mean(ratios), 30.0)
        report("OUP/wager on scenarios, least", min(ratios), 15.0)
    ratios = _against_oup(synthetic)
    report("OUP/wager on synthetic data, geometric mean", statistics.geometric_mean(ratios), 30.0)
    report("OUP/wager on synthetic data, least", min(ratios), 10.0)
    _against_coup(synthetic)
    _finite(scenarios + synthetic)
    _speed()


def report(figure: str, measured: float, target: float, *, at_most: bool = False) -> None:
    met = measured <= target if at_most else measured >= target
    relation = "≤" if at_most else "≥"
    print(f"{figure:58} {measured:12.3g} {relation}{target:>8g}  {'ok' if met else 'MISSED'}", flush=True)


def _utilities(matrix: RuntimeMatrix) -> tuple[Utility, ...]:
    finished = matrix.runtimes_s[np.isfinite(matrix.runtimes_s)]
    low, median, high = np.quantile(finished, [0.1, 0.5, 0.9])
    k0 = 60.0 if low <= 60.0 <= high else float(median)
    return LogLaplace(k0), Uniform(k0)


def _first_captime_s(utility: Utility) -> float:
    return float(utility.k0) / 60.0  # type: ignore[attr-defined]


def _play(engine: Engine, rows: int, pause: PauseAt = ENDLESS) -> Halt:
    """Play with rows as random draws, as far as they reach."""
    while (halt := engine.advance(pause)) is Halt.NEEDS_CONFIGURATIONS:
        if engine.added + engine.missing_configurations > rows:
            engine.no_more()
        else:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
    return halt


# -- against OUP ---------------------------------------------------------------------------------------


def _against_oup(matrices: list[tuple[str, RuntimeMatrix]]) -> list[float]:
    ratios = []
    for name, matrix in matrices:
        for utility in _utilities(matrix):
            evidence, first_s = RecordedEvidence(matrix, utility), _first_captime_s(utility)
            for epsilon in EPSILONS:
                paper = PaperSettings(delta=0.1, epsilon=epsilon, captime0_s=first_s)
                theirs = oup(evidence, utility, paper, matrix.rows)
                _play(theirs, matrix.rows)
                if theirs.stop_reason().code == "instances-exhausted":
                    print(f"{name}, {utility}, ε = {epsilon}: OUP runs out of instances")
                    continue
                ours = _wager(evidence, utility, matrix, epsilon)
                ratios.append(theirs.progress().total_time_s / ours.progress().total_time_s)
                print(f"{name}, {utility}, ε = {epsilon}: {ratios[-1]:.1f}", flush=True)
    return ratios


def _wager(
    evidence: RecordedEvidence,
    utility: Utility,
    matrix: RuntimeMatrix,
    epsilon: float,
    *,
    finite: bool = False,
) -> WagerEngine:
    settings = WagerSettings(
        delta=0.1,
        epsilon=epsilon,
        captime0_s=_first_captime_s(utility),
        captime_limit_s=matrix.cutoff_s,
        finite_population=finite,
        growth=FixedSet(matrix.rows),
    )
    engine = WagerEngine(evidence, utility, settings)
    _play(engine, matrix.rows)
    return engine


# -- against COUP --------------------------------------------------------------------------------------


def _against_coup(matrices: list[tuple[str, RuntimeMatrix]]) -> None:
    last, least = [], []
    schedule = SCHEDULES["default"]
    for name, matrix in matrices:
        for utility in _utilities(matrix):
            evidence, first_s = RecordedEvidence(matrix, utility), _first_captime_s(utility)
            theirs = coup(evidence, utility, PaperSettings(delta=0.01, captime0_s=first_s), schedule)
            settings = WagerSettings(
                delta=0.01,
                captime0_s=first_s,
                captime_limit_s=matrix.cutoff_s,
                growth=Phases(schedule),
                given=False,
                chosen=False,
            )
            ours = WagerEngine(evidence, utility, settings)
            _play(theirs, matrix.rows)
            _play(ours, matrix.rows)
            ratios = [
                a.total_time_s / b.total_time_s for a, b in zip(theirs.phases, ours.phases, strict=True)
            ]
            print(f"{name}, {utility}, COUP by phase:", *(f"{ratio:.1f}" for ratio in ratios), flush=True)
            last.append(ratios[-1])
            least.append(min(ratios))
    report("COUP/wager at the last phase, least", min(last), 10.0)
    report("COUP/wager at any phase, least", min(least), 1.0)


# -- finite lists --------------------------------------------------------------------------------------


def _finite(matrices: list[tuple[str, RuntimeMatrix]]) -> None:
    worst = 0.0
    for name, matrix in matrices:
        generator = np.random.default_rng(1)
        rows = np.sort(generator.permutation(matrix.rows)[:50])
        columns = generator.permutation(len(matrix.instances))[:200]
        small = RuntimeMatrix.from_array(matrix.runtimes_s[np.ix_(rows, columns)], matrix.cutoff_s)
        for utility in _utilities(matrix):
            engine = _wager(RecordedEvidence(small, utility), utility, small, 0.05, finite=True)
            progress = engine.progress()
            share = progress.runs / (small.rows * 200)
            worst = max(worst, progress.epsilon)
            print(
                f"{name}, {utility}, 200 instances: ε = {progress.epsilon:.4f} with {share:.0%} of all runs",
                flush=True,
            )
    report("ε on 200 instances, largest", worst, 0.05, at_most=True)


# -- speed ---------------------------------------------------------------------------------------------


def _speed() -> None:
    for rows, columns, rounds, target in ((1_000, 20_000, 15_000, 15.0), (100_000, 200, 500_000, 30.0)):
        matrix = read_matrix(f"synthetic:rows={rows},columns={columns},seed=1,cutoff_s=7200")
        utility = LogLaplace(60.0)
        evidence = RecordedEvidence(matrix.resample(20_000, seed=1), utility)
        settings = WagerSettings(
            delta=0.1, epsilon=0.03, captime_limit_s=matrix.cutoff_s, growth=FixedSet(rows)
        )
        engine = WagerEngine(evidence, utility, settings)
        _play(engine, rows, PauseAt(rounds=100, total_time_s=math.inf, runs=2**62))
        started = time.process_time()
        engine.advance(PauseAt(rounds=rounds, total_time_s=math.inf, runs=2**62))
        taken_s = time.process_time() - started
        microseconds = taken_s / (engine.progress().rounds - 100) * 1e6
        report(f"µs per round among {rows} configurations", microseconds, target, at_most=True)


if __name__ == "__main__":
    main()

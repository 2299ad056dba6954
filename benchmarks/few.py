"""What small spaces cost: seconds until ε = 0.05 and γ = 0.05 are proved with δ = 0.1.

Spaces of 9, 20 and 50 configurations with solver-like runtimes (log-Laplace, k0 = 10 s), on endless instances
and on a list of 200. `BEFORE_S` has what the version needed that drew configurations with replacement and ran
repeated ones anew, with the same spaces and orders.
"""

from __future__ import annotations

import statistics

import numpy as np
from benchmarks.wager import ENDLESS, report

from utilitune import RuntimeMatrix, read_matrix
from utilitune.procedures.engine import Halt, Origin
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings, is_worth_listing
from utilitune.utility import LogLaplace

DELTA, EPSILON, GAMMA = 0.1, 0.05, 0.05
CUTOFF_S = 1200.0
SIZES = (9, 20, 50)
KINDS = ((1.2, 0.5, 0.6), (0.8, 0.8, 0.9), (2.0, 0.4, 0.6), (1.5, 1.0, 0.4), (1.0, 0.6, 1.2))
"""Hardness, spread and noise of each space."""

BEFORE_S = {
    (False, 9): (415595.4, 569781.6, 2138609.6, 732301.1, 421704.2),
    (False, 20): (246126.5, 148279.3, 1042033.6, 98603.8, 206527.2),
    (False, 50): (217671.0, 43811.2, 500012.3, 154759.2, 324124.3),
    (True, 9): (479887.4, 57464.5, 228426.3, 40730.2, 118427.7),
    (True, 20): (259682.2, 128149.6, 330064.2, 92774.8, 94213.9),
    (True, 50): (191612.9, 30678.9, 302465.0, 20871.0, 34146.0),
}


def main() -> None:
    for finite in (False, True):
        for size in SIZES:
            before = BEFORE_S[finite, size]
            ratios = [before[number] / seconds_s(size, number, finite=finite) for number in range(len(KINDS))]
            where = "a list of 200" if finite else "endless instances"
            print(f"{size} configurations, {where}:", *(f"{ratio:.1f}" for ratio in ratios), flush=True)
            report(f"{size} configurations, {where}", statistics.geometric_mean(ratios), 4.0)


def seconds_s(size: int, number: int, *, finite: bool) -> float:
    """Total time of `wager` on one space, as a live run would draw it."""
    utility = LogLaplace(10.0)
    listed = is_worth_listing(size, DELTA, GAMMA, finite=finite)
    settings = WagerSettings(
        delta=DELTA,
        epsilon=EPSILON,
        gamma=GAMMA,
        captime_limit_s=CUTOFF_S,
        finite_population=finite,
        growth=Adaptive(),
        announced_gamma=GAMMA,
        given=False,
        space_size=size,
        listed=listed,
    )
    evidence = RecordedEvidence(_space(size, number, columns=200 if finite else 20_000), utility)
    engine = WagerEngine(evidence, utility, settings)
    generator = np.random.default_rng([number, size, 5])
    rows = generator.permutation(size) if listed else generator.integers(0, size, 4000)
    drawn = iter(rows.tolist())
    while engine.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
        for _ in range(engine.missing_configurations):
            engine.add(Origin.RANDOM, configuration=next(drawn))
    return engine.progress().total_time_s


def _space(size: int, number: int, columns: int) -> RuntimeMatrix:
    hardness, spread, noise = KINDS[number]
    shape = f"rows={size},columns={columns},seed={100 + number}"
    kind = f"hardness={hardness},spread={spread},noise={noise},median_s=10,cutoff_s={CUTOFF_S:g}"
    return read_matrix(f"synthetic:{shape},{kind}")


if __name__ == "__main__":
    main()

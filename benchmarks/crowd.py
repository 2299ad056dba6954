"""What many workers waste, and what they cost the coordinator: simulated on 1 000 × 20 000 runs to ε = 0.1.

*Useful* is the seconds that one worker spends, divided by all seconds that were spent. The coordinator's rate
is the number of completions that our own code handles per second of its own CPU time: it decides what is
needed next, what is likely, and begins it. Runs of milliseconds keep it as busy as it can be.
"""

from __future__ import annotations

from benchmarks.wager import SYNTHETIC, _utilities

from utilitune import ProcedureSpec, read_matrix
from utilitune.execution.simulated_cluster import Conditions
from utilitune.replaying.crowd import simulate
from utilitune.replaying.recording import Recording

WORKERS = (10, 100, 1000)
TARGETS = {100: 0.90, 1000: 0.70}
CONDITIONS = Conditions(latency_s=0.005, mtbf_s=6 * 3600.0)
SHORT = "synthetic:rows=1000,columns=20000,seed=1,median_s=0.005,cutoff_s=7.2"


def main() -> None:
    """Run everything; a few minutes."""
    for number, text in enumerate(SYNTHETIC, 1):
        matrix = read_matrix(text)
        for utility in _utilities(matrix):
            _useful(f"synthetic {number}, {utility}", Recording.of(matrix, utility))
    _coordinator()


def _specification(utility_k0: float = 60.0) -> ProcedureSpec:
    return ProcedureSpec(delta=0.1, epsilon=0.1, captime0_s=utility_k0 / 60.0)


def _useful(name: str, recording: Recording) -> None:
    k0 = float(recording.utility.k0)  # type: ignore[attr-defined]
    for found in simulate(recording, _specification(k0), WORKERS, CONDITIONS, seed=None):
        target = TARGETS.get(found.workers)
        met = "" if target is None else f"≥ {target:.0%}  {'ok' if found.useful >= target else 'MISSED'}"
        print(
            f"{name}, {found.workers} workers: useful {found.useful:.1%} {met}; speed-up "
            f"{found.speed_up:.1f}, busy {found.busy:.0%}, {found.wall_s:.0f} s on the clock, "
            f"{found.runs:,} runs for {found.runs_needed:,}",
            flush=True,
        )


def _coordinator() -> None:
    recording = Recording.of(SHORT, "log-laplace(k0=0.06)")
    for found in simulate(recording, _specification(0.06), (100, 1000), CONDITIONS, seed=None):
        rate = 1.0 / found.own_cpu_s
        met = "ok" if rate >= 3000 else "MISSED"
        print(
            f"{found.workers} workers, runs of {1e3 * found.workers / found.completions_per_s:.0f} ms: "
            f"{rate:,.0f} completions per second of our own CPU time ≥ 3,000  {met}; useful "
            f"{found.useful:.1%}, coordinator at work {found.coordinator:.0%} of the time",
            flush=True,
        )


if __name__ == "__main__":
    main()

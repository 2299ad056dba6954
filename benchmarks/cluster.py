"""What a cluster costs: the share of the workers' time inside short runs, on Dask and without it.

Two Dask workers on this machine make runs of 50 ms; plain processes do the same in the same minute. Random
SIGKILLs of workers, scheduler and coordinator are made by ``python -m faults.clusters`` (``make faults``).
"""

from __future__ import annotations

from benchmarks.live import WORKERS, line, share_inside

RUNS = 600


def main() -> None:
    """Run everything; a minute or two."""
    here = share_inside(RUNS)
    line("plain processes: inside 50 ms runs", f"{here:.1%}", ">= 90 %", here >= 0.9)
    there = share_inside(RUNS, f"local:{WORKERS}")
    line("2 Dask workers: inside 50 ms runs", f"{there:.1%}", ">= 80 %", there >= 0.8)

"""Many jobs on several cores, each result kept as a file: what is known is not computed again.

Results lie in ``cache/`` of the output folder, named by the fingerprint of their job. Jobs with the same
utility function follow each other, so that a worker lays out its runs once for all of them. Jobs of a
procedure wait until the first of them is done: it compiles what they all need, which takes longer than
most jobs do, and they find it on disk. Workers end with the process that started them, however it ends.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.reports.helpers import end_with_the_parent
from utilitune.reports.reproduction.jobs import Outcome, run_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from utilitune.reports.reproduction.jobs import FigureJob

CACHE = "cache"
_LONGEST_TO_COMPILE = "wager"


def run_jobs(
    jobs: Iterable[FigureJob], folder: Path, workers: int, on_job: Callable[[int, int], None] | None = None
) -> dict[str, Outcome]:
    """The outcomes of all jobs, by key.

    Args:
        jobs: What to run; those with the same key are run once.
        folder: Where results are kept.
        workers: How many jobs at once.
        on_job: Called with the number of jobs that are done and of all, whenever one more is.
    """
    wanted = {job.key(): job for job in jobs}
    place = folder / CACHE
    place.mkdir(parents=True, exist_ok=True)
    found = {key: outcome for key in wanted if (outcome := _kept(place / f"{key}.json")) is not None}
    missing = [(key, job) for key, job in wanted.items() if key not in found]
    missing.sort(key=_order)
    if on_job is not None:
        on_job(len(found), len(wanted))
    for key, outcome in _made(missing, workers):
        _keep(place / f"{key}.json", outcome)
        found[key] = outcome
        if on_job is not None:
            on_job(len(found), len(wanted))
    return found


def _order(entry: tuple[str, FigureJob]) -> tuple[str, str, bool]:
    """By utility function, and what takes longest to compile first."""
    job = entry[1]
    return job.source, job.utility, job.procedure != _LONGEST_TO_COMPILE


def _made(missing: list[tuple[str, FigureJob]], workers: int) -> Iterator[tuple[str, Outcome]]:
    if workers == 1 or len(missing) <= 1:
        for key, job in missing:
            yield key, run_job(job)
        return
    count = min(workers, len(missing))
    others = set(active_children())
    with ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=end_with_the_parent) as pool:
        try:
            yield from _made_by(pool, count, list(missing))
        except BrokenProcessPool:
            raise UsageError(
                "a worker was killed, perhaps for lack of memory: use --workers 1; what was done is kept"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.kill()
            raise


def _made_by(
    pool: Executor, workers: int, queue: list[tuple[str, FigureJob]]
) -> Iterator[tuple[str, Outcome]]:
    """Keep all workers busy, but let nobody compile what somebody else is compiling."""
    running: dict[Future[Outcome], tuple[str, FigureJob]] = {}
    compiled: set[str] = set()
    while queue or running:
        while queue and len(running) < workers:
            compiling = {job.procedure for _, job in running.values()} - compiled
            at = next((at for at, (_, job) in enumerate(queue) if job.procedure not in compiling), None)
            if at is None:
                break
            entry = queue.pop(at)
            running[pool.submit(run_job, entry[1])] = entry
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            key, job = running.pop(future)
            compiled.add(job.procedure)
            yield key, future.result()


def _kept(path: Path) -> Outcome | None:
    try:
        return Outcome.from_plain(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or cut short by a crash: it is computed again


def _keep(path: Path, outcome: Outcome) -> None:
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(outcome.plain(), separators=(",", ":")), encoding="utf-8")
    partial.replace(path)

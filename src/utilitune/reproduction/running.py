"""Many jobs on several cores, each result kept as a file: what is known is not computed again.

Results lie in ``cache/`` of the output folder, named by the fingerprint of their job. Jobs with the same
utility function follow each other, so that a worker lays out its runs once for all of them.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

from utilitune.reproduction.jobs import Outcome, run_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from utilitune.reproduction.jobs import Job

CACHE = "cache"


def run_jobs(
    jobs: Iterable[Job], folder: Path, workers: int, on_job: Callable[[int, int], None] | None = None
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
    missing.sort(key=lambda entry: (entry[1].source, entry[1].utility))
    if on_job is not None:
        on_job(len(found), len(wanted))
    for key, outcome in _made(missing, workers):
        _keep(place / f"{key}.json", outcome)
        found[key] = outcome
        if on_job is not None:
            on_job(len(found), len(wanted))
    return found


def _made(missing: list[tuple[str, Job]], workers: int) -> Iterable[tuple[str, Outcome]]:
    if workers == 1 or len(missing) <= 1:
        for key, job in missing:
            yield key, run_job(job)
        return
    with ProcessPoolExecutor(min(workers, len(missing)), mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run_job, job): key for key, job in missing}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _kept(path: Path) -> Outcome | None:
    try:
        return Outcome.from_plain(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or cut short by a crash: it is computed again


def _keep(path: Path, outcome: Outcome) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(outcome.plain(), separators=(",", ":")), encoding="utf-8")
    partial.replace(path)

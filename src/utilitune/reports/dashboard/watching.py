"""Runs that are being watched: read in one thread, told to whoever asks.

A watched run is read only, through a connection that holds no lock between two looks, so its writer never
waits. A look first asks for a number that changes with every write; only if it did is anything read, and then
only what is new. What the page needs is made once per look, however many browsers are open.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from utilitune.errors import UtilituneError
from utilitune.live.task import Task
from utilitune.reports import document
from utilitune.reports.configuration import configuration_facts
from utilitune.reports.contest import contest_of_run
from utilitune.reports.dashboard import working_out
from utilitune.reports.digest import RunDigest
from utilitune.reports.distributions import configuration_distribution
from utilitune.reports.heldout import heldout_of
from utilitune.store import read_run_folder
from utilitune.store.sqlite_errors import DATABASE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from utilitune.reports.contest import Contest
    from utilitune.store import RunFolderReader

LOOK_EVERY_S = 1.0
"""Seconds between two looks at a run."""

REST_SHARE = 200.0
"""How much longer than the server's CPU time the watcher rests, so that the runs lose next to nothing."""

_LONGEST_REST_S = 15.0
_SETTLING = 2  # looks that read everything once, and are not made up for

UNKNOWN_IMPORTANCE: dict[str, Any] = {"rows": [], "skill": 0.0, "note": "", "runs": 0, "made_at": 0.0}
"""What is known of the importance of parameters before it is worked out."""

_TIMELINE = 1_500
_MOST_RUNS = 5_000


@dataclass(slots=True)
class _Look:
    """What the last look found."""

    overview: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    changes: object = None
    problem: str = ""


class WatchedRun:
    """One run folder, looked at again and again by one thread and asked by others.

    Args:
        folder: The run folder.

    Attributes:
        folder: The same.
        revision: Grows whenever a look found something new; 0 before the first.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.revision = 0
        self._lock = threading.Lock()
        self._store: RunFolderReader | None = None
        self._file: tuple[int, int] | None = None
        self._opened = 0
        self._task: Task | None = None
        self._digest: RunDigest | None = None
        self._last = _Look()
        self._importance = UNKNOWN_IMPORTANCE

    # -- in the thread that looks ------------------------------------------------------------------

    def look(self) -> bool:
        """Look once; whether there is something new to show."""
        try:
            found = self._looked()
        except UtilituneError as error:
            self._close()
            found = _Look(problem=str(error)) if str(error) != self._last.problem else None
        if found is None:
            return False
        with self._lock:
            self._last = found
            self.revision += 1
        return True

    def _looked(self) -> _Look | None:
        there = _file_of(self.folder)
        if self._store is not None and there != self._file:  # deleted, or made anew: what is open is no more
            self._close()
        if self._store is None:
            self._store, self._file = read_run_folder(self.folder), there
            self._opened += 1
            self._task = Task.stored(self._store)
        store, task = self._store, self._task
        if task is None:
            raise RuntimeError("a store is open without its task")
        owner = store.owner()
        changes = (store.changes(), owner, store.stop_requested(), store.pause_requested())
        first = self._digest is None
        if not first and changes == self._last.changes:
            return None
        overview = document.overview(store, self.folder, task, owner)
        overview |= {"stopping": store.stop_requested(), "paused": store.pause_requested()}
        overview["opened"] = self._opened  # another number means that it is another run
        if first:  # what takes long comes with the second look, a moment later
            self._digest = RunDigest(store, task)
            return _Look(overview)
        with self._lock:
            digest = self._digest
            if digest is None:
                raise RuntimeError("the first look makes the digest")
            digest.read(store)
            details = document.details(store, task, digest, _TIMELINE)
        details["failures"] = document.failures(store, overview)
        return _Look(overview, details, changes)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = self._digest = None
        self._importance = UNKNOWN_IMPORTANCE

    # -- for whoever asks --------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """Whether all runs have been read once."""
        return bool(self._last.details)

    def summary(self) -> dict[str, Any]:
        """What a list of runs shows; at once, also while all runs are being read."""
        revision, last = self.revision, self._last
        return {
            "folder": str(self.folder),
            "revision": revision,
            "problem": last.problem,
            "complete": bool(last.details),
            **last.overview,
        }

    def contest(self) -> Contest:
        """Its configurations, to be ranked under any utility; quick once all runs have been read.

        Raises:
            UtilituneError: It cannot be read, has no configuration, or is about the quality of solutions.
        """
        with self._lock if self.is_complete else contextlib.nullcontext():
            digest = self._digest if self.is_complete else None
            return contest_of_run(self.folder, None if digest is None else digest.evidence)

    def utility_text(self) -> str:
        """The utility that the run was made for, as its scenario says it.

        Raises:
            UtilituneError: The run cannot be read.
        """
        with contextlib.closing(read_run_folder(self.folder)) as store:
            return str(store.snapshot.scenario["utility"])

    def whole(self) -> dict[str, Any]:
        """Everything; of the importance of parameters, what was worked out last."""
        with self._lock:
            last, digest, task = self._last, self._digest, self._task
            if digest is None or task is None or not last.details:
                return {"revision": self.revision, "complete": False, **last.overview}
            numbers = range(len(digest.records))
            plain = {
                "revision": self.revision,
                "digest_revision": digest.revision,
                "complete": True,
                **last.overview,
                **last.details,
                "configurations": document.configurations(task, digest, numbers),
                "parameters": document.parameters(task),
                "importance": self._importance,
            }
        answer = last.overview.get("answer")
        with contextlib.closing(read_run_folder(self.folder)) as store:
            plain["about"] = document.about(store, Task.stored(store))
        plain["heldout"] = None if answer is None else heldout_of(self.folder, answer["number"])
        return plain

    def update(self, since: int) -> dict[str, Any]:
        """What is new after this revision of the digest: numbers, and the rows that have changed."""
        with self._lock:
            last, digest, task = self._last, self._digest, self._task
            plain = {"revision": self.revision, "folder": str(self.folder), "problem": last.problem}
            if digest is None or task is None or not last.details:
                return {**plain, **last.overview, "complete": False}
            numbers = digest.changed_since(since)
            return {
                **plain,
                **last.overview,
                **last.details,
                "complete": True,
                "since": since,
                "digest_revision": digest.revision,
                "configurations": document.configurations(task, digest, numbers),
            }

    def importance(self) -> dict[str, Any]:
        """How much each parameter matters, by all runs read so far: worked out now, which takes seconds."""
        with working_out.ONE_AT_A_TIME:
            with self._lock:
                digest, task = self._digest, self._task
                if digest is None or task is None or not self._last.details:
                    return UNKNOWN_IMPORTANCE
                runs = digest.count
                if runs == self._importance["runs"]:
                    return self._importance
                rows = [
                    (dict(record.assignment), each.mean or 0.0, each.runs) for record, each in digest.judged()
                ]
            found = working_out.importance_apart(task.space, rows)
            self._importance = {**found, "runs": runs, "made_at": time.time()}
            return self._importance

    def configuration(self, number: int) -> dict[str, Any]:
        """One configuration with its latest runs.

        Raises:
            UtilituneError: There is no such configuration.
        """
        with contextlib.closing(read_run_folder(self.folder)) as store:
            task = Task.stored(store)
            facts = configuration_facts(store, number, task)
        with self._lock:
            of_worth = task.scenario.quality is not None
            curve = (
                {"t": [], "p": [], "end": 0.0, "runs": 0, "stopped": 0}
                if self._digest is None
                else configuration_distribution(self._digest, number, of_worth=of_worth)
            )
        plain = facts.to_dict()
        return {
            **plain,
            "number": number,
            "runs": plain["runs"][-_MOST_RUNS:],
            "distribution": curve,
            "of": "worth" if of_worth else "runtime",
        }


def _file_of(folder: Path) -> tuple[int, int] | None:
    """Which file holds a run: a folder that is deleted and made again holds another one."""
    try:
        found = (folder / DATABASE_NAME).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Watcher:
    """Looks at runs in a thread of its own until it is stopped.

    Args:
        runs: What to look at.
        on_news: Called in that thread with the number of a run that has news.
    """

    def __init__(self, runs: Sequence[WatchedRun], on_news: Callable[[int], None]) -> None:
        self.runs = tuple(runs)
        self._on_news = on_news
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watching runs", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()
        self._thread.join(timeout=10.0)

    def _work(self) -> None:
        cpu_s = time.process_time()
        for turn in itertools.count():
            began = time.monotonic()
            for number, run in enumerate(self.runs):
                if self._stop.is_set():
                    return
                if run.look():
                    self._on_news(number)
            rest_s = 0.0 if turn == 0 else LOOK_EVERY_S - (time.monotonic() - began)
            before_s, cpu_s = cpu_s, time.process_time()  # with what pages that are open have asked for
            if turn >= _SETTLING:
                rest_s = max(rest_s, min(_LONGEST_REST_S, REST_SHARE * (cpu_s - before_s)))
            if self._stop.wait(max(0.05, rest_s)):
                return

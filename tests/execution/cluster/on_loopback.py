"""A Dask cluster on this machine, as somebody else would have started it: a scheduler and workers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from utilitune.execution.cluster.backend import DaskBackend
from utilitune.execution.cluster.places import Cluster, RunningCluster
from utilitune.execution.watcher import guarded

PATIENCE_S = 120.0


class DaskOnLoopback:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, workers: int = 0) -> None:
        self._stack = contextlib.ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self.workers: list[subprocess.Popen] = []
        self.scheduler: subprocess.Popen
        self.address = ""
        self.start_scheduler()
        for _ in range(workers):
            self.add_worker()

    def start_scheduler(self) -> None:
        file = self.folder / f"scheduler-{time.monotonic_ns()}.json"
        self.scheduler = self._start("scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}")
        self.address = until(lambda: address_in(file))

    def add_worker(self, slots: int = 1, memory: str = "0", **environment: str) -> subprocess.Popen:
        options = ("--no-nanny", f"--nthreads={slots}", f"--memory-limit={memory}", "--host=127.0.0.1")
        options += ("--death-timeout=60",)
        folder = f"--local-directory={self.folder}"
        worker = self._start("worker", self.address, *options, folder, **environment)
        self.workers.append(worker)
        return worker

    def kill_worker(self, which: int = 0) -> subprocess.Popen:
        worker = self.workers.pop(which)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        return worker

    def backend(self, slots: int, **options) -> DaskBackend:
        """A backend once all its slots are there."""
        cluster = Cluster(self.address, RunningCluster(self.address), **options)
        backend = DaskBackend(cluster)
        until(lambda: backend.free_slots >= slots)
        return backend

    def close(self) -> None:
        self._stack.close()

    def _start(self, what: str, *arguments: str, **environment: str) -> subprocess.Popen:
        argv = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *arguments]
        with (self.folder / "log").open("ab") as log:
            process = guarded(argv, stdout=log, stderr=log, env={**os.environ, **environment})
            return self._stack.enter_context(process)


def address_in(file: Path) -> str:
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


def until(found, patience_s: float = PATIENCE_S):
    """Wait for something to be there."""
    deadline_s = time.monotonic() + patience_s
    while not (value := found()):
        assert time.monotonic() < deadline_s, "it never came"
        time.sleep(0.02)
    return value


def collect(backend, count: int) -> list:
    ended = []
    while len(ended) < count:
        ended += backend.wait(PATIENCE_S)
    return ended

"""Random SIGKILLs of the workers, the scheduler and the coordinator of a cluster, and what must hold then.

``python -m faults.clusters --kills 60``: a run of a small scenario on two Dask workers. After every kill,
what was stored is still there, as it was and once, and no solver is left of what was killed. What was killed
is started again, and the run goes on to its end.
"""

from __future__ import annotations

import argparse
import collections
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from end_to_end.killing import count, told, write_scenario
from execution.cluster.on_loopback import DaskOnLoopback

WHOM = ("worker", "scheduler", "coordinator")
PATIENCE_S = 60.0
WORKERS = 2
PAUSE = "0.02 + 0.08 * (instance % 4 == 0)"
PROCEDURE = 'name = "oup"\nconfigurations = 8'


class Trial:
    """A run on a cluster whose parts are killed.

    Args:
        place: Where everything lies.
        seed: What decides whom, and when.
        runs: How many runs are made in all.
    """

    def __init__(self, place: Path, seed: int, runs: int) -> None:
        self.folder = place / "run"
        self.killed: collections.Counter[str] = collections.Counter()
        self._place = place
        self._chance = random.Random(seed)
        self._runs = runs
        self._cluster = DaskOnLoopback(WORKERS)
        self._scenario = write_scenario(place, runs, PROCEDURE, pause=PAUSE, instances=runs)
        self._log = (place / "coordinator.log").open("ab")
        self._coordinator = self._started()

    def disturb(self, whom: str) -> None:
        """Kill somebody at a random moment, check everything, and start them again."""
        before = told(self.folder) if count(self.folder) else []
        self._await_runs(len(before) + self._chance.randint(1, 6))
        time.sleep(self._chance.uniform(0.0, 0.1))
        if self._coordinator.poll() is not None:
            return
        self.killed[whom] += 1
        if whom == "worker":
            self._cluster.kill_worker(self._chance.randrange(WORKERS))
            self._cluster.add_worker()
        elif whom == "coordinator":
            self._coordinator.send_signal(signal.SIGKILL)
            self._coordinator.wait()
            self._await_silence()
        else:
            self._cluster.scheduler.send_signal(signal.SIGKILL)
            if self._coordinator.wait(PATIENCE_S) == 0:
                return  # its last run was just stored
            self._await_silence()
            self._cluster.close()
            self._cluster = DaskOnLoopback(WORKERS)
        if self._coordinator.poll() is not None:
            self._coordinator = self._started()
        self.check(before)

    def finish(self) -> list[tuple]:
        """Let the run come to its end; returns what is stored."""
        assert self._coordinator.wait(10 * PATIENCE_S) == 0, (self._place / "coordinator.log").read_text()
        self._await_silence()
        stored = told(self.folder)
        self.check(stored)
        assert len(stored) == self._runs, len(stored)
        return stored

    def check(self, before: list[tuple]) -> None:
        """Everything that was stored is still there, nothing is there twice, and every figure is right."""
        now = told(self.folder) if before else []
        assert now[: len(before)] == before
        requests = [run[:3] for run in now]
        assert len(set(requests)) == len(requests)

    def close(self) -> None:
        """End everything."""
        self._coordinator.kill()
        self._coordinator.wait()
        self._cluster.close()
        self._log.close()

    def _started(self) -> subprocess.Popen:
        argv = ["run", str(self._scenario), "--folder", str(self.folder), "--cluster", self._cluster.address]
        command = [sys.executable, "-m", "utilitune", *argv, "--plain"]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log)

    def _await_runs(self, number: int) -> None:
        deadline_s = time.monotonic() + 10 * PATIENCE_S
        while count(self.folder) < number and self._coordinator.poll() is None:
            assert time.monotonic() < deadline_s, "no more runs came"
            time.sleep(0.02)

    def _await_silence(self) -> None:
        """Solvers whose coordinator or scheduler was killed end by themselves."""
        deadline_s = time.monotonic() + PATIENCE_S
        while left := solvers(self._place):
            assert time.monotonic() < deadline_s, left
            time.sleep(0.05)


def solvers(place: Path) -> list[int]:
    """Who is alive of those that run the target in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            is_ours = entry.name.isdigit() and (entry / "cwd").readlink() == place
            if is_ours and b"target.py" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def tried(place: Path, seed: int, kills: int, runs: int) -> collections.Counter[str]:
    """Kill everybody in turn, in a random order, and let the run finish; returns who was killed how often."""
    trial = Trial(place, seed, runs)
    chance = random.Random(seed)
    try:
        while trial.killed.total() < kills:
            before = trial.killed.total()
            for whom in chance.sample(WHOM, len(WHOM))[: kills - before]:
                trial.disturb(whom)
            if trial.killed.total() == before:
                break  # it has come to its end
        trial.finish()
    finally:
        trial.close()
    return trial.killed


def main() -> None:
    """Many kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="how many in all")
    parser.add_argument("--seed", type=int, default=0, help="what decides whom, and when")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        killed = tried(Path(place).resolve(), chosen.seed, chosen.kills, runs=12 * chosen.kills)
    sys.stdout.write(
        f"{killed.total()} SIGKILLs on a cluster: {dict(killed)}; nothing lost, doubled or left\n"
    )


if __name__ == "__main__":
    main()

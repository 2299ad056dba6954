"""``make fuzz``: spoiled inputs for every reader, for as long as one likes.

Every reader gets the same CPU time. Each batch runs in a process of its own with limited memory. What goes
wrong is written to a folder, the input beside what happened, and the exit code is 1. How far it came stands
in a file beside that folder, and the next start with the same folder goes on from there.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

from fuzzing import hunting
from fuzzing.subjects import SUBJECTS

_BATCH = 20_000
_BATCH_S = 2.0
_LONGEST_BATCH_S = 900.0


def _batch(name: str, seed: int, folder: Path, answer: multiprocessing.connection.Connection) -> None:
    hunting.limit_memory()
    most_cpu_s = time.process_time() + _BATCH_S
    answer.send(hunting.hunt(name, seed, _BATCH, folder, most_cpu_s))


def _one_batch(name: str, seed: int) -> tuple[int, dict[str, bytes]]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # ours to remove: the process may be killed
        return _in_a_process(name, seed, Path(folder))


def _in_a_process(name: str, seed: int, folder: Path) -> tuple[int, dict[str, bytes]]:
    fork = multiprocessing.get_context("fork")
    reading, writing = fork.Pipe(duplex=False)
    process = fork.Process(target=_batch, args=(name, seed, folder, writing))
    process.start()
    writing.close()
    try:
        if reading.poll(_LONGEST_BATCH_S):
            return reading.recv()
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
    return 0, {f"the process ended with {process.exitcode} in batch {seed} of {name}": b""}


class _State:
    """How far it came."""

    def __init__(self, finds: Path, seed: int) -> None:
        self._file = Path(f"{finds}.json")
        self.seed, self.problems, self.tried = seed, 0, collections.Counter[str]()
        if self._file.exists():
            kept = json.loads(self._file.read_text())
            self.seed, self.problems = kept["seed"], kept["problems"]
            self.tried.update(kept["tried"])

    def write(self) -> None:
        state = {"inputs": self.tried.total(), "problems": self.problems, "seed": self.seed}
        self._file.write_text(json.dumps({**state, "tried": self.tried}))


def main() -> int:
    """Fuzz until enough inputs were tried or the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many inputs to try in all")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this long")
    parser.add_argument("--seed", type=int, default=0, help="where the random inputs begin")
    parser.add_argument("--only", default="", help="subjects, separated by commas")
    parser.add_argument("--finds", type=Path, default=Path("finds"), help="where to write what goes wrong")
    chosen = parser.parse_args()
    hunting.watch()
    names = [name for name in SUBJECTS if not chosen.only or name in chosen.only.split(",")]
    state, deadline_s = _State(chosen.finds, chosen.seed), time.monotonic() + 60 * chosen.minutes
    while state.tried.total() < chosen.inputs and time.monotonic() < deadline_s:
        for name in names:
            count, found = _one_batch(name, state.seed)
            state.tried[name] += count
            for problem, content in found.items():
                state.problems += 1
                chosen.finds.mkdir(exist_ok=True)
                place = chosen.finds / f"{name}-{hashlib.sha256(problem.encode()).hexdigest()[:10]}"
                place.with_suffix(".input").write_bytes(content)
                place.with_suffix(".txt").write_text(problem, errors="backslashreplace")
        state.seed += 1
        state.write()
    sys.stdout.write(f"{state.tried.total():,} inputs, {state.problems} problems\n")
    return 1 if state.problems else 0


if __name__ == "__main__":
    sys.exit(main())

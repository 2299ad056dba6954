"""``make faults``: many trials; says how many faults were injected and what did not hold.

What was found is kept in a file after every trial, and the next start with the same file goes on from there.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from faults.trials import ViolatedError, tried
from utilitune.procedures.naming import ProcedureSpec, warm_up
from utilitune.utility import parse_utility

_ENOUGH = 20
_FAULTS_PER_TRIAL = 5


def main() -> int:
    """Run trials until enough faults were injected or the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=500, help="how many faults to inject in all")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this long")
    parser.add_argument("--seed", type=int, default=0, help="where the random trials begin")
    parser.add_argument("--state", type=Path, help="a file that keeps what was found; goes on from it")
    chosen = parser.parse_args()
    warm_up(ProcedureSpec("oup"), parse_utility("uniform(k0=200ms)"))
    state = {"seed": chosen.seed, "trials": 0, "faults": {}, "problems": []}
    if chosen.state is not None and chosen.state.exists():
        state = json.loads(chosen.state.read_text())
    counted: collections.Counter[str] = collections.Counter(state["faults"])
    deadline_s = time.monotonic() + 60 * chosen.minutes
    while (
        counted.total() < chosen.faults and len(state["problems"]) < _ENOUGH and time.monotonic() < deadline_s
    ):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            try:
                counted.update(tried(Path(place), state["seed"], _FAULTS_PER_TRIAL))
            except ViolatedError as error:
                state["problems"].append(str(error))
                sys.stdout.write(f"{error}\n")
        state.update(seed=state["seed"] + 1, trials=state["trials"] + 1, faults=dict(counted))
        if chosen.state is not None:
            chosen.state.write_text(json.dumps(state, indent=1))
        sys.stdout.write(f"{counted.total()} faults, {len(state['problems'])} problems, user {os.getuid()}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{counted.total()} faults in {state['trials']} trials: {dict(counted)}\n")
    sys.stdout.write(f"{len(state['problems'])} trials in which something did not hold\n")
    return 1 if state["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())

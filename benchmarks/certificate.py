"""How long it takes to check a certificate of 100 000 observations.

The certificate is made up: random draws of a space of twelve parameters on a list of instances, each run on
its first instances, one configuration nominated and run on all of them. Everything a checker does is done.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from utilitune.certificate import read_certificate, verify, write_certificate
from utilitune.certificate.checking import _hashed
from utilitune.certificate.content import FORMAT, VERSION, chain_of, commitment_of, sealed
from utilitune.certificate.drawing import _draws
from utilitune.domain import Promise
from utilitune.spaces import ParameterSpace

SEED, DELTA, EPSILON, GAMMA = 7, 0.1, 0.5, 0.05
INSTANCES, DRAWS, EACH = 1000, 990, 100


def made_up() -> dict[str, Any]:
    """A valid certificate of 100 000 observations."""
    space = ParameterSpace.from_tables(
        {f"p{n}": {"type": "float", "range": [0.0, 1.0], "default": 0.5} for n in range(12)}
    )
    listed = [f"instances/number-{n:05}.cnf" for n in range(INSTANCES)]
    configurations = [{"origin": "default", "values": {**space.default()}, "first_position": 0}]
    configurations += [
        {"origin": "random", "values": dict(values), "first_position": 0}
        for values in _draws(space, SEED, 1, DRAWS)
    ]
    configurations.append(
        {"origin": "nominee", "values": {**space.default(), "p0": 0.1}, "first_position": 0}
    )
    runs = _runs(len(configurations))
    promise = Promise(EPSILON, DELTA, GAMMA, len(configurations), "finite")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "scenario": {"digest": "0" * 64, "name": "made up"},
        "seed": SEED,
        "delta": DELTA,
        "objective": {"kind": "runtime"},
        "utility": "uniform(k0=10)",
        "population": "finite",
        "space": json.dumps(space.to_tables()),
        "instances": {
            "listed": listed,
            "order": sorted(listed, key=lambda name: _hashed(SEED, "training", "order", name)),
            "contents": {},
        },
        "rules": {
            "fixed": None,
            "announced_gamma": None,
            "space_size": space.size,
            "default": True,
            "given": True,
            "chosen": True,
        },
        "entropy": "made up",
        "configurations": configurations,
        "nominations": [{"configuration": len(configurations) - 1, "first_position": 0}],
        "runs": runs,
        "chain": chain_of(runs, "runtime"),
        "promise": {
            "answer": len(configurations) - 1,
            "epsilon": EPSILON,
            "gamma": GAMMA,
            "gain": None,
            "condition": "",
            "sentence": promise.sentence(),
        },
        "versions": {},
    }
    return sealed({**content, "commitment": commitment_of(content)})


def _runs(configurations: int) -> dict[str, list[Any]]:
    """The nominee takes 1 s on every instance; all others take 3 to 20 s and are stopped after 8."""
    generator = np.random.default_rng(SEED)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("configuration", "position", "captime_s", "status", "runtime_s")
    }
    for number in range(configurations):
        nominee = number == configurations - 1
        count = INSTANCES if nominee else EACH
        times = np.full(count, 1.0) if nominee else generator.uniform(3.0, 20.0, count)
        finished = times < 8.0
        columns["configuration"] += [number] * count
        columns["position"] += range(count)
        columns["captime_s"] += [8.0] * count
        columns["status"] += ["finished" if each else "timeout" for each in finished]
        columns["runtime_s"] += np.where(finished, times, 8.0).tolist()
    return columns


def main() -> None:
    """Make one up, write it, and time how it is read and checked."""
    content = made_up()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "certificate.json.gz"
        write_certificate(content, path)
        began, began_cpu = time.monotonic(), time.process_time()
        verdict = verify(read_certificate(path))
        wall_s, cpu_s = time.monotonic() - began, time.process_time() - began_cpu
        size = path.stat().st_size
    count = len(content["runs"]["position"])
    print(verdict.reason)
    print(
        f"{count:,} observations, {size / 1e6:.1f} MB: read and checked in {wall_s:.2f} s ({cpu_s:.2f} s CPU)"
    )


if __name__ == "__main__":
    main()

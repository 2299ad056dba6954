"""What peers play on in these tests: rows on a line, a program on a virtual clock; and a peer of our own."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from utilitune import Recording, RuntimeMatrix, parse_utility
from utilitune.domain import Progress, StopReason
from utilitune.domain.stopping import Budget, finished
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.rivals.packages.arena import Arena
from utilitune.rivals.packages.live import Match, play_into
from utilitune.rivals.packages.peer import Peer
from utilitune.rivals.rival import RecordedRuns
from utilitune.scenario import CommandSpec, ListedInstances, Scenario
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.store import MemoryStore, Snapshot

BEST_ROW = 6
UTILITY = parse_utility("uniform(k0=10)")

SCENARIO = Scenario(
    name="toy",
    directory=Path(),
    target=CommandSpec(("true", "{parameters}", "{instance}")),
    space=ParameterSpace.from_tables(
        {
            "alpha": {"type": "float", "range": [0.1, 1.0], "default": 0.8},
            "extra": {"type": "categorical", "values": ["not at all", "yes"], "default": "not at all"},
            "depth": {
                "type": "integer",
                "range": [1, 100],
                "log": True,
                "default": 5,
                "when": "extra == 'yes'",
            },
            "speed": {"type": "ordinal", "values": [1, 2, 4], "default": 2},
        },
        [{"clause": "alpha > 0.9 and speed == 4"}],
    ),
    training=ListedInstances(tuple("123456789"), files=False),
    utility="uniform(k0=10)",
    max_captime_s=4.0,
    initial=(Assignment({"alpha": 0.5, "extra": "yes", "depth": 7, "speed": 1}),),
)

FEW = replace(
    SCENARIO,
    space=ParameterSpace.from_tables(
        {
            "alpha": {"type": "categorical", "values": [0.1], "default": 0.1},
            "extra": {"type": "categorical", "values": ["not at all"], "default": "not at all"},
            "speed": {"type": "ordinal", "values": [1, 2, 4], "default": 2},
        }
    ),
    initial=(),
)
"""The same program with three configurations in all."""


def rows_on_a_line(features: bool = True) -> RecordedRuns:
    """25 configurations with one feature; the one at 0.25, row 6, is the best."""
    places = np.linspace(0, 1, 25)
    means = 1 + 8 * np.abs(places - 0.25)
    runtimes_s = means[:, None] * np.random.default_rng(3).uniform(0.8, 1.2, (25, 200))
    matrix = RuntimeMatrix.from_array(runtimes_s, cutoff_s=20)
    runs = Recording.of(matrix, UTILITY).runs()
    return RecordedRuns(
        runs.evidence,
        runs.utility,
        runs.configurations,
        runs.positions,
        runs.limit_s,
        runs.order,
        places[:, None] if features else None,
    )


class Program:
    """Counts its runs; takes alpha seconds per unit of the instance, less with more speed."""

    def __init__(self) -> None:
        self.runs = 0
        self.words: list[tuple[str, ...]] = []

    def __call__(self, job) -> SimulatedRun:
        self.runs += 1
        self.words.append(job.task.argv)
        values = dict(word.removeprefix("--").split("=") for word in job.task.argv[1:-1])
        assert set(values) <= {"alpha", "extra", "depth", "speed"}
        assert ("depth" in values) == (values["extra"] == "yes")
        return SimulatedRun(float(values["alpha"]) * float(job.task.argv[-1]) / float(values["speed"]))


def fresh_store(match: Match) -> MemoryStore:
    return MemoryStore(Snapshot(match.scenario.snapshot(), match.scenario.digest()))


def played_live(
    peer: Peer,
    budget: Budget,
    store: MemoryStore | None = None,
    program: Program | None = None,
    scenario: Scenario | None = None,
) -> tuple[Progress, MemoryStore]:
    """Let a peer play on the toy scenario, on a virtual clock."""
    match = Match.of(scenario or SCENARIO, peer, budget)
    kept = store or fresh_store(match)
    with SimulatedBackend(2, program or Program()) as backend:
        return play_into(kept, backend, match), kept


@dataclass(frozen=True)
class Sweep(Peer):
    """Tries what is given and random configurations, each on all its instances."""

    instances: int = 4
    tries: int = 20

    name: ClassVar[str] = "sweep"

    @staticmethod
    def is_installed() -> bool:
        return True

    def require_installed(self) -> None:
        """It needs nothing."""

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        draws = arena.space.sample(np.random.default_rng(self.seed), self.tries)
        for assignment in (*arena.given, *draws):
            arena.run(arena.number(assignment), range(arena.positions))
            yield arena.leader()
        return finished("The sweep is over.")

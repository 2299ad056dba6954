"""What it saves to continue runs that were stopped at a captime which is raised later, on a real solver.

kissat, on formulas like those of the demo but larger, is configured twice from the same seed: once every
run that is wanted again is started afresh, once it is continued. Both go on until the instances are used up
or the same ε is proved. Runtimes differ a little between the two, and so do the decisions. So what was saved
is read from the one with pauses: what its runs would have cost without, and what they have cost. Prints both,
in CPU seconds, and the other run for comparison.

How much there is to save depends on the procedure: the paper's first doubling rule ("old") makes many runs
again, the new one fewer, and wager few or none.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.domain.stopping import Budget
from utilitune.live.events import RunEnded
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Scenario, read_scenario
from utilitune.scenario.demo.ordering import ordering_formula
from utilitune.scenario.demo.task import prepare
from utilitune.scenario.model import NO_SEARCH, StopRules

if TYPE_CHECKING:
    from utilitune.live.result import RunResult

SEEDS = (1, 2, 3)
WORKERS = 2
INSTANCES = 110
VERTICES = (50, 58)
PAUSE_BYTES = 2 << 30
MOST_RUNS = 2_000
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("oup", {"configurations": 2, "doubling": "old"}),
    ("oup", {"configurations": 2}),
    ("wager", {"configurations": 2}),
)
"""Procedures and their options."""


def main() -> None:
    """Run everything; about half an hour."""
    with tempfile.TemporaryDirectory() as place:
        demo = read_scenario(prepare(Path(place)))
        names = _formulas(Path(place))
        for procedure, options in CASES:
            for seed in SEEDS:
                _compare(_scenario(demo, names, seed, procedure, options))


def _formulas(folder: Path) -> tuple[str, ...]:
    """Formulas on which the default takes about a second."""
    generator = np.random.default_rng(7)
    names = []
    for number in range(INSTANCES):
        text = ordering_formula(
            int(generator.integers(*VERTICES)), int(generator.choice((4, 6, 8))), generator
        )
        names.append(f"larger-{number}.cnf")
        (folder / names[-1]).write_text(text)
    return tuple(names)


def _scenario(
    demo: Scenario, names: tuple[str, ...], seed: int, procedure: str, options: dict[str, Any]
) -> Scenario:
    return replace(
        demo,
        training=ListedInstances(names),
        test=None,
        utility="log-laplace(k0=2s, alpha=1)",
        procedure=procedure,
        options=options,
        stop=StopRules(epsilon=0.1),
        captime0_s=0.2,
        max_captime_s=1.6,
        delta=0.3,
        seed=seed,
        search=NO_SEARCH,
    )


def _compare(scenario: Scenario) -> None:
    paused = _played(replace(scenario, pause_memory_bytes=PAUSE_BYTES))
    afresh = _played(scenario)
    whole_s = paused.paid_s + paused.before_s
    print(
        f"{scenario.procedure} {dict(scenario.options)}, seed {scenario.seed}: {paused.runs} runs, of which "
        f"{paused.continued} were continued: {paused.paid_s:.1f} s of CPU time instead of {whole_s:.1f} s, "
        f"{paused.before_s / whole_s:.1%} saved; another run of it without pausing: {afresh.runs} runs, "
        f"{afresh.paid_s:.1f} s; on the clock {paused.elapsed_s:.0f} and {afresh.elapsed_s:.0f} s; "
        f"the answer is {'the same' if afresh.result.best == paused.result.best else 'another'}",
        flush=True,
    )


@dataclass
class _Played:
    """A run, and what its runs have cost: what was paid, and what had been paid before by those continued."""

    runs: int = 0
    continued: int = 0
    paid_s: float = 0.0
    before_s: float = 0.0
    elapsed_s: float = 0.0
    result: RunResult = field(init=False)


def _played(scenario: Scenario) -> _Played:
    found = _Played()

    def note(event: object) -> None:
        if isinstance(event, RunEnded):
            found.runs += 1
            found.continued += event.outcome.continued_s > 0
            found.paid_s += event.outcome.paid_s
            found.before_s += event.outcome.continued_s

    settings = replace(settings_of(scenario, workers=WORKERS), budget=Budget(max_runs=MOST_RUNS))
    began_s = time.perf_counter()
    found.result = run_scenario(scenario, None, settings, on_event=note)
    found.elapsed_s = time.perf_counter() - began_s
    return found


if __name__ == "__main__":
    main()

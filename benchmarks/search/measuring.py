"""Searches that were made, kept in a file: a line each, so that a stopped measurement goes on where it was.

A *cell* is one search: a tool on a task with a budget and a seed. An anytime tool fills the cells of all
budgets in one go, as a search with a larger budget begins like one with a smaller.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.search.judging import task as judging_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.search.answers import Answer
    from benchmarks.search.task import Task
    from benchmarks.search.tools import Tool

BUDGETS = (500, 2_000, 8_000)
"""In runs of the default."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One search and what came of it.

    Attributes:
        tool: Who searched.
        task: What.
        budget: Run time, in default runs.
        seed: The search's seed.
        score: 0 = default, 1 = best known, on unseen test instances.
        gain: Test utility above the default's.
        own_cpu_s: What the tool took for itself, up to this budget.
    """

    tool: str
    task: str
    budget: int
    seed: int
    score: float
    gain: float
    own_cpu_s: float

    def line(self) -> str:
        """The cell in one line."""
        what = f"{self.tool:12} {self.task:12} {self.budget:5} default runs, seed {self.seed}"
        return f"{what}: score {self.score:6.3f}, own CPU {self.own_cpu_s:.1f} s"

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What the search was."""
        return self.tool, self.task, self.budget, self.seed


class Results:
    """All cells of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        cells = [Cell(**json.loads(line)) for line in lines if line.strip()]
        self.cells = {cell.key: cell for cell in cells}

    def add(self, cell: Cell) -> None:
        """Keep a cell at once."""
        self.cells[cell.key] = cell
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(cell)) + "\n")

    def forget(self, tool: str) -> None:
        """Drop what was measured of a tool, to measure it anew."""
        self.cells = {key: cell for key, cell in self.cells.items() if cell.tool != tool}
        lines = [json.dumps(asdict(cell)) for cell in self.cells.values()]
        self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def measure(
    results: Results, tool: Tool, names: Iterable[str], budgets: Sequence[int], seeds: Iterable[int]
) -> None:
    """Make the searches that are missing, the small budgets of all tasks first."""
    rounds = [list(budgets)] if tool.anytime else [[budget] for budget in budgets]
    for together in rounds:
        for seed in seeds:
            for name in names:
                missing = [each for each in together if (tool.name, name, each, seed) not in results.cells]
                if missing:
                    for cell in _search(tool, judging_task(name), together, seed):
                        if cell.budget in missing:
                            results.add(cell)
                            print(cell.line(), flush=True)


def _search(tool: Tool, task: Task, budgets: Sequence[int], seed: int) -> Iterator[Cell]:
    """One search, looked at when each budget is spent."""
    open_budgets = sorted(budgets)
    started_s = _cpu_s()
    answer: Answer | None = None
    for latest in tool.search(task, open_budgets[-1] * task.default_run_s, seed):
        while len(open_budgets) > 1 and latest.spent_s > open_budgets[0] * task.default_run_s:
            budget = open_budgets.pop(0)
            yield _cell(tool.name, task, (budget, seed), answer or latest, _cpu_s() - started_s)
        answer = latest
    for budget in open_budgets:
        yield _cell(tool.name, task, (budget, seed), answer, _cpu_s() - started_s)


def _cell(tool: str, task: Task, which: tuple[int, int], answer: Answer | None, own_cpu_s: float) -> Cell:
    configuration = task.default if answer is None else answer.configuration
    return Cell(
        tool,
        task.name,
        *which,
        round(task.score(configuration), 5),
        round(task.test_utility(configuration) - task.test_utility(task.default), 5),
        round(own_cpu_s, 3),
    )


def _cpu_s() -> float:
    """CPU time of this process and of all it has waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system

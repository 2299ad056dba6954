"""How often the answer is worse than the default, and what it costs to give the default instead.

While little is proved, a configuration is the answer only if it was better than the default where both were
run by more than luck explains (`utilitune.live.hunting`). Which rule decides that changes nothing that is
run. So one search tells what each rule would answer: nothing but the rule is exchanged whenever as much is
spent as a budget allows.

``python -m benchmarks.search.guard [--searches N] [--hostile] …`` prints a table: how many answers lose more
than `HARM` on unseen instances without a rule, with the rule before and with that of now, and the score (0 =
default, 1 = best known) before and now. ``--hostile`` plays worlds that are made to mislead; they have no
best known, and the table has utility gained over the default instead. A search takes a second or two.
"""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from benchmarks.search import hostile
from benchmarks.search.comparing import HARM
from benchmarks.search.shares import backend_of, scenario_of
from benchmarks.search.tuning import NAMES, tuning_task

from utilitune.live.driver import Driver
from utilitune.live.exploring import Exploring
from utilitune.live.hunting import Hunt
from utilitune.live.live_run import LiveRun
from utilitune.live.running import next_asker, open_store, settings_of
from utilitune.live.task import Task as LiveTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.search.task import Task

    from utilitune.domain import StopReason

BUDGETS = (20, 60, 125, 250)
"""In default runs."""

RULES: dict[str, Callable[[Hunt, int, int], bool]] = {
    "without": lambda _hunt, _number, _other: True,
    "before": lambda hunt, number, other: hunt.is_ahead(number, other, 1.5),
    "now": Hunt.is_surely_ahead,
}
"""Whether a configuration may be the answer in the place of the default, though it is not proved better."""

MANY_LISTED = 15
"""What is best on fewer instances than this may be worse on others, even if that is proved of the list."""


@dataclass(frozen=True, slots=True)
class Search:
    """What one search would have answered.

    Attributes:
        training: How many instances are listed.
        scale: Test utility of the best known above the default; 1 where none is known.
        gains: Test utility of the answer above the default, by default runs and rule.
    """

    training: int
    scale: float
    gains: dict[int, dict[str, float]]


class _Asked(LiveRun):
    """A live run that is asked for its answer at some moments.

    Attributes:
        ask_at_s: When, in seconds of runs, the next one first.
        answers: Configurations by number, one for each rule, as often as it was asked.
    """

    ask_at_s: list[float]
    answers: list[dict[str, int]]

    def spent(self) -> StopReason | None:
        """Whether the budget is spent; asked before anything new is begun."""
        while self.ask_at_s and self.spending.time_s >= self.ask_at_s[0]:
            self.ask_once()
        return super().spent()

    def ask_once(self) -> None:
        """Note what each rule would answer now."""
        self.ask_at_s.pop(0)
        assert isinstance(self.asker, Exploring)
        found = {}
        for name, rule in RULES.items():
            with patch.object(Hunt, "is_surely_ahead", rule):
                answer = self.asker._choice.candidates()[1]  # noqa: SLF001 -- what is shown is kept
            found[name] = 0 if answer is None else answer.best_index
        self.answers.append(found)


def search(task: Task, seed: int, budgets: Sequence[int] = BUDGETS, share: float = 0.25) -> Search:
    """One run of the product on a task; orders of nominees follow from the seed, so it can be repeated.

    Args:
        task: What is searched.
        seed: All chance of the run follows from it.
        budgets: When to ask for the answer, in default runs.
        share: The share of search.
    """
    scenario, wanted = scenario_of(task, share, seed), sorted(budgets)
    settings = settings_of(scenario)
    settings = replace(
        settings,
        specification=replace(settings.specification, entropy=f"guard {seed}"),
        budget=replace(settings.budget, max_time_s=wanted[-1] * task.default_run_s),
    )
    configured = LiveTask(scenario)
    with contextlib.closing(open_store(configured, None)) as store, backend_of(task) as backend:
        live = _Asked(configured, store, next_asker(configured, settings, store)(), settings.terms())
        live.ask_at_s, live.answers = [budget * task.default_run_s for budget in wanted], []
        with live.session():
            live.close(Driver(live, backend).work())
            while live.ask_at_s:  # nothing was left to do before the budget was spent
                live.ask_once()
    default = task.test_utility(task.default)
    worths = {
        number: task.test_utility(live.assignments[number]) - default
        for number in {number for answers in live.answers for number in answers.values()}
    }
    return Search(
        task.training,
        1.0 if task.best_known is None else task.test_utility(task.best_known) - default,
        {
            budget: {rule: worths[number] for rule, number in answers.items()}
            for budget, answers in zip(wanted, live.answers, strict=True)
        },
    )


def table(searches: Sequence[Search], *, score: str = "score") -> str:
    """What came of the searches, a line for each budget.

    Args:
        searches: With answers for the same budgets.
        score: What gains are measured by.
    """
    many = [each for each in searches if each.training >= MANY_LISTED]
    titles = [
        "default runs",
        "searches",
        "answers worse than the default, without a rule",
        "before",
        "now",
        f"now, on lists of {MANY_LISTED} instances or more",
        f"{score} before",
        "now minus before",
    ]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for budget in searches[0].gains:
        bad = [str(_bad(searches, budget, rule)) for rule in RULES]
        before, now = (
            np.array([each.gains[budget][rule] / each.scale for each in searches])
            for rule in ("before", "now")
        )
        error = (now - before).std(ddof=1) / np.sqrt(len(searches)) if len(searches) > 1 else np.nan
        lines.append(
            f"| {budget} | {len(searches)} | {' | '.join(bad)} | {_bad(many, budget, 'now')} of {len(many)} "
            f"| {before.mean():.3f} | {(now - before).mean():+.3f} ± {error:.3f} |"
        )
    return "\n".join(lines)


def _bad(searches: Iterable[Search], budget: int, rule: str) -> int:
    """How many answers lose more than `HARM`."""
    return sum(each.gains[budget][rule] < -HARM for each in searches)


def main(options: list[str] | None = None) -> None:
    """Search, and print the table."""
    worlds = [world.name for world in hostile.JUDGING]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search.guard", description=__doc__)
    parser.add_argument("--searches", type=int, default=3, help="of each task")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS), help="in default runs")
    parser.add_argument("--share", type=float, default=0.25, help="of search")
    parser.add_argument("--hostile", action="store_true", help="worlds made to mislead")
    parser.add_argument("--tasks", nargs="+", help="other tasks than all of the kind")
    given = parser.parse_args(options)
    names = given.tasks or (worlds if given.hostile else NAMES)
    if unknown := set(names) - set(hostile.WORLDS if given.hostile else NAMES):
        parser.error(f"there is no task {', '.join(sorted(unknown))}")
    found = []
    for name in names:
        task = hostile.WORLDS[name].task() if given.hostile else tuning_task(name)
        for seed in range(given.first_seed, given.first_seed + given.searches):
            found.append(search(task, seed, given.budgets, given.share))
            gains = "  ".join(f"{rules['now']:+.3f}" for rules in found[-1].gains.values())
            print(f"{name:18} seed {seed}: {gains}", flush=True)
    print(table(found, score="utility" if given.hostile else "score"))


if __name__ == "__main__":
    main()

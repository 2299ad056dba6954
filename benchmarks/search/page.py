"""The page ``docs/search-measured.md`` and its pictures, made from the measured searches alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.comparing import HARM, by_task, difference, harm_share, mean_score
from benchmarks.search.judging import NAMES
from benchmarks.search.measuring import BUDGETS
from benchmarks.search.real import real_section

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from benchmarks.search.measuring import Cell

DOCS = Path(__file__).resolve().parents[2] / "docs"
OWN = "utilitune"
ORDER = (OWN, "smac", "irace", "optuna-tpe", "random")
LABELS = {OWN: "ours", "smac": "SMAC3", "irace": "irace", "optuna-tpe": "Optuna TPE", "random": "random"}

_HEAD = """\
# How good the answers are

How good is the configuration that a search finds, if nobody proves anything about it? Our own search, SMAC3,
irace, Optuna's TPE and plain random draws get the same tasks, the same run time and the same seeds. This page
is written by `python -m benchmarks search`; it shows what was measured, also where we are behind.

**Tasks.** Ten virtual programs that were never used to choose a rule or a setting of any tool. Three are
fitted to recordings of real solvers made with the code of `utilitune collect`: kissat with 56 parameters,
clasp with 47, HiGHS with 44. Seven are made up: 12 to 60 parameters of which 4 to 8 matter, with conditions,
categories, parameters that must move together, catastrophic values, heavy tails, groups of instances that
want different things, and a part of the time that no parameter changes. Each has 100 or 120 training
instances, and 300 test instances that no tool sees. Tasks for tuning are others
(`benchmarks/search/tuning.py`).

**Budget.** Run time on a virtual clock, counted in runs of the default. What a tool takes for itself is not
charged, and listed below.

**Score.** Mean utility of the answer on the test instances: 0 is the default, 1 the best configuration that
is known. That one was found by looking at the test instances, so no tool can expect to reach 1.

**Settings.** Tools are as `utilitune peer` plays them: their own defaults, all training instances, and runs
stopped where a fifth of the worth is left ([peers](peers.md)). *random* races random draws against the best
so far on the same instances.
"""


def write_page(cells: Collection[Cell]) -> None:
    """Write the page and its pictures."""
    tools = [name for name in ORDER if any(cell.tool == name for cell in cells)]
    searches = {(tool, budget): by_task(cells, tool, budget) for tool in tools for budget in BUDGETS}
    known = {key: found for key, found in searches.items() if found}
    parts = [_HEAD, *_scores(tools, known), *_differences(tools, known), *_tasks(tools, known)]
    parts += [*_harm(tools, known), *_overhead(tools, known), real_section()]
    (DOCS / "search-measured.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    _draw(tools, known)


Found = "Mapping[str, Mapping[int, Cell]]"
"""Searches of a tool with a budget, by task and seed."""
Searches = "Mapping[tuple[str, int], Mapping[str, Mapping[int, Cell]]]"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def _heading(budget: int) -> str:
    return f"{budget:,}".replace(",", " ")


def _by_budget(tools: list[str], known: Searches, told: Callable[[Found], str]) -> list[str]:
    """A table with a row per tool and a column per budget."""
    rows = [
        [LABELS[tool], *(told(known[tool, each]) if (tool, each) in known else "–" for each in BUDGETS)]
        for tool in tools
    ]
    return _table(["", *(f"{_heading(budget)} default runs" for budget in BUDGETS)], rows)


def _scores(tools: list[str], known: Searches) -> Iterator[str]:
    yield "## Mean score\n"
    yield "![Mean score by budget](img/search-scores.png)\n"
    yield from _by_budget(tools, known, lambda found: f"{mean_score(found):.2f} ({_extent(found)})")
    yield (
        "In brackets: tasks × searches of each. The benchmark is made for ten seeds; where there are\n"
        "fewer, the others have not been measured yet. SMAC3 takes minutes to hours per search. A mean over\n"
        "other tasks or seeds is not comparable, and the picture leaves out means over fewer than all\n"
        "tasks; the differences below are paired.\n"
    )


def _extent(found: Found) -> str:
    counts = sorted({len(seeds) for seeds in found.values()})
    seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    return f"{len(found)} × {seeds}"


def _differences(tools: list[str], known: Searches) -> Iterator[str]:
    if OWN not in tools:
        return
    yield "## Ours minus theirs\n"
    yield (
        "Paired by task, budget and seed; the interval holds 95 % of a bootstrap over tasks and searches.\n"
        "The last column is the task on which we are furthest behind.\n"
    )
    rows = []
    for tool in tools:
        for budget in BUDGETS:
            ours, theirs = known.get((OWN, budget)), known.get((tool, budget))
            if tool == OWN or ours is None or theirs is None:
                continue
            found = difference(ours, theirs)
            if found is not None:
                rows.append(
                    [
                        LABELS[tool],
                        _heading(budget),
                        f"{found.mean:+.3f}",
                        f"{found.low:+.3f} to {found.high:+.3f}",
                        f"{found.searches} on {found.tasks} tasks",
                        _worst(ours, theirs),
                    ]
                )
    yield from _table(["against", "default runs", "mean", "interval", "searches", "furthest behind"], rows)


def _worst(ours: Found, theirs: Found) -> str:
    gaps = {
        name: float(np.mean([ours[name][seed].score - theirs[name][seed].score for seed in common]))
        for name in ours
        if name in theirs and (common := set(ours[name]) & set(theirs[name]))
    }
    name = min(gaps, key=gaps.__getitem__)
    return f"{name} ({gaps[name]:+.2f})"


def _tasks(tools: list[str], known: Searches) -> Iterator[str]:
    yield "## Task by task\n"
    yield "![Scores by task](img/search-tasks.png)\n"
    for budget in BUDGETS:
        columns = [tool for tool in tools if (tool, budget) in known]
        if not columns:
            continue
        rows = []
        for name in NAMES:
            row = [name]
            for tool in columns:
                seeds = known[tool, budget].get(name)
                row.append("–" if not seeds else f"{np.mean([cell.score for cell in seeds.values()]):.2f}")
            rows.append(row)
        yield f"{_heading(budget)} default runs:\n"
        yield from _table(["task", *(LABELS[tool] for tool in columns)], rows)


def _harm(tools: list[str], known: Searches) -> Iterator[str]:
    yield "## Searches that did harm\n"
    yield f"Searches whose answer is worth less than the default on the test instances, by over {HARM}.\n"
    yield from _by_budget(tools, known, lambda found: "{} of {}".format(*harm_share(found)))


def _overhead(tools: list[str], known: Searches) -> Iterator[str]:
    yield "## What a tool takes for itself\n"
    yield "Median CPU seconds of a search beside its runs, on a busy machine of two cores.\n"
    yield from _by_budget(tools, known, lambda found: f"{np.median(_own_cpu_s(found)):.1f}")


def _own_cpu_s(found: Found) -> list[float]:
    return [cell.own_cpu_s for seeds in found.values() for cell in seeds.values()]


def _draw(tools: list[str], known: Searches) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    colours = dict(zip(ORDER, ("#c0392b", "#2c6fbb", "#2e8b57", "#8e6bbf", "#888888"), strict=True))
    figure, axis = plt.subplots(figsize=(6.4, 3.8))
    for tool in tools:
        budgets = [each for each in BUDGETS if len(known.get((tool, each), ())) == len(NAMES)]
        scores = [mean_score(known[tool, budget]) for budget in budgets]
        if scores:  # a name without a line would puzzle the reader
            axis.plot(budgets, scores, "o-", color=colours[tool], label=LABELS[tool])
    axis.set(xscale="log", xlabel="run time, in default runs", ylabel="mean score", ylim=(0, 1))
    axis.set_xticks(BUDGETS, [_heading(budget) for budget in BUDGETS])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    figure.savefig(DOCS / "img" / "search-scores.png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    figure, axes = plt.subplots(1, len(BUDGETS), figsize=(9.6, 4.2), sharey=True)
    for axis, budget in zip(axes, BUDGETS, strict=True):
        for tool in tools:
            found = known.get((tool, budget), {})
            points = [
                (cell.score, NAMES.index(name)) for name, seeds in found.items() for cell in seeds.values()
            ]
            if points:
                x, y = zip(*points, strict=True)
                places = np.array(y) + 0.14 * (ORDER.index(tool) - 2)
                axis.plot(x, places, "o", ms=3.5, alpha=0.7, color=colours[tool], label=LABELS[tool])
        axis.axvline(0, color="black", lw=0.8)
        axis.set(title=f"{_heading(budget)} default runs", xlabel="score", xlim=(-0.7, 1.05))
        axis.grid(alpha=0.3, axis="x")
    axes[0].set_yticks(range(len(NAMES)), NAMES)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=8, loc="upper center", ncols=len(tools))
    figure.savefig(DOCS / "img" / "search-tasks.png", dpi=110, bbox_inches="tight")
    plt.close(figure)

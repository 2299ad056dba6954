"""How good the answers of searchers are: ``python -m benchmarks search [OPTIONS]``.

Our own search, SMAC3, irace, Optuna's TPE and random draws get the same tasks, budgets and seeds. Results are
kept in a file as they come; the same command goes on where it was stopped, tool by tool. ``--help`` lists the
options; ``--real`` measures on real solvers instead of virtual tasks; ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

RESULTS = Path(__file__).parent / "results.jsonl"


def main(options: list[str] | None = None) -> None:
    """Measure and write the page."""
    from benchmarks.search.comparing import by_task, mean_score
    from benchmarks.search.judging import NAMES
    from benchmarks.search.measuring import BUDGETS, Results, measure
    from benchmarks.search.page import write_page
    from benchmarks.search.tools import TOOLS

    tools = {tool.name: tool for tool in TOOLS}
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__)
    parser.add_argument("--tools", nargs="+", choices=list(tools), default=list(tools))
    parser.add_argument("--tasks", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS), help="in default runs")
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="forget what was measured of these tools")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="another file; then the page is left as it is"
    )
    parser.add_argument("--page", action="store_true", help="only write docs/search-measured.md")
    parser.add_argument("--real", action="store_true", help="measure on real solvers")
    parser.add_argument("--keep", type=Path, help="with --real: keep run folders there")
    given = parser.parse_args(options or [])
    if given.real:
        if given.results != RESULTS:
            parser.error("--results is for virtual tasks; searches of real solvers have a file of their own")
        from benchmarks.search.real import measure_real

        measure_real(given.tools, given.seeds, given.keep)
        return
    results = Results(given.results)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    for name in [] if given.page else given.tools:
        if not tools[name].is_installed():
            print(f"{name} is not installed here and is left out")
            continue
        if given.again:
            results.forget(name)
        measure(results, tools[name], given.tasks, sorted(given.budgets), seeds)
    found = results.cells.values()
    for name, budget in product(tools, sorted({*BUDGETS, *given.budgets})):
        if searches := by_task(found, name, budget):
            print(f"{name:12} {budget:5}: {mean_score(searches):.3f} on {len(searches)} tasks")
    if given.page or given.results == RESULTS:
        write_page(found)

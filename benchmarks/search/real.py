"""Three real solvers, equal CPU time in runs, and test instances that nobody has seen.

Every tool configures the same scenario in a folder of its own; what it answers is then run on the test
instances beside the default, each pair once, with the code of `utilitune evaluate`. Results are kept as they
come: the same command goes on where it was stopped.
"""

from __future__ import annotations

import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.comparing import HARM

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).parent / "real.jsonl"
BUDGET_S = {"kissat": 40.0, "clasp": 40.0, "highs": 40.0}
TESTED = 60
"""Test instances per answer."""
SEARCHING = {
    "utilitune": "",
    "utilitune-all": "share = 0.95\n",
    "random": 'share = 0.95\nmethod = "random"\n',
}
"""Who is played by `utilitune run`, and what stands in the scenario's part about search."""


@dataclass(frozen=True, slots=True)
class RealSearch:
    """One search on a real solver.

    Attributes:
        tool: Who searched.
        solver: What.
        seed: The search's seed.
        budget_s: CPU seconds of its runs.
        utility: Mean utility of its answer on the test instances.
        default: The same of the default, on the same instances.
        own_cpu_s: What the tool took for itself beside its runs, in CPU seconds.
    """

    tool: str
    solver: str
    seed: int
    budget_s: float
    utility: float
    default: float
    own_cpu_s: float


def known_searches() -> list[RealSearch]:
    """What was measured so far."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return [RealSearch(**json.loads(line)) for line in lines if line.strip()]


def measure_real(tools: Sequence[str], seeds: int, keep: Path | None = None) -> None:
    """Make the searches that are missing; with `keep`, their run folders stay there."""
    from benchmarks.search.solvers import SOLVERS

    from utilitune.rivals.packages import PEERS

    asked = [each for tool in tools for each in (tool, *(["utilitune-all"] if tool == "utilitune" else []))]
    for tool in asked:
        if tool not in SEARCHING and not PEERS[tool].is_installed():
            print(f"{tool} is not installed here and is left out")
    there = [tool for tool in asked if tool in SEARCHING or PEERS[tool].is_installed()]
    known = {(each.tool, each.solver, each.seed) for each in known_searches()}
    for seed in range(seeds):
        for solver in SOLVERS:
            for tool in there:
                if (tool, solver, seed) not in known:
                    with tempfile.TemporaryDirectory(prefix="utilitune-real-") as name:
                        made = _search(tool, solver, seed, Path(name))
                        if keep is not None:
                            shutil.copytree(Path(name), keep / f"{solver}-{tool}-{seed}", dirs_exist_ok=True)
                    with RESULTS.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(made)) + "\n")
                    print(made, flush=True)


def _search(tool: str, solver: str, seed: int, folder: Path) -> RealSearch:
    """One search and the test of its answer, by the commands a user would type."""
    from benchmarks.search.solvers import prepare

    scenario = prepare(solver, folder, test=TESTED, seed=seed + 1)
    if SEARCHING.get(tool):
        with scenario.open("a", encoding="utf-8") as file:
            file.write(f"\n[search]\n{SEARCHING[tool]}")
    budget_s, before_s = BUDGET_S[solver], _children_cpu_s()
    who = ["run"] if tool in SEARCHING else ["peer", tool]
    _typed(*who, scenario, "--max-time", f"{budget_s:g}s", "--folder", folder / "found", "--workers", "1")
    own_cpu_s = _children_cpu_s() - before_s - budget_s
    found = json.loads(_typed("evaluate", folder / "found", "--workers", "1", "--json"))
    worths = [round(found[side]["mean_utility"], 4) for side in ("chosen", "default")]
    return RealSearch(tool, solver, seed, budget_s, *worths, round(own_cpu_s, 1))


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _typed(*words: object) -> str:
    command = [sys.executable, "-m", "utilitune", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


LABELS = {
    "utilitune": "ours",
    "utilitune-all": "ours, nearly all for search",
    "smac": "SMAC3",
    "irace": "irace",
    "optuna-tpe": "Optuna TPE",
    "random": "random",
}


def real_section() -> str:
    """The part of the page about real solvers."""
    known = known_searches()
    if not known:
        return ""
    solvers = sorted({each.solver for each in known})
    tools = [tool for tool in LABELS if any(each.tool == tool for each in known)]
    found = {(each.tool, each.solver, each.seed): each for each in known}
    budgets = ", ".join(f"{name} {BUDGET_S[name]:g}" for name in solvers)
    head = ["solver", "default", *(LABELS[tool] for tool in tools)]
    rows = [[solver, _mean([each.default for each in known if each.solver == solver])] for solver in solvers]
    for row in rows:
        row += [_mean([e.utility for e in known if (e.tool, e.solver) == (tool, row[0])]) for tool in tools]
    own = ["own CPU seconds", "", *(f"{_median_own(known, tool):.0f}" for tool in tools)]
    lines = [
        "## Real solvers\n",
        f"The solvers themselves; CPU seconds of runs: {budgets}. One run at a time, on a busy machine:",
        "compare gains, not CPU seconds.",
        f"Mean test utility over searches, in brackets how many, on {TESTED} instances nobody has seen; the",
        "default is run beside each answer. *Ours* is `utilitune run` as it comes, which also proves what it",
        'can in this time; *random* is `search.method = "random"` with a share of 0.95.',
        "*Ours* and *random* were measured before the default was protected",
        "[more strictly](search-shares.md#answers-that-are-worse-than-the-default).",
        *(["With *nearly all for search* our share of search is 0.95."] if "utilitune-all" in tools else []),
        "The benchmark is made for five seeds; where there are fewer, the others are not measured yet.\n",
        *_table(head, [*rows, own]),
        "Ours minus theirs, each above its own default, paired by solver and seed: the mean, its standard",
        "error over these searches, how many they are, and the solver on which we are furthest behind.\n",
        *_table(["against", *(LABELS[each] for each in tools if each in _OURS)], _paired(found, tools)),
        f"Answers worth less than the default, by over {HARM}: {_harm(known, tools)}.",
    ]
    return "\n".join(lines) + "\n"


_OURS = ("utilitune", "utilitune-all")


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows)] + [""]


def _mean(worths: list[float]) -> str:
    return "–" if not worths else f"{np.mean(worths):.3f} ({len(worths)})"


def _median_own(known: list[RealSearch], tool: str) -> float:
    return float(np.median([each.own_cpu_s for each in known if each.tool == tool]))


def _paired(found: dict[tuple[str, str, int], RealSearch], tools: list[str]) -> list[list[str]]:
    """A row per peer: how far each of ours is ahead of it, above each one's own default."""
    rows = []
    for tool in (each for each in tools if each not in _OURS):
        row = [LABELS[tool]]
        for ours in (each for each in _OURS if each in tools):
            gaps: dict[str, list[float]] = {}
            for (who, solver, seed), theirs in found.items():
                mine = found.get((ours, solver, seed))
                if who == tool and mine is not None:
                    gain = (mine.utility - mine.default) - (theirs.utility - theirs.default)
                    gaps.setdefault(solver, []).append(gain)
            every = [gap for each in gaps.values() for gap in each]
            worst = min(gaps, key=lambda solver: float(np.mean(gaps[solver])), default="")
            error = float(np.std(every, ddof=1)) / len(every) ** 0.5 if len(every) > 1 else math.nan
            row.append(
                f"{np.mean(every):+.3f} ± {error:.3f} ({len(every)}), {worst} {np.mean(gaps[worst]):+.3f}"
                if every
                else "–"
            )
        rows.append(row)
    return rows


def _harm(known: list[RealSearch], tools: list[str]) -> str:
    """How many answers of each tool are worth less than the default."""
    counts = []
    for tool in tools:
        gains = [each.utility - each.default for each in known if each.tool == tool]
        counts.append(f"{LABELS[tool]} {sum(gain < -HARM for gain in gains)} of {len(gains)}")
    return "; ".join(counts)

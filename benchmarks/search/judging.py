"""The tasks that judge searchers. Nobody chooses a rule or a setting by them; for that there is `tuning`.

Three stand for real solvers (`surrogate`), seven are made up (`landscapes`). The best configuration that is
known of each was found by a search that may look at the test instances (`best_known.py`), so that no tool
should expect to reach a score of 1.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.search.landscapes import Recipe
from benchmarks.search.solvers import SOLVERS, space_of
from benchmarks.search.surrogate import RECORDINGS, Recording
from benchmarks.search.task import Task

from utilitune.utility import LogLaplace

BEST_KNOWN = Path(__file__).parent / "best_known.json"
TRAINING, TESTING = 100, 300

RECIPES = (
    Recipe("few", 501, parameters=12, important=4, choices=0.3, pairs=1, cliffs=1),
    Recipe("conditions", 502, parameters=40, important=6, choices=0.6, children=14, pairs=2),
    Recipe("cliffs", 503, parameters=30, important=5, cliffs=6, noise=0.5),
    Recipe("heavy-tails", 504, parameters=18, important=4, noise=0.9, tail=0.12, hardness=1.3),
    Recipe("wide", 505, parameters=60, important=8, choices=0.4, children=8, pairs=4, strength=1.2),
    Recipe("groups", 506, parameters=24, important=6, groups=3, choices=0.5, hardness=1.5),
    Recipe("fixed-part", 507, parameters=35, important=6, fixed_share=0.25, pairs=3, deadline=True),
)
SURROGATES = {"kissat": 601, "clasp": 602, "highs": 603}
NAMES = (*SURROGATES, *(recipe.name for recipe in RECIPES))


@cache
def task(name: str) -> Task:
    """One task by its name."""
    made = (
        surrogate_task(name)
        if name in SURROGATES
        else next(recipe for recipe in RECIPES if recipe.name == name).task()
    )
    best = json.loads(BEST_KNOWN.read_text(encoding="utf-8")) if BEST_KNOWN.exists() else {}
    return replace(made, best_known=made.space.validate(best[name])) if name in best else made


def surrogate_task(name: str) -> Task:
    """A solver as its recording has it."""
    law = Recording.read(RECORDINGS / f"{name}.npz").law(TRAINING + TESTING, SURROGATES[name])
    half_s = SOLVERS[name].half_worth_s
    return Task(
        name, space_of(name), LogLaplace(half_s), 20 * half_s, TRAINING, TESTING, law, seed=SURROGATES[name]
    )

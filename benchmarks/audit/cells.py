"""Which procedure meets which setting, and how many searches of each are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.audit import choosing, drivers, nominating, searches, solutions, worlds

from utilitune.procedures.naming import Beforehand

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

DELTA = 0.1
SOLUTION_DELTA = 0.2
MANY = 2000
POSITIONS = 150
SHORT_LISTS = (1, 2, 3, 12, 40)
NAIVE_LISTS = (60, 120)
"""Lists that are long enough for all of Naive's runs."""


@dataclass(frozen=True)
class Cell:
    """One line of the page.

    Attributes:
        procedure: Who searches.
        setting: Where.
        search: Makes one search from a source of chance; whether it ever promised too much.
        searches: How many are counted.
        limit: The share that may fail.
        piece: How many are counted at a time.
    """

    procedure: str
    setting: str
    search: Callable[[np.random.Generator], bool]
    searches: int = MANY
    limit: float = DELTA
    piece: int = 100

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.procedure}: {self.setting}"


def _any_fixed(generator: np.random.Generator, procedure: str) -> worlds.World:
    names = [name for name in sorted(worlds.FIXED) if procedure != "naive" or name != "stopped early"]
    return worlds.FIXED[names[int(generator.integers(len(names)))]](generator, POSITIONS)


def _fixed(procedure: str) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        world = _any_fixed(generator, procedure)
        rows = len(world.worth)
        return searches.engine_search(
            world, searches.specification(procedure, rows, delta=DELTA, growth="fixed")
        )

    return search


def _listed(procedure: str) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        sizes = NAIVE_LISTS if procedure == "naive" else SHORT_LISTS
        world = worlds.listed_of(sizes)(generator, 0)
        while procedure == "naive" and world.cutoff_s < worlds.LIMIT_S:
            world = worlds.listed_of(sizes)(generator, 0)
        spec = searches.specification(
            procedure, len(world.worth), delta=DELTA, growth="fixed", population="finite"
        )
        return searches.engine_search(world, spec)

    return search


def _growing(procedure: str, world: str, **settings: object) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        made = worlds.GROWING[world](generator, POSITIONS)
        spec = searches.specification(procedure, len(made.worth), delta=DELTA, **settings)
        return searches.engine_search(made, spec)

    return search


def _growing_list(procedure: str, **settings: object) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        made = worlds.growing_list(generator, int(generator.choice(SHORT_LISTS)))
        spec = searches.specification(
            procedure, len(made.worth), delta=DELTA, population="finite", **settings
        )
        return searches.engine_search(made, spec)

    return search


def _announced(*, finite: bool) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        kinds = sorted(worlds.GROWING)
        made = (
            worlds.growing_list(generator, int(generator.choice(SHORT_LISTS)))
            if finite
            else worlds.GROWING[kinds[int(generator.integers(len(kinds)))]](generator, POSITIONS)
        )
        population = "finite" if finite else "infinite"
        spec = searches.specification(
            "wager", len(made.worth), delta=DELTA, growth="adaptive", proposals=0.0, population=population
        )
        gamma = float(generator.choice([0.05, 0.1, 0.2, 0.3]))
        beforehand = Beforehand(announced_gamma=gamma, undivided=True, given=False, chosen=False)
        return searches.engine_search(made, spec, beforehand)

    return search


def _proposals(*, finite: bool) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        make = worlds.growing_list if finite else worlds.even_space
        made = make(generator, 40 if finite else POSITIONS)
        population = "finite" if finite else "infinite"
        spec = searches.specification(
            "wager", len(made.worth), delta=DELTA, growth="adaptive", population=population
        )
        return searches.proposal_search(made, spec, generator)

    return search


def _chosen(
    size: int, *, finite: bool, nominees: int = 6, listed: bool = False
) -> Callable[[np.random.Generator], bool]:
    return lambda generator: nominating.chosen_search(
        generator, DELTA, size, finite=finite, nominees=nominees, listed=listed
    )


def _solutions(kind: solutions.Kind, procedure: str) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        world = list(solutions.WORLDS)[int(generator.integers(len(solutions.WORLDS)))]
        return solutions.solution_search(generator, kind, world, procedure, SOLUTION_DELTA)

    return search


def _any_answer(*, finite: bool, fixed: bool) -> Callable[[np.random.Generator], bool]:
    return lambda generator: choosing.any_answer_search(generator, DELTA, finite=finite, fixed=fixed)


def _live(
    kind: Callable[..., bool], procedure: str, *, finite: bool, **settings: object
) -> Callable[[np.random.Generator], bool]:
    return lambda generator: kind(generator, procedure, DELTA, finite=finite, **settings)


def _whatif(*, finite: bool) -> Callable[[np.random.Generator], bool]:
    def search(generator: np.random.Generator) -> bool:
        if finite:
            world = worlds.listed_of((3, 12, 40))(generator, 0)
        else:
            make = (worlds.one_better, worlds.near_ties, worlds.rarely_good)[int(generator.integers(3))]
            world = make(generator, 250)
        return searches.whatif_search(world, DELTA, generator, finite=finite)

    return search


def _evaluation(pairs: int) -> Callable[[np.random.Generator], bool]:
    return lambda generator: searches.evaluation_search(
        generator, pairs, float(generator.choice([0.45, 0.3]))
    )


def _recorded() -> list[Cell]:
    in_phases = {"growth": "phases", "schedule": searches.SCHEDULE, "phases": 3}
    adaptive = {"growth": "adaptive", "proposals": 0.0}
    cells = [Cell(name, "fixed set", _fixed(name)) for name in ("wager", "oup", "up", "naive")]
    cells += [Cell(name, "fixed set, list", _listed(name)) for name in ("wager", "oup", "up", "naive")]
    for world in worlds.GROWING:
        cells += [
            Cell("wager", f"growing, {world}", _growing("wager", world, **adaptive)),
            Cell("wager", f"growing in phases, {world}", _growing("wager", world, **in_phases)),
            Cell("coup", f"growing, {world}", _growing("coup", world)),
        ]
    cells += [
        Cell("wager", "growing, list", _growing_list("wager", **adaptive)),
        Cell("wager", "growing in phases, list", _growing_list("wager", **in_phases)),
        Cell("coup", "growing, list", _growing_list("coup")),
        Cell("wager", "growing, γ announced", _announced(finite=False)),
        Cell("wager", "growing, γ announced, list", _announced(finite=True)),
        Cell("wager", "proposals", _proposals(finite=False), piece=20),
        Cell("wager", "proposals, list", _proposals(finite=True), piece=20),
        Cell("wager", "nominees, list", _chosen(300, finite=True)),
        Cell("wager", "nominees, nine configurations, list", _chosen(9, finite=True)),
        Cell("wager", "repeated draws, nine configurations", _chosen(9, finite=False)),
        Cell("wager", "repeated draws, nine configurations, list", _chosen(9, finite=True, nominees=0)),
        Cell("wager", "listed space, twelve configurations", _chosen(12, finite=False, listed=True)),
        Cell("wager", "listed space, twelve configurations, list", _chosen(12, finite=True, listed=True)),
        Cell("whatif", "every utility at once", _whatif(finite=False)),
        Cell("whatif", "every utility at once, list", _whatif(finite=True)),
        Cell("evaluate", "8 test instances", _evaluation(8), limit=0.05),
        Cell("evaluate", "50 test instances", _evaluation(50), limit=0.05),
    ]
    for finite, place in ((True, ", list"), (False, "")):
        for fixed, kind in ((True, "fixed set"), (False, "growing")):
            search = _any_answer(finite=finite, fixed=fixed)
            cells.append(Cell("wager", f"any configuration as the answer, {kind}{place}", search))
    return cells


def _of_solutions() -> list[Cell]:
    kinds = [(solutions.AT_ANY_TIME, "wager")]
    kinds += [(solutions.AT_THE_END, name) for name in ("wager", "oup", "up")]
    return [
        Cell(name, f"{kind.objective}, six worlds", _solutions(kind, name), limit=SOLUTION_DELTA)
        for kind, name in kinds
    ]


def _driven() -> list[Cell]:
    kinds = {
        "parallel": drivers.parallel_search,
        "stopped and resumed": drivers.resumed_search,
        "runs reused": drivers.reused_search,
        "ask and tell": drivers.ask_tell_search,
    }
    cells = []
    for setting, kind in kinds.items():
        for name in ("wager", "coup", "oup", "up", "naive"):
            cells.append(Cell(name, f"{setting}, list", _live(kind, name, finite=True), piece=50))
            cells.append(Cell(name, setting, _live(kind, name, finite=False), piece=50))
    several = _live(drivers.ask_tell_search, "wager", finite=True, copies=5)
    return [*cells, Cell("wager", "ask and tell, five seeds per instance, list", several, piece=50)]


def all_cells() -> list[Cell]:
    """Every cell, the quick ones first."""
    return _recorded() + _of_solutions() + _driven()

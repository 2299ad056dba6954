"""Which procedure meets which setting, and how many searches of each are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.audit import choosing, drivers, nominating, searches, solutions, worlds

from utilitune.procedures.naming import Beforehand

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from benchmarks.audit.verdict import Verdict

DELTA = 0.1
SOLUTION_DELTA = 0.2
MANY = 2000
POSITIONS = 150
MANY_POSITIONS = 1500
"""Enough for the wide bounds of the paper."""
SHORT_LISTS = (1, 2, 3, 12, 40)
PHASED_POSITIONS = 600
LONG_LISTS = (700, 1500)


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
    search: Callable[[np.random.Generator], Verdict | bool]
    searches: int = MANY
    limit: float = DELTA
    piece: int = 100

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.procedure}: {self.setting}"


def _kinds(procedure: str) -> dict[str, Callable[..., worlds.World]]:
    """The worlds of a fixed set; Naive runs all to the end, and is never wrong where all are nearly alike."""
    if procedure == "naive":
        return {name: worlds.WIDE[name] for name in ("many just too far", "wide and opposed")}
    return worlds.FIXED if procedure == "wager" else worlds.WIDE


def _fixed(procedure: str) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        kinds = _kinds(procedure)
        name = sorted(kinds)[int(generator.integers(len(kinds)))]
        world = kinds[name](generator, POSITIONS if procedure == "wager" else MANY_POSITIONS)
        rows = len(world.worth)
        return searches.engine_search(
            world, searches.specification(procedure, rows, delta=DELTA, growth="fixed")
        )

    return search


def _listed(procedure: str) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        sizes = SHORT_LISTS if procedure == "wager" else LONG_LISTS
        world = worlds.listed_of(sizes, _kinds(procedure))(generator)
        spec = searches.specification(
            procedure, len(world.worth), delta=DELTA, growth="fixed", population="finite"
        )
        return searches.engine_search(world, spec)

    return search


def _growing(procedure: str, world: str, **settings: object) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        in_phases = settings.get("growth") != "adaptive"
        made = worlds.GROWING[world](generator, PHASED_POSITIONS if in_phases else POSITIONS)
        spec = searches.specification(procedure, len(made.worth), delta=DELTA, **settings)
        return searches.engine_search(made, spec)

    return search


def _growing_list(procedure: str, **settings: object) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        sizes = SHORT_LISTS if procedure == "wager" else LONG_LISTS
        made = worlds.growing_list(generator, int(generator.choice(sizes)))
        spec = searches.specification(
            procedure, len(made.worth), delta=DELTA, population="finite", **settings
        )
        return searches.engine_search(made, spec)

    return search


def _announced(*, finite: bool) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
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


def _proposals(*, finite: bool) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
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
) -> Callable[[np.random.Generator], Verdict]:
    return lambda generator: nominating.chosen_search(
        generator, DELTA, size, finite=finite, nominees=nominees, listed=listed
    )


def _solutions(kind: solutions.Kind, procedure: str) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        world = list(solutions.WORLDS)[int(generator.integers(len(solutions.WORLDS)))]
        return solutions.solution_search(generator, kind, world, procedure, SOLUTION_DELTA)

    return search


def _any_answer(*, finite: bool, fixed: bool) -> Callable[[np.random.Generator], Verdict]:
    return lambda generator: choosing.any_answer_search(generator, DELTA, finite=finite, fixed=fixed)


def _live(
    kind: Callable[..., Verdict], procedure: str, *, finite: bool, **settings: object
) -> Callable[[np.random.Generator], Verdict]:
    return lambda generator: kind(generator, procedure, DELTA, finite=finite, **settings)


def _whatif(*, finite: bool) -> Callable[[np.random.Generator], Verdict]:
    def search(generator: np.random.Generator) -> Verdict:
        positions = int(generator.choice([40, 120, 400])) if finite else 600
        return searches.whatif_search(worlds.lasting(generator, positions), DELTA, finite=finite)

    return search


def _evaluation(pairs: int, gain: float) -> Callable[[np.random.Generator], Verdict]:
    return lambda generator: searches.evaluation_search(generator, pairs, gain, 1.0)


def _recorded() -> list[Cell]:
    in_phases = {"growth": "phases", "schedule": searches.SCHEDULE, "phases": 3}
    adaptive = {"growth": "adaptive", "proposals": 0.0}
    cells = [Cell("wager", "fixed set", _fixed("wager")), Cell("wager", "fixed set, list", _listed("wager"))]
    for name in ("oup", "up", "naive"):
        cells.append(Cell(name, "fixed set, many instances", _fixed(name)))
        cells.append(Cell(name, "fixed set, long list", _listed(name)))
    for world in worlds.GROWING:
        cells += [
            Cell("wager", f"growing, {world}", _growing("wager", world, **adaptive)),
            Cell("wager", f"growing in three phases, {world}", _growing("wager", world, **in_phases)),
            Cell("coup", f"growing in three phases, {world}", _growing("coup", world)),
        ]
    cells += [
        Cell("wager", "growing, list", _growing_list("wager", **adaptive)),
        Cell("wager", "growing in three phases, list", _growing_list("wager", **in_phases)),
        Cell("coup", "growing in three phases, long list", _growing_list("coup")),
        Cell("wager", "growing, γ announced beforehand", _announced(finite=False)),
        Cell("wager", "growing, γ announced beforehand, list", _announced(finite=True)),
        Cell("wager", "proposals", _proposals(finite=False), piece=20),
        Cell("wager", "proposals, list", _proposals(finite=True), piece=20),
        Cell("wager", "nominees, list", _chosen(300, finite=True)),
        Cell("wager", "nominees, nine configurations, list", _chosen(9, finite=True)),
        Cell("wager", "repeated draws, nine configurations", _chosen(9, finite=False)),
        Cell("wager", "repeated draws, nine configurations, list", _chosen(9, finite=True, nominees=0)),
        Cell("wager", "listed space, twelve configurations", _chosen(12, finite=False, listed=True)),
        Cell("wager", "listed space, twelve configurations, list", _chosen(12, finite=True, listed=True)),
        Cell("whatif", "every deadline at once", _whatif(finite=False)),
        Cell("whatif", "every deadline at once, list", _whatif(finite=True)),
        Cell("evaluate", "coins, 8 test instances", _evaluation(8, 1.0), limit=0.05),
        Cell("evaluate", "coins, 50 test instances", _evaluation(50, 1.0), limit=0.05),
        Cell("evaluate", "rare losses, 50 test instances", _evaluation(50, 0.05), limit=0.05),
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

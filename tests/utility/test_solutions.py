"""Utilities of the quality of a solution and of the time it took."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UtilityError
from utilitune.utility import (
    QUALITY_FAMILIES,
    Compared,
    Gap,
    Goal,
    Reached,
    RelativeGap,
    SolutionUtility,
    Standard,
    Uniform,
    parse_solution_utility,
    parse_utility,
)
from utilitune.utility.solutions import SolutionMinimum, SolutionProduct
from utility.utility_strategies import positive, times, utilities

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "utilities.md"
numbers = st.floats(allow_nan=False, allow_infinity=False)
levels = st.one_of(numbers, st.sampled_from(["known", "default", "bound"]))
maybe = st.one_of(st.none(), numbers)
standards = st.builds(Standard, st.sampled_from(Goal), maybe, maybe, maybe)
_gaps = st.tuples(levels, levels).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: Gap(*pair))
simple = st.one_of(
    _gaps,
    st.builds(RelativeGap, levels, positive),
    st.builds(Compared, levels, positive),
    st.builds(Reached, levels),
)
solution_utilities = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(kind, st.tuples(inner, st.one_of(inner, utilities)))
        for kind in (SolutionProduct, SolutionMinimum)
    ),
    max_leaves=3,
)
qualities = st.floats(allow_nan=False, allow_infinity=True)


@given(solution_utilities)
def test_text_goes_both_ways(utility: SolutionUtility):
    assert parse_solution_utility(str(utility)) == utility
    assert utility.describe()


@given(solution_utilities, standards, st.tuples(qualities, qualities), st.tuples(times, times))
def test_a_better_or_sooner_solution_is_never_worth_less(
    utility: SolutionUtility, standard: Standard, two: tuple[float, float], moments: tuple[float, float]
):
    better = standard.goal.better(*two)
    worse = two[1] if better == two[0] else two[0]
    first, second = sorted(moments)
    tolerance = 1e-12
    assert 0 <= utility(worse, second, standard) <= 1
    assert utility(better, first, standard) >= utility(worse, first, standard) - tolerance
    assert utility(better, first, standard) >= utility(better, second, standard) - tolerance


@given(solution_utilities, standards, times)
def test_no_solution_is_worth_nothing(utility: SolutionUtility, standard: Standard, time_s: float):
    assert utility(None, time_s, standard) == 0
    assert utility(math.nan, time_s, standard) == 0


@pytest.mark.parametrize(
    ("text", "standard", "worths"),
    [
        ("gap(best=0, worst=100)", Standard(), {-5: 1, 0: 1, 25: 0.75, 100: 0, 200: 0}),
        ("gap(100, 0)", Standard(Goal.LARGER), {120: 1, 25: 0.25, -1: 0}),
        ("gap(known, default)", Standard(known=10, default=20), {9: 1, 10: 1, 15: 0.5, 20: 0, 30: 0}),
        ("gap(known, default)", Standard(known=10, default=8), {9: 1, 10: 1, 10.5: 0}),
        ("gap(known, default)", Standard(default=8), {99: 1}),
        ("relative-gap(to=known, limit=10%)", Standard(known=-50), {-60: 1, -50: 1, -47.5: 0.5, -45: 0}),
        ("relative-gap(known, 0.1)", Standard(known=0), {0: 1, -1: 1, 1e-9: 0}),
        ("relative-gap(known, 0.1)", Standard(Goal.LARGER, known=50), {47.5: 0.5, 51: 1}),
        ("compared(default, 1)", Standard(default=10), {10: 0.5, 20: 0.25, 5: 0.75, 0: 1, -3: 1}),
        ("compared(default, 2)", Standard(Goal.LARGER, default=10), {10: 0.5, 20: 1, 5: 0.5 / 1.5**2}),
        ("compared(default)", Standard(default=0), {0: 0.5, 1: 0, -1: 1}),
        ("compared(default)", Standard(), {10: 1}),
        ("reached(5)", Standard(), {5: 1, 5.1: 0, 4: 1}),
    ],
)
def test_the_formulas(text: str, standard: Standard, worths: dict[float, float]):
    utility = parse_solution_utility(text)
    assert {q: utility(q, 0.0, standard) for q in worths} == pytest.approx(worths)


def test_time_and_quality_together():
    utility = parse_solution_utility("product(gap(0, 10), uniform(k0=100))")
    assert utility(5.0, 50.0, Standard()) == pytest.approx(0.25)
    assert utility.times == (Uniform(100),)
    utility = parse_solution_utility("minimum(gap(0, 10), uniform(k0=100), compared(to=default))")
    assert utility(5.0, 90.0, Standard(default=5.0)) == pytest.approx(0.1)
    assert utility.references == {"default"}
    assert utility.levels == (0.0, 10.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gap(3, 3)", "best and worst of gap are the same"),
        ("gap(3)", "gap needs worst: write e.g. gap"),
        ("gap(knwon, 3)", "best of gap must be a quality such as 100 or known, not 'knwon'"),
        ("gap(nan, 3)", "best of gap must be a quality"),
        (
            "relative-gap(known, 0)",
            "limit of relative-gap must be a positive share such as 0.1 or 10%, not 0.0",
        ),
        ("relative-gap(known, -5%)", "limit of relative-gap must be a positive share"),
        ("compared(default, inf)", "alpha of compared must be a positive number"),
        (
            "uniform(10)",
            r"judges the time of a run alone.*: take gap\(best=0, worst=100\), or product\(relative",
        ),
        ("product(uniform(10), step(3))", "judges the time of a run alone"),
        ("product(gap(0, 1))", "product needs at least two utilities"),
    ],
)
def test_what_is_none_is_refused(text: str, sentence: str):
    with pytest.raises(UtilityError, match=sentence):
        parse_solution_utility(text)


def test_a_utility_of_quality_is_none_of_time():
    with pytest.raises(UtilityError, match='write objective = "quality" into the scenario'):
        parse_utility("gap(best=0, worst=100)")


def test_a_best_that_is_worse_than_the_worst_is_refused():
    with pytest.raises(
        UtilityError, match='but here smaller is better: exchange the two numbers, or set better = "la'
    ):
        parse_solution_utility("product(gap(best=100, worst=0), step(5))").check(Goal.SMALLER)
    parse_solution_utility("gap(best=100, worst=0)").check(Goal.LARGER)
    parse_solution_utility("gap(best=known, worst=0)").check(Goal.SMALLER)


@pytest.mark.parametrize("name", QUALITY_FAMILIES)
def test_every_family_has_an_example_that_the_guide_shows(name: str):
    family = QUALITY_FAMILIES[name]
    utility = parse_solution_utility(family.example)
    assert (type(utility), family.name) == (family, name)
    assert pickle.loads(pickle.dumps(utility)) == utility
    assert f"`{family.example}`" in GUIDE.read_text(encoding="utf-8")

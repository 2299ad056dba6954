"""What runs are worth by their solutions: at their end, and at their best moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.domain import Objective, RunOutcome, RunStatus, TracePoint
from utilitune.scenario.judging import AnytimeJudge, QualityJudge
from utilitune.scenario.model import QualityRules
from utilitune.utility import Goal, parse_solution_utility

LIMIT_S = 10.0


@dataclass(frozen=True)
class Names:
    """Instances by the number of their position."""

    count: int = 9

    def name(self, position: int) -> str:
        return f"i{position}"


def judge(text: str, kind: type[QualityJudge] = AnytimeJudge, **rules: object):
    chosen = QualityRules(Objective.ANYTIME, **rules)
    return kind(parse_solution_utility(text), chosen, Names(), LIMIT_S)


def run(*points: tuple, status: RunStatus = RunStatus.TIMEOUT, runtime_s: float = LIMIT_S) -> RunOutcome:
    trace = tuple(TracePoint(*point) for point in points)
    return RunOutcome(status, runtime_s, quality=trace[-1].quality if trace else None, trace=trace)


def looks(judged: AnytimeJudge, outcome: RunOutcome, *captimes_s: float, position: int = 0):
    least, most = judged.looks(position, outcome, None, np.array(captimes_s))
    return [(round(float(x), 6), round(float(y), 6)) for x, y in zip(least, most, strict=True)]


def test_a_deadline_leaves_everything_open_until_the_end():
    judged = judge("gap(0, 100)")
    outcome = run((1, 80), (4, 30))
    assert looks(judged, outcome, 0.5, 1, 5) == [(0.0, 1.0), (0.2, 1.0), (0.7, 1.0)]
    assert judged.worth(0, outcome, None) == pytest.approx(0.7)


def test_a_bound_makes_the_top_smaller_from_the_run_or_from_the_scenario():
    outcome = run((1, 80, 10), (2, 80, 25), (3, 80, 20), (4, 30))
    assert looks(judge("gap(0, 100)"), outcome, 0.5, 1, 2, 3, 5) == [
        (0.0, 1.0),
        (0.2, 0.9),
        (0.2, 0.75),
        (0.2, 0.75),
        (0.7, 0.75),
    ]
    listed = judge("gap(0, 100)", bounds={"i3": 40.0})
    assert looks(listed, run((1, 80)), 0.5, 1, position=3) == [(0.0, 0.6), (0.2, 0.6)]
    assert looks(listed, run((1, 80)), 0.5, 1, position=4) == [(0.0, 1.0), (0.2, 1.0)]


def test_discounted_worth_shrinks_with_time_by_itself():
    judged = judge("product(gap(0, 100), uniform(k0=10))")
    outcome = run((1, 50), (5, 0))
    assert looks(judged, outcome, 2, 6) == [(0.45, 0.8), (0.5, 0.5)]
    assert judged.worth(0, outcome, None) == pytest.approx(0.5)
    assert judged.worth(0, run((1, 50), (9, 0)), None) == pytest.approx(0.45)


def test_a_gap_to_the_bound_of_the_run_may_always_close():
    judged = judge("relative-gap(to=bound, limit=1)")
    outcome = run((1, 80), (2, 80, 50), (3, 60, 50))
    assert looks(judged, outcome, 1, 2, 3) == [(0.0, 1.0), (0.4, 1.0), (0.8, 1.0)]
    judged = judge("product(relative-gap(to=bound, limit=1), uniform(k0=10))")
    assert looks(judged, run((1, 80, 50), (4, 60, 50)), 2, 5) == [(0.36, 0.8), (0.48, 0.5)]


def test_larger_may_be_better():
    judged = judge("gap(100, 0)", better=Goal.LARGER)
    outcome = run((1, 20, 90), (2, 70, 80))
    assert looks(judged, outcome, 1, 2) == [(0.2, 0.9), (0.7, 0.8)]


def test_rules_for_what_programs_report():
    judged = judge("gap(0, 100)")
    worse_later = run((1, 30), (2, 80))
    assert judged.worth(0, worse_later, None) == pytest.approx(0.7)
    assert judged.worth(0, run(), None) == 0.0
    crashed = run((1, 30), status=RunStatus.CRASHED, runtime_s=2.0)
    assert judged.worth(0, crashed, None) == pytest.approx(0.7)
    assert judge("gap(0, 100)", QualityJudge).worth(0, crashed, None) == 0.0
    contradiction = run((1, 30, 90))
    assert looks(judged, contradiction, 1) == [(0.7, 0.7)]
    assert judged.worth(0, run((LIMIT_S + 1, 30)), None) == 0.0


def test_compared_with_the_best_that_the_default_found():
    judged = judge("compared(to=default, alpha=1)")
    default = run((1, 50), (2, 100))
    assert judged.worth(0, run((1, 50)), default) == 0.5
    longer = run((1, 50), (LIMIT_S + 1, 10), runtime_s=2 * LIMIT_S)
    assert judged.worth(0, run((1, 50)), longer) == 0.5, "made under a longer limit: only up to ours"
    least, most = judged.looks(0, run((1, 100)), default, np.array([2.0]))
    assert (float(least[0]), float(most[0])) == (pytest.approx(0.25), 1.0)


points = st.lists(
    st.tuples(
        st.floats(0, LIMIT_S),
        st.one_of(st.none(), st.floats(-50, 150)),
        st.one_of(st.none(), st.floats(-50, 0)),
    ),
    max_size=6,
)
texts = st.sampled_from(
    [
        "gap(0, 100)",
        "product(gap(0, 100), log-laplace(k0=3))",
        "minimum(reached(30), uniform(k0=8))",
        "product(relative-gap(to=bound, limit=1), uniform(k0=9))",
    ]
)


@given(points, texts)
def test_looks_are_nested_and_hold_the_worth(trace, text):
    judged = judge(text)
    outcome = run(*sorted(trace, key=lambda point: point[0]))
    # a bound of a quality that is surpassed is a false one, of which nothing is promised
    honest = not any(q is not None and b is not None and q < b for _, q, _ in trace for _, _, b in trace)
    captimes_s = np.array([0.5, 1.0, 3.0, 7.0, 9.9])
    least, most = judged.looks(0, outcome, None, captimes_s)
    assert (np.diff(least) >= 0).all()
    assert (least <= most).all()
    worth = judged.worth(0, outcome, None)
    assert (least <= worth + 1e-12).all()
    if honest:
        assert (np.diff(most) <= 1e-12).all()
        assert (worth <= most + 1e-12).all()
    for captime_s, top in zip(captimes_s, most, strict=True):
        assert top <= 1.0
        assert judged.ceiling(float(captime_s)) <= 1.0

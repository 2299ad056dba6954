"""What every peer does, whoever wrote its package."""

from __future__ import annotations

import pytest

from rivals.packages.playgrounds import SCENARIO, Program, played_live, rows_on_a_line
from utilitune.domain.stopping import Budget
from utilitune.errors import UsageError
from utilitune.rivals.packages import PEERS
from utilitune.rivals.rival import play_rival

BUDGET = Budget(max_time_s=120.0)
LONGEST_S = 10.0


@pytest.fixture(params=list(PEERS))
def kind(request: pytest.FixtureRequest):
    found = PEERS[request.param]
    if not found.is_installed():
        pytest.skip(f"{request.param} is not installed")
    return found


def test_it_keeps_its_budget_and_repeats_itself(kind):
    points, stop = play_rival(kind(seed=3), rows_on_a_line(), BUDGET)
    assert stop.code in {"time-limit", "finished"}
    assert 0 < points[-1].total_time_s < 120.0 + LONGEST_S
    assert 0 <= points[-1].best_index < 25
    times_s = [point.total_time_s for point in points]
    assert times_s == sorted(times_s)
    assert play_rival(kind(seed=3), rows_on_a_line(), BUDGET) == (points, stop)


def test_it_needs_features(kind):
    with pytest.raises(UsageError, match="needs features"):
        play_rival(kind(), rows_on_a_line(features=False), BUDGET)


@pytest.mark.filterwarnings(r"ignore:Please use `dict\(config\)`:DeprecationWarning")  # SMAC of ConfigSpace
def test_live_it_begins_with_what_is_given_proposes_what_is_allowed_and_repeats_itself(kind):
    program = Program()
    budget = Budget(max_time_s=100.0 if kind.plans_ahead else 40.0)
    final, store = played_live(kind(instances=5), budget, program=program)
    records = store.configurations()
    assert records[0].assignment == SCENARIO.space.default()
    tried = list(dict.fromkeys(run.request.configuration for run in store.runs()))
    assert {0, 1} <= set(tried[:5])
    assert all(SCENARIO.space.validate(each.assignment) == each.assignment for each in records)
    assert final.total_time_s < budget.max_time_s + 2 * 4.0
    made = program.runs
    again, _ = played_live(kind(instances=5), budget, store, program)
    assert program.runs == made
    assert again == final

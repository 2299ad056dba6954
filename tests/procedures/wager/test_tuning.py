"""The conditions that the numbers of `wager` have to keep to, as `tuning` states them."""

from __future__ import annotations

import pytest

from utilitune.procedures.bounds.betting import FRACTIONS
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.state import NOT_RUN


@pytest.mark.parametrize("kind", ["FIXED", "FEW", "GROWING"])
def test_the_parts_of_delta_sum_to_at_most_one(kind: str):
    parts = [getattr(tuning, f"{kind}_{bound}") for bound in ("LOWER", "UPPER", "PAIRED")]
    assert min(parts) > 0
    assert sum(parts) <= 1 + 1e-12


def test_what_the_promise_rests_on_stays_in_its_range():
    assert tuning.LEVEL_DRAWN_ANSWERS > 0
    assert tuning.LEVEL_CHOSEN_ANSWERS > 0
    assert tuning.GIVEN_PART + tuning.CHOSEN_PART < 1
    assert 0 < tuning.GAIN < 1
    assert 0 < tuning.ANNOUNCED_PART < 1
    assert 0 < tuning.BEFORE_ANNOUNCED <= tuning.AT_ANNOUNCED
    assert tuning.BEFORE_ANNOUNCED + tuning.AT_ANNOUNCED < 1
    assert tuning.LEVEL_GAMMA > 0
    assert tuning.LEVEL_DRAWS >= 1
    assert 0 <= tuning.PHASES_LATE <= 1
    assert 0 < tuning.FIRST_GAMMA < 1
    assert tuning.GROWTH_RATIO > 1


def test_a_captime_level_fits_into_a_byte():
    assert tuning.MOST_LEVELS <= NOT_RUN


def test_plans_assume_the_largest_bet_there_is():
    assert max(FRACTIONS) == tuning.LARGEST_BET

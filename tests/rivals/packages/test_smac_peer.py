"""SMAC3 as a peer: few trials, as each takes SMAC a second."""

from __future__ import annotations

import pytest

from rivals.packages.playgrounds import FEW, SCENARIO, played_live, rows_on_a_line
from utilitune.domain.stopping import Budget
from utilitune.errors import MissingExtraError, UsageError
from utilitune.rivals.packages import Smac
from utilitune.rivals.packages.decimals import without_digits
from utilitune.rivals.packages.smac_peer import _assignment, _features
from utilitune.rivals.rival import play_rival
from utilitune.spaces import ParameterSpace

needs_smac = pytest.mark.skipif(not Smac.is_installed(), reason="SMAC3 is not installed (the extra smac)")


@needs_smac
def test_it_plays_on_recorded_runs_and_pays_for_every_new_run_once():
    runs = rows_on_a_line()
    points, stop = play_rival(Smac(instances=8, trials=40, seed=1), runs)
    assert stop.code == "finished"
    assert points[-1].runs <= 40
    assert points[-1].total_time_s <= runs.evidence.runtime_s.reshape(25, 200)[:, :8].sum()
    middle = 12  # where SMAC begins
    means = runs.evidence.runtime_s.reshape(25, 200).mean(axis=1)
    assert means[points[-1].best_index] <= means[middle]


@needs_smac
@pytest.mark.filterwarnings(r"ignore:Please use `dict\(config\)`:DeprecationWarning")  # SMAC of ConfigSpace
def test_live_it_stops_when_its_time_is_spent():
    final, store = played_live(Smac(instances=4), Budget(max_time_s=20.0))
    records = store.configurations()
    assert next(store.runs()).request.configuration == 0
    assert store.sessions()[-1].stop.code == "time-limit"
    assert 20.0 <= final.total_time_s < 24.0
    assert len(records) > 1
    for record in records:
        assert SCENARIO.space.validate(record.assignment) == record.assignment


@needs_smac
@pytest.mark.filterwarnings(r"ignore:Please use `dict\(config\)`:DeprecationWarning")  # SMAC of ConfigSpace
def test_it_ends_in_good_order_when_a_small_space_has_nothing_left():
    final, store = played_live(Smac(instances=2, seed=1), Budget(max_time_s=1e6), scenario=FEW)
    assert store.sessions()[-1].stop.code == "finished"
    assert "no configuration left" in store.sessions()[-1].stop.advice
    assert final.configurations <= 3


def test_features_of_instances_have_the_names_that_smac_has_for_them():
    class Described:
        positions = 2
        features = ((0.5, 1.0), (0.25, 0.0), (9.0, 9.0))

    assert _features(Described()) == {"0": [0.5, 1.0], "1": [0.25, 0.0]}
    Described.features = None
    assert _features(Described()) is None


def test_values_are_rounded_where_the_space_says_so():
    space = ParameterSpace.from_tables(
        {
            "alpha": {"type": "float", "range": [0.0, 1.0], "default": 0.5, "digits": 2},
            "level": {"type": "integer", "range": [1, 9], "default": 2},
            "off": {"type": "integer", "range": [1, 9], "default": 2, "when": "level > 5"},
        }
    )
    assert _assignment(space, {"alpha": 0.123456, "level": 3}) == {"alpha": 0.12, "level": 3}
    assert without_digits(space).parameters["alpha"].digits is None


def test_mistakes_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="number of trials must be"):
        Smac(trials=0)
    monkeypatch.setattr("utilitune.rivals.packages.peer.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"SMAC3 needs .*'utilitune\[smac\]'"):
        play_rival(Smac(), rows_on_a_line())

"""Settings in a Python call: what is taken, and that everything else is one sentence."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import utilitune
from utilitune.errors import UsageError, UtilituneError, UtilityError
from utilitune.live.call_settings import CallSettings, Settings, checked

USUAL = {
    "space": {"step": {"type": "float", "range": [0.01, 1.0], "default": 0.1}},
    "instances": ["a", "b", "c"],
    "utility": "uniform(k0=10s)",
}
ODD = (
    "", " ", "x", "nan", "-1", "-3s", "1e400", "é\0", "\x1b[31m", "\ud800", "9" * 5000,
    0, -1, 0.5, 2, 1e-320, 1e308, math.nan, math.inf, 10**400, 2**63, True, b"x",
    [], [1], ["a"], {}, {"a": 1}, (), set(), object(), lambda *_: 1, range(3), 1j, type, Path("none") / "x",
    np.float64(1), np.array([1, 2]), np.int64(3), np.bool_(0), Decimal(1), Fraction(1, 2),
)  # fmt: skip
ASKED = (*USUAL, *sorted(Settings.__optional_keys__ - {"max_wall_time"}))


def searched(settings: dict[str, Any]) -> str:
    tuner = utilitune.Tuner.of(**settings)
    try:
        for trial in tuner.ask(2):
            tuner.tell(trial, runtime_s=1.0)
        assert tuner.promise.sentence()
        return tuner.promise.sentence()
    finally:
        tuner.close()


@pytest.mark.parametrize("name", ASKED)
def test_any_value_is_taken_or_refused_in_a_sentence(name: str):
    refusals = []
    for value in ODD:
        try:
            searched({**USUAL, name: value})
        except UtilituneError as error:
            refusals.append(str(error))
    assert len(refusals) > len(ODD) // 2
    assert all("\x1b" not in text for text in refusals)
    assert max(map(len, refusals)) < 5000


def test_numbers_of_numpy_and_texts_of_sizes_are_plain_values():
    given = {"seed": np.int64(3), "epsilon": np.float32(0.5), "memory_bytes": "2 GiB", "max_time": "1h"}
    found = checked({**given, "reports_runtime": np.bool_(1)}, Settings.__optional_keys__)
    assert found == {
        "seed": 3, "epsilon": 0.5, "memory_bytes": 2 * 2**30, "max_time": 3600.0, "reports_runtime": True
    }  # fmt: skip
    assert [type(value) for value in found.values()] == [int, float, int, float, bool]


@pytest.mark.parametrize("name", sorted(CallSettings.__optional_keys__))
def test_none_is_the_usual_value(name: str):
    assert checked({name: None}, CallSettings.__optional_keys__) == {}


def test_a_seed_that_is_none_gives_the_same_run_again():
    """It once meant a new seed at every start, which no run could be resumed with."""
    asked = []
    for seed in ({}, {"seed": None}, {"seed": None}):
        tuner = utilitune.Tuner.of(**USUAL, **seed)
        asked.append([(trial.configuration, trial.instance) for trial in tuner.ask(3)])
        tuner.close()
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"seed": "1h"}, "seed must be a whole number, not '1h'"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"workers": 0}, "workers must be a whole number of at least 1"),
        ({"max_runs": math.inf}, "max_runs must be a whole number"),
        ({"memory_bytes": "much"}, "memory_bytes must be a number of bytes, or a text such as"),
        ({"memory_bytes": 0}, "memory_bytes must be a number of bytes"),
        ({"delta": "0.1"}, "delta must be a number"),
        ({"epsilon": 10**400}, "epsilon must be a number of usual size"),
        ({"gamma": 1e-13}, "gamma must be at least 1e-12"),
        ({"largest_captime": [1]}, "largest_captime must be a number"),
        ({"smallest_captime": 0}, "smallest_captime must be a positive number of seconds, or a text such as"),
        ({"cluster": 8}, "cluster must be a text"),
        ({"guesses": "al"}, "there is no guesses 'al'; did you mean 'all'"),
        ({"options": [1]}, "options must be a dictionary"),
        ({"initial": {"step": 0.5}}, "initial must be a list of configurations"),
        ({"initial": ["step"]}, "each of initial must be a dictionary"),
        ({"reports_runtime": "no"}, "reports_runtime must be True or False"),
        ({"instances": 3}, "instances must be a list of texts"),
        ({"instances": ["a", 3]}, "turn 3 into a text"),
        ({"test_instances": "a"}, "test_instances must be a list of texts"),
        ({"space": ["step"]}, "space must be a ParameterSpace, the path of a parameter file"),
        ({"space": "a\0"}, "the parameter file cannot be read"),
        ({"sed": 1}, "did you mean 'seed'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(settings: dict[str, Any], text: str):
    with pytest.raises(UtilituneError) as raised:
        searched({**USUAL, **settings})
    assert text in str(raised.value)


def test_limits_beside_a_scenario_are_checked_as_well(tmp_path: Path):
    with pytest.raises(UsageError, match="workers must be a whole number"):
        utilitune.configure(scenario=tmp_path / "scenario.toml", workers="two")


@pytest.mark.parametrize("utility", [lambda _: 1.0, lambda _: 0.0, "piecewise(0: 0.5, 10: 0.5)"])
def test_a_utility_that_never_falls_is_refused(utility: Any):
    with pytest.raises(UtilityError, match="at all times, so no configuration is better than another"):
        searched({**USUAL, "utility": utility})


def test_a_utility_that_hardly_falls_is_searched_for():
    assert "within ε" in searched({**USUAL, "utility": "piecewise(0: 0.5004, 10: 0.5)"})

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.errors import UtilityError
from utilitune.utility import Uniform, as_utility, parse_utility, utility_from_callable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE = """
import math

def patience(time_s):
    return 1.0 if time_s < 5 else 5 / time_s

class Worth:
    @staticmethod
    def halved(time_s):
        return 0.5 * math.exp(-time_s)

def _private(time_s):
    return 1.0

limit = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    (tmp_path / "my_worths.py").write_text(MODULE)
    (tmp_path / "broken_worths.py").write_text("raise RuntimeError('no licence')")
    (tmp_path / "leaving_worths.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_of_single_times_is_accepted():
    utility = utility_from_callable(lambda t: 1 - t / 60 if t < 60 else 0)
    times_s = np.array([[0.0, 15.0], [60.0, math.inf]])
    assert np.array_equal(utility(times_s), Uniform(60)(times_s))
    assert not utility.takes_arrays


def test_a_function_of_arrays_is_called_with_arrays():
    sizes = []

    def worth(time_s: np.ndarray) -> np.ndarray:
        sizes.append(np.size(time_s))
        result = 1 / (1 + time_s)
        result[time_s > 100] = 0
        return result

    utility = utility_from_callable(worth)
    sizes.clear()
    assert utility([0.0, 1.0, 200.0]).tolist() == [1, 0.5, 0]
    assert sizes == [3]


def test_a_function_that_looks_at_the_other_times_is_not_trusted_with_arrays():
    utility = utility_from_callable(lambda t: 1 - t / (1e7 * np.size(t)))
    assert not utility.takes_arrays
    assert utility([1e6, 5e6]).tolist() == [0.9, 0.5]


def test_past_the_horizon_the_worth_stays():
    utility = utility_from_callable(lambda t: 1 / (1 + t), horizon_s=9)
    assert utility([9, 10, math.inf]).tolist() == [0.1, 0.1, 0.1]
    assert utility.infimum == 0.1


def test_the_two_times_of_a_rise_are_named():
    with pytest.raises(UtilityError) as caught:
        utility_from_callable(lambda t: 0.3 if t < 20 else 0.5)
    text = str(caught.value)
    early, late = (float(part.split(" s")[0]) for part in text.split(" at ")[1:])
    assert early < 20 <= late
    assert late < 1.01 * early
    assert "rises from 0.3" in text
    assert "to 0.5" in text


def test_a_creeping_rise_is_found():
    with pytest.raises(UtilityError, match="rises from"):
        utility_from_callable(lambda t: 0.5 + 1e-12 * t)


@pytest.mark.parametrize("wrong", [1.5, -0.5, math.nan, math.inf])
def test_worths_outside_zero_to_one_are_named(wrong: float):
    with pytest.raises(UtilityError, match=r"at 0\.0 s: scale it to stay between 0 and 1"):
        utility_from_callable(lambda t: wrong if t == 0 else 0.0)


def test_rounding_is_forgiven_and_cut_off():
    utility = utility_from_callable(lambda t: np.where(np.asarray(t) < 1, 1 + 1e-15, -1e-15))
    assert utility([0.0, 2.0]).tolist() == [1, 0]


def test_a_function_that_fails_says_where():
    with pytest.raises(UtilityError, match=r"failed at 0\.0 s with ValueError: "):
        utility_from_callable(lambda t: math.log(t) / t)


def test_a_text_instead_of_a_worth_is_an_error():
    with pytest.raises(UtilityError, match="failed at"):
        utility_from_callable(lambda _: "much")


@pytest.mark.parametrize("horizon_s", [0, -1, math.inf, math.nan])
def test_the_horizon_must_be_a_time(horizon_s: float):
    with pytest.raises(UtilityError, match="horizon"):
        utility_from_callable(lambda _: 1.0, horizon_s=horizon_s)


def test_a_late_surprise_between_grid_points_is_an_error():
    utility = utility_from_callable(lambda t: 2.0 if t == 12.3456789 else 0.5)
    with pytest.raises(UtilityError, match=r"is worth 2\.0 at 12\.3456789 s"):
        utility(12.3456789)


@pytest.mark.usefixtures("folder")
def test_a_function_is_imported_by_name_from_the_current_folder():
    path_before = list(sys.path)
    utility = parse_utility("python:my_worths:patience")
    assert utility([1.0, 10.0]).tolist() == [1, 0.5]
    assert str(utility) == "python:my_worths:patience"
    assert parse_utility(str(utility)) == utility
    assert sys.path == path_before
    assert "my_worths:patience" in utility.describe()
    assert "falls to 1/2 at 10 s" in utility.describe()


@pytest.mark.usefixtures("folder")
def test_names_may_be_nested():
    assert parse_utility("python:my_worths:Worth.halved")(0.0) == 0.5


@pytest.mark.usefixtures("folder")
def test_a_horizon_survives_the_text_form():
    utility = parse_utility(" python:my_worths:patience(horizon=1m) ")
    assert utility.infimum == 5 / 60
    assert str(utility) == "python:my_worths:patience(horizon=60)"
    assert parse_utility(str(utility)) == utility


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("python:my_worths", "write python:package.module:function"),
        ("python:no_such_module_here:f", "there is no Python module 'no_such_module_here'"),
        ("python:my_worths:patients", "has no function 'patients': did you mean 'patience'?"),
        ("python:my_worths:limit", "is not a function but 3"),
        ("python:my_worths:patience(horizon=soon)", "horizon .* cannot be read"),
        ("python:broken_worths:f", "cannot be imported: RuntimeError: no licence"),
        ("python:leaving_worths:f", "cannot be imported: it ends the program while it is imported"),
        ("python:..:f", "write python:package.module:function"),
    ],
)
def test_says_why_a_function_cannot_be_loaded(text: str, sentence: str):
    with pytest.raises(UtilityError, match=sentence):
        parse_utility(text)


def test_as_utility_takes_whatever_a_user_has():
    assert as_utility(Uniform(60)) == Uniform(60)
    assert as_utility("uniform(60)") == Uniform(60)
    assert as_utility(lambda _: 0.5)(3.0) == 0.5
    with pytest.raises(UtilityError, match="3 is not a utility"):
        as_utility(3)  # type: ignore[arg-type]

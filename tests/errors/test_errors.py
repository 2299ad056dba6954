from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from utilitune import errors
from utilitune.errors import (
    DataError,
    MissingExtraError,
    Mistakes,
    ScenarioError,
    UtilituneError,
    did_you_mean,
)

CLASSES = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if each.__module__ == errors.__name__ and each is not Mistakes
]


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_is_one_of_ours_and_stands_in_the_drawing(error: type):
    assert issubclass(error, UtilituneError)
    assert error.__name__.startswith("_") or error.__name__ in errors.__doc__


@pytest.mark.parametrize("error", [DataError, ScenarioError])
def test_a_place_is_named_where_there_is_one(error: type):
    assert str(error("text")) == "text"
    assert str(error("text", path="a.csv")) == "a.csv: text"
    assert str(error("text", path=Path("a.csv"), line=3)) == "a.csv:3: text"
    assert error("text", path="a.csv", line=3).line == 3


def test_a_missing_part_says_how_to_get_it():
    assert str(MissingExtraError("Drawing", "plot")).endswith("pip install '.[plot]')")


def test_the_nearest_name_is_offered_or_all_of_them():
    assert did_you_mean("unifrom", ["uniform", "step"]) == "did you mean 'uniform'?"
    assert did_you_mean("zzz", ["uniform", "step"]) == "known: step, uniform"
    assert did_you_mean("int", ["integer", "float"]) == "did you mean 'integer'?"
    assert did_you_mean("objective", ["captime", "multiplier"]) == "known: captime, multiplier"


def test_odd_names_stand_in_quotes_so_that_the_sentence_stays_one():
    assert did_you_mean("zzz", ["", "a b", "c\nd", "--x=1"]) == r"known: '', --x=1, 'a b', 'c\nd'"


def test_mistakes_are_told_together_each_once():
    mistakes = Mistakes()
    mistakes.tell()
    assert not mistakes
    first = ScenarioError("one", path="a", line=3)
    for error in (first, first, ScenarioError("two", path="a", line=9)):
        with mistakes.collected():
            raise error
    assert mistakes
    with pytest.raises(ScenarioError) as told:
        mistakes.tell()
    assert str(told.value) == "a:3: one\na:9: two"
    assert (told.value.path, told.value.line) == ("a", 3)
    with pytest.raises(KeyError), Mistakes().collected():
        raise KeyError

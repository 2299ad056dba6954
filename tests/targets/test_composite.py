"""Arguments made from several parameters: what is written, and what goes when a parameter is inactive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import ScenarioError
from utilitune.spaces import Assignment
from utilitune.targets.base import Invocation
from utilitune.targets.command import CommandTarget
from utilitune.targets.composite import Composite, parameters_in

RESTARTS = "--restarts={policy},{base},{factor}"
plain = st.text(st.characters(exclude_characters="\0{}|", exclude_categories=["Cs"]), max_size=5)


def made(argv, parameters, names=("policy", "base", "factor", "alpha")) -> tuple[str, ...]:
    target = CommandTarget(("s", *argv), parameters=names)
    return target.prepare(Invocation(Assignment(parameters), "a.cnf", 7, 2.5)).argv[1:]


@pytest.mark.parametrize(
    ("active", "expected"),
    [
        ({"policy": "D", "base": 100, "factor": 0.7}, "--restarts=D,100,0.7"),
        ({"policy": "L", "base": 60}, "--restarts=L,60"),
        ({"policy": "no"}, "--restarts=no"),
        ({"policy": "x", "factor": 1.5}, "--restarts=x,1.5"),
        ({"base": 5, "factor": 1.5}, "--restarts=5,1.5"),
    ],
)
def test_an_inactive_parameter_goes_with_the_text_before_it(active, expected):
    assert made([RESTARTS], active) == (expected,)


def test_an_argument_without_an_active_parameter_is_left_out():
    assert made([RESTARTS, "{instance}"], {"alpha": 1}) == ("a.cnf",)
    assert made(["--r={seed},{base}", "{instance}"], {"alpha": 1}) == ("a.cnf",)


def test_a_place_that_must_be_filled_has_a_text_of_its_own():
    assert made(["--r={policy},{base|0},{factor|}"], {"policy": "F"}) == ("--r=F,0,",)
    assert made(["--r={base|none}"], {}) == ("--r=none",)


def test_the_text_at_both_ends_stays():
    assert made(["({base}:{factor})"], {"factor": 2.0}) == ("(2.0)",)
    assert made(["{{{base}}}"], {"base": 3}) == ("{3}",)


def test_a_parameter_is_written_once():
    values = {"policy": "D", "base": 100, "factor": 0.7, "alpha": True}
    assert made([RESTARTS, "{parameters}"], values) == ("--restarts=D,100,0.7", "--alpha=true")
    assert made(["{parameters}", "-f", "{factor}"], values) == (
        "--policy=D",
        "--base=100",
        "--alpha=true",
        "-f",
        "0.7",
    )


def test_names_that_belong_to_the_run_keep_their_meaning():
    assert made(["{seed}:{base}", "{instance}"], {"base": 3, "seed": 99}, ("seed", "base")) == (
        "7:3",
        "a.cnf",
    )


def test_names_may_hold_hyphens_and_dots():
    assert made(["{sat-prepro},{a.b}"], {"sat-prepro": 2, "a.b": 1}, ("sat-prepro", "a.b")) == ("2,1",)


def test_values_may_hold_braces():
    assert made([RESTARTS], {"policy": "{base}", "base": "{}"}) == ("--restarts={base},{}",)


@pytest.mark.parametrize("word", ["{base:d}", "{base!r}", "{bse},{policy}", "{}", "{|x}", "{seed|3}"])
def test_what_is_no_parameter_is_refused(word):
    with pytest.raises(ScenarioError, match="unknown placeholder"):
        CommandTarget(("s", word), parameters=("policy", "base"))


def test_a_slip_is_guessed():
    with pytest.raises(ScenarioError, match="did you mean 'base'"):
        CommandTarget(("s", "{bse},{policy}"), parameters=("policy", "base"))


@given(st.lists(st.tuples(plain, st.none() | plain), min_size=1, max_size=5), plain)
def test_all_values_and_texts_are_there_when_all_are_active(pieces, after):
    word = "".join(f"{before}{{p{place}}}" for place, (before, _) in enumerate(pieces)) + after
    values = {f"p{place}": value for place, (_, value) in enumerate(pieces) if value is not None}
    written = Composite.of(word).written(values)
    if not values:
        assert written is None
        return
    there = [(before, value) for before, value in pieces if value is not None]
    middle = "".join(before + value for before, value in there)[len(there[0][0]) :]
    assert written == pieces[0][0] + middle + after


def test_the_names_in_words():
    assert parameters_in([RESTARTS, "{seed}"], {"seed"}) == dict.fromkeys(
        ("policy", "base", "factor"), RESTARTS
    )

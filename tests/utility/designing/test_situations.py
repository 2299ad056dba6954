"""Plain words: what is understood, what is refused, and that nothing is passed over in silence."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.errors import UtilituneError, UtilityError
from utilitune.utility import parse_utility
from utilitune.utility.designing import SITUATIONS, understand


@pytest.mark.parametrize(
    ("sentence", "utility"),
    [
        (
            "nightly batch, useless after 10 minutes, 0.05 per hour",
            "product(step(600), cost-per-hour(value=1, rate=0.05))",
        ),
        ("It must be done within a minute", "step(60)"),
        ("deadline of half an hour", "step(1800)"),
        ("10 minute deadline", "step(600)"),
        ("Nothing after 1h30m!", "step(5400)"),
        ("An answer is worth 10 €, and the machine costs 2 € per hour", "cost-per-hour(value=10, rate=2)"),
        ("0.1 per minute", "cost-per-hour(value=1, rate=6)"),
        ("3 dollars a day", "cost-per-hour(value=1, rate=0.125)"),
        ("fine up to 10 seconds, unbearable after 1 min", "plateau(start=10, end=60)"),
        ("half its worth is gone after 30s", "log-laplace(30)"),
        ("every second costs the same until 1 h", "uniform(3600)"),
        ("wanted for 5 min on average", "exponential(300)"),
        ("halves every 2 min", "exponential(173.1)"),
        ("fine up to 500 ms", "pareto(0.5)"),
        ("deadline 1h; 2 per hour; the strictest counts", "minimum(step(3600), cost-per-hour(1, 2))"),
        ("half gone at 500ms, nothing after 10 s", "product(log-laplace(0.5), step(10))"),
    ],
)
def test_sentences(sentence: str, utility: str):
    assert understand(sentence).utility == parse_utility(utility)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.name)
def test_every_situation_understands_its_own_phrase(situation):
    phrase = situation.filled(*(blank.usual for blank in situation.blanks))
    said = understand(phrase)
    assert [part.situation for part in said.parts] == [situation]
    assert said.names == ()


@pytest.mark.parametrize("first", SITUATIONS, ids=lambda each: each.name)
@pytest.mark.parametrize("second", SITUATIONS, ids=lambda each: each.name)
def test_any_two_situations_can_be_said_together(first, second):
    phrases = [each.filled(*(blank.usual for blank in each.blanks)) for each in (first, second)]
    if (first.name, second.name) == ("tail", "deadline"):
        return  # "fine up to 10 s, useless after 10 min" is what "patience" says
    said = understand(", ".join(phrases))
    assert [part.situation.name for part in said.parts] == [first.name, second.name]


def test_what_means_nothing_is_named():
    said = understand("Nightly batch: useless after 10 min")
    assert said.names == ("nightly batch",)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "as soon as possible",
        "useless after 10 min, 3 apples",
        "ab 5",
        "useless after lunch",
        "0.05",
        "x" * 2000,
    ],
)
def test_what_is_not_understood_is_refused_with_examples(sentence: str):
    with pytest.raises(UtilityError, match="say"):
        understand(sentence)


def test_impossible_numbers_are_refused():
    for sentence in ("useless after 0", "fine up to 2 min and given up after 1 min", "0 per hour"):
        with pytest.raises(UtilituneError):
            understand(sentence)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789. ,;useltaferhminp€$%/abw", max_size=120) | st.text(max_size=60))
def test_no_sentence_breaks_it(sentence: str):
    try:
        said = understand(sentence)
    except UtilituneError:
        return
    assert parse_utility(str(said.utility)) == said.utility


@pytest.mark.parametrize(
    "sign", ["1", "1 ", "1h", "half ", "worth 1 ", "every ", "must ", "fine up to 1 ", "1."]
)
def test_no_sentence_takes_long(sign: str):
    began = time.process_time()
    with contextlib.suppress(UtilituneError):
        understand((sign * 1000)[:999])
    assert time.process_time() - began < 1.0

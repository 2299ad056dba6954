"""The numbers together, from a stored run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy
from utilitune.live.standing.standing import Standing, elapsed_s
from utilitune.live.standing.worths import Estimate
from utilitune.store.records import SessionRecord

if TYPE_CHECKING:
    from pathlib import Path


def test_a_result_says_how_good_the_answer_is(tmp_path: Path):
    result = Toy.write(tmp_path).run()
    standing = result.standing
    assert standing.answer.configuration == result.progress.best_index
    assert standing.default.configuration == 0
    for side in (standing.answer, standing.default):
        assert 0 <= side.low <= side.seen_low <= side.seen_high <= side.high <= 1
        assert side.runs > 0
    assert standing.answer.mean > standing.default.mean
    assert "default" in standing.utilities()
    assert json.loads(json.dumps(result.to_dict()))["standing"]["answer"]["runs"] == standing.answer.runs


def _standing(answer: int, gain: float | None) -> Standing:
    return Standing(
        answer=Estimate(answer, 5, 0.5, 0.5, 0.4, 0.6),
        default=Estimate(0, 5, 0.5, 0.5, 0.4, 0.6),
        proved_gain=gain,
        epsilon_means="",
        outlook=None,
        failures=(),
    )


@pytest.mark.parametrize(
    ("answer", "gain", "text"),
    [
        (3, None, ""),
        (3, 0.0, "not proved better than the default yet"),
        (3, 0.125, "proved better than the default by at least 0.125"),
        (3, 0.12499, "proved better than the default by at least 0.124"),
        (0, 0.0, ""),
    ],
)
def test_the_gain_in_words(answer: int, gain: float | None, text: str):
    assert _standing(answer, gain).gain() == text


def test_intervals_that_do_not_meet_show_a_gain_before_the_promise_does():
    apart = replace(_standing(3, -0.1), answer=Estimate(3, 5, 0.9, 0.9, 0.8257, 0.95))
    assert apart.gain() == (
        "better than the default by at least 0.225, because the two intervals do not overlap; "
        "this is not part of the promise yet"
    )


def test_intervals_that_are_further_apart_than_the_promise_says_are_named_too():
    apart = replace(_standing(3, 0.01), answer=Estimate(3, 5, 0.9, 0.9, 0.8257, 0.95))
    assert apart.gain() == (
        "proved better than the default by at least 0.01; by at least 0.225, because the two intervals are "
        "that far apart; this is not part of the promise yet"
    )
    assert replace(apart, proved_gain=0.3).gain() == "proved better than the default by at least 0.3"
    assert replace(apart, proved_gain=0.22569).gain() == "proved better than the default by at least 0.225"


def test_the_default_is_named_once():
    assert _standing(0, None).utilities() == "answer 0.50 (0.40 to 0.60), which is the default"


def test_time_on_the_clock_over_all_starts():
    sessions = [SessionRecord(10.0, {}, ended_at=15.0), SessionRecord(20.0, {}), SessionRecord(40.0, {})]
    assert elapsed_s(sessions, [12.0, 22.0, 41.0]) == pytest.approx(5 + 2 + 1)
    assert elapsed_s(sessions, [12.0, 22.0, 41.0], now=50.0) == pytest.approx(5 + 2 + 10)
    assert elapsed_s([], []) == 0

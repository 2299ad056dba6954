from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reports.dashboard.stored_runs import small_run
from utilitune.cli import build_app
from utilitune.errors import UsageError, UtilituneError, UtilityError


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(build_app(["utility"]), ["utility", *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_a_utility_is_drawn_tabled_and_said():
    text = shown("product(step(10m), uniform(20m))")
    assert text.startswith("product(step(deadline=600), uniform(k0=1200))")
    assert "1 │█" in text
    assert "an answer after  is worth" in text
    assert (
        "An answer is the product of: worth 1 before 10 min, nothing from then on; and: worth 1 at once"
        in text
    )


def test_a_picture_that_a_terminal_has_no_room_for_is_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = shown("uniform(k0=60)")
    assert "█" not in text
    assert "└" not in text
    assert "an answer after" in text


def test_without_one_all_are_listed():
    text = shown()
    assert "log-laplace(k0=60, alpha=1)" in text
    assert "relative-gap(to=known, limit=0.1)" in text


def test_directions():
    assert "larger is better" in shown("gap(100, 0)", "--better", "larger")
    with pytest.raises(UtilityError, match="exchange the two numbers"):
        shown("gap(100, 0)")
    with pytest.raises(UsageError, match="there is no direction 'bigger'"):
        shown("gap(0, 1)", "--better", "bigger")


SAID = "nightly batch, useless after 10 minutes, 0.05 per hour"


def designed(*arguments: str, typed: str | None = None, monkeypatch: pytest.MonkeyPatch | None = None) -> str:
    if monkeypatch is not None:
        monkeypatch.setattr("utilitune.cli.utility_design.is_terminal", lambda: True)
    done = CliRunner().invoke(build_app(["utility"]), ["utility", "design", *arguments], input=typed)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_words_end_in_a_line_to_paste():
    text = designed("--say", SAID)
    assert text.endswith('utility = "product(step(deadline=600), cost-per-hour(value=1, rate=0.05))"\n')
    assert "useless after 10 minutes: worth 1 before 10 min" in text
    assert "taken as a name, without a meaning: nightly batch" in text
    assert "Who would win on lookalike:cplex_rcw" in text


@pytest.mark.long
def test_answers_are_fitted_and_their_inconsistency_shown():
    given = ("1s|1h=5m", "1s|5m=1m", "5m|1h=20m", "1m|20m=5m")
    text = designed(*(part for each in given for part in ("--answer", each)))
    assert "Inconsistency 0.0" in text
    assert "the curve says" in text
    plain = json.loads(designed("--answer", "1s|1h=30m", "--on", "shipped:kissat", "--json"))
    assert plain["line"] == f'utility = "{plain["utility"]}"'
    assert plain["inconsistency"] < 0.03
    assert plain["tried_on"].startswith("shipped:kissat")


@pytest.mark.long
def test_points_and_combinations():
    points = ("--point", "0s:1", "--point", "30s:0.5", "--point", "60s:0")
    assert 'utility = "piecewise(0s:1, 30s:0.5, 60s:0)"' in designed(*points)
    assert 'utility = "uniform(k0=60)"' in designed(*points, "--smooth")
    both = designed(*points, "--smooth", "--also", "step(10s)", "--together", "minimum")
    assert both.endswith('utility = "minimum(uniform(k0=60), step(deadline=10))"\n')


def test_a_finished_run_says_who_would_win(tmp_path: Path):
    folder = small_run(tmp_path).folder
    text = designed("--say", "half gone after 2s", "--on", str(folder))
    assert "of the 30" in text
    with pytest.raises(UtilituneError):
        designed("--say", "half gone after 2s", "--on", str(tmp_path / "no.run"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "--say"),
        (("--say", SAID, "--point", "1s:1"), "choose one way"),
        (("--say", SAID, "--smooth"), "about points"),
        (("--say", SAID, "--together", "sum"), "product or minimum"),
        (("--say", "as soon as possible"), "no situation was found"),
        (("--answer", "5m"), "is not an answer"),
    ],
)
def test_what_is_missing_or_wrong_is_said(arguments: tuple[str, ...], complaint: str):
    with pytest.raises(UtilituneError, match=complaint):
        designed(*arguments)


@pytest.mark.long
def test_it_asks_in_a_terminal(monkeypatch: pytest.MonkeyPatch):
    words = designed(typed="1\nnonsense 5\nuseless after 10 s\n\n", monkeypatch=monkeypatch)
    assert "was not understood" in words
    assert words.endswith('utility = "step(deadline=10)"\n')
    points = designed(typed="4\n3\n1s:1, 1m:0\nuseless after 30 s\n", monkeypatch=monkeypatch)
    assert points.endswith('utility = "product(piecewise(1s:1, 60s:0), step(deadline=30))"\n')


@pytest.mark.long
def test_the_questions_are_asked_one_after_the_other(monkeypatch: pytest.MonkeyPatch):
    typed = "2\n1s\n1h\n1\nb\n2h\n5m\n3\n3\n3\n\n"
    text = designed(typed=typed, monkeypatch=monkeypatch)
    assert text.count("Question 1 of 4") == 3
    assert "lies between its two times" in text
    assert "Question 4 of 4" in text
    assert "Inconsistency" in text
    assert 'utility = "' in text.splitlines()[-1]

"""Who would win: the same as whatif says, exact on data, and honest where nothing can be told apart."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from reports.dashboard.stored_runs import small_run
from utilitune.data import read_matrix
from utilitune.errors import UsageError, UtilituneError
from utilitune.reports.contest import (
    SHIPPED,
    SHOWN,
    contest_of_data,
    contest_of_run,
    shipped_contest,
    stability_in_words,
    telling_data,
)
from utilitune.reports.whatif import SolutionWhatIf, whatif_run
from utilitune.store import read_run_folder
from utilitune.utility import parse_utility


@pytest.mark.parametrize("text", ["exponential(k0=20ms)", "step(deadline=10ms)", "uniform(k0=1s)"])
def test_on_shipped_data_the_ranking_is_the_true_one(text: str):
    utility = parse_utility(text)
    matrix = read_matrix("shipped:kissat")
    means = utility(np.asarray(matrix.runtimes_s, dtype=np.float64)).mean(axis=1)
    found = contest_of_data("shipped:kissat").ranking(utility)
    assert found["winner"] == int(np.argmax(means))
    for row in found["rows"]:
        assert row["low"] - 1e-9 <= means[row["number"]] <= row["high"] + 1e-9
    assert [row["number"] for row in found["rows"]][-1] == 0 or len(found["rows"]) == SHOWN


def test_stretched_times_are_another_utility():
    contest = contest_of_data("lookalike:minisat")
    shifts = contest.shifts(parse_utility("uniform(k0=1m)"))
    assert shifts[0]["from"] == pytest.approx(1 / 16)
    assert shifts[-1]["to"] == pytest.approx(16)
    for factor in (1 / 16, 1 / 4, 1.0, 4.0, 16.0):
        winner = contest.ranking(parse_utility(f"uniform(k0={60 * factor})"))["winner"]
        near = min(shifts, key=lambda each: max(each["from"] / factor, factor / each["to"]))
        assert near["number"] == winner


def test_stability_names_who_comes_next():
    shifts = [
        {"from": 1 / 16, "to": 0.5, "number": 3, "name": "configuration 3"},
        {"from": 0.6, "to": 2.0, "number": 1, "name": "configuration 1"},
        {"from": 2.4, "to": 16.0, "number": 0, "name": "the default"},
    ]
    text = stability_in_words(shifts)
    assert text == (
        "If all your times were about 1.8 times shorter, configuration 3 would win; "
        "if they were about 2.2 times longer, the default would win."
    )
    assert "16 times shorter or longer" in stability_in_words([{**shifts[1], "from": 1 / 16, "to": 16.0}])


def test_a_run_gives_what_whatif_says(tmp_path: Path):
    folder = small_run(tmp_path).folder
    utility = parse_utility("uniform(k0=5s)")
    found = contest_of_run(folder).ranking(utility)
    with contextlib.closing(read_run_folder(folder)) as store:
        answer = whatif_run(store).under(utility)
    assert found["winner"] == answer.best_index
    assert found["epsilon"] == answer.epsilon
    assert found["contenders"] == answer.contenders
    assert any(row["name"] == "the default" for row in found["rows"])


def test_a_curve_that_tells_nothing_apart_is_told():
    verdict = contest_of_data("lookalike:cplex_rcw").ranking(parse_utility("step(deadline=1ms)"))["verdict"]
    assert "does not tell the configurations apart" in verdict


def test_the_data_whose_times_fit_are_chosen():
    assert telling_data(parse_utility("step(deadline=5ms)")) == "shipped:kissat"
    assert telling_data(parse_utility("uniform(k0=1h)")) == "lookalike:cplex_rcw"


def test_only_shipped_data_are_named_from_outside(tmp_path: Path):
    for source in ("/etc/passwd", "../x.csv", "", "run:0", "lookalike:nothing", str(tmp_path)):
        with pytest.raises(UtilituneError):
            shipped_contest(source)
    assert set(SHIPPED) == {"shipped:kissat", "lookalike:minisat", "lookalike:cplex_rcw"}


def test_a_run_about_quality_is_no_contest_of_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = SolutionWhatIf.__new__(SolutionWhatIf)
    monkeypatch.setattr("utilitune.reports.contest.whatif_run", lambda _: found)
    with pytest.raises(UsageError, match="quality of solutions"):
        contest_of_run(tmp_path)


def test_the_times_as_they_are_always_have_a_winner():
    contest = contest_of_data("shipped:kissat")
    for text in ("step(deadline=3ms)", "step(deadline=1s)", "plateau(start=2ms, end=4ms)"):
        utility = parse_utility(text)
        here = next(each for each in contest.shifts(utility) if each["from"] <= 1.0 <= each["to"])
        assert here["number"] == contest.ranking(utility)["winner"]

"""The search benchmark: tasks, the clock that charges, results that are kept and compared in pairs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from benchmarks.search import page, real
from benchmarks.search.answers import Answer
from benchmarks.search.comparing import by_task, difference, harm_share, mean_score
from benchmarks.search.judging import NAMES, RECIPES, task
from benchmarks.search.landscapes import Recipe
from benchmarks.search.measuring import Cell, Results, measure
from benchmarks.search.real import RealSearch
from benchmarks.search.solvers import SOLVERS, space_of
from benchmarks.search.surrogate import RECORDINGS, Recording
from benchmarks.search.task import Course, SpentError
from benchmarks.search.tools import RandomTool, VirtualGround

from benchmarks import search
from utilitune.rivals.packages import OptunaTpe, Smac
from utilitune.spaces import ParameterSpace

SMALL = Recipe("small", 7, parameters=8, important=3, children=2, training=20, testing=30)


@pytest.mark.parametrize("name", NAMES)
def test_a_judging_task_leaves_something_to_find(name):
    judged = task(name)
    assert judged.name == name
    assert 10 <= len(judged.space.names) <= 60
    assert judged.score(judged.default) == 0.0
    assert judged.best_known is not None
    assert judged.score(judged.best_known) == 1.0
    assert judged.test_utility(judged.best_known) > judged.test_utility(judged.default) + 0.1


def test_tasks_for_judging_have_seeds_of_their_own():
    assert len({recipe.seed for recipe in RECIPES}) == len(RECIPES) == 7
    assert len(NAMES) == len(set(NAMES)) >= 8


def test_a_run_is_a_fact():
    one, other = SMALL.task(), SMALL.task()
    (draw,) = one.space.sample(np.random.default_rng(1), 1)
    assert one.runtime_s(draw, 3) == other.runtime_s(dict(draw), 3)
    assert one.runtime_s(draw, 3) != one.runtime_s(draw, 3, seed=1)
    assert len(one.runtimes_s(draw)) == 50


def test_the_clock_charges_every_run_once_and_ends_with_the_budget():
    made = SMALL.task()
    full_s = made.runtime_s(made.default, 0)
    course = Course(made, 10 * full_s)
    short = course.run(made.default, 0, full_s / 4)
    assert (short.time_s, short.finished) == (full_s / 4, False)
    assert course.run(made.default, 0, full_s / 8).time_s == full_s / 8
    assert course.spent_s == full_s / 4
    assert course.run(made.default, 0).finished
    assert course.run(made.default, 0).time_s == full_s
    assert course.spent_s == pytest.approx(1.25 * full_s)
    with pytest.raises(ValueError, match="no training instance"):
        course.run(made.default, made.training)
    course.budget_s = course.spent_s
    with pytest.raises(SpentError):
        course.run(made.default, 1)
    assert course.run(made.default, 0).time_s == full_s


def test_a_ground_stops_runs_and_says_what_they_are_worth():
    made = SMALL.task()
    ground = VirtualGround(made, made.largest_captime_s / 10)
    (played,) = ground.run(0, [2], 1e-9)
    assert (played.time_s, played.captime_s) == (1e-9, 1e-9)
    (played,) = ground.run(0, [2])
    assert played.score == float(made.utility(played.time_s))
    assert ground.number(made.default) == 0


@pytest.mark.parametrize("name", list(SOLVERS))
def test_a_recording_is_small_and_its_default_ran(name):
    path = RECORDINGS / f"{name}.npz"
    assert path.stat().st_size < 150_000
    recording = Recording.read(path)
    assert recording.units[0] == pytest.approx(space_of(name).encode([space_of(name).default()])[0])
    assert np.isfinite(recording.times_s[0]).mean() > 0.8
    predicted = np.array([[tree(row) for tree in recording.trees] for row in recording.units])
    _, f, _, _ = recording._parts()
    assert np.corrcoef(predicted[:, 0], f[:, 0])[0, 1] > 0.8


class Stubborn:
    """Answers the default, then what is best known."""

    name = "random"
    anytime = True

    def __init__(self) -> None:
        self.searches = 0

    def is_installed(self) -> bool:
        return True

    def search(self, task, budget_s, seed):
        self.searches += 1
        yield Answer(0.0, task.default)
        yield Answer(600 * task.default_run_s, task.best_known)
        yield Answer(budget_s, task.best_known)


def test_what_was_measured_is_kept_and_not_measured_again(tmp_path):
    path, tool = tmp_path / "results.jsonl", Stubborn()
    measure(Results(path), tool, ["few"], [500, 2000], [0])
    assert [json.loads(line)["score"] for line in path.read_text().splitlines()] == [0.0, 1.0]
    measure(Results(path), tool, ["few"], [500, 2000], [0])
    assert tool.searches == 1
    measure(Results(path), tool, ["few"], [500, 2000], [0, 1])
    assert tool.searches == 2
    results = Results(path)
    results.forget("random")
    assert Results(path).cells == {}


def cells(tool: str, scores: dict[str, list[float]]) -> list[Cell]:
    return [
        Cell(tool, name, 500, seed, score, score / 4, 1.0)
        for name, listed in scores.items()
        for seed, score in enumerate(listed)
    ]


def test_differences_are_paired_and_only_over_what_both_have_done():
    found = [
        *cells("a", {"x": [0.5, 0.7], "y": [0.2], "z": [1.0]}),
        *cells("b", {"x": [0.4, 0.6, 0.0], "y": [0.3]}),
    ]
    ours, theirs = by_task(found, "a", 500), by_task(found, "b", 500)
    compared = difference(ours, theirs)
    assert compared.mean == pytest.approx((0.1 - 0.1) / 2)
    assert (compared.searches, compared.tasks) == (3, 2)
    assert compared.low <= compared.mean <= compared.high
    assert difference(by_task(found, "a", 500), by_task(found, "c", 500)) is None
    assert mean_score(ours) == pytest.approx((0.6 + 0.2 + 1.0) / 3)
    assert harm_share(by_task(cells("a", {"x": [-0.1, 0.0, -0.03]}), "a", 500)) == (1, 3)


@pytest.mark.long
def test_an_interval_excludes_zero_where_one_is_always_ahead():
    generator = np.random.default_rng(0)
    names = [f"t{number}" for number in range(10)]
    base = {name: generator.uniform(0, 1, 5).tolist() for name in names}
    ahead = {name: [score + generator.uniform(0.05, 0.15) for score in base[name]] for name in names}
    found = [*cells("a", ahead), *cells("b", base)]
    compared = difference(by_task(found, "a", 500), by_task(found, "b", 500))
    assert 0.05 < compared.low < compared.mean < compared.high < 0.15


def test_random_racing_gains_and_repeats_itself():
    judged = task("few")
    answers = [list(RandomTool().search(judged, 300 * judged.default_run_s, 3)) for _ in range(2)]
    assert answers[0] == answers[1]
    assert judged.score(answers[0][-1].configuration) > 0
    spent = [answer.spent_s for answer in answers[0]]
    assert spent == sorted(spent)
    assert math.isclose(spent[-1], 300 * judged.default_run_s, rel_tol=0.2)


def test_a_space_survives_its_tables():
    for name in NAMES:
        space = task(name).space
        assert ParameterSpace.from_tables(**space.to_tables()) == space


def test_a_cell_is_plain_data():
    assert json.loads(json.dumps(asdict(Cell("a", "x", 500, 0, 0.5, 0.1, 1.0))))["budget"] == 500


def test_every_tool_is_measured_on_every_solver_or_named_as_missing(tmp_path, monkeypatch, capsys):
    made = []

    def search(tool, solver, seed, folder):
        made.append((tool, solver, seed))
        (folder / "found").mkdir()
        return RealSearch(tool, solver, seed, 40.0, 0.5, 0.4, 1.0)

    monkeypatch.setattr(real, "_search", search)
    monkeypatch.setattr(real, "RESULTS", tmp_path / "real.jsonl")
    monkeypatch.setattr(Smac, "is_installed", staticmethod(lambda: False))
    monkeypatch.setattr(OptunaTpe, "is_installed", staticmethod(lambda: True))
    tools = ["utilitune", "random", "optuna-tpe", "smac"]
    real.measure_real(tools, 1, tmp_path / "kept")
    measured = ["utilitune", "utilitune-all", "random", "optuna-tpe"]
    assert made == [(tool, solver, 0) for solver in SOLVERS for tool in measured]
    assert "smac is not installed here" in capsys.readouterr().out
    assert (tmp_path / "kept" / "kissat-random-0" / "found").is_dir()
    real.measure_real(tools, 1)
    assert len(made) == 3 * len(measured)  # what was measured is not measured again
    assert "| Optuna TPE | +0.000 ± 0.000 (3)" in real.real_section()


def test_searches_of_real_solvers_are_compared_above_their_own_default(tmp_path, monkeypatch):
    searches = [
        RealSearch("utilitune", "kissat", 0, 40.0, 0.70, 0.40, 1.0),
        RealSearch("irace", "kissat", 0, 40.0, 0.75, 0.50, 1.0),
        RealSearch("utilitune", "clasp", 0, 40.0, 0.38, 0.40, 1.0),
        RealSearch("irace", "clasp", 0, 40.0, 0.45, 0.40, 1.0),
        RealSearch("irace", "clasp", 1, 40.0, 0.99, 0.40, 1.0),
    ]
    lines = "".join(json.dumps(asdict(each)) + "\n" for each in searches)
    (tmp_path / "real.jsonl").write_text(lines)
    monkeypatch.setattr(real, "RESULTS", tmp_path / "real.jsonl")
    section = real.real_section()
    assert "| irace | -0.010 ± 0.060 (2), clasp -0.070 |" in section
    assert "ours 1 of 2; irace 0 of 3" in section


def test_results_in_another_file_leave_the_page_as_it_is(tmp_path, monkeypatch, capsys):
    """A small measurement beside the others replaced the page and its pictures."""
    written = []
    monkeypatch.setattr(page, "write_page", lambda cells: written.append(len(cells)))
    mine = tmp_path / "mine.jsonl"
    options = ["--tools", "random", "--tasks", "few", "--budgets", "5", "--seeds", "1"]
    search.main([*options, "--results", str(mine)])
    assert len(Results(mine).cells) == 1
    assert "random           5: " in capsys.readouterr().out
    assert written == []
    search.main(["--page", "--results", str(mine)])
    assert written == [1]
    monkeypatch.setattr(search, "RESULTS", mine)
    search.main([*options, "--results", str(mine)])
    assert written == [1, 1]


def test_searches_of_real_solvers_have_a_file_of_their_own(tmp_path, capsys):
    with pytest.raises(SystemExit):
        search.main(["--real", "--results", str(tmp_path / "mine.jsonl")])
    assert "--results is for virtual tasks" in capsys.readouterr().err

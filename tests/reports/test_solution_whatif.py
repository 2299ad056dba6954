"""What if qualities were worth something else? Asked after the runs were made."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.test_whatif_command import said
from live import test_anytime_runs, test_quality_runs
from utilitune.domain import RunOutcome, RunStatus
from utilitune.errors import ScenarioError, UsageError, UtilityError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.running import run_scenario
from utilitune.live.task import Task
from utilitune.reports.contest import contest_of_run
from utilitune.reports.scales import NUMBERS, Scale, _number, scale_of
from utilitune.reports.whatif import SolutionWhatIf, UtilityFamily, whatif_run
from utilitune.scenario.model import Population, QualityRules
from utilitune.store import MemoryStore, read_run_folder
from utilitune.utility import Goal, Standard, parse_solution_utility

ASKED = (
    "gap(best=0, worst=20)",
    "reached(target=3)",
    "compared(to=4, alpha=2)",
    "compared(to=default, alpha=5)",
    "relative-gap(to=default, limit=50%)",
    "reached(target=default)",
    "relative-gap(to=known, limit=2)",
    "minimum(reached(target=known), compared(to=known, alpha=1))",
)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whatif")
    plain = test_quality_runs.quality_scenario(folder)
    names = plain.training.names
    rules = QualityRules(references={name: 1.0 + place % 3 for place, name in enumerate(names)})
    scenario = replace(
        plain,
        quality=rules,
        procedure="up",
        options={"configurations": 4},
        population=Population.FINITE,
        stop=replace(plain.stop, epsilon=1e-9),
    )
    backend = SimulatedBackend(1, test_quality_runs.behaviour)
    run_scenario(scenario, folder / "it.run", backend=backend)
    return folder / "it.run"


@pytest.mark.parametrize("text", ASKED)
def test_bounds_hold_the_true_mean(run_folder: Path, text: str):
    answers = whatif_run(run_folder)
    assert isinstance(answers, SolutionWhatIf)
    found = answers.under(text)
    store = read_run_folder(run_folder)
    task = Task.stored(store)
    judge = replace(task.judge(), utility=parse_solution_utility(text))
    assert found.epsilon >= 0
    for record in store.configurations():
        worths = []
        for position in range(task.training.count):
            own, base = (
                test_quality_runs.behaviour(_job(task, each, position))
                for each in (record.assignment, store.configurations()[0].assignment)
            )
            worths.append(judge.worth(position, _outcome(own), _outcome(base)))
        assert found.lower[record.index] - 1e-9 <= np.mean(worths) <= found.upper[record.index] + 1e-9
    store.close()


class _Job:
    def __init__(self, argv: tuple[str, ...]) -> None:
        self.task = self
        self.argv = argv


def _job(task: Task, assignment, position: int) -> _Job:
    return _Job(("x", task.training.name(position), f"--x={assignment['x']}"))


def _outcome(run) -> RunOutcome:
    if run.exit_code:
        return RunOutcome(RunStatus.CRASHED, run.runtime_s)
    return RunOutcome(RunStatus.FINISHED, run.runtime_s, quality=float(run.matches[0].split()[0]))


def test_more_than_one_number_is_refused(run_folder: Path):
    answers = whatif_run(run_folder)
    for text in (
        "product(gap(best=0, worst=20), uniform(k0=60))",
        "gap(best=known, worst=default)",
        "gap(best=known, worst=100)",
    ):
        with pytest.raises(UsageError, match="depends on more than one number of a run"):
            answers.under(text)
    with pytest.raises(UtilityError, match="judges the time of a run alone"):
        answers.under("uniform(k0=60)")


def test_no_curve_of_time_is_drawn_for_solutions(run_folder: Path):
    with pytest.raises(UsageError, match=r"^a curve says what an answer after some time is worth"):
        contest_of_run(run_folder)


def test_all_answers_share_one_delta(run_folder: Path):
    answers = whatif_run(run_folder, delta=0.2)
    assert "any other utility of the quality alone" in answers.promise()
    sure = whatif_run(run_folder, delta=0.001).under("gap(best=0, worst=20)")
    loose = answers.under("gap(best=0, worst=20)")
    assert (sure.upper - sure.lower >= loose.upper - loose.lower - 1e-12).all()


def test_a_family_has_numbers_without_seconds(run_folder: Path):
    family = UtilityFamily("relative-gap(to=known, limit=*)", 0.01, 5.0, 5)
    assert not family.of_time
    assert family.shown(0.25) == "0.25"
    assert UtilityFamily("uniform(k0=*)", 1, 60, 2).shown(1) == "1 s"
    ask = [run_folder, "--family", family.text, "--from", "1%", "--to", "500%", "--points", 5]
    shown = said(*ask)
    assert "0.01 to" in shown
    assert " s " not in shown.split("Promise")[0]
    plain = json.loads(said(*ask, "--json"))
    assert plain["family"]["from"] == 0.01
    assert "from_s" not in plain["family"]


def test_solutions_at_any_time_are_refused(tmp_path: Path):
    scenario = test_anytime_runs.anytime_scenario(tmp_path)
    store = MemoryStore(Task(scenario).snapshot)
    with SimulatedBackend(1, test_anytime_runs.behaviour) as backend:
        run_scenario(replace(scenario, stop=replace(scenario.stop, runs=3)), tmp_path / "r", backend=backend)
    with pytest.raises(ScenarioError, match=r"^asking for other utility functions is only possible"):
        whatif_run(tmp_path / "r")
    assert store.configurations() == []


@pytest.mark.parametrize("goal", list(Goal))
@pytest.mark.parametrize("reference", [-4.0, 0.0, 2.0, None])
@pytest.mark.parametrize(
    "text", ["relative-gap(to=known, limit=0.5)", "compared(to=known, alpha=3)", "reached(target=known)"]
)
def test_a_run_is_worth_at_its_place_what_it_is_worth(goal: Goal, reference: float | None, text: str):
    utility = parse_solution_utility(text)
    standard = Standard(goal, known=reference)
    qualities = [-9.0, -4.0, -3.0, 0.0, 1.0, 2.0, 2.5, 7.0]
    runs = [
        _number("known", RunOutcome(RunStatus.FINISHED, 1.0, quality=quality), standard)
        for quality in qualities
    ]
    scale = Scale.of([(0, dict(enumerate([*runs, None])))])
    worths = scale.worths(utility)(scale.runs[0].in_a_row.stop_s)
    assert worths.tolist() == pytest.approx([*(utility(each, 0.0, standard) for each in qualities), 0.0])
    assert scale.worths(utility)(np.array([0.0, math.inf])).tolist() == [1.0, 0.0]


def test_runs_in_a_row_and_runs_beyond_a_gap_are_kept_apart():
    run = (0.0, 1.0, Standard())
    (known,) = Scale.of([(2, {0: run, 2: run, 3: None, 5: run})]).runs
    assert (known.in_a_row.stop_s.tolist(), known.in_a_row.first_position) == ([1.0, math.inf], 2)
    assert (known.everywhere.stop_s.tolist(), known.everywhere.first_position) == (
        [1.0, 1.0, math.inf, 1.0],
        0,
    )


def test_the_way_of_measuring():
    assert scale_of(parse_solution_utility("gap(best=0, worst=9)")) == NUMBERS
    assert scale_of(parse_solution_utility("reached(target=bound)")) == "bound"

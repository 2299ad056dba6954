"""irace as a peer: our side of the contract against a stand-in for Rscript, and the real one where it is."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from rivals.packages.playgrounds import BEST_ROW, SCENARIO, played_live, rows_on_a_line
from utilitune.domain.stopping import Budget
from utilitune.errors import MissingExtraError, TargetError, UsageError
from utilitune.rivals.packages import Irace
from utilitune.rivals.packages.irace_peer import _irace_is_installed
from utilitune.rivals.packages.recorded import RecordedGround
from utilitune.rivals.rival import RankedBy, play_rival

STAND_IN = """#!{python} -IS
import os, sys
if "-e" in sys.argv:
    sys.exit({missing})
questions = os.fdopen(int(sys.argv[-2]), "w")
answers = os.fdopen(int(sys.argv[-1]))

def ask(*words):
    questions.write("\\x1f".join(words) + "\\n")
    questions.flush()
    answer = answers.readline().strip()
    if answer == "end":
        questions.write("best\\x1f{elite}\\n")
        sys.exit()
    return answer

assert ask("version", "3.5") == "ready"
scenario = open("scenario.txt").read()
assert "targetRunner = utilitune_run" in scenario
names = open("initial.txt").readline().split()
instances = open("instances.txt").read().split()
{behaviour}
"""

RACE = """
places = {"1": "0.9", "2": "0.25", "3": "0.3"}
for instance in instances[:4]:
    for number, place in places.items():
        cost, time = map(float, ask("run", number, instance, "0", names[0], place).split())
        assert -1 <= cost <= 0 and time > 100
questions.write("best\\x1f2\\n")
"""

LIVE = """
for instance in instances:
    ask("run", "1", instance, "0", "alpha", "0.8", "extra", "not at all", "speed", "2")
    ask("run", "2", instance, "0", "alpha", "0.2", "extra", "yes", "depth", "3", "speed", "4")
questions.write("best\\x1f2\\n")
"""

CAPPED = """
assert "capping = 1" in scenario and "boundMax = 20000" in scenario
short = list(map(float, ask("run", "1", "0", "500", names[0], "0.9").split()))
assert short == [500.0, 500.0], short
whole = list(map(float, ask("run", "1", "0", "20000", names[0], "0.9").split()))
assert whole[0] == whole[1] > 500, whole
questions.write("best\\x1f1\\n")
"""

ELITES = """
ask("run", "1", "0", "0", names[0], "0.9")
ask("run", "2", "0", "0", names[0], "0.25")
questions.write("elite\\x1f1\\n")
ask("run", "2", "1", "0", names[0], "0.25")
questions.write("elite\\x1f2\\nelite\\x1f99\\n")
ask("run", "2", "2", "0", names[0], "0.25")
questions.write("best\\x1f2\\n")
"""

needs_irace = pytest.mark.skipif(not Irace.is_installed(), reason="R or its package irace is not installed")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program in the place of Rscript."""

    def install(behaviour: str, *, missing: int = 0, elite: str = "2") -> None:
        script = tmp_path / "bin" / "Rscript"
        script.parent.mkdir()
        text = STAND_IN.replace("{python}", sys.executable).replace("{behaviour}", behaviour)
        script.write_text(text.replace("{missing}", str(missing)).replace("{elite}", elite))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")

    yield install
    _irace_is_installed.cache_clear()


def test_runs_are_made_on_request_and_the_named_elite_is_the_answer(stand_in):
    stand_in(RACE)
    points, stop = play_rival(Irace(instances=10), rows_on_a_line(), Budget(max_time_s=1000.0))
    assert stop.code == "finished"
    assert len(points) == 1
    assert (points[0].best_index, points[0].runs, points[0].configurations) == (BEST_ROW, 12, 3)


@pytest.mark.parametrize(
    ("budget", "counted", "option"),
    [
        (Budget(max_time_s=1000.0), r"[\d.]+ s of runs", "--max-time"),
        (Budget(max_runs=50), "12 runs", "--max-runs"),
    ],
)
def test_at_its_end_it_says_what_it_counted(stand_in, budget, counted, option):
    stand_in(RACE)
    _, stop = play_rival(Irace(instances=10), rows_on_a_line(), budget)
    assert re.fullmatch(
        rf"irace has ended its races after {counted} by its own count: a larger {option} lets it go further.",
        stop.advice,
    )


def test_runs_that_it_counts_but_that_were_known_are_told_apart(stand_in):
    stand_in(RACE.replace('"3": "0.3"', '"3": "0.2500001"'))
    points, stop = play_rival(Irace(instances=10), rows_on_a_line(), Budget(max_runs=50))
    assert points[-1].runs == 8
    assert "after 12 runs by its own count, 4 of them known already and free: " in stop.advice


def test_an_interrupted_race_leaves_the_leader(stand_in, monkeypatch):
    made, run = [], RecordedGround.run

    def interrupted(ground, configuration, positions, captime_s=None):
        if len(made) == 5:
            raise KeyboardInterrupt
        made.append(configuration)
        return run(ground, configuration, positions, captime_s)

    monkeypatch.setattr(RecordedGround, "run", interrupted)
    stand_in(RACE)
    points, stop = play_rival(Irace(instances=10), rows_on_a_line(), Budget(max_time_s=1000.0))
    assert stop.code == "interrupted"
    assert (points[-1].best_index, points[-1].runs) == (BEST_ROW, 5)
    with pytest.raises(KeyboardInterrupt):
        play_rival(Irace(instances=10), rows_on_a_line(), Budget(max_time_s=1000.0))


def test_a_budget_that_ends_early_leaves_the_elite_of_the_last_iteration(stand_in):
    stand_in(RACE)
    points, stop = play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=8.0))
    assert stop.code == "time-limit"
    assert points[-1].best_index == BEST_ROW
    assert points[-1].runs < 12


def test_without_an_iteration_the_leader_is_the_answer(stand_in):
    stand_in(RACE, elite="")
    points, stop = play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=8.0))
    assert stop.code == "time-limit"
    assert points[-1].runs < 12


def test_live_runs_have_the_parameters_irace_names(stand_in):
    stand_in(LIVE)
    final, store = played_live(Irace(instances=3), Budget(max_time_s=1000.0))
    best = store.configurations()[final.best_index].assignment
    assert best == {"alpha": 0.2, "extra": "yes", "depth": 3, "speed": 4}
    assert final.runs == 6


def test_its_own_words_are_told_when_it_fails(stand_in):
    stand_in("""
print("Some chatter")
print("Error in checkScenario(): == irace == the budget is")
sys.exit("too small")
""")
    with pytest.raises(TargetError, match=r"ended without an answer: Error in .* the budget is too small"):
        play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=10.0))


@pytest.mark.parametrize("least", ["67395", "67394.321536", "6.7395e+04"])
def test_a_budget_that_is_too_small_is_told_in_our_units(stand_in, least):
    stand_in(f"""sys.exit("Error: Insufficient budget: a value of 'maxTime' of at least '{least}'.")""")
    with pytest.raises(UsageError, match="give it a --max-time of at least 68 s"):
        play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=10.0))


def test_a_silent_end_is_told_too(stand_in):
    stand_in("")
    with pytest.raises(TargetError, match="it gave no reason"):
        play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=10.0))


def test_without_r_or_without_irace_it_says_how_to_get_them(stand_in, monkeypatch, tmp_path):
    stand_in("", missing=1)
    with pytest.raises(MissingExtraError, match="R with its package irace"):
        play_rival(Irace(), rows_on_a_line(), Budget(max_time_s=10.0))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not Irace.is_installed()


def test_it_must_know_its_budget(stand_in):
    stand_in(RACE)
    with pytest.raises(UsageError, match="plans its whole budget: say with --max-time"):
        play_rival(Irace(), rows_on_a_line())


def test_with_runtimes_as_costs_runs_are_stopped_where_irace_wants(stand_in):
    stand_in(CAPPED)
    peer = Irace(instances=10, objective=RankedBy.RUNTIME)
    points, stop = play_rival(peer, rows_on_a_line(), Budget(max_time_s=1000.0))
    assert stop.code == "finished"
    assert points[-1].runs == 2  # the run that was stopped early is made again


def test_the_best_of_each_iteration_is_an_answer(stand_in):
    stand_in(ELITES)
    points, stop = play_rival(Irace(instances=10), rows_on_a_line(), Budget(max_time_s=1000.0))
    assert stop.code == "finished"
    assert [point.best_index for point in points] == [22, 6, 6]
    assert [point.runs for point in points] == [2, 3, 4]


@needs_irace
def test_the_real_one_finds_a_good_row():
    points, stop = play_rival(Irace(instances=50, seed=1), rows_on_a_line(), Budget(max_time_s=900.0))
    assert stop.code in {"finished", "time-limit"}
    assert abs(points[-1].best_index - BEST_ROW) <= 3
    assert points[-1].total_time_s <= 920


@needs_irace
def test_the_real_one_plays_live_with_conditions_and_clauses():
    final, store = played_live(Irace(seed=2), Budget(max_time_s=300.0))
    records = store.configurations()
    assert len(records) > 5
    for record in records:
        assert SCENARIO.space.validate(record.assignment) == record.assignment
    best = records[final.best_index].assignment
    assert best["alpha"] / best["speed"] < 0.4


@needs_irace
def test_the_real_one_refuses_a_budget_that_is_too_small():
    with pytest.raises(UsageError, match="too small for irace's races: give it a --max-runs of at least"):
        play_rival(Irace(), rows_on_a_line(), Budget(max_runs=5))
    with pytest.raises(UsageError, match="too small for irace's races: give it a --max-time of at least"):
        played_live(Irace(), Budget(max_time_s=40.0))

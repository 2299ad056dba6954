"""Ask and tell: a search whose runs are made outside proves what every other search proves."""

from __future__ import annotations

import math
import random
import re
import time
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from utilitune import Tuner
from utilitune.domain import Progress, RunStatus
from utilitune.errors import UsageError
from utilitune.live.result import RunResult
from utilitune.scenario import FailurePolicy, StopRules
from utilitune.store import read_run_folder

SPACE = {"level": {"type": "integer", "range": [1, 9], "default": 9}}
INSTANCES = [f"instance {number}" for number in range(2000)]
SETTINGS = {
    "largest_captime": 64,
    "smallest_captime": 1,
    "epsilon": 0.25,
    "procedure": "oup",
    "options": {"configurations": 4},
    "initial": [{"level": 3}],
}


def tuner(folder: Path | None = None) -> Tuner:
    return Tuner.of(SPACE, INSTANCES, "uniform(k0=20s)", folder, **SETTINGS)


def runtime(trial):
    """Level 3 is the fastest; every instance has its own difficulty."""
    return (1 + abs(trial.configuration["level"] - 3)) * (0.5 + random.Random(trial.instance).random())


def play(tuner: Tuner, at_once: int, steps: int | None = None, shuffle: random.Random | None = None):
    while not tuner.done and steps != 0:
        trials = tuner.ask(at_once)
        if shuffle is not None:
            shuffle.shuffle(trials)
        for trial in trials:
            seconds = runtime(trial)
            tuner.tell(trial, seconds if seconds <= trial.captime_s else None)
        steps = None if steps is None else steps - 1


def test_the_search_ends_with_the_best_and_a_promise():
    search = tuner()
    play(search, at_once=1)
    assert search.best == {"level": 3}
    assert search.stop_reason.code == "epsilon-reached"
    assert search.promise.epsilon <= 0.25
    assert search.promise.population == "finite"
    assert search.progress.runs > 0
    assert search.ask() == []


def test_the_order_of_telling_and_the_number_of_trials_at_once_do_not_matter():
    alone, several = tuner(), tuner()
    play(alone, at_once=1)
    play(several, at_once=7, shuffle=random.Random(1))
    assert several.promise == alone.promise
    assert several.best == alone.best


def test_looking_into_a_folder_changes_nothing(tmp_path: Path):
    with tuner(tmp_path / "run") as search:
        play(search, at_once=4, steps=40)
        best, progress = search.best, search.progress
    assert progress.epsilon < 1
    with tuner(tmp_path / "run") as again:
        assert (again.best, again.progress) == (best, progress)
    kept = read_run_folder(tmp_path / "run").last_progress()
    assert kept is not None
    assert kept.progress == progress


def test_times_may_be_of_any_kind_of_number(tmp_path: Path):
    with tuner(tmp_path / "run") as search:
        for kind in (np.float32, np.int64, Fraction):
            (trial,) = search.ask()
            search.tell(trial, kind(1))
        assert search.progress.total_time_s == 3.0


def test_a_folder_keeps_the_search_and_the_other_commands_read_it(tmp_path: Path):
    with tuner(tmp_path / "run") as first:
        play(first, at_once=4, steps=3)
        told = first.progress.runs
    with tuner(tmp_path / "run") as second:
        assert second.progress.runs == told
        play(second, at_once=4)
        promise = second.promise
    undisturbed = tuner()
    play(undisturbed, at_once=1)
    assert promise == undisturbed.promise
    store = read_run_folder(tmp_path / "run")
    result = RunResult.read(store, tmp_path / "run")
    store.close()
    assert result.best == {"level": 3}
    assert result.promise == promise
    assert [result.stop_reason.code, len(result.runs)] == ["epsilon-reached", second.progress.runs]


def test_what_is_asked_is_not_asked_again_until_it_is_forgotten():
    search = tuner()
    first = search.ask(3)
    second = search.ask(3)
    assert not {trial.request for trial in first} & {trial.request for trial in second}
    search.forget(first[0])
    assert first[0].request in {trial.request for trial in search.ask(1)}


def test_given_configurations_come_first():
    search = tuner()
    configurations = {trial.request.configuration: trial.configuration for trial in search.ask(20)}
    assert configurations[0] == {"level": 9}
    assert configurations[1] == {"level": 3}


def test_failures_count_as_never_finishing():
    search = tuner()
    for trial in search.ask(4):
        search.tell(trial, status="crashed")
    assert search.progress.runs == 4


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"runtime_s": "3"}, "a runtime must be a number of seconds from 0 up, not '3'"),
        ({"runtime_s": float("nan")}, "a runtime must be a number of seconds from 0 up, not nan"),
        ({"runtime_s": -1.0}, "a runtime must be a number of seconds from 0 up, not -1.0"),
        ({"status": "finished"}, "a finished trial needs its runtime"),
        ({"status": "finnished"}, "there is no status 'finnished'; did you mean 'finished'?"),
    ],
)
def test_figures_that_make_no_sense_are_refused(arguments: dict, complaint: str):
    search = tuner()
    (trial,) = search.ask()
    with pytest.raises(UsageError) as refused:
        search.tell(trial, **arguments)
    assert complaint in str(refused.value)
    search.tell(trial, 0.5)


def test_the_budget_of_runs_ends_the_search_and_can_be_raised(tmp_path: Path):
    scenario = replace(tuner().scenario, stop=StopRules(runs=10))
    with Tuner(scenario, tmp_path / "run") as search:
        trials = search.ask(7)
        trials += search.ask(7)
        assert len(trials) == 10
        assert search.ask() == []
        assert not search.done
        for trial in trials:
            search.tell(trial, 0.5)
        assert search.done
        assert search.stop_reason.code == "run-limit"
        assert "raise budget.runs (max_runs in Python)" in search.stop_reason.advice
    with Tuner(replace(scenario, stop=StopRules(runs=12)), tmp_path / "run") as search:
        assert len(search.ask(5)) == 2


@pytest.mark.parametrize(
    ("rules", "code"),
    [(StopRules(cpu_time_s=2.0), "time-limit"), (StopRules(wall_time_s=1e-9), "wall-limit")],
)
def test_budgets_of_time_end_the_search(rules: StopRules, code: str):
    search = Tuner(replace(tuner().scenario, stop=rules))
    trials = search.ask(3)
    for trial in trials:
        search.tell(trial, 1.0)
    assert search.done
    assert search.stop_reason.code == code
    assert search.ask() == []


def test_the_time_of_a_search_that_was_killed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    killed = tuner(tmp_path / "run")
    [trial] = killed.ask()
    now_s, steady_s = time.time(), time.monotonic()
    monkeypatch.setattr(time, "time", lambda: now_s + 100)
    monkeypatch.setattr(time, "monotonic", lambda: steady_s + 100)
    killed.tell(trial, 0.5)
    killed._store.close()  # without a word about its end
    for limit_s, done in ((90, True), (1000, False)):
        with Tuner(replace(killed.scenario, stop=StopRules(wall_time_s=limit_s)), tmp_path / "run") as search:
            assert search.done == done


def test_a_failure_that_is_to_stop_everything_does():
    search = Tuner(replace(tuner().scenario, policies={RunStatus.CRASHED: FailurePolicy.ABORT}))
    search.tell(search.ask()[0], 0.5)
    assert not search.done
    search.tell(search.ask()[0], status="crashed")
    assert search.done
    assert search.stop_reason.code == "aborted"
    assert "ended as crashed" in search.stop_reason.advice


def test_a_trial_is_told_once():
    search = tuner()
    (trial,) = search.ask()
    search.tell(trial, 0.5)
    with pytest.raises(UsageError, match="was not asked for, or was reported or given back before"):
        search.tell(trial, 0.5)


def test_a_closed_search_says_so(tmp_path: Path):
    search = tuner(tmp_path / "run")
    trial = search.ask()[0]
    search.close()
    search.close()
    for use in (search.ask, lambda: search.tell(trial, 0.5)):
        with pytest.raises(UsageError, match="this search is closed: make a new Tuner"):
            use()


def test_parameters_may_stand_in_a_file(tmp_path: Path):
    path = tmp_path / "params.pcs"
    path.write_text("level [1,9][9]i\n")
    search = Tuner.of(path, INSTANCES, "uniform(k0=20s)", **SETTINGS)
    assert search.scenario.space == tuner().scenario.space


def test_asking_for_nothing_is_refused():
    with pytest.raises(UsageError, match="whole number of at least 1, not 0"):
        tuner().ask(0)


def test_an_unknown_setting_is_refused():
    with pytest.raises(UsageError, match=r"^Tuner\.of has no setting 'epsilonn'"):
        Tuner.of(SPACE, INSTANCES, "uniform(k0=20s)", epsilonn=0.1)


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "ask-tell.md"


def test_the_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]):
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(GUIDE), "exec"), {})
    assert re.match(r"\{'level': \d\} With probability 95 % this configuration", capsys.readouterr().out)


def test_the_guide_names_every_key_of_a_result(tmp_path: Path):
    with tuner(tmp_path / "run") as search:
        play(search, at_once=4)
    store = read_run_folder(tmp_path / "run")
    result = RunResult.read(store, tmp_path / "run")
    store.close()
    keys = result.to_dict()
    _, _, section = GUIDE.read_text(encoding="utf-8").partition("## The result")
    named = re.findall(r"`(\w+)`", section.partition("## Warm starts")[0])
    assert set(keys) <= set(named)
    assert {field.name for field in fields(Progress)} <= set(named)
    assert {name for name in result.runs[0] if not name.startswith("parameter.")} <= set(named)


def test_draws_that_repeat_others_are_never_asked_for_ahead():
    """Few values, so most draws repeat others: what lies in memory must not be taken for a configuration."""
    tuner = Tuner.of(
        {"level": {"type": "integer", "range": [1, 9]}},
        instances=[f"file{number}" for number in range(20)],
        utility="uniform(k0=10s)",
        largest_captime="10s",
    )
    with tuner:
        for _ in range(5):
            for trial in tuner.ask(4):
                tuner.tell(trial, runtime_s=0.5 * trial.configuration["level"])
        table = tuner.to_pandas()
        assert len(table) == tuner.progress.runs > 0
        assert not table.duplicated(["configuration", "position", "captime_s"]).any()


@pytest.mark.parametrize("value", [None, "x", 3, object(), ()])
def test_only_a_trial_can_be_told_or_forgotten(value: Any):
    with tuner() as search:
        with pytest.raises(UsageError, match="not asked for"):
            search.tell(value, 1.0)
        with pytest.raises(UsageError, match="only a trial that was asked for can be forgotten"):
            search.forget(value)


@pytest.mark.parametrize("count", [0, -1, 0.5, "3", None, math.nan])
def test_a_number_of_trials_is_a_whole_number(count: Any):
    with tuner() as search, pytest.raises(UsageError, match="must be a whole number of at least 1"):
        search.ask(count)


def test_whole_numbers_of_numpy_count_as_such():
    with tuner() as search:
        assert len(search.ask(np.int64(2))) == 2


def test_forgetting_after_the_end_does_no_harm():
    with tuner() as search:
        (trial,) = search.ask()
        promised = search.promise
    search.forget(trial)
    assert search.promise == promised


def test_a_runtime_beyond_all_numbers_and_an_empty_status_are_refused():
    with tuner() as search:
        (trial,) = search.ask()
        with pytest.raises(UsageError, match="a runtime must be a number of seconds"):
            search.tell(trial, 10**400)
        with pytest.raises(UsageError, match="there is no status ''"):
            search.tell(trial, 1.0, "")

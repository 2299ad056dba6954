from __future__ import annotations

import contextlib
import math
import signal
from dataclasses import replace

import pytest

from live.simulated_scenarios import backend, behaviour, make_scenario, runtime_s
from utilitune.domain import Measure, RunStatus
from utilitune.domain.stopping import Audience, Budget
from utilitune.errors import StoreError, TargetError, UsageError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live import live_run, running
from utilitune.live.events import ConfigurationJoined, RunBegun
from utilitune.live.result import RunResult
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.supply import ConfigurationSupply
from utilitune.scenario import FailurePolicy, ListedInstances, instance_source
from utilitune.store import read_run_folder

PROCEDURES = {
    "up": {"configurations": 4},
    "oup": {"configurations": 6},
    "coup": {},
    "wager": {},
}


def proved(result) -> tuple:
    progress = result.progress
    return progress.best_index, progress.epsilon, progress.gamma, progress.rounds, progress.configurations


def settings(scenario, *, workers=1, **budget):
    return replace(settings_of(scenario, workers=workers), budget=Budget(**budget))


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("workers", [2, 5])
def test_several_workers_prove_what_one_proves(tmp_path, procedure, workers):
    scenario = make_scenario(tmp_path, procedure=procedure, options=PROCEDURES[procedure])
    target = replace(scenario, stop=replace(scenario.stop, epsilon=0.6))
    alone = run_scenario(target, None, settings(target), backend=backend(1))
    together = run_scenario(target, None, settings(target, workers=workers), backend=backend(workers))
    assert alone.stop_reason.code == together.stop_reason.code == "epsilon-reached"
    assert proved(alone) == proved(together)
    assert together.progress.runs >= alone.progress.runs


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_run_stopped_again_and_again_ends_where_an_undisturbed_one_does(tmp_path, procedure):
    scenario = make_scenario(tmp_path, procedure=procedure, options=PROCEDURES[procedure])
    whole = run_scenario(scenario, tmp_path / "whole", settings(scenario, max_runs=90), backend=backend(1))
    for limit in (1, 2, 7, 31, 32, 60, 90):
        piece = run_scenario(
            scenario, tmp_path / "pieces", settings(scenario, max_runs=limit), backend=backend(1)
        )
        assert piece.stop_reason.code == "run-limit"
    assert proved(piece) == proved(whole)
    requests = [(run["configuration"], run["position"], run["captime_s"]) for run in piece.runs]
    assert requests == [(run["configuration"], run["position"], run["captime_s"]) for run in whole.runs]
    assert len(set(requests)) == len(requests) == 90


def test_coup_stopped_inside_a_phase_says_what_the_last_complete_one_proved(tmp_path):
    many = ListedInstances(tuple(f"i{n}" for n in range(2000)), files=False)
    begun = make_scenario(
        tmp_path, procedure="coup", options={}, utility="uniform(k0=60)", delta=0.4, training=many
    )
    one_phase = replace(begun, options={"phases": 1})
    whole = run_scenario(one_phase, None, settings(one_phase), backend=backend(1))
    assert (whole.stop_reason.code, whole.last_phase) == ("phases-done", "")
    folder, runs = tmp_path / "run", whole.progress.runs
    for limit in (runs, runs + 1, runs + 2):
        result = run_scenario(begun, folder, settings(begun, max_runs=limit), backend=backend(1))
    assert result.progress.epsilon > whole.progress.epsilon
    assert result.last_phase == (
        f"Phase 1, the last complete one, proved more of its answer {whole.command}: "
        f"{whole.promise.sentence()}"
    )
    with contextlib.closing(read_run_folder(folder)) as store:
        kept = RunResult.read(store, folder)
        assert len(store.phases()) == 1
    assert kept.to_dict()["last_phase"] == result.last_phase


@pytest.mark.parametrize(
    ("procedure", "options"), [("coup", {}), ("wager", {"growth": "phases", "schedule": "epsilon-focus"})]
)
def test_phases_that_a_smaller_epsilon_goes_on_with_are_kept_as_if_it_had_been_asked_for_at_once(
    tmp_path, procedure, options
):
    many = ListedInstances(tuple(f"i{n}" for n in range(2000)), files=False)
    scenario = make_scenario(
        tmp_path, procedure=procedure, options=options, utility="uniform(k0=60)", delta=0.4, training=many
    )

    def kept(folder, *epsilons):
        for epsilon in epsilons:
            wanted = replace(scenario, stop=replace(scenario.stop, epsilon=epsilon))
            result = run_scenario(wanted, folder, settings(wanted), backend=backend(1))
            assert result.stop_reason.code == "epsilon-reached"
        with contextlib.closing(read_run_folder(folder)) as store:
            return store.phases()

    at_once = kept(tmp_path / "at once", 0.6)
    assert at_once
    assert kept(tmp_path / "bit by bit", 0.9, 0.8, 0.7, 0.6) == at_once


def test_every_configuration_sees_the_same_instances_and_seeds(tmp_path):
    scenario = make_scenario(tmp_path)
    result = run_scenario(scenario, None, settings(scenario, max_runs=200), backend=backend(3))
    seeds = {}
    for run in result.runs:
        assert seeds.setdefault(run["position"], run["seed"]) == run["seed"]
    assert len(set(seeds.values())) == len(seeds)


def test_the_answer_is_the_best_of_what_was_tried(tmp_path):
    scenario = make_scenario(tmp_path, utility="uniform(k0=40)")
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.35))
    result = run_scenario(scenario, tmp_path / "run", settings(scenario), backend=backend(2))
    assert result.stop_reason.code == "epsilon-reached"
    assert abs(result.best["x"] - 0.3) < 0.25
    assert "best of all 6 configurations" in result.promise.sentence()
    assert str(result.best["x"]) in result.command


def test_a_larger_budget_and_a_smaller_epsilon_go_on(tmp_path):
    scenario = make_scenario(tmp_path)
    first = run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=20), backend=backend(1))
    wanted = settings(scenario)
    wanted = replace(wanted, specification=replace(wanted.specification, epsilon=0.6))
    second = run_scenario(scenario, tmp_path / "run", wanted, backend=backend(1))
    assert first.progress.runs == 20
    assert second.stop_reason.code == "epsilon-reached"
    assert second.progress.epsilon <= 0.6 < first.progress.epsilon


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize(
    "spent", [{"max_runs": 60}, {"max_runs": 5}, {"max_wall_s": 1e-9}, {"max_time_s": 1e-9}]
)
def test_starting_again_with_a_spent_budget_knows_all_that_was_known(tmp_path, procedure, spent):
    scenario = make_scenario(tmp_path, procedure=procedure, options=PROCEDURES[procedure])
    first = run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=60), backend=backend(1))
    again = run_scenario(scenario, tmp_path / "run", settings(scenario, **spent), backend=backend(1))
    assert again.progress.runs == 60
    assert proved(again) == proved(first)
    assert again.best == first.best


def press_ctrl_c_when_the_second_joins(event):
    if isinstance(event, ConfigurationJoined) and event.index == 1:
        signal.raise_signal(signal.SIGINT)


def test_a_stop_asked_for_while_stored_runs_are_read_keeps_what_they_prove(tmp_path):
    scenario = make_scenario(tmp_path)
    first = run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=60), backend=backend(1))
    stopped = run_scenario(
        scenario,
        tmp_path / "run",
        settings(scenario),
        backend=backend(1),
        on_event=press_ctrl_c_when_the_second_joins,
    )
    assert stopped.stop_reason.code == "interrupted"
    assert proved(stopped) == proved(first)


class Unstoppable(SimulatedBackend):
    def cancel(self, job_id):
        raise RuntimeError(f"job {job_id} cannot be reached")


def test_the_supply_is_closed_even_if_runs_under_way_cannot_be_ended(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(ConfigurationSupply, "close", lambda _: closed.append(True))
    scenario = make_scenario(tmp_path)

    def give_up(event):
        if isinstance(event, RunBegun):
            raise KeyboardInterrupt

    with pytest.raises(RuntimeError, match="cannot be reached"):
        run_scenario(scenario, None, backend=Unstoppable(1, behaviour), on_event=give_up)
    assert closed == [True]


def test_another_procedure_or_delta_is_refused_in_the_same_folder(tmp_path):
    scenario = make_scenario(tmp_path)
    run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=5), backend=backend(1))
    other = make_scenario(tmp_path, procedure="up")
    with pytest.raises(StoreError, match="another scenario, or this one was changed"):
        run_scenario(other, tmp_path / "run", settings(other, max_runs=9), backend=backend(1))


@pytest.mark.parametrize(
    ("workers", "cores", "why"),
    [(2, 1, "2 workers share 1 core"), (5, 4, "5 workers share 4 cores"), (1, 4, "the machine is busy")],
)
def test_runs_that_disturb_each_other_are_told_of_once(tmp_path, monkeypatch, workers, cores, why):
    monkeypatch.setattr("utilitune.execution.machine.available_cores", lambda: cores)
    monkeypatch.setattr(live_run, "available_cores", lambda: cores)
    monkeypatch.setattr("os.getloadavg", lambda: (9.0, 9.0, 9.0))
    scenario = make_scenario(tmp_path, measure=Measure.WALL)
    for limit in (2, 4):
        chosen = settings(scenario, workers=workers, max_runs=limit)
        result = run_scenario(scenario, tmp_path / "run", chosen, backend=backend(workers))
    told = f"Runtimes are wall-clock times, but {why}: runs disturb each other; "
    assert result.warnings == (f"{told}use measure = 'cpu' or fewer workers.",)


@pytest.mark.parametrize("count", [0, 4097, 10**26])
def test_a_number_of_workers_that_must_be_a_mistake_is_refused(tmp_path, count):
    scenario = make_scenario(tmp_path)
    with pytest.raises(
        UsageError, match=rf"the number of workers must be at (least 1|most 4096), not {count}"
    ):
        settings_of(scenario, workers=count)
    assert settings_of(scenario, workers=4096).workers == 4096


def test_budgets_stop_with_advice(tmp_path):
    scenario = make_scenario(tmp_path)
    timed = run_scenario(scenario, None, settings(scenario, max_time_s=50.0), backend=backend(1))
    assert timed.stop_reason.code == "time-limit"
    assert 50 <= timed.progress.total_time_s < 50 + 64
    assert "raise max_time_s of the Budget to go on" in timed.stop_reason.advice
    told = run_scenario(
        scenario,
        None,
        settings(scenario, max_time_s=50.0, audience=Audience.COMMAND_LINE),
        backend=backend(1),
    )
    assert "raise --max-time to go on" in told.stop_reason.advice
    clocked = run_scenario(scenario, None, settings(scenario, max_wall_s=1e-9), backend=backend(1))
    assert clocked.stop_reason.code == "wall-limit"


def test_a_target_that_always_crashes_stops_after_a_few_failures_and_says_how_to_reproduce(tmp_path):
    scenario = make_scenario(tmp_path)
    broken = SimulatedBackend(1, lambda job: SimulatedRun(0.1, exit_code=3))
    with pytest.raises(
        TargetError, match=r"^\d+ runs in a row.*exit code 3.*reproduces one of them: cd .* --x="
    ) as caught:
        run_scenario(scenario, tmp_path / "run", settings(scenario), backend=broken)
    assert int(str(caught.value).split()[0]) < 50


def test_the_last_line_that_a_broken_target_printed_is_told(tmp_path):
    scenario = make_scenario(tmp_path)
    said = "Traceback:\n  File x\nModuleNotFoundError: No module named 'solver'\x1b[31m\n\n"
    broken = SimulatedBackend(1, lambda job: SimulatedRun(0.1, exit_code=1, output=said))
    with pytest.raises(TargetError) as caught:
        run_scenario(scenario, tmp_path / "run", settings(scenario), backend=broken)
    assert "the end of its output: \"ModuleNotFoundError: No module named 'solver'" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_bad_configuration_that_crashes_is_a_finding_and_not_a_reason_to_stop(tmp_path):
    scenario = make_scenario(tmp_path)

    def crashes_above_half(job):
        x = float(job.task.argv[2].removeprefix("--x="))
        return SimulatedRun(0.1, exit_code=1) if 0.5 < x < 0.9 else behaviour(job)

    result = run_scenario(
        scenario, None, settings(scenario, max_runs=150), backend=SimulatedBackend(1, crashes_above_half)
    )
    assert result.stop_reason.code == "run-limit"
    assert any(run["status"] == RunStatus.CRASHED for run in result.runs)
    assert not 0.5 < result.best["x"] < 0.9


def test_an_outcome_whose_policy_is_abort_ends_the_run(tmp_path):
    scenario = make_scenario(tmp_path, policies={RunStatus.CRASHED: FailurePolicy.ABORT})
    calls = []

    def second_run_crashes(job):
        calls.append(job)
        return SimulatedRun(0.1, exit_code=7 if len(calls) == 2 else 0)

    result = run_scenario(scenario, None, settings(scenario), backend=SimulatedBackend(1, second_run_crashes))
    assert result.stop_reason.code == "aborted"
    assert len(result.runs) == 2


def test_views_show_the_run_at_work(tmp_path):
    views = []
    scenario = make_scenario(tmp_path)
    run_scenario(scenario, None, settings(scenario, max_runs=50), on_update=views.append, backend=backend(2))
    last = views[-1]
    assert last.progress.runs >= 50
    assert last.statuses[RunStatus.FINISHED] + last.statuses.get(RunStatus.TIMEOUT, 0) == last.progress.runs
    assert last.best_command.endswith(f"--x={last.best['x']!r}")


def test_the_time_spent_is_what_the_runs_took(tmp_path):
    scenario = make_scenario(tmp_path)
    result = run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=80), backend=backend(1))
    values = [record.assignment["x"] for record in read_run_folder(tmp_path / "run").configurations()]
    order = instance_source(scenario)
    expected = sum(
        min(runtime_s(values[run["configuration"]], order.name(run["position"])), run["captime_s"])
        for run in result.runs
    )
    assert math.isclose(result.progress.total_time_s, expected)


@pytest.mark.parametrize("workers", [0, -1])
def test_too_few_workers_are_refused(tmp_path, workers):
    with pytest.raises(UsageError, match=f"at least 1, not {workers}"):
        settings_of(make_scenario(tmp_path), workers=workers)


def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_compiled(tmp_path, monkeypatch):
    scenario = make_scenario(tmp_path)
    run_scenario(scenario, tmp_path / "run", settings(scenario, max_runs=2), backend=backend(1))
    monkeypatch.setattr(running, "warm_up", lambda *_: pytest.fail("compiled first"))
    other = make_scenario(tmp_path, utility="uniform(k0=5)")
    with pytest.raises(StoreError, match="another scenario"):
        run_scenario(other, tmp_path / "run", settings(other), backend=backend(1))

"""A peer on a program: runs are made once, kept, charged; going on repeats nothing."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from rivals.packages.playgrounds import SCENARIO, Program, Sweep, fresh_store, played_live
from utilitune.domain import RunOutcome, RunStatus
from utilitune.domain.stopping import Budget
from utilitune.errors import TargetError, UsageError
from utilitune.execution.backend import Job
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.result import RunResult
from utilitune.live.task import Task
from utilitune.rivals.packages import Irace, OptunaTpe, Smac
from utilitune.rivals.packages.live import Match, play_into, play_live, worth_of
from utilitune.rivals.packages.peer import LARGEST_SEED
from utilitune.rivals.rival import RankedBy
from utilitune.scenario import FailurePolicy, Scenario, StopRules
from utilitune.store import StoredOrigin
from utilitune.utility import parse_utility

PLENTY = Budget(max_time_s=1000.0)


def test_every_run_is_kept_and_the_best_configuration_wins():
    final, store = played_live(Sweep(), PLENTY)
    records = store.configurations()
    assert records[0].assignment == SCENARIO.space.default()
    assert records[1].assignment == SCENARIO.initial[0]
    assert [each.origin for each in records[:3]] == [
        StoredOrigin.DEFAULT,
        StoredOrigin.USER,
        StoredOrigin.PEER,
    ]
    assert {each.origin for each in records[3:]} == {StoredOrigin.PEER}
    runs = list(store.runs())
    assert len(runs) == final.runs == 4 * len(records)
    assert final.total_time_s == pytest.approx(sum(run.outcome.runtime_s for run in runs))
    speeds = [record.assignment["alpha"] / record.assignment["speed"] for record in records]
    assert speeds[final.best_index] == min(speeds)
    assert store.sessions()[-1].stop.code == "finished"


def test_its_result_says_that_nothing_is_proved():
    final, store = played_live(Sweep(), PLENTY)
    result = RunResult.read(store, None, final=final)
    assert result.promise.sentence() == "No promise: sweep proves nothing about the utility of its answer."
    assert "true --alpha=" in result.command
    assert result.to_dict()["promise"].startswith("No promise")


def test_going_on_makes_only_what_is_new_and_charges_everything():
    program = Program()
    small, store = played_live(Sweep(), Budget(max_time_s=20.0), program=program)
    assert store.sessions()[-1].stop.code == "time-limit"
    assert 20.0 <= small.total_time_s < 20.0 + 2 * 4.0
    made = program.runs
    large, _ = played_live(Sweep(), PLENTY, store, program)
    at_once, fresh = played_live(Sweep(), PLENTY)
    assert program.runs == large.runs == at_once.runs > made
    assert (large.best_index, large.total_time_s) == (at_once.best_index, at_once.total_time_s)
    times = [point.progress.total_time_s for point in store.trajectory()]
    assert times == sorted(times)
    assert len(list(fresh.runs())) == len(list(store.runs()))


def test_somebody_may_ask_for_an_end():
    match = Match.of(SCENARIO, Sweep(), PLENTY)
    store = fresh_store(match)
    with SimulatedBackend(1, Program()) as backend:
        play_into(store, backend, match, lambda _: store.request_stop())
    assert store.sessions()[-1].stop.code == "stop-requested"
    assert len(list(store.runs())) == 4


def test_a_stop_ends_the_runs_under_way_and_they_do_not_count():
    match = Match.of(SCENARIO, Sweep(), PLENTY)
    store = fresh_store(match)
    begun = []

    def at_work(_: Job) -> SimulatedRun:
        begun.append(_)
        if len(begun) == 6:
            store.request_stop()
        return SimulatedRun(0.5)

    with SimulatedBackend(4, at_work) as backend:
        final = play_into(store, backend, match)
    stop = store.sessions()[-1].stop
    assert (stop.code, stop.advice[:20]) == ("stop-requested", "Stopped on request: ")
    assert len(begun) == 6
    assert len(list(store.runs())) == final.runs == 4


def test_ctrl_c_leaves_an_answer():
    match = Match.of(SCENARIO, Sweep(), PLENTY)
    store = fresh_store(match)

    def interrupt(standing):
        if standing.configurations == 3:
            raise KeyboardInterrupt

    with SimulatedBackend(1, Program()) as backend:
        final = play_into(store, backend, match, interrupt)
    assert final.configurations == 3
    assert store.sessions()[-1].stop.code == "interrupted"


def test_sigterm_ends_a_peer_that_thinks_with_the_answer_it_has():
    match = Match.of(SCENARIO, Sweep(), PLENTY)
    store = fresh_store(match)
    before = signal.getsignal(signal.SIGTERM)

    def end(standing):
        if standing.configurations == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with SimulatedBackend(1, Program()) as backend:
        final = play_into(store, backend, match, end)
    assert final.configurations == 3
    assert store.sessions()[-1].stop.code == "interrupted"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_broken_program_ends_it_with_a_command_to_try():
    match = Match.of(SCENARIO, Sweep(), PLENTY)
    store = fresh_store(match)
    crash = SimulatedRun(0.1, exit_code=3)
    with (
        SimulatedBackend(1, lambda _: crash) as backend,
        pytest.raises(
            TargetError, match=r"^\d+ runs in a row ended as crashed.*reproduces one of them: .*true "
        ),
    ):
        play_into(store, backend, match)
    assert store.sessions()[-1].stop.code == "target-fails"


def test_a_run_that_ends_everything_takes_no_other_with_it():
    strict = replace(SCENARIO, policies={RunStatus.CRASHED: FailurePolicy.ABORT})
    match = Match.of(strict, Sweep(), PLENTY)
    store = fresh_store(match)
    exit_codes = iter([1, 0, 0, 0])
    with SimulatedBackend(4, lambda _: SimulatedRun(0.5, exit_code=next(exit_codes))) as backend:
        play_into(store, backend, match)
    stop = store.sessions()[-1].stop
    assert stop.code == "aborted"
    assert "the scenario says to stop at" in stop.advice
    statuses = [run.outcome.status for run in store.runs()]
    assert statuses == [RunStatus.CRASHED, *[RunStatus.FINISHED] * 3]


@dataclass(frozen=True)
class OneByOne(Sweep):
    one_run_at_a_time: ClassVar[bool] = True


def test_workers_that_a_peer_has_no_use_for_are_told_of_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    slots: list[int] = []

    def simulated(_: Task, workers: int, folder: Path | None) -> SimulatedBackend:
        slots.append(workers)
        return SimulatedBackend(workers, Program())

    monkeypatch.setattr(Task, "backend", simulated)

    def warnings_of(peer: Sweep, folder: str, workers: int | None) -> tuple[str, ...]:
        return play_live(SCENARIO, peer, PLENTY, folder=tmp_path / folder, workers=workers).warnings

    told = "sweep makes one run after the other: of the 3 workers one is used."
    assert warnings_of(OneByOne(), "one", None) == warnings_of(OneByOne(), "one", 1) == ()
    assert warnings_of(OneByOne(), "one", 3) == warnings_of(OneByOne(), "one", 3) == (told,)
    assert warnings_of(Sweep(), "several", 3) == ()
    assert slots == [1, 1, 1, 1, 3]
    assert Smac.one_run_at_a_time
    assert Irace.one_run_at_a_time
    assert not OptunaTpe.one_run_at_a_time


def test_a_match_is_a_scenario_of_its_own():
    match = Match.of(SCENARIO, Sweep(captime_s=2.0), PLENTY)
    assert match.captime_s == 2.0
    assert match.scenario.digest() != SCENARIO.digest()
    assert match.scenario.digest() != Match.of(SCENARIO, Sweep(), PLENTY).scenario.digest()
    assert Scenario.from_snapshot(match.scenario.snapshot()).digest() == match.scenario.digest()


def test_budget_and_captime_come_from_the_scenario_or_are_asked_for():
    limited = replace(SCENARIO, stop=StopRules(cpu_time_s=7.0))
    assert Match.of(limited, Sweep()).budget == Budget(max_time_s=7.0)
    assert Match.of(replace(SCENARIO, stop=StopRules(runs=9)), Sweep()).budget == Budget(max_runs=9)
    with pytest.raises(UsageError, match="needs a budget: say with --max-time"):
        Match.of(SCENARIO, Sweep())
    endless = replace(limited, max_captime_s=None)
    with pytest.raises(UsageError, match="say with --captime"):
        Match.of(endless, Sweep(objective=RankedBy.RUNTIME))
    assert Match.of(endless, Sweep()).captime_s == pytest.approx(8.0)  # a fifth of the worth is left
    assert Match.of(limited, Sweep()).captime_s == 4.0  # the scenario allows no more
    assert Match.of(limited, Sweep(captime_s=1.5)).captime_s == 1.5


def test_the_seed_is_the_scenarios_unless_another_is_told():
    told = replace(SCENARIO, seed=11)
    assert Match.of(told, Sweep(), PLENTY).peer.own_seed == 11
    assert Match.of(told, Sweep(seed=3), PLENTY).peer.own_seed == 3
    assert Match.of(told, Sweep(seed=0), PLENTY).peer.own_seed == 0
    assert Match.of(replace(SCENARIO, seed=2**40), Sweep(), PLENTY).peer.own_seed <= LARGEST_SEED
    first, second = (
        [each.assignment for each in played_live(Sweep(seed=seed), PLENTY)[1].configurations()]
        for seed in (1, 2)
    )
    assert first != second


def test_what_runs_are_worth():
    utility = parse_utility("uniform(k0=10)")
    finished, stopped, crashed = (
        RunOutcome(status, runtime_s)
        for status, runtime_s in (
            (RunStatus.FINISHED, 1.0),
            (RunStatus.TIMEOUT, 4.0),
            (RunStatus.CRASHED, 0.5),
        )
    )
    worth = worth_of(utility, RankedBy.UTILITY, 4.0)
    assert [worth(each) for each in (finished, stopped, crashed)] == pytest.approx([0.9, 0.6, 0.0])
    runtime = worth_of(utility, RankedBy.RUNTIME, 4.0)
    assert [runtime(each) for each in (finished, stopped, crashed)] == [-1.0, -4.0, -4.0]

"""A peer on a program whose solutions count: its cost is 1 − worth, and runs of the default are paid once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

from live import test_anytime_runs, test_quality_runs
from rivals.packages.playgrounds import Sweep, fresh_store
from utilitune.domain import StopReason
from utilitune.domain.stopping import Budget, finished
from utilitune.errors import UsageError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.result import RunResult
from utilitune.live.task import Task
from utilitune.rivals.packages import Irace, OptunaTpe
from utilitune.rivals.packages.arena import Arena, Played
from utilitune.rivals.packages.irace_peer import _Account
from utilitune.rivals.packages.live import Match, play_into
from utilitune.rivals.rival import RankedBy

PLENTY = Budget(max_time_s=1e6)
SEEN: list[Played] = []


@dataclass(frozen=True)
class Watcher(Sweep):
    """Keeps what it is told of, the default last of all."""

    name: ClassVar[str] = "watcher"
    order: tuple[int, ...] = field(default=(1, 2, 0))

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        draws = [arena.given[0], *({"x": x} for x in (0.3, 0.8))]
        for place in self.order:
            SEEN.extend(arena.run(arena.number(draws[place]), range(arena.positions)))
            yield arena.leader()
        return finished("The watcher is done.")


def play(scenario, behaviour, peer=None, budget=PLENTY):
    match = Match.of(scenario, peer or Watcher(), budget)
    store = fresh_store(match)
    with SimulatedBackend(2, behaviour) as backend:
        final = play_into(store, backend, match)
    return final, store, match


@pytest.fixture(autouse=True)
def nothing_seen():
    SEEN.clear()


def test_a_peer_gets_one_minus_worth(tmp_path: Path):
    scenario = test_quality_runs.quality_scenario(tmp_path)
    final, store, match = play(scenario, test_quality_runs.behaviour)
    assert match.captime_s == test_quality_runs.LIMIT_S
    judge = Task(scenario).judge()
    outcomes = {(run.request.configuration, run.request.position): run.outcome for run in store.runs()}
    numbers = {record.assignment["x"]: record.index for record in store.configurations()}
    wanted = [
        1.0 - judge.worth(position, outcomes[number, position], outcomes[0, position])
        for number in (numbers[0.3], numbers[0.8], 0)
        for position in range(4)
    ]
    assert [-each.score for each in SEEN] == pytest.approx(wanted)
    assert wanted[-4:] == [0.5] * 4  # the default against itself
    assert final.best_index == numbers[0.3]
    assert len(list(store.runs())) == 12  # no run of the default is made twice
    paid_s = sum(run.outcome.runtime_s for run in store.runs())
    assert final.total_time_s == pytest.approx(paid_s)  # and each is paid once
    result = RunResult.read(store, None, final=final)
    assert result.promise.sentence() == "No promise: watcher proves nothing about the utility of its answer."


def test_a_failed_run_costs_everything(tmp_path: Path):
    scenario = test_quality_runs.quality_scenario(tmp_path, utility="gap(best=0, worst=20)")
    broken = replace(scenario, space=scenario.space)
    match = Match.of(broken, Watcher(), PLENTY)
    store = fresh_store(match)

    def fails(job: object):
        return replace(test_quality_runs.behaviour(job), exit_code=1)

    with SimulatedBackend(1, fails) as backend:
        play_into(store, backend, match)
    assert SEEN
    assert all(-each.score == 1.0 for each in SEEN)


def test_solutions_at_any_time_count_by_their_best_moment(tmp_path: Path):
    scenario = test_anytime_runs.anytime_scenario(tmp_path)
    _, store, _ = play(scenario, test_anytime_runs.behaviour)
    judge = Task(scenario).judge()
    worths = [
        judge.worth(run.request.position, run.outcome, None)
        for run in sorted(store.runs(), key=lambda run: (run.request.configuration, run.request.position))
    ]
    assert sorted(1.0 - each for each in worths) == pytest.approx(sorted(-each.score for each in SEEN))
    assert all(0 < each < 1 for each in worths)


@pytest.mark.parametrize("peer", [Irace(captime_s=1.0), OptunaTpe(objective=RankedBy.RUNTIME)])
def test_captimes_and_runtimes_of_a_peer_are_refused(tmp_path: Path, peer):
    with pytest.raises(UsageError, match=r"^solutions are judged by their worth at the scenario's limit, 5"):
        Match.of(test_quality_runs.quality_scenario(tmp_path), peer, PLENTY)


def test_optuna_configures_for_quality(tmp_path: Path):
    pytest.importorskip("optuna")
    scenario = test_quality_runs.quality_scenario(tmp_path)
    final, store, _ = play(
        scenario, test_quality_runs.behaviour, OptunaTpe(instances=4, seed=1), Budget(max_runs=150)
    )
    records = {record.index: record.assignment["x"] for record in store.configurations()}
    assert abs(records[final.best_index] - 0.3) < 0.15


def test_irace_reads_one_minus_worth(tmp_path: Path):
    scenario = test_quality_runs.quality_scenario(tmp_path)
    answers = []

    @dataclass(frozen=True)
    class AsIrace(Watcher):
        name: ClassVar[str] = "as-irace"

        def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
            account = _Account()
            answers.append(account.run(arena, ["7", "0", "0", "x", "0.3"]))
            yield account.numbers["7"]
            return finished("One run is enough.")

    play(scenario, test_quality_runs.behaviour, AsIrace())
    assert 0.0 < float(answers[0].split()[0]) < 0.5  # better than the default

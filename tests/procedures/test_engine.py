"""The seam all engines share: runs in any order, runs nobody asked for and pauses change nothing."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procedures.random_replays import Replay, named, replays
from utilitune import ProcedureSpec, RuntimeMatrix, parse_utility
from utilitune.procedures.engine import Engine, Halt, Origin, PauseAt
from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence, is_known
from utilitune.procedures.growth import listed_schedule
from utilitune.procedures.naming import build_engine
from utilitune.procedures.paper.engine import PaperEngine

FOREVER = PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62)
SCHEDULE = listed_schedule([0.9, 0.8, 0.7], [0.95, 0.8, 0.7])
KEEP_ALL = 10**6


class Driver:
    """Drives one engine on recorded or live evidence; live runs come in any order, some unasked for."""

    def __init__(self, task: Replay, spec: ProcedureSpec, *, live: bool, seed: int = 0) -> None:
        self.runtimes = np.asarray(task.matrix.runtimes_s)[:, task.matrix.columns]
        self.limit_s = task.matrix.cutoff_s
        self.random = random.Random(seed)
        utility = parse_utility(task.utility)
        self.evidence = (
            LiveEvidence(utility, task.matrix.positions) if live else RecordedEvidence(task.matrix, utility)
        )
        self.engine: Engine = build_engine(
            replace(spec, captime_limit_s=self.limit_s),
            self.evidence,
            utility,
            configurations=task.matrix.rows,
        )

    def to_the_end(self, pauses: st.DataObject | None = None) -> None:
        pause = FOREVER
        while True:
            if pauses is not None:
                pause = self._next_pause(pauses)
            halt = self.engine.advance(pause)
            if halt is Halt.DONE:
                return
            if halt is Halt.NEEDS_CONFIGURATIONS:
                self._add()
            elif halt is Halt.NEEDS_RUNS:
                self._make_runs()

    def _next_pause(self, pauses: st.DataObject) -> PauseAt:
        here = self.engine.progress()
        return PauseAt(
            rounds=here.rounds + pauses.draw(st.integers(1, 200)),
            total_time_s=here.total_time_s + pauses.draw(st.sampled_from([1.0, 50.0, 5000.0, math.inf])),
            runs=here.runs + pauses.draw(st.integers(1, 200)),
        )

    def _add(self) -> None:
        have = len(self.runtimes)
        for _ in range(min(self.engine.missing_configurations, have - self.engine.added)):
            self.engine.add(Origin.RANDOM)
        if self.engine.missing_configurations:
            self.engine.no_more()

    def _make_runs(self) -> None:
        needed = self.engine.needed()
        assert needed, "an engine that needs runs must say which"
        likely = self.engine.likely(self.random.choice([0, 3, 10]))
        for request in [*needed, *likely]:
            known = is_known(self.evidence.arrays, request.configuration, request.position, request.captime_s)
            assert not known, "a known run is not asked for again"
            assert 0 < request.captime_s <= self.limit_s, "nobody asks past the largest captime"
            assert request.position < self.runtimes.shape[1]
        batch = [(each.configuration, each.position, each.captime_s) for each in [*needed, *likely]]
        batch += [self._unasked() for _ in range(self.random.choice([0, 0, 2]))]
        self.random.shuffle(batch)
        for run in batch[: self.random.choice([1, 5, KEEP_ALL])]:
            self._record(*run)

    def _unasked(self) -> tuple[int, int, float]:
        row = self.random.randrange(len(self.runtimes))
        return row, self.random.randrange(self.runtimes.shape[1]), self.random.choice([0.5, 2.0, 4.0])

    def _record(self, configuration: int, position: int, captime_s: float) -> None:
        runtime = float(self.runtimes[configuration, position])
        if runtime < captime_s:
            self.evidence.record(configuration, position, runtime, captime_s)
        else:
            self.evidence.record(configuration, position, math.inf, captime_s)

    def state(self) -> tuple[object, ...]:
        bounds: tuple[object, ...] = ()
        if isinstance(self.engine, PaperEngine):
            bounds = tuple(tuple(values.tolist()) for values in self.engine.arms)
        return self.engine.progress(), self.engine.stop_reason(), tuple(self.engine.phases), bounds


def spec_of(task: Replay, name: str) -> ProcedureSpec:
    if name == "naive":
        return named(task, name, epsilon=0.9, captime_s=4.0)
    return named(task, name, schedule=SCHEDULE)


@pytest.mark.parametrize("name", ["up", "oup", "coup"])
@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_live_runs_in_any_order_lead_to_the_recorded_state(name: str, data: st.DataObject, seed: int):
    task = data.draw(replays(rows=(6, 10) if name == "coup" else (2, 4), positions=80))
    recorded = Driver(task, spec_of(task, name), live=False)
    recorded.to_the_end()
    live = Driver(task, spec_of(task, name), live=True, seed=seed)
    live.to_the_end()
    assert live.state() == recorded.state()


@settings(max_examples=10)
@given(task=replays(rows=(2, 3), positions=80), seed=st.integers(0, 2**16))
def test_live_naive_leads_to_the_recorded_state(task: Replay, seed: int):
    task = replace(task, matrix=replace(task.matrix, cutoff_s=64.0).resample(60, 1), utility="uniform(k0=4)")
    recorded = Driver(task, spec_of(task, "naive"), live=False)
    recorded.to_the_end()
    live = Driver(task, spec_of(task, "naive"), live=True, seed=seed)
    live.to_the_end()
    assert live.state() == recorded.state()


@pytest.mark.parametrize("name", ["up", "oup", "coup"])
@settings(max_examples=25)
@given(data=st.data())
def test_pauses_change_nothing(name: str, data: st.DataObject):
    task = data.draw(replays(rows=(6, 10) if name == "coup" else (2, 4)))
    whole = Driver(task, spec_of(task, name), live=False)
    whole.to_the_end()
    paused = Driver(task, spec_of(task, name), live=False)
    paused.to_the_end(data)
    assert paused.state() == whole.state()


@pytest.mark.parametrize("name", ["up", "oup"])
def test_more_configurations_than_live_evidence_first_has_room_for(name: str):
    runtimes = np.random.default_rng(0).integers(0, 40, (150, 60)).astype(float)
    matrix = RuntimeMatrix.from_array(runtimes)
    task = Replay(matrix, ProcedureSpec(name, delta=0.1, epsilon=0.9), "uniform(k0=16)", None)
    recorded = Driver(task, task.spec, live=False)
    recorded.to_the_end()
    live = Driver(task, task.spec, live=True)
    live.to_the_end()
    assert live.state() == recorded.state()


def test_a_pause_is_kept_to_the_round_and_the_run():
    matrix = RuntimeMatrix.from_array([[3.0, 5.0], [2.0, 9.0]]).resample(2000, seed=0)
    task = Replay(matrix, ProcedureSpec("oup", delta=0.1), "uniform(k0=16)", None)
    engine = Driver(task, task.spec, live=False).engine
    engine.add(Origin.RANDOM)
    engine.add(Origin.RANDOM)
    assert engine.advance(FOREVER._replace(rounds=17)) is Halt.PAUSED
    assert engine.progress().rounds == 17
    assert engine.advance(FOREVER._replace(total_time_s=200.0)) is Halt.PAUSED
    assert 200.0 <= engine.progress().total_time_s < 2000.0
    runs = engine.progress().runs
    assert engine.advance(FOREVER._replace(runs=runs)) is Halt.PAUSED
    assert engine.progress().runs == runs


@pytest.mark.parametrize("name", ["up", "oup"])
def test_likely_runs_are_broad_first_and_then_deep(name: str):
    matrix = RuntimeMatrix.from_array([[3.0, 5.0]] * 3).resample(50, seed=0)
    task = Replay(matrix, ProcedureSpec(name, delta=0.1), "uniform(k0=16)", None)
    engine = Driver(task, task.spec, live=True).engine
    for _ in range(3):
        engine.add(Origin.RANDOM)
    assert engine.advance(FOREVER) is Halt.NEEDS_RUNS
    asked = [(request.configuration, request.position) for request in engine.likely(5)]
    assert asked == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]
    assert engine.likely(0) == []


@pytest.mark.parametrize(
    ("spec", "takes"),
    [
        (ProcedureSpec("wager", delta=0.1, growth="adaptive"), True),
        (ProcedureSpec("wager", delta=0.1, growth="phases"), True),
        (ProcedureSpec("wager", delta=0.1, growth="fixed"), False),
        (ProcedureSpec("coup", delta=0.1), False),
        (ProcedureSpec("oup", delta=0.1), False),
        (ProcedureSpec("up", delta=0.1), False),
        (ProcedureSpec("naive", delta=0.1, epsilon=0.9, captime_s=64.0), False),
    ],
)
@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_only_an_engine_with_a_place_for_proposals_says_it_takes_them(spec, takes, population):
    matrix = RuntimeMatrix.from_array([[3.0, 5.0]] * 3).resample(50, seed=0)
    task = Replay(matrix, replace(spec, population=population), "uniform(k0=16)", None)
    engine = Driver(task, task.spec, live=False).engine
    open_engine = engine.takes_proposals()
    assert open_engine is (engine if takes else None)
    if open_engine is not None:
        assert (open_engine.runs, open_engine.frontier) == (0, 0)
        assert open_engine.finite_population == (population == "finite")
        assert [column.size for column in open_engine.observed()] == [0, 0, 0]
        open_engine.add(Origin.RANDOM)
        assert open_engine.add(Origin.MODEL) == 1

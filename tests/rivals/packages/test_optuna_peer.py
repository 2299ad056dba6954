"""Optuna as a peer: what it pays, what it answers, when it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rivals.packages import playgrounds
from rivals.packages.playgrounds import BEST_ROW, FEW, played_live, rows_on_a_line
from utilitune.domain.stopping import Budget
from utilitune.errors import MissingExtraError, UsageError
from utilitune.rivals.packages import OptunaRandom, OptunaTpe
from utilitune.rivals.packages.arena import Arena
from utilitune.rivals.packages.optuna_peer import _next_trial
from utilitune.rivals.packages.recorded import RecordedGround
from utilitune.rivals.rival import RankedBy, play_rival
from utilitune.spaces import ParameterSpace

BOTH = pytest.mark.parametrize("kind", [OptunaRandom, OptunaTpe])
needs_optuna = pytest.mark.skipif(not OptunaTpe.is_installed(), reason="the extra 'peers' is not installed")


@needs_optuna
@BOTH
def test_it_finds_a_good_row_and_pays_for_every_new_run_once(kind):
    runs = rows_on_a_line()
    peer = kind(instances=16, trials=60, seed=1)
    points, stop = play_rival(peer, runs)
    assert stop.code == "finished"
    assert len(points) == 60
    assert abs(points[-1].best_index - BEST_ROW) <= 2
    assert points[-1].runs <= 25 * 16
    runtimes = runs.evidence.runtime_s.reshape(25, 200)
    assert points[-1].total_time_s <= runtimes[:, :16].sum()
    times = [point.total_time_s for point in points]
    assert times == sorted(times)
    again, _ = play_rival(peer, runs)
    assert again[-1] == points[-1]


@needs_optuna
def test_it_stops_when_its_time_is_spent():
    points, stop = play_rival(OptunaTpe(instances=16), rows_on_a_line(), Budget(max_time_s=200.0))
    assert stop.code == "time-limit"
    assert 200 <= points[-1].total_time_s < 220
    assert points[-2].total_time_s < 200


@needs_optuna
def test_runtime_may_be_the_objective():
    peer = OptunaTpe(instances=8, trials=40, objective=RankedBy.RUNTIME, captime_s=5.0)
    points, _ = play_rival(peer, rows_on_a_line())
    assert abs(points[-1].best_index - BEST_ROW) <= 3


@needs_optuna
@BOTH
def test_live_it_begins_with_the_default_and_proposes_only_what_is_allowed(kind):
    final, store = played_live(kind(instances=4, trials=30), Budget(max_time_s=500.0))
    records = store.configurations()
    assert records[0].assignment == playgrounds.SCENARIO.space.default()
    assert next(store.runs()).request.configuration == 0
    assert final.configurations > 5
    best = records[final.best_index].assignment
    assert best["alpha"] / best["speed"] < 0.4


@needs_optuna
def test_a_space_that_forbids_nearly_everything_ends_it(monkeypatch):
    space = ParameterSpace.from_tables(
        {"alpha": {"type": "float", "range": [0.0, 1.0], "default": 0.0}}, [{"clause": "alpha > 0.000001"}]
    )
    monkeypatch.setattr("utilitune.rivals.packages.optuna_peer._ATTEMPTS", 20)
    monkeypatch.setattr(playgrounds, "SCENARIO", replace(playgrounds.SCENARIO, space=space, initial=()))
    program = playgrounds.Program()
    monkeypatch.setattr(playgrounds.Program, "__call__", lambda *_: playgrounds.SimulatedRun(1.0))
    final, store = played_live(OptunaRandom(instances=2), Budget(max_runs=100), program=program)
    assert final.configurations == 1
    assert "use conditions in place of forbidden clauses" in store.sessions()[-1].stop.advice


@needs_optuna
def test_only_active_parameters_are_suggested_parents_first():
    asked: list[dict] = []

    class Trial:
        def __init__(self, extra: int) -> None:
            self.values: dict = {}
            self.extra = extra
            asked.append(self.values)

        def suggest_float(self, name, low, high, log):
            return self.values.setdefault(name, 0.5)

        def suggest_int(self, name, low, high, log=False):
            return self.values.setdefault(name, 1)

        def suggest_categorical(self, name, choices):
            return self.values.setdefault(name, self.extra)

    class Study:
        def __init__(self) -> None:
            self.trials = iter([Trial(0), Trial(1)])

        def ask(self):
            return next(self.trials)

    study = Study()
    for expected in ({"alpha", "extra", "speed"}, {"alpha", "extra", "speed", "depth"}):
        _, assignment = _next_trial(study, playgrounds.SCENARIO.space)
        assert set(assignment) == expected
    assert [set(values) for values in asked] == [
        {"alpha", "extra", "speed"},
        {"alpha", "extra", "speed", "depth"},
    ]
    assert list(asked[1]).index("depth") > list(asked[1]).index("extra")


@needs_optuna
def test_without_a_number_a_trial_has_as_many_instances_as_a_twentieth_of_the_budget_pays_for():
    runs = rows_on_a_line()
    default_s = runs.evidence.runtime_s.reshape(25, 200)[12].mean()
    _, small = _most_runs_of_one(runs, Budget(max_time_s=20 * 20 * default_s))
    _, large = _most_runs_of_one(runs, Budget(max_time_s=20 * 60 * default_s))
    assert 15 <= small <= 26
    assert 45 <= large <= 75


def _most_runs_of_one(runs, budget):
    arena = Arena(RecordedGround(runs, RankedBy.UTILITY, 20.0), budget)
    peer = OptunaRandom(seed=1)
    steps = peer.play_on(arena)
    points = [next(steps)]
    return points, points[0].runs


@needs_optuna
def test_it_ends_when_nothing_new_is_proposed(monkeypatch):
    monkeypatch.setattr("utilitune.rivals.packages.optuna_peer._ATTEMPTS", 30)
    points, stop = play_rival(OptunaTpe(instances=1), rows_on_a_line())
    assert stop.code == "finished"
    assert "nothing new in 30 trials" in stop.advice
    assert points[-1].runs <= 25


@needs_optuna
@pytest.mark.parametrize("instances", [None, 3])
def test_it_ends_as_soon_as_a_small_space_is_known(instances):
    final, store = played_live(OptunaTpe(instances=instances, seed=1), Budget(max_time_s=1e6), scenario=FEW)
    assert store.sessions()[-1].stop.advice == "Optuna has run every configuration that can be set."
    assert final.runs == 3 * (instances or 9)


def test_mistakes_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="number of instances must be"):
        OptunaTpe(instances=0)
    with pytest.raises(UsageError, match="number of trials must be"):
        OptunaTpe(trials=0)
    with pytest.raises(UsageError, match="the objective must be one of utility and"):
        OptunaTpe(objective="utility")
    with pytest.raises(UsageError, match="seed must be a whole number"):
        OptunaTpe(seed=-1)
    with pytest.raises(UsageError, match="seed must be at most"):
        OptunaTpe(seed=2**40)
    monkeypatch.setattr("utilitune.rivals.packages.peer.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"utilitune\[peers\]"):
        play_rival(OptunaTpe(), rows_on_a_line())

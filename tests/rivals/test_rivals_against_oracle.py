"""Successive Halving, Hyperband and AC-Band against the plain `rival_oracle`: answer, runs and time."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rivals import rival_oracle as oracle
from rivals.recorded_runs import play
from utilitune import Recording, RuntimeMatrix, UtilituneError
from utilitune.rivals.ac_band import ACBand, Feedback, epochs, needed_draws
from utilitune.rivals.hyperband import Hyperband
from utilitune.rivals.rival import RankedBy, RecordedRuns, Rival
from utilitune.rivals.successive_halving import SuccessiveHalving

COLUMNS = 130
EXAMPLES = 250


class Task(NamedTuple):
    """The same runs for both sides; the oracle's ranks by utility, or by runtime if told so."""

    runs: RecordedRuns
    captime_s: float | None
    world: oracle.World

    def world_for(self, objective: RankedBy) -> oracle.World:
        """The oracle's side, where a run is worth what the objective says."""
        return (
            self.world if objective is RankedBy.UTILITY else replace(self.world, worth=lambda time_s: -time_s)
        )


@st.composite
def tasks(draw: st.DrawFn, least_rows: int = 1, columns: tuple[int, ...] = (COLUMNS,)) -> Task:
    """Small matrices: with many ties, with runs as long as the captime, that take no time, or never end."""
    rows, width = draw(st.integers(least_rows, 9)), draw(st.sampled_from(columns))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    times_s = {
        "quarters": random.integers(0, 41, (rows, width)) / 4,
        "ties": random.integers(1, 4, (rows, width)).astype(float),
        "continuous": random.exponential(4.0, (rows, width)),
    }[draw(st.sampled_from(["quarters", "ties", "continuous"]))]
    times_s[random.random(times_s.shape) < draw(st.sampled_from([0.0, 0.2]))] = math.inf
    cutoff_s = draw(st.sampled_from([2.0, 4.0, 8.0, 20.0]))
    captime_s = draw(st.sampled_from([None, 0.75, 1.0, 2.0, cutoff_s]))
    k0_s = draw(st.sampled_from([4, 8, 16]))
    recording = Recording.of(RuntimeMatrix.from_array(times_s, cutoff_s), f"uniform(k0={k0_s})")
    runs = recording.runs(draw(st.sampled_from([None, 0, 1, 2])))
    world = oracle.World(
        times_s=[[Fraction(time_s) if time_s < cutoff_s else math.inf for time_s in row] for row in times_s],
        order=runs.order.tolist(),
        captime_s=Fraction(captime_s or cutoff_s),
        worth=lambda time_s: 1 - min(time_s, Fraction(k0_s)) / k0_s,
    )
    return Task(runs, captime_s, world)


def assert_agrees(rival: Rival, task: Task, expected: oracle.Outcome) -> None:
    last = play(rival, task.runs)[0][-1]
    assert (last.best_index, last.runs) == (expected.answer, expected.runs)
    assert last.total_time_s == pytest.approx(float(expected.paid_s))


@settings(max_examples=EXAMPLES)
@given(tasks(), st.floats(1, 12), st.sampled_from(RankedBy))
def test_successive_halving(task: Task, times_the_least: float, objective: RankedBy):
    rows = task.world.rows
    budget = math.floor(times_the_least * max(1, rows * math.ceil(math.log2(rows))))
    rival = SuccessiveHalving(budget=budget, captime_s=task.captime_s, objective=objective)
    assert_agrees(rival, task, oracle.successive_halving(task.world_for(objective), budget))


@settings(max_examples=EXAMPLES)
@given(
    tasks(columns=(30, 60, COLUMNS)),
    st.integers(2, 5),
    st.integers(8, 240).map(lambda quarters: quarters / 4) | st.floats(2, 60),
    st.sampled_from(RankedBy),
)
def test_hyperband(task: Task, eta: int, resource_s: float, objective: RankedBy):
    # Rows that use up the same seconds on as many instances have equal means, whatever their runtimes are.
    resource_s = max(resource_s, float(eta))
    rival = Hyperband(resource_s=resource_s, eta=eta, captime_s=task.captime_s, objective=objective)
    assert_agrees(rival, task, oracle.hyperband(task.world_for(objective), Fraction(resource_s), eta))


@st.composite
def bands(draw: st.DrawFn) -> ACBand:
    """AC-Band with any settings."""
    return ACBand(
        race_size=draw(st.integers(2, 6)),
        alpha=draw(st.sampled_from([0.05, 0.1, 0.2, 0.5, 0.9])),
        delta=draw(st.sampled_from([0.05, 0.25, 0.5, 0.81])),
        budget=draw(st.none() | st.integers(1, COLUMNS)),
        feedback=draw(st.sampled_from(Feedback)),
    )


@settings(max_examples=EXAMPLES)
@given(tasks(least_rows=6), bands())
def test_ac_band(task: Task, rival: ACBand):
    rival = replace(rival, captime_s=task.captime_s)
    plan = oracle.ac_band_plan(rival.race_size, rival.alpha, rival.delta, rival.budget or COLUMNS)
    if min(smallest_shares(plan, task.world.rows, rival.race_size)) < 1:
        with pytest.raises(UtilituneError, match="are too few for AC-Band"):
            play(rival, task.runs)
    else:
        by_wins = rival.feedback is Feedback.WINS
        assert_agrees(rival, task, oracle.ac_band(task.world, rival.race_size, plan, by_wins=by_wins))


def smallest_shares(plan: list[tuple[int, int]], rows: int, race_size: int) -> list[int]:
    """The instances of each race in the first round of every epoch."""
    started = [min(wanted, rows) for wanted, _ in plan]
    rounds = [oracle.rounds_of_elimination(count, race_size, e) for e, count in enumerate(started, start=1)]
    groups = [max(1, count // race_size) for count in started]
    return [plan[e][1] // (groups[e] * rounds[e]) for e in range(len(plan))]


@given(st.integers(1, 99), st.integers(1, 5), st.integers(2, 9), st.integers(1, 10**6))
def test_the_plan_of_ac_band_is_exact(percent: int, power: int, race_size: int, budget: int):
    # δ = (1 − α)^m needs m draws, although the quotient of the logarithms may come out above m.
    alpha, delta = percent / 100, round((1 - percent / 100) ** power, 2 * power)
    plan = oracle.ac_band_plan(race_size, alpha, delta, budget)
    ours = epochs(needed_draws(alpha, delta), race_size, budget)
    assert [(epoch.configurations, epoch.instances) for epoch in ours] == plan
    assert needed_draws(alpha, delta) == power

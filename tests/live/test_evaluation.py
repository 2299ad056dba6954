"""Paired comparison: figures by hand, intervals that cover, runs that are not repeated."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.domain import Measure, Progress, RunOutcome, RunRequest, RunStatus
from utilitune.errors import ScenarioError, StoreError, UsageError
from utilitune.execution.machine import available_cores
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.evaluation import (
    Comparison,
    compare,
    evaluate_in_folder,
    plan_evaluation,
    run_evaluation,
)
from utilitune.live.grid import settled
from utilitune.live.resampling import Interval, resampled_means, tail_share
from utilitune.live.task import Task
from utilitune.procedures.bounds.interval import mean_interval
from utilitune.scenario import CommandSpec, ListedInstances, Scenario
from utilitune.spaces import ParameterSpace
from utilitune.store import ConfigurationRecord, MemoryStore, RunRecord, Snapshot, StoredOrigin
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=10)")


def finished(runtime_s: float) -> RunOutcome:
    return RunOutcome(RunStatus.FINISHED, runtime_s)


def compared(chosen: list[RunOutcome], default: list[RunOutcome], captime_s: float = 20.0) -> Comparison:
    return compare((3, chosen), (0, default), UTILITY, captime_s)


def test_figures_by_hand():
    crash = RunOutcome(RunStatus.CRASHED, 0.1)
    timeout = RunOutcome(RunStatus.TIMEOUT, 20.0)
    found = compared([finished(1), finished(3), crash], [finished(2), timeout, timeout])
    assert found.chosen.mean_utility == pytest.approx((0.9 + 0.7 + 0) / 3)
    assert found.default.mean_utility == pytest.approx(0.8 / 3)
    assert found.difference == pytest.approx(0.8 / 3)
    assert found.chosen.mean_runtime_s == pytest.approx((1 + 3 + 20) / 3)
    assert found.speed_up == pytest.approx((2 + 20 + 20) / (1 + 3 + 20))
    assert (found.chosen.solved, found.chosen.timeouts, found.chosen.failures) == (2, 0, 1)
    assert (found.default.solved, found.default.timeouts, found.default.failures) == (1, 2, 0)
    assert found.difference_interval is None
    assert "3 test instances are too few" in found.verdict()
    assert not found.excludes_no_gain


def test_verdicts():
    quick, slow = [finished(1 + 0.02 * i) for i in range(40)], [finished(4 + 0.04 * i) for i in range(40)]
    better, worse = compared(quick, slow), compared(slow, quick)
    assert better.excludes_no_gain
    assert 'excludes "no gain"' in better.verdict()
    assert "Worse" in worse.verdict()
    assert worse.difference_interval.high == pytest.approx(-better.difference_interval.low, abs=0.01)
    mixed = compared(quick[:20] + slow[20:], slow[:5] + quick[5:25] + slow[25:])
    assert 'includes "no gain"' in mixed.verdict()
    same = compare((0, quick), (0, quick), UTILITY, 20.0)
    assert "default itself" in same.verdict()
    assert same.speed_up == 1
    assert better.to_dict()["speed_up_interval"][0] > 1


def test_a_gain_on_few_instances_is_no_proof():
    quick, slow = [finished(1 + 0.1 * i) for i in range(8)], [finished(4 + 0.2 * i) for i in range(8)]
    better, worse = compared(quick, slow), compared(slow, quick)
    assert better.resampled_interval.low > 0 > better.difference_interval.low
    assert not better.excludes_no_gain
    assert better.verdict().startswith("Not enough test instances to tell: on these 8 it did better")
    assert "rare gains that they do not show" in worse.verdict()


def test_equal_differences_do_not_mean_that_all_is_known():
    found = compared([finished(1)] * 6, [finished(3)] * 6)
    assert found.difference_interval.low < -0.1 < 0.2 < found.difference_interval.high
    assert found.speed_up_interval.low < 3 < found.speed_up_interval.high
    assert not found.excludes_no_gain
    assert math.isfinite(found.speed_up_interval.high)


def test_the_interval_ends_where_betting_proves_it_to_end():
    """Betting with a larger share of error, however small the sample, must not go unnoticed."""
    won = [True] * 9 + [False]
    ours, theirs = ([finished(0.0 if each is won_by else 10.0) for each in won] for won_by in (True, False))
    found = compared(ours, theirs)
    low, high = mean_interval([1.0] * 9 + [-1.0], -1.0, 1.0, 0.05)
    assert low < found.resampled_interval.low
    assert found.difference_interval.low == pytest.approx(low, abs=1e-9)
    assert found.difference_interval.high == max(high, found.resampled_interval.high)


def test_several_seeds_of_an_instance_count_as_one_pair():
    quick, slow = [finished(1.0)] * 60, [finished(4.0)] * 60
    names = [str(number % 6) for number in range(60)]
    one = compare((3, quick), (0, slow), UTILITY, 20.0, names)
    assert compared(quick, slow).excludes_no_gain
    assert one.pairs == 6
    assert one.difference == pytest.approx(0.3)
    assert not one.excludes_no_gain


def rare_losses(chance: float):
    """A small gain nearly always, the loss of everything at times, and no gain on average."""
    return lambda generator, n: np.where(generator.random(n) < chance, -0.5, 0.5 * chance / (1 - chance))


def rare_gains_of_the_default(generator: np.random.Generator, n: int) -> np.ndarray:
    """The chosen one is a little quicker but for a tenth, where it is lost: worse on average."""
    return np.where(generator.random(n) < 0.1, -0.5, 0.02)


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    return 0.5 * (0.8 - generator.beta(4.0, 1.0, n))


WORLDS = {
    "losses in 1 of 100": rare_losses(0.01),
    "losses in 3 of 100": rare_losses(0.03),
    "losses in 10 of 100": rare_losses(0.1),
    "worse": rare_gains_of_the_default,
    "skewed": skewed,
    "coin": rare_losses(0.5),
}


@pytest.mark.long
@pytest.mark.parametrize("pairs", [6, 12, 50])
@pytest.mark.parametrize("world", WORLDS)
def test_better_is_hardly_ever_claimed_of_what_is_not(world: str, pairs: int):
    generator = np.random.default_rng([pairs, len(world)])
    claims, trials = 0, 40
    for _ in range(trials):
        gains = WORLDS[world](generator, pairs)
        ours = [finished(float(5 - 10 * gain)) for gain in gains]  # worth 0.5 + gain
        claims += "Better than" in compared(ours, [finished(5.0)] * pairs).verdict()
    assert claims <= 0.05 * trials


@pytest.mark.long
@pytest.mark.parametrize("pairs", [6, 12, 50, 200])
@pytest.mark.parametrize("world", WORLDS)
def test_the_proved_interval_misses_hardly_ever(world: str, pairs: int):
    generator = np.random.default_rng([pairs, len(world), 2])
    lows = np.array([mean_interval(WORLDS[world](generator, pairs), -1.0, 1.0, 0.05)[0] for _ in range(2000)])
    assert (lows > 0).mean() <= 0.025


def ever_better(world: str, proved: bool) -> float:
    """How often somebody who adds test instances until the lower end is above zero gets there."""
    generator = np.random.default_rng([len(world), 3])
    found, trials = 0, 300
    for _ in range(trials):
        gains = WORLDS[world](generator, 160)
        for pairs in (6, 9, 14, 21, 32, 48, 72, 108, 160):
            if proved:
                low = mean_interval(gains[:pairs], -1.0, 1.0, 0.05)[0]
            else:
                means = resampled_means(gains[:pairs, None], 200)
                low = np.quantile(means, tail_share(pairs))
            if low > 0:
                found += 1
                break
    return found / trials


@pytest.mark.parametrize("world", WORLDS)
def test_adding_instances_until_it_looks_better_proves_nothing(world: str):
    assert ever_better(world, proved=True) <= 0.025


def test_resampling_alone_would_be_found_out():
    assert ever_better("losses in 3 of 100", proved=False) > 0.25


def test_a_real_gain_is_found():
    generator = np.random.default_rng(3)
    gains = generator.uniform(0.0, 0.4, 60)
    assert "Better than" in compared([finished(5 - 10 * g) for g in gains], [finished(5.0)] * 60).verdict()


def test_capped_runs_that_could_be_worth_something_are_mentioned():
    runs = [RunOutcome(RunStatus.TIMEOUT, 5.0)] * 6
    assert "each could be worth up to 0.5 more" in compared(runs, runs, captime_s=5.0).note
    assert compared([finished(1)] * 6, [finished(1)] * 6, captime_s=5.0).note == ""


def test_better_is_not_said_where_stopped_runs_could_be_worth_more():
    """The default may be a little slower than the captime always, the chosen one endless at times."""
    stopped = RunOutcome(RunStatus.TIMEOUT, 5.0)
    ours = [finished(4.9) if number % 5 < 3 else stopped for number in range(60)]
    found = compared(ours, [stopped] * 60, captime_s=5.0)
    assert found.difference == pytest.approx(0.6 * 0.51)
    assert not found.excludes_no_gain
    assert "raise --captime" in found.verdict()
    turned = compared([stopped] * 60, ours, captime_s=5.0)
    assert "Worse than" not in turned.verdict()
    assert "raise --captime" in turned.verdict()


def test_stopped_runs_that_are_worth_nothing_hold_up_no_verdict():
    stopped = RunOutcome(RunStatus.TIMEOUT, 20.0)
    assert compared([finished(1.0)] * 60, [stopped] * 60).excludes_no_gain


def test_runtimes_of_zero_do_not_divide_by_zero():
    assert compared([finished(0)] * 6, [finished(0)] * 6).speed_up == 1


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0, 30)), min_size=6, max_size=20))
def test_intervals_hold_their_figures(pairs: list[tuple[float, float]]):
    found = compared([finished(a) for a, _ in pairs], [finished(b) for _, b in pairs], captime_s=30.0)
    assert -1 <= found.difference_interval.low <= found.difference_interval.high <= 1
    tolerance = 1e-9
    assert found.difference_interval.low - tolerance <= found.difference
    assert found.difference <= found.difference_interval.high + tolerance
    assert found.speed_up_interval.low * (1 - 1e-9) <= found.speed_up
    assert found.speed_up <= found.speed_up_interval.high * (1 + 1e-9)


def test_resampling_is_the_same_every_time_and_centred():
    columns = np.random.default_rng(1).random((50, 2))
    means = resampled_means(columns, 2000)
    assert np.array_equal(means, resampled_means(columns, 2000))
    assert means.mean(axis=0) == pytest.approx(columns.mean(axis=0), abs=0.01)
    assert means.std(axis=0) == pytest.approx(columns.std(axis=0) / math.sqrt(50), rel=0.1)


def test_tails_are_wider_for_few_pairs_and_nominal_for_many():
    assert 0 < tail_share(6) < tail_share(20) < tail_share(200) < 0.025
    assert tail_share(100_000) == pytest.approx(0.025, rel=1e-3)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(7)
    truth, pairs, trials = 0.2, 25, 600
    tail = tail_share(pairs)
    covered = 0
    for _ in range(trials):
        gains = generator.beta(0.5, 2.0, size=(pairs, 1))  # skewed, with mean 0.2
        low, high = np.quantile(resampled_means(gains, 1000), [tail, 1 - tail])
        covered += low <= truth <= high
    assert 0.91 <= covered / trials <= 0.985


def test_what_a_kept_run_says_about_another_captime():
    def kept(status: RunStatus, runtime_s: float) -> RunRecord:
        return RunRecord(RunRequest(0, 0, 10.0), RunOutcome(status, runtime_s))

    assert settled(kept(RunStatus.FINISHED, 4.0), 5.0).runtime_s == 4.0
    late = settled(kept(RunStatus.FINISHED, 4.0), 3.0)
    assert (late.status, late.runtime_s) == (RunStatus.TIMEOUT, 3.0)
    assert settled(kept(RunStatus.TIMEOUT, 10.0), 8.0).runtime_s == 8.0
    assert settled(kept(RunStatus.TIMEOUT, 10.0), 11.0) is None
    assert settled(kept(RunStatus.CRASHED, 1.0), 11.0).status is RunStatus.CRASHED


SCENARIO = Scenario(
    name="toy",
    directory=Path(),
    target=CommandSpec(("true", "{parameters}", "{instance}")),
    space=ParameterSpace.from_tables({"alpha": {"type": "float", "range": [0.0, 1.0], "default": 0.8}}),
    training=ListedInstances(("a",), files=False),
    test=ListedInstances(tuple("123456789"), files=False),
    utility="uniform(k0=10)",
    max_captime_s=10.0,
)


@pytest.fixture
def run() -> MemoryStore:
    store = MemoryStore(Snapshot(SCENARIO.snapshot(), SCENARIO.digest()))
    for index, alpha in enumerate((0.8, 0.3)):
        origin = StoredOrigin.DEFAULT if index == 0 else StoredOrigin.RANDOM
        store.add_configuration(ConfigurationRecord(index, {"alpha": alpha}, origin))
    store.add_progress(Progress(1, 0.5, None, 0.05, 1.0, 2, 1, 2, 2))
    return store


class Program:
    """Counts its runs; takes alpha seconds per unit of the instance."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, job) -> SimulatedRun:
        self.runs += 1
        _, alpha, size = job.task.argv
        return SimulatedRun(float(alpha.partition("=")[2]) * float(size))


def evaluated(plan, store: MemoryStore, program: Program) -> tuple[Comparison, list[tuple[int, int]]]:
    seen: list[tuple[int, int]] = []
    with SimulatedBackend(3, program) as backend:
        found = run_evaluation(plan, store, backend, lambda done, total: seen.append((done, total)))
    return found, seen


def test_runs_are_made_once_and_pairs_share_their_seed(run: MemoryStore):
    plan = plan_evaluation(run, SCENARIO)
    store, program = MemoryStore(Snapshot(SCENARIO.snapshot(), plan.digest)), Program()
    found, seen = evaluated(plan, store, program)
    assert program.runs == 18
    assert seen[0] == (0, 18)
    assert seen[-1] == (18, 18)
    assert found.chosen.configuration == 1
    assert found.speed_up == pytest.approx(0.8 / 0.3)
    assert found.resampled_interval.low > 0
    assert "Not enough test instances to tell" in found.verdict()
    seeds: dict[int, set[int]] = {}
    for record in store.runs():
        seeds.setdefault(record.request.position, set()).add(record.seed)
    assert all(len(each) == 1 for each in seeds.values())

    again, seen = evaluated(plan, store, program)
    assert program.runs == 18
    assert seen == [(18, 18)]
    assert again == found

    longer = plan_evaluation(run, SCENARIO, captime_s=100.0)
    evaluated(longer, store, program)
    assert program.runs == 18  # nothing was capped, so nothing has to be repeated
    shorter = plan_evaluation(run, SCENARIO, captime_s=1.0)
    assert evaluated(shorter, store, program)[0].default.timeouts == 8
    assert program.runs == 18


def test_instances_that_were_trained_on_prove_nothing(run: MemoryStore):
    seen = replace(SCENARIO, training=ListedInstances(("x", "3", "5"), files=False))
    plan = plan_evaluation(run, seen)
    found, _ = evaluated(plan, MemoryStore(Snapshot(seen.snapshot(), plan.digest)), Program())
    assert found.trained_on == 2
    assert "No fair test: 2 of the 9 test instances are training instances" in found.verdict()
    one = replace(found, trained_on=1).verdict()
    assert "No fair test: 1 of the 9 test instances is a training instance, on which" in one
    gain = replace(found, difference_interval=Interval(0.1, 0.2))
    assert not gain.excludes_no_gain
    assert replace(gain, trained_on=0).excludes_no_gain


def test_capped_runs_are_repeated_with_a_longer_captime(run: MemoryStore):
    short = plan_evaluation(run, SCENARIO, captime_s=2.0)
    store, program = MemoryStore(Snapshot(SCENARIO.snapshot(), short.digest)), Program()
    first, _ = evaluated(short, store, program)
    capped = first.chosen.timeouts + first.default.timeouts
    assert capped > 0
    second, _ = evaluated(replace(short, captime_s=20.0), store, program)
    assert program.runs == 18 + capped
    assert second.chosen.timeouts == second.default.timeouts == 0


def test_wall_clock_times_on_a_crowded_machine_are_doubted(run: MemoryStore, tmp_path: Path):
    few = replace(
        SCENARIO, directory=tmp_path, test=ListedInstances(("1",), files=False), measure=Measure.WALL
    )
    plan = plan_evaluation(run, few)
    crowded = evaluate_in_folder(plan, tmp_path / "run", workers=available_cores() + 1)
    assert "or fewer workers" in crowded.note
    measured = replace(plan, scenario=replace(few, measure=Measure.CPU))
    assert evaluate_in_folder(measured, tmp_path / "run", workers=available_cores() + 1).note == ""


def test_another_set_of_test_instances_is_kept_apart(run: MemoryStore):
    other = replace(SCENARIO, test=ListedInstances(("1", "2"), files=False))
    assert plan_evaluation(run, SCENARIO).digest != plan_evaluation(run, other).digest


def test_what_cannot_be_evaluated(run: MemoryStore):
    with pytest.raises(ScenarioError, match="no test instances"):
        plan_evaluation(run, replace(SCENARIO, test=None))
    with pytest.raises(UsageError, match="there is no configuration 5"):
        plan_evaluation(run, SCENARIO, configuration=5)
    with pytest.raises(StoreError, match="has no answer yet"):
        plan_evaluation(MemoryStore(Snapshot(SCENARIO.snapshot(), "")), SCENARIO)


def test_the_usual_captime():
    assert Task(SCENARIO).usual_captime_s == 10.0
    endless = replace(SCENARIO, max_captime_s=None)
    assert Task(endless).usual_captime_s == pytest.approx(9.5)
    assert Task(replace(endless, captime0_s=30.0)).usual_captime_s == 30.0

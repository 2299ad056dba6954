from __future__ import annotations

import doctest
import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.errors import StoreError, UsageError, UtilityError
from utilitune.procedures.bounds.every_utility import CensoredRuns, band_width
from utilitune.reports import whatif as module
from utilitune.reports.whatif import UtilityFamily, WhatIf, whatif, whatif_run
from utilitune.reports.whatif_runs import KnownRuns
from utilitune.store import (
    ConfigurationRecord,
    MemoryStore,
    RunRecord,
    Snapshot,
    StoredOrigin,
    open_run_folder,
)
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LISTED = {"delta": 0.05, "population": "finite", "training": {"names": ["a", "b", "c", "d"]}}
ENDLESS = {"delta": 0.05, "population": "infinite", "training": {"argv": ["make"]}}


def steady_and_risky() -> WhatIf:
    """Configuration 0 always takes 20 s; 1 takes 2 s three times in four, else it never ends."""
    steady = CensoredRuns.capped(np.full(4000, 20.0), 1000.0)
    risky = CensoredRuns.capped(np.tile([2.0, 2.0, 2.0, math.inf], 1000), 1000.0)
    return whatif([steady, risky], delta=0.05)


def store_with(
    scenario: dict[str, object],
    origins: Sequence[StoredOrigin] = (StoredOrigin.USER,),
    procedure: dict[str, object] | None = None,
) -> MemoryStore:
    store = MemoryStore(Snapshot(scenario, "digest"))
    store.begin_session({"procedure": procedure or {"name": "coup"}})
    for index, origin in enumerate(origins):
        first_position = 2 if origin is StoredOrigin.MODEL else 0
        store.add_configuration(ConfigurationRecord(index, {"x": index}, origin, first_position))
    return store


def add(
    store: MemoryStore, key: tuple[int, int], captime_s: float, status: str, runtime_s: float = 0.0
) -> None:
    store.add_run(RunRecord(RunRequest(*key, captime_s), RunOutcome(RunStatus(status), runtime_s)))


def test_the_answer_depends_on_the_utility():
    answers = steady_and_risky()
    hurried, patient = answers.under("step(deadline=10)"), answers.under("step(deadline=60)")
    assert (hurried.best_index, hurried.epsilon, hurried.contenders) == (1, 0.0, 0)
    assert (patient.best_index, patient.epsilon, patient.contenders) == (0, 0.0, 0)


def test_epsilon_is_the_best_that_another_configuration_may_be_worth_beyond_the_proved():
    found = steady_and_risky().under(lambda time_s: np.where(time_s < 21.0, 0.5, 0.25))
    assert found.epsilon == pytest.approx(max(0.0, found.upper[1] - found.lower[0]))
    assert found.best_index == 0


def test_a_single_configuration_is_the_best_of_all():
    assert whatif([CensoredRuns(np.zeros(0), np.zeros(0, dtype=bool))]).under("uniform(k0=1)").epsilon == 0.0


def test_ties_go_to_the_first():
    same = CensoredRuns.capped(np.full(50, 2.0), 10.0)
    assert whatif([same, same, same]).under("uniform(k0=9)").best_index == 0


def test_draws_that_repeat_others_are_counted_once_and_share_the_tightest_bounds():
    """In a small space hundreds of others might have been better, among them the answer itself."""
    quick, slow = (CensoredRuns.capped(np.full(50, time_s), 10.0) for time_s in (1.0, 4.0))
    runs = [KnownRuns(each, each) for each in (quick, slow, quick, quick, slow)]
    values = [{"x": 1}, {"x": 2}, {"x": 1}, {"x": 1}, {"x": 2}]
    shares = np.array([0.02, 0.002, 0.001, 0.0005, 0.00001])
    apart = WhatIf(runs, shares, delta=0.1)
    known = WhatIf(runs, shares, delta=0.1, assignments=values)
    before, found = apart.under("uniform(k0=10)"), known.under("uniform(k0=10)")
    assert (found.best_index, before.best_index) == (0, 0)
    assert found.contenders <= 1
    assert before.contenders >= 3
    assert found.lower[0] == found.lower[2] == found.lower[3] == before.lower[0]
    assert found.upper[4] == found.upper[1] == before.upper[1]
    assert found.epsilon == max(0.0, before.upper[1] - before.lower[0]) < before.epsilon
    assert "of the best of the 2 of this run, of which 2 were run" in known.promise()


def test_the_winner_under_stretched_times_is_named_by_the_same_number():
    """A draw that repeats the answer would win, the page said, which is the same configuration."""
    slow, quick, late = (CensoredRuns.capped(np.full(50, time_s), 10.0) for time_s in (6.0, 3.0, 2.0))
    runs = [KnownRuns(each, each) for each in (quick, slow, late)]
    found = WhatIf(runs, np.full(3, 0.01), delta=0.1, assignments=[{"x": 1}, {"x": 2}, {"x": 1}])
    utility = parse_utility("uniform(k0=10)")
    assert found.under(utility).best_index == found.stretched_winner(utility, 1.0) == 0


def test_a_family_is_split_where_the_answer_changes():
    """step(deadline=*): the risky one is better up to 20 s, the steady one after that."""
    answer = steady_and_risky().over(UtilityFamily("step(deadline=*)", 4.0, 100.0, points=9))
    risky, steady = answer.ranges
    assert (risky.best_index, risky.from_s) == (1, pytest.approx(4.0))
    assert (steady.best_index, steady.to_s) == (0, pytest.approx(100.0))
    assert risky.to_s <= 20.0 < steady.from_s
    assert steady.from_s / risky.to_s < 1.002
    assert risky.largest_epsilon == steady.least_epsilon == 0.0
    times = [point.time_s for point in answer.points]
    assert times == sorted(set(times))
    assert set(answer.family.times_s()) <= set(times)


def test_a_growing_set_pays_more_for_later_configurations():
    runs = [CensoredRuns.capped(np.full(100, 1.0), 10.0)] * 9
    fixed, growing = whatif(runs).under("uniform(k0=10)"), whatif(runs, growing=True).under("uniform(k0=10)")
    assert growing.lower[0] > fixed.lower[0]
    assert growing.lower[8] < fixed.lower[8]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("log-laplace(k0=60)", 1.0, 2.0), "must have one *"),
        (("log-laplace(k0=*, alpha=*)", 1.0, 2.0), "must have one *"),
        (("uniform(k0=*)", 5.0, 5.0), "from a shorter to a longer"),
        (("uniform(k0=*)", 0.0, 5.0), "positive"),
        (("uniform(k0=*)", 1.0, 5.0, 1), "between 2 and"),
    ],
)
def test_mistakes_in_a_family_are_named(arguments: tuple[str, float, float], text: str):
    with pytest.raises(UsageError) as caught:
        UtilityFamily(*arguments)
    assert text in str(caught.value)


def test_a_family_of_an_unknown_utility_is_refused_before_any_work():
    with pytest.raises(UtilityError, match="did you mean"):
        UtilityFamily("unifrom(k0=*)", 1.0, 2.0)


def test_nothing_to_choose_from_is_an_error():
    with pytest.raises(UsageError, match="at least one"):
        whatif([])


def test_in_a_sample_runs_count_up_to_the_first_gap():
    store = store_with(ENDLESS)
    for position in (0, 1, 3):
        add(store, (0, position), 10.0, "finished", 1.0)
    assert whatif_run(store).run_counts == (2,)


def test_on_a_list_runs_beyond_a_gap_are_certain():
    store = store_with(LISTED)
    for position in (0, 1, 3):
        add(store, (0, position), 10.0, "finished", 1.0)
    answers = whatif_run(store)
    assert answers.run_counts == (3,)
    found = answers.under("step(deadline=5)")
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.75, 1.0))


def test_after_a_search_every_run_of_its_candidates_counts():
    """They are run here and there: of one that was never run on the first instance nothing used to count."""
    store = store_with(
        LISTED, (StoredOrigin.DEFAULT, StoredOrigin.CANDIDATE, StoredOrigin.CANDIDATE), {"name": "wager"}
    )
    add(store, (1, 0), 10.0, "finished", 1.0)
    for position in (1, 2, 3):
        add(store, (2, position), 10.0, "finished", 1.0)
    answers = whatif_run(store)
    found = answers.under("step(deadline=5)")
    assert (found.best_index, found.epsilon) == (2, pytest.approx(0.25))
    assert answers.run_counts == (0, 1, 3)
    assert "of the 3 of this run, of which 2 were run," in answers.promise()


def test_it_says_why_the_run_itself_proves_more():
    store = store_with(LISTED, (StoredOrigin.DEFAULT, StoredOrigin.CANDIDATE), {"name": "wager"})
    assert (
        "Under the utility of the run its own ε is usually smaller: the run proves it for one utility only "
        "and need not rule out what search has tried and dropped."
    ) in whatif_run(store).promise()
    plain = store_with(LISTED)
    assert "the run proves it for one utility only." in whatif_run(plain).promise()
    assert "Under the utility" not in steady_and_risky().promise()


def test_what_later_runs_of_a_pair_add():
    """Given up at 4 s, then at 16 s, then finished — sooner than it was once seen to last."""
    store = store_with({**LISTED, "training": {"names": ["a"]}})
    add(store, (0, 0), 4.0, "timeout", 4.0)
    add(store, (0, 0), 16.0, "timeout", 16.0)
    found = whatif_run(store).under("uniform(k0=64)")
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.0, 0.75))
    add(store, (0, 0), 8.0, "finished", 6.0)
    found = whatif_run(store).under("uniform(k0=64)")
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.75, 0.75))


@pytest.mark.parametrize("status", ["crashed", "memout", "wrong-answer"])
def test_a_failed_run_never_finishes(status: str):
    store = store_with({**LISTED, "training": {"names": ["a"]}})
    add(store, (0, 0), 4.0, status, 1.0)
    found = whatif_run(store).under("piecewise(0s:1, 10s:0.25)")
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.25, 0.25))


def test_a_proposal_counts_from_its_first_position_on():
    store = store_with(ENDLESS, (StoredOrigin.DEFAULT, StoredOrigin.MODEL), {"name": "wager"})
    for position in range(4):
        add(store, (1, position), 10.0, "finished", 1.0)
    assert whatif_run(store).run_counts == (0, 2)


def test_of_a_proposal_on_a_list_the_runs_before_its_first_position_are_certain():
    store = store_with(LISTED, (StoredOrigin.DEFAULT, StoredOrigin.MODEL), {"name": "wager"})
    for position in (0, 2, 3):
        add(store, (1, position), 10.0, "finished", 1.0)
    found = whatif_run(store).under("step(deadline=5)")
    assert (found.best_index, found.lower[1], found.upper[1]) == (1, pytest.approx(0.75), pytest.approx(1.0))


def test_a_proposal_without_fresh_instances_has_only_what_is_certain():
    store = MemoryStore(Snapshot(ENDLESS, "digest"))
    store.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.MODEL, 0))
    for position in range(500):
        add(store, (0, position), 10.0, "finished", 1.0)
    found = whatif_run(store).under("step(deadline=5)")
    assert (found.lower[0], found.upper[0]) == (0.0, 1.0)


def test_shares_follow_the_settings_of_the_run():
    """A set of fixed size shares equally; one that may grow, or be proposed to, by number."""

    def lower_of(procedure: dict[str, object]) -> np.ndarray:
        store = store_with(
            ENDLESS, (StoredOrigin.DEFAULT, StoredOrigin.RANDOM, StoredOrigin.RANDOM), procedure
        )
        for index in range(3):
            for position in range(200):
                add(store, (index, position), 10.0, "finished", 1.0)
        return whatif_run(store).under("step(deadline=5)").lower

    fixed = lower_of({"name": "oup", "configurations": 3})
    growing, proposing = lower_of({"name": "coup"}), lower_of({"name": "wager"})
    assert np.ptp(fixed) == 0.0
    assert (np.diff(growing) < 0).all()
    assert (proposing < growing).all()


@pytest.mark.long
@pytest.mark.parametrize(
    "procedure",
    [
        {"name": "wager", "growth": "adaptive", "configurations": 3},
        {"name": "wager", "growth": "phases", "configurations": 3},
        {"name": "wager", "configurations": 3},
        {"name": "oup", "configurations": 3},
        {"name": "coup", "configurations": 3},
        {"name": "smac"},
    ],
)
def test_no_share_of_delta_changes_when_more_configurations_come(procedure: dict[str, object]):
    """A share that grows or shrinks when the runs bring more is chosen by the runs."""
    origins = (
        StoredOrigin.DEFAULT,
        StoredOrigin.RANDOM,
        StoredOrigin.RANDOM,
        StoredOrigin.RANDOM,
        StoredOrigin.MODEL,
        StoredOrigin.RANDOM,
    )
    lower = []
    for count in range(1, len(origins) + 1):
        store = store_with(ENDLESS, origins[:count], procedure)
        for index in range(count):
            for position in range(2, 300):
                add(store, (index, position), 10.0, "finished", 1.0)
            for position in range(2):
                add(store, (index, position), 10.0, "finished", 1.0)
        lower.append(whatif_run(store).under("step(deadline=5)").lower)
    for earlier, later in pairwise(lower):
        assert later[: len(earlier)].tolist() == earlier.tolist()


def test_a_nominee_is_not_judged_on_the_order_that_shaped_it():
    store = MemoryStore(Snapshot({**LISTED, "training": {"names": [f"i{n}" for n in range(100)]}}, "digest"))
    store.begin_session({"procedure": {"name": "wager"}})
    for index, origin in enumerate((StoredOrigin.DEFAULT, StoredOrigin.NOMINEE)):
        store.add_configuration(ConfigurationRecord(index, {"x": index}, origin))
        for position in range(60):
            add(store, (index, position), 10.0, "finished", 1.0)
    found = whatif_run(store).under("step(deadline=5)")
    assert found.lower[1] == pytest.approx(0.6)  # what is certain: 60 of 100
    assert found.lower[0] > 0.62


def test_a_fixed_set_of_the_usual_size_shares_equally_though_nobody_named_its_size():
    store = store_with(
        ENDLESS, (StoredOrigin.DEFAULT, StoredOrigin.RANDOM), {"name": "oup", "configurations": None}
    )
    for index in range(2):
        for position in range(200):
            add(store, (index, position), 10.0, "finished", 1.0)
    lower = whatif_run(store).under("step(deadline=5)").lower
    expected = 1.0 - band_width(200, 0.05 / 50)
    assert lower.tolist() == pytest.approx([expected, expected])


def test_the_promise_rests_on_what_that_of_the_run_rests_on():
    store = store_with(LISTED)
    store.add_event(
        "condition", "This uses earlier runs: it holds if neither the utility nor they were chosen."
    )
    assert whatif_run(store).promise().endswith("it holds if neither the utility nor they were chosen.")
    store.add_event("condition-for-any-utility", "It holds if they were not chosen.")
    promise = whatif_run(store).promise()
    assert promise.endswith("one utility only. It holds if they were not chosen.")


def test_a_run_folder_and_a_delta_of_ones_own(tmp_path: Path):
    folder = tmp_path / "run"
    store = open_run_folder(folder, Snapshot(ENDLESS, "digest"))
    with pytest.raises(StoreError, match="no configuration yet"):
        whatif_run(folder)
    store.add_configuration(ConfigurationRecord(0, {"x": 1}, StoredOrigin.RANDOM))
    for position in range(100):
        store.add_run(RunRecord(RunRequest(0, position, 9.0), RunOutcome(RunStatus.FINISHED, 1.0)))
    beside_the_writer = whatif_run(folder)
    store.close()
    strict = whatif_run(str(folder), delta=1e-6)
    assert (beside_the_writer.delta, strict.delta) == (0.05, 1e-6)
    assert strict.under("uniform(k0=9)").lower[0] < beside_the_writer.under("uniform(k0=9)").lower[0]
    assert "With probability 1 − 1e-28 every line" in whatif_run(str(folder), delta=1e-28).promise()
    with pytest.raises(UsageError, match="delta must be at least 1e-100"):
        whatif_run(str(folder), delta=1e-300)


def test_the_promise_says_what_it_is_about():
    runs = [CensoredRuns.capped(np.full(4, 1.0), 10.0)] * 2
    assert "95 %" in whatif(runs).promise()
    assert "expected utility" in whatif(runs).promise()
    assert "exactly these instances" in whatif(runs, population=4).promise()


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed

"""Estimates of mean utility: what they hold, that their intervals are right, and that broken ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.live.standing.worths import (
    Estimate,
    Sharing,
    estimate,
    is_chosen_by_outcomes,
    kind_numbers,
    seen,
)
from utilitune.procedures.evidence import LiveEvidence
from utilitune.store.records import ConfigurationRecord, StoredOrigin
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=10)")


def record(index: int = 0, origin: StoredOrigin = StoredOrigin.RANDOM, first: int = 0) -> ConfigurationRecord:
    return ConfigurationRecord(index, {}, origin, first)


def evidence_of(runs: list[tuple[int, RunStatus, float, float]], positions: int = 1000) -> LiveEvidence:
    """Position, status, runtime and captime of runs of configuration 0."""
    evidence = LiveEvidence(UTILITY, positions)
    for position, status, runtime_s, captime_s in runs:
        evidence.tell(RunRequest(0, position, captime_s), RunOutcome(status, runtime_s))
    return evidence


def finished(position: int, runtime_s: float) -> tuple[int, RunStatus, float, float]:
    return position, RunStatus.FINISHED, runtime_s, 100.0


def test_a_stopped_run_lies_between_never_and_now():
    runs = [finished(0, 2.0), (1, RunStatus.TIMEOUT, 5.0, 5.0), (2, RunStatus.CRASHED, 1.0, 5.0)]
    least, most = seen(evidence_of(runs), record())
    assert least.tolist() == pytest.approx([0.8, 0.0, 0.0])
    assert most.tolist() == pytest.approx([0.8, 0.5, 0.0])


def test_runs_after_a_gap_do_not_count():
    runs = [finished(0, 2.0), finished(1, 2.0), finished(3, 9.0)]
    assert estimate(evidence_of(runs), record(), 1, Sharing(0.05)).runs == 2


def test_on_a_list_runs_beyond_a_gap_count_in_the_mean_and_in_what_is_certain():
    """Nominees meet the default along orders of their own, which leaves gaps in the common one."""
    runs = [finished(0, 2.0), *(finished(position, 9.0) for position in range(2, 36))]
    found = estimate(evidence_of(runs, 40), record(), 1, Sharing(0.05, population=40))
    total = 0.8 + 34 * 0.1
    assert (found.runs, found.beyond) == (35, 0)
    assert found.mean == pytest.approx(total / 35)
    assert found.low >= total / 40 - 1e-9
    assert found.high <= (total + 5) / 40 + 1e-9


def test_on_a_list_instances_without_a_run_are_worth_no_more_than_an_answer_at_once():
    evidence = LiveEvidence(parse_utility("piecewise(0s:0.5, 10s:0)"), 40)
    evidence.tell(RunRequest(0, 3, 100.0), RunOutcome(RunStatus.FINISHED, 10.0))
    assert estimate(evidence, record(), 1, Sharing(0.05, population=40)).high == pytest.approx(39 * 0.5 / 40)


def test_in_a_sample_the_text_says_what_the_mean_is_over():
    runs = [finished(0, 2.0), finished(1, 2.0), finished(3, 9.0)]
    found = estimate(evidence_of(runs), record(), 1, Sharing(0.05))
    assert (found.mean, found.runs, found.beyond) == (pytest.approx(0.8), 2, 1)
    assert found.instances() == (
        "the first 2 instances of its order; 1 later run does not count yet, because an instance before has "
        "no run"
    )
    assert estimate(evidence_of(runs), record(), 1, Sharing(0.05, population=9)).instances() == "3 instances"


def test_a_proposal_counts_from_its_first_fresh_instance_on():
    runs = [finished(0, 0.0), finished(1, 0.0), finished(2, 10.0)]
    found = estimate(evidence_of(runs), record(origin=StoredOrigin.MODEL, first=2), 1, Sharing(0.05))
    assert (found.runs, found.seen_high) == (1, 0.0)


def test_without_runs_nothing_is_known():
    found = estimate(evidence_of([]), record(99), 1, Sharing(0.05))
    assert found == Estimate(99, 0, 0.0, 1.0, 0.0, 1.0)
    assert found.mean is None
    assert found.text() == "not run yet"


def test_a_list_that_is_used_up_leaves_no_doubt():
    runs = [finished(position, 10 * position / 20) for position in range(20)]
    found = estimate(evidence_of(runs, 20), record(), 1, Sharing(0.05, population=20))
    assert found.low == pytest.approx(found.seen_low, abs=1e-6)
    assert found.high == pytest.approx(found.seen_high, abs=1e-6)


def test_only_what_is_certain_counts_for_a_proposal_on_a_list():
    runs = [finished(position, 1.0) for position in range(10)]
    proposed = record(origin=StoredOrigin.MODEL)
    assert is_chosen_by_outcomes(proposed)
    found = estimate(evidence_of(runs, 40), proposed, 1, Sharing(0.05, population=40))
    assert found.low == pytest.approx(10 * 0.9 / 40)
    assert found.high == pytest.approx((10 * 0.9 + 30) / 40)
    elsewhere = estimate(evidence_of(runs), proposed, 1, Sharing(0.05))
    assert (elsewhere.low, elsewhere.high) == (0.0, 1.0)


def test_kinds_are_numbered_apart():
    origins = [
        StoredOrigin.DEFAULT,
        StoredOrigin.RANDOM,
        StoredOrigin.MODEL,
        StoredOrigin.RANDOM,
        StoredOrigin.USER,
    ]
    assert kind_numbers([record(index, origin) for index, origin in enumerate(origins)]) == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("size", [0, 7])
def test_all_shares_together_are_at_most_delta(size: int):
    sharing = Sharing(0.05, configurations=size)
    numbers = range(1, (size or 200_000) + 1)
    kinds = 1 if size else 2
    spent = 2 * kinds * sum(sharing.share(number) for number in numbers)
    assert 0.045 < spent <= 0.05 * (1 + 1e-9)


def _misses(spread: float, rng: np.random.Generator, trials: int = 400) -> int:
    """How often the best-looking of 20 equal configurations has an interval without its true mean.

    Runs are stopped at a captime; looks are taken after every 10 runs, as a user does.
    """
    missed = 0
    truth = float(np.mean([UTILITY(runtime_s) for runtime_s in np.linspace(0.005, 9.995, 1000)]))
    sharing = Sharing(0.1, configurations=20)
    for _ in range(trials):
        evidence = LiveEvidence(UTILITY, 1000)
        runtimes_s = rng.uniform(0, 10, (20, 40))
        wrong = False
        for look in range(10, 41, 10):
            for index in range(20):
                for position in range(look - 10, look):
                    runtime_s = runtimes_s[index, position]
                    evidence.record(
                        index, position, runtime_s if runtime_s < 8 else np.inf, min(runtime_s, 8)
                    )
            means = [seen(evidence, record(index))[0].mean() for index in range(20)]
            best = int(np.argmax(means))
            found = estimate(evidence, record(best), best + 1, sharing)
            middle = found.mean or 0.0
            low, high = middle - spread * (middle - found.low), middle + spread * (found.high - middle)
            wrong |= not low <= truth <= high
        missed += wrong
    return missed


def test_intervals_on_a_list_hold_where_runs_leave_gaps():
    """Runs are made along the common order and, by a choice that looks at them, at any other place."""
    rng, missed = np.random.default_rng(7), 0
    for _ in range(200):
        runtimes_s = rng.uniform(0, 10, 30)
        truth = float(np.mean(1 - runtimes_s / 10))
        hardest = np.argsort(runtimes_s)[::-1][:12]
        evidence = evidence_of([finished(at, runtimes_s[at]) for at in {*range(8), *hardest.tolist()}], 30)
        found = estimate(evidence, record(), 1, Sharing(0.2, population=30, configurations=1))
        missed += not found.low - 1e-9 <= truth <= found.high + 1e-9
    assert missed <= 40


def test_intervals_hold_for_the_configuration_that_looks_best():
    rng = np.random.default_rng(5)
    assert _misses(1.0, rng, 100) <= 10


def test_narrower_intervals_would_be_found_out():
    rng = np.random.default_rng(5)
    assert _misses(0.4, rng, 100) > 10

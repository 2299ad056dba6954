from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune import RuntimeMatrix, parse_utility
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence, is_known

UTILITY = parse_utility("uniform(k0=16)")
FLOORED = parse_utility("piecewise(0:1, 16:0.25)")


def runtime_s(evidence: LiveEvidence, configuration: int, position: int) -> float:
    arrays = evidence.arrays
    return arrays.runtime_s[arrays.base[configuration] + arrays.column[position]]


def test_recorded_evidence_follows_the_instance_order():
    matrix = RuntimeMatrix.from_array([[1.0, 2.0, 20.0], [4.0, math.inf, 8.0]], cutoff_s=16).resample(50, 3)
    evidence = RecordedEvidence(matrix, UTILITY)
    arrays = evidence.arrays
    for i in range(2):
        for j, column in enumerate(matrix.columns):
            run = arrays.base[i] + arrays.column[j]
            assert arrays.runtime_s[run] == matrix.runtimes_s[i, column]
            assert arrays.utility[run] == UTILITY(matrix.runtimes_s[i, column])
    assert is_known(evidence.arrays, 1, 49, math.inf)
    assert not is_known(evidence.arrays, 1, 50, 1.0)
    assert not is_known(evidence.arrays, 2, 0, 1.0)


def test_live_evidence_knows_nothing_at_first():
    evidence = LiveEvidence(UTILITY, positions=100)
    assert not is_known(evidence.arrays, 0, 0, 1e-9)
    assert not is_known(evidence.arrays, 99, 0, 1.0)
    assert not is_known(evidence.arrays, 0, 99, 1.0)


def test_a_capped_run_is_known_as_far_as_it_was_watched():
    evidence = LiveEvidence(UTILITY, positions=100)
    evidence.record(3, 5, math.inf, 4.0)
    assert is_known(evidence.arrays, 3, 5, 4.0)
    assert not is_known(evidence.arrays, 3, 5, 4.1)
    evidence.record(3, 5, math.inf, 2.0)
    assert is_known(evidence.arrays, 3, 5, 4.0), "what was seen once is not forgotten"


def test_a_finished_run_is_known_at_every_captime():
    evidence = LiveEvidence(UTILITY, positions=100)
    evidence.record(0, 0, 3.0, 3.0)
    assert is_known(evidence.arrays, 0, 0, 1.0)
    assert is_known(evidence.arrays, 0, 0, 1e9)
    assert runtime_s(evidence, 0, 0) == 3.0


def test_a_run_that_never_finishes_is_known_at_every_captime():
    evidence = LiveEvidence(FLOORED, positions=100)
    evidence.record(0, 0, math.inf, math.inf)
    assert is_known(evidence.arrays, 0, 0, 1e300)
    assert evidence.arrays.utility[evidence.arrays.base[0]] == 0.25


@pytest.mark.parametrize(
    ("outcome", "runtime", "known_until_s"),
    [
        (RunOutcome(RunStatus.FINISHED, 3.0), 3.0, math.inf),
        (RunOutcome(RunStatus.TIMEOUT, 5.0), math.inf, 5.0),
        (RunOutcome(RunStatus.CRASHED, 1.0), math.inf, math.inf),
        (RunOutcome(RunStatus.MEMOUT, 1.0), math.inf, math.inf),
        (RunOutcome(RunStatus.WRONG_ANSWER, 1.0), math.inf, math.inf),
    ],
)
def test_only_a_run_that_was_stopped_leaves_something_open(
    outcome: RunOutcome, runtime: float, known_until_s: float
):
    evidence = LiveEvidence(UTILITY, positions=100)
    evidence.tell(RunRequest(2, 4, 5.0), outcome)
    assert runtime_s(evidence, 2, 4) == runtime
    assert is_known(evidence.arrays, 2, 4, 5.0)
    assert is_known(evidence.arrays, 2, 4, 6.0) is (known_until_s == math.inf)


def test_a_re_run_never_contradicts_what_was_seen():
    evidence = LiveEvidence(UTILITY, positions=100)
    evidence.record(0, 0, math.inf, 4.0)
    evidence.record(0, 0, 3.5, 3.5)
    assert runtime_s(evidence, 0, 0) == 4.0, "it was seen to last at least 4 s"
    evidence.record(0, 0, 9.0, 9.0)
    assert runtime_s(evidence, 0, 0) == 4.0, "a repetition changes nothing"


def test_a_neighbours_runs_are_never_mistaken_for_ones_own():
    evidence = LiveEvidence(UTILITY, positions=100)
    for position in range(8):
        evidence.record(1, position, 2.0, 2.0)
    evidence.record(2, 40, 2.0, 2.0)  # position 8 of configuration 0 would lie where 1 begins
    assert not is_known(evidence.arrays, 0, 8, 1.0)
    assert not is_known(evidence.arrays, 1, 8, 1.0)


@settings(max_examples=25)
@given(
    runs=st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 90), st.sampled_from([0.0, 1.0, 5.0, 20.0, math.inf])),
        max_size=80,
    )
)
def test_live_evidence_grows_without_losing_a_run(runs: list[tuple[int, int, float]]):
    evidence = LiveEvidence(UTILITY, positions=91)
    expected: dict[tuple[int, int], float] = {}
    for configuration, position, runtime in runs:
        first = expected.setdefault((configuration, position), runtime)
        evidence.record(configuration, position, first, first)
    arrays = evidence.arrays
    for (configuration, position), runtime in expected.items():
        run = arrays.base[configuration] + arrays.column[position]
        assert arrays.runtime_s[run] == runtime
        assert arrays.utility[run] == UTILITY(runtime)
        assert is_known(evidence.arrays, configuration, position, 1e6)
    known = sum(is_known(evidence.arrays, i, j, 1.0) for i in range(201) for j in range(91))
    assert known == len(expected)


def test_blocks_do_not_overlap():
    evidence = LiveEvidence(UTILITY, positions=1000)
    for step in range(300):
        evidence.record(step * 7 % 90, step * 13 % 200, float(step), float(step))
    arrays = evidence.arrays
    order = np.argsort(arrays.base)
    ends = arrays.base[order] + arrays.room[order]
    assert (ends[:-1] <= arrays.base[order][1:]).all()
    assert ends[-1] <= arrays.runtime_s.size


@pytest.mark.parametrize("count", [1, 64, 65, 1000])
def test_room_for_configurations_can_be_reserved_ahead(count: int):
    evidence = LiveEvidence(UTILITY, positions=10)
    evidence.reserve_configurations(count)
    assert evidence.arrays.base.size >= count
    assert evidence.arrays.room.size == evidence.arrays.base.size


def test_an_arrangement_shows_the_same_runs_in_another_order():
    matrix = RuntimeMatrix.from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], cutoff_s=20)
    recorded = RecordedEvidence(matrix, parse_utility("uniform(k0=10)"))
    rows, columns = np.array([2, 0]), np.array([1, 1, 0, 2])
    shown = recorded.arranged(rows, columns)
    arrays = shown.arrays
    seen = arrays.runtime_s[arrays.base[:, None] + arrays.column[None, :]]
    assert seen.tolist() == [[8.0, 8.0, 7.0, 9.0], [2.0, 2.0, 1.0, 3.0]]
    assert (shown.configurations, shown.positions) == (2, 4)
    assert is_known(shown.arrays, 1, 3, 5.0)
    assert not is_known(shown.arrays, 2, 0, 5.0)
    assert arrays.runtime_s is recorded.arrays.runtime_s
    assert recorded.positions == 3


def test_arrays_that_were_taken_before_still_hold_what_was_known_then():
    evidence = LiveEvidence(UTILITY, positions=100_000)
    for configuration in range(3):
        evidence.record(configuration, 0, 1.0 + configuration, 1.0 + configuration)
    before = evidence.arrays
    for configuration in range(3):
        evidence.record(configuration, 50_000, 9.0, 9.0)
    for configuration in range(3):
        place = before.base[configuration] + before.column[0]
        assert place < before.runtime_s.size
        assert before.runtime_s[place] == 1.0 + configuration
        assert before.utility[place] == UTILITY(1.0 + configuration)

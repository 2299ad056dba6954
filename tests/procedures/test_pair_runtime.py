"""The runtime of a pair is one number, by one rule, wherever several runs of a pair meet."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.live.asker import Ended
from utilitune.live.grid import GivenRuns
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.pair_runtime import NOTHING_SEEN, PairRuntime
from utilitune.reports.whatif_runs import stored
from utilitune.store import ConfigurationRecord, RunRecord, StoredOrigin
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=100)")


def ended(kind: str, seconds: float) -> Ended:
    """A run that finished after so long, was stopped at such a captime, or crashed after so long."""
    if kind == "finished":
        return Ended(RunRequest(0, 0, 90.0), RunOutcome(RunStatus.FINISHED, seconds))
    if kind == "timeout":
        return Ended(RunRequest(0, 0, seconds), RunOutcome(RunStatus.TIMEOUT, seconds))
    return Ended(RunRequest(0, 0, 90.0), RunOutcome(RunStatus.CRASHED, seconds))


def known(*runs: Ended) -> PairRuntime:
    seen = NOTHING_SEEN
    for run in runs:
        seen = seen.then(PairRuntime.of(run.request, run.outcome))
    return seen


@pytest.mark.parametrize(
    ("runs", "runtime_s", "watched_s"),
    [
        ([("finished", 3.0), ("finished", 5.0), ("timeout", 9.0), ("crashed", 1.0)], 3.0, 3.0),
        ([("timeout", 4.0), ("finished", 3.0)], 4.0, 4.0),
        ([("timeout", 4.0), ("timeout", 2.0)], math.inf, 4.0),
        ([("crashed", 4.0), ("finished", 3.0)], math.inf, math.inf),
    ],
)
def test_the_first_finish_counts_and_no_pair_is_quicker_than_it_was_seen_to_last(runs, runtime_s, watched_s):
    assert known(*(ended(*run) for run in runs))[:2] == (runtime_s, watched_s)


SECONDS = st.sampled_from([0.5, 1.0, 2.0, 3.0, 5.0, 8.0])
RUNS = st.lists(
    st.tuples(st.sampled_from(["finished", "timeout", "crashed"]), SECONDS), min_size=1, max_size=6
)


@given(RUNS, SECONDS)
def test_evidence_what_if_and_grids_agree_on_every_history_of_a_pair(history, captime_s):
    runs = [ended(*run) for run in history]
    expected = known(*runs)

    evidence = LiveEvidence(UTILITY, 10)
    for run in runs:
        evidence.tell(run.request, run.outcome)
    at = int(evidence.arrays.base[0])
    assert evidence.arrays.runtime_s[at] == expected.runtime_s
    assert evidence.arrays.known_s[at] == expected.watched_s
    assert evidence.arrays.utility[at] == UTILITY(expected.runtime_s)

    records = [RunRecord(run.request, run.outcome) for run in runs]
    counted = stored(records)(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT, 0, 0.0)).in_a_row
    assert counted.finished[0] == math.isfinite(expected.runtime_s)
    assert counted.stop_s[0] == min(expected.runtime_s, expected.watched_s)

    grid = GivenRuns(captime_s)
    for run in runs:
        grid.hear(run)
    outcome = grid.known.get((0, 0))
    if expected.runtime_s <= captime_s:
        assert (outcome.status, outcome.runtime_s) == (RunStatus.FINISHED, expected.runtime_s)
    elif expected.watched_s >= captime_s:
        assert not outcome.finished
    else:
        assert outcome is None

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from proposers.imagined_tasks import SPACE, UTILITY, random_runs
from utilitune.proposers.background import AHEAD, BackgroundProposals
from utilitune.proposers.fitting import FEWEST_RUNS, PromptProposals, fitted_runs
from utilitune.proposers.model_guided import ModelGuidedProposer


class Counting:
    """Proposes 1000, 1001, … and notes what it learnt from; waits for a gate where there is one."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.sizes: list[int] = []
        self._gate = gate

    def learn(self, runs, configurations):
        if self._gate is not None:
            self._gate.wait(30)
        self.sizes.append(len(runs.configuration))

    def propose(self, known, generator):
        return next(number for number in range(1000, 2000) if number not in known)


def fill(proposals, runs: int, configurations: int = 10, start: int = 0):
    for index in range(start, start + runs):
        proposals.observe(index % configurations, index // configurations, 1.0, 1.0)


def eventually(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for 30 seconds"
        time.sleep(0.005)


def test_models_are_fitted_on_a_geometric_sequence_of_runs():
    sizes = sorted({fitted_runs(count) for count in range(3000)})
    assert sizes[:4] == [0, FEWEST_RUNS, 39, 50]
    ratios = np.array(sizes[2:]) / np.array(sizes[1:-1])
    assert ratios.min() > 1.25
    assert ratios.max() <= 1.3
    assert all(fitted_runs(size) == size for size in sizes)


def test_there_is_no_proposal_before_there_is_enough_to_learn_from():
    proposals = PromptProposals(Counting(), 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    fill(proposals, FEWEST_RUNS - 1)
    assert proposals.take() is None
    fill(proposals, 1, start=FEWEST_RUNS - 1)
    assert proposals.take() == 1000


def test_a_single_configuration_teaches_nothing():
    proposals = PromptProposals(Counting(), 1)
    proposals.join(0, proposed=False)
    fill(proposals, 500, configurations=1)
    assert proposals.take() is None


def test_the_model_is_fitted_in_batches():
    proposer = Counting()
    proposals = PromptProposals(proposer, 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    for index in range(1000):
        fill(proposals, 1, start=index)
        proposals.take()
    assert len(proposer.sizes) == len({fitted_runs(count) for count in range(30, 1001)})


def test_a_resumed_run_proposes_what_an_undisturbed_one_does():
    """All that happened is told again, in the same order, to a model that never saw it."""
    assignments, runs = random_runs(1, configurations=20)
    records = list(zip(*(column.tolist() for column in runs), strict=True))
    stop = len(records) // 2

    def told(count, extra=()):
        proposals = PromptProposals(ModelGuidedProposer(SPACE, UTILITY, 1), 1)
        for assignment in assignments:
            proposals.join(assignment, proposed=False)
        for record in records[:count]:
            proposals.observe(*record)
        for assignment in extra:
            proposals.join(assignment, proposed=True)
        return proposals

    undisturbed = told(stop)
    first = undisturbed.take()
    undisturbed.join(first, proposed=True)
    for record in records[stop : stop + 9]:
        undisturbed.observe(*record)
    assert told(stop + 9, [first]).take() == undisturbed.take()


def test_the_background_never_blocks_and_has_proposals_ready_in_time():
    gate = threading.Event()
    proposals = BackgroundProposals(Counting(gate), 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    fill(proposals, FEWEST_RUNS)
    assert proposals.take() is None  # the model is still at it
    gate.set()
    eventually(lambda: (proposals._collect(), proposals._ready)[1])
    taken = []
    for _ in range(AHEAD):
        taken.append(proposals.take())
        proposals.join(taken[-1], proposed=True)
    assert taken == list(range(1000, 1000 + AHEAD))
    eventually(lambda: (proposals._collect(), proposals._ready)[1])
    assert proposals.take() == 1000 + AHEAD
    proposals.close()


def test_a_refit_brings_newer_proposals_and_the_old_ones_wait_until_then():
    gate = threading.Event()
    gate.set()
    proposer = Counting(gate)
    proposals = BackgroundProposals(proposer, 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    fill(proposals, FEWEST_RUNS)
    eventually(lambda: (proposals._collect(), proposals._ready)[1])
    gate.clear()
    fill(proposals, 20, start=FEWEST_RUNS)
    assert proposals.take() == 1000
    gate.set()
    eventually(lambda: len(proposer.sizes) == 2)
    assert proposer.sizes[0] == FEWEST_RUNS < proposer.sizes[1]
    proposals.close()


def test_a_proposal_that_came_into_play_by_chance_is_left_out():
    proposals = BackgroundProposals(Counting(), 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    fill(proposals, FEWEST_RUNS)
    eventually(lambda: (proposals._collect(), proposals._ready)[1])
    proposals.join(1000, proposed=False)
    assert proposals.take() == 1001
    proposals.close()


def test_an_error_of_the_model_is_not_swallowed():
    class Broken(Counting):
        def learn(self, runs, configurations):
            raise ArithmeticError("broken")

    proposals = BackgroundProposals(Broken(), 1)
    for index in range(10):
        proposals.join(index, proposed=False)
    fill(proposals, FEWEST_RUNS)
    eventually(proposals._job.done)
    with pytest.raises(ArithmeticError, match="broken"):
        proposals.take()
    proposals.close()

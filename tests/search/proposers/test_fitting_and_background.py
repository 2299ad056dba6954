from __future__ import annotations

import threading

import numpy as np
import pytest

from search.proposers.imagined_tasks import SPACE, UTILITY, random_runs
from utilitune.search.proposers import background
from utilitune.search.proposers.background import BackgroundProposals
from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.fitting import FEWEST_RUNS, ImmediateProposals, fitted_runs
from utilitune.search.proposers.model_guided import ModelGuidedProposer

KINDS = [ImmediateProposals, BackgroundProposals]


class Counting:
    """Proposes 1000, 1001, … and notes what it learnt from; waits for a gate where there is one."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.sizes: list[int] = []
        self.begun = threading.Event()
        self._gate = gate

    def learn(self, runs, configurations):
        self.begun.set()
        if self._gate is not None:
            assert self._gate.wait(30)
        self.sizes.append(len(runs.configuration))

    def propose(self, known, generator):
        return next(number for number in range(1000, 2000) if number not in known)


def made(count: int, configurations: int = 10) -> Runs:
    return Runs.of((index % configurations, index // configurations, 1.0, 1.0) for index in range(count))


def joined(proposals, configurations: int = 10):
    for index in range(configurations):
        proposals.join(index, proposed=False)
    return proposals


def test_models_are_fitted_on_a_geometric_sequence_of_runs():
    sizes = sorted({fitted_runs(count) for count in range(3000)})
    assert sizes[:4] == [0, FEWEST_RUNS, 39, 50]
    ratios = np.array(sizes[2:]) / np.array(sizes[1:-1])
    assert ratios.min() > 1.25
    assert ratios.max() <= 1.3
    assert all(fitted_runs(size) == size for size in sizes)


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_no_proposal_before_there_is_something_to_learn_from(kind):
    proposals = joined(kind(Counting(), 1))
    assert proposals.take() is None
    proposals.learn(made(FEWEST_RUNS))
    assert proposals.learn_at > FEWEST_RUNS
    assert proposals.take() == 1000
    proposals.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_configurations_teach_nothing_and_the_next_size_is_waited_for(kind):
    proposals = joined(kind(Counting(), 1))
    sizes = []
    for _ in range(4):
        sizes.append(proposals.learn_at)
        proposals.learn(made(sizes[-1], configurations=4))
        assert proposals.take() is None
    assert sizes == [30, 39, 50, 65]
    proposals.learn(made(proposals.learn_at, configurations=5))
    assert proposals.take() == 1000
    proposals.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_lesson_is_fitted_once_however_many_proposals_are_taken(kind):
    proposer = Counting()
    proposals = joined(kind(proposer, 1))
    for size in (30, 39, 50):
        proposals.learn(made(size))
        taken = [proposals.take() for _ in range(3)]
        assert len(set(taken)) == 1  # a proposal that was not taken into play is made again
        proposals.join(taken[0], proposed=True)
    assert proposer.sizes == [30, 39, 50]
    proposals.close()


def test_a_model_that_is_not_asked_is_not_fitted_on_a_virtual_clock():
    proposer = Counting()
    proposals = joined(ImmediateProposals(proposer, 1))
    for _ in range(6):
        proposals.learn(made(proposals.learn_at))
    assert proposer.sizes == []
    proposals.take()
    assert proposer.sizes == [109]
    proposals.close()


def test_the_background_begins_at_once_and_skips_what_is_outdated():
    gate = threading.Event()
    proposer = Counting(gate)
    proposals = joined(BackgroundProposals(proposer, 1))
    proposals.learn(made(FEWEST_RUNS))
    assert proposer.begun.wait(30)
    for _ in range(5):  # returns at once, though the first fit is still under way
        proposals.learn(made(proposals.learn_at))
    assert proposer.sizes == []
    gate.set()
    assert proposals.take() == 1000
    assert proposer.sizes == [FEWEST_RUNS, 109]
    proposals.close()


def test_a_proposal_waits_for_the_fit_of_the_latest_runs():
    gate = threading.Event()
    proposer = Counting(gate)
    proposals = joined(BackgroundProposals(proposer, 1))
    proposals.learn(made(FEWEST_RUNS))
    opener = threading.Timer(0.05, gate.set)
    opener.start()
    assert proposals.take() == 1000
    assert proposer.sizes == [FEWEST_RUNS]
    opener.join()
    proposals.close()


def test_what_is_closed_starts_nothing_more():
    gate = threading.Event()
    proposer = Counting(gate)
    proposals = joined(BackgroundProposals(proposer, 1))
    proposals.learn(made(FEWEST_RUNS))
    assert proposer.begun.wait(30)
    proposals.learn(made(39))
    proposals.close()
    gate.set()
    proposals._job.result(30)
    assert proposer.sizes == [FEWEST_RUNS]


def test_an_error_of_the_model_is_not_swallowed():
    class Broken(Counting):
        def learn(self, runs, configurations):
            raise ArithmeticError("broken")

    proposals = joined(BackgroundProposals(Broken(), 1))
    proposals.learn(made(FEWEST_RUNS))
    with pytest.raises(ArithmeticError, match="broken"):
        proposals.take()
    proposals.close()


@pytest.mark.long
def test_a_proposal_follows_from_the_latest_lesson_its_number_and_the_seed_alone():
    """Whatever was learnt and proposed on the way, and in whichever thread."""
    assignments, runs = random_runs(1, configurations=20)
    early = Runs(*(column[runs.configuration < 12] for column in runs))

    def proposals(kind, seed):
        made_by = kind(ModelGuidedProposer(SPACE, UTILITY, 1), seed)
        for assignment in assignments:
            made_by.join(assignment, proposed=False)
        return made_by

    undisturbed = proposals(ImmediateProposals, 1)
    undisturbed.learn(early)
    first = undisturbed.take()
    undisturbed.join(first, proposed=True)
    undisturbed.learn(runs)
    second = undisturbed.take()
    assert first != second

    for kind in KINDS:
        resumed = proposals(kind, 1)
        resumed.learn(early)
        resumed.join(first, proposed=True)
        resumed.learn(runs)
        assert resumed.take() == resumed.take() == second
        resumed.close()
    other = proposals(ImmediateProposals, 2)
    other.join(first, proposed=True)
    other.learn(runs)
    assert other.take() != second


def test_the_end_of_the_program_does_not_wait_for_a_fit():
    begun, go_on = threading.Event(), threading.Event()
    worker = background._Worker()
    first = worker.submit(lambda: (begun.set(), go_on.wait(60), None)[-1])
    second = worker.submit(lambda: None)
    begun.wait(60)
    worker.dismiss()
    assert second.cancelled()
    assert not first.done()
    [thread] = [each for each in threading.enumerate() if each.name == "utilitune-proposals" and each.daemon][
        -1:
    ]
    go_on.set()
    assert first.result(60) is None
    thread.join(60)
    assert not thread.is_alive()


def test_an_error_of_a_fit_reaches_whoever_waits_for_it():
    worker = background._Worker()
    with pytest.raises(ZeroDivisionError):
        worker.submit(lambda: 1 // 0).result(60)
    worker.dismiss()

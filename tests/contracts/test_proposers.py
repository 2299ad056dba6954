"""Random draws, the model and the rows of a recording pass the suites that others are given."""

from __future__ import annotations

import numpy as np
import pytest

from search.proposers.imagined_tasks import SPACE, UTILITY
from utilitune.search.proposers.model_guided import ModelGuidedProposer
from utilitune.search.proposers.random import RandomDraws
from utilitune.search.proposers.rows import RowProposer
from utilitune.testing import ContractError, DrawsSuite, ProposerSuite

FEATURES = np.random.default_rng(5).random((20, 3))


class Model(ProposerSuite):
    def make(self, seed):
        return ModelGuidedProposer(SPACE, UTILITY, seed)

    def configurations(self):
        return SPACE.sample(np.random.default_rng(4), 10)

    def is_valid(self, configuration):
        return SPACE.validate(configuration) == configuration


class Rows(ProposerSuite):
    def make(self, seed):
        return RowProposer(FEATURES, UTILITY, seed)

    def configurations(self):
        return list(range(10))

    def is_valid(self, configuration):
        return configuration in range(20)

    def everything(self):
        return range(20)


class Draws(DrawsSuite):
    def make(self, seed):
        return RandomDraws(SPACE, seed)

    def is_valid(self, configuration):
        return SPACE.validate(configuration) == configuration


@pytest.mark.long
@pytest.mark.parametrize("check", ProposerSuite.checks())
@pytest.mark.parametrize("suite", [Model, Rows])
def test_a_proposer_keeps_its_contract(suite, check: str):
    getattr(suite(), check)()


@pytest.mark.parametrize("check", DrawsSuite.checks())
def test_random_draws_keep_their_contract(check: str):
    getattr(Draws(), check)()


class Parrot:
    """Proposes what it learnt first, whatever is known, and never forgets it."""

    def __init__(self):
        self.first = None

    def learn(self, runs, configurations):
        if self.first is None:
            self.first = configurations[int(np.argmin(runs.runtime_s)) // 5]

    def propose(self, known, generator):
        return self.first


class Parrots(Rows):
    def make(self, seed):
        return Parrot()


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("test_proposals_are_valid_and_new", "known already"),
        ("test_learning_forgets_what_was_learnt_before", "still shape"),
        ("test_nothing_is_proposed_when_everything_is_known", "everything is known"),
    ],
)
def test_a_proposer_that_breaks_the_contract_is_found(check: str, sentence: str):
    with pytest.raises(ContractError, match=sentence):
        getattr(Parrots(), check)()

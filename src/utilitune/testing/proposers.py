"""What every source of configurations keeps: they are valid, and follow from runs and seed alone."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.search.proposers.base import Runs
from utilitune.testing.base import Suite, expect

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from utilitune.search.proposers.base import Proposer

_PROPOSALS = 5


class ProposerSuite(Suite):
    """The contract of `Proposer`; what a configuration is, stays open."""

    @abstractmethod
    def make(self, seed: int) -> Proposer[Any]:
        """A proposer that has learnt nothing."""

    @abstractmethod
    def configurations(self) -> Sequence[Any]:
        """At least ten different configurations to learn from."""

    @abstractmethod
    def is_valid(self, configuration: Any) -> bool:  # noqa: ANN401 -- what a configuration is, stays open
        """Whether this is a configuration at all."""

    def everything(self) -> Collection[Any] | None:
        """All configurations there are; None where nobody can list them."""
        return None

    def test_proposals_are_valid_and_new(self) -> None:
        """Each one different from all that are known."""
        proposer, known = self._taught(self._runs()), list(self.configurations())
        for number in range(_PROPOSALS):
            proposal = proposer.propose(known, np.random.default_rng(number))
            if proposal is None:
                break
            expect(self.is_valid(proposal), f"{proposal!r} is no configuration")
            expect(proposal not in known, f"{proposal!r} is known already")
            known.append(proposal)

    def test_the_same_runs_and_seed_give_the_same_proposals(self) -> None:
        """A resumed run and a replay depend on it."""
        expect(
            self._proposals(self._taught(self._runs())) == self._proposals(self._taught(self._runs())),
            "two proposers with the same runs and seed propose different configurations",
        )

    def test_learning_forgets_what_was_learnt_before(self) -> None:
        """Only the latest runs count."""
        proposer = self._taught(self._runs(quick_first=False))
        proposer.learn(self._runs(), self.configurations())
        expect(
            self._proposals(proposer) == self._proposals(self._taught(self._runs())),
            "runs learnt before still shape the proposals",
        )

    def test_few_runs_and_runs_without_an_end_are_enough(self) -> None:
        """A proposer may have no proposal, but it must not fail."""
        for runs in (
            Runs.of([(0, 0, 1.0, 1.0)]),
            Runs.of([(i, j, math.inf, 4.0) for i in range(5) for j in range(3)]),
            Runs.of([(i, 0, math.inf, math.inf) for i in range(5)]),
        ):
            self._proposals(self._taught(runs))

    def test_nothing_is_proposed_when_everything_is_known(self) -> None:
        """Where all configurations can be listed."""
        everything = self.everything()
        if everything is not None:
            proposal = self._taught(self._runs()).propose(everything, np.random.default_rng(1))
            expect(proposal is None, f"everything is known, and yet {proposal!r} was proposed")

    def _runs(self, *, quick_first: bool = True) -> Runs:
        """Runs on five instances, the first configurations being the quick ones, or the slow ones."""
        count = len(self.configurations())
        ranks = range(count) if quick_first else range(count)[::-1]
        times = [(i, j, 1.0 + rank + j / 8) for i, rank in enumerate(ranks) for j in range(5)]
        return Runs.of([(i, j, time_s, time_s) for i, j, time_s in times])

    def _taught(self, runs: Runs) -> Proposer[Any]:
        proposer = self.make(seed=3)
        proposer.learn(runs, self.configurations())
        return proposer

    def _proposals(self, proposer: Proposer[Any]) -> list[Any]:
        known = self.configurations()
        return [proposer.propose(known, np.random.default_rng(number)) for number in range(_PROPOSALS)]


class DrawsSuite(Suite):
    """The contract of random draws: number r follows from the seed and r alone. The promise rests on that."""

    @abstractmethod
    def make(self, seed: int) -> Any:  # noqa: ANN401 -- whatever has a method `draw(number)`
        """A stream of draws."""

    @abstractmethod
    def is_valid(self, configuration: Any) -> bool:  # noqa: ANN401 -- what a configuration is, stays open
        """Whether this is a configuration at all."""

    def test_draws_depend_on_seed_and_number_alone(self) -> None:
        """In any order, again and again."""
        forward = [self.make(1).draw(number) for number in range(70)]
        stream = self.make(1)
        backward = [stream.draw(number) for number in reversed(range(70))]
        expect(forward == backward[::-1], "a draw depends on the draws before it")
        expect(forward != [self.make(2).draw(number) for number in range(70)], "another seed, the same draws")

    def test_draws_are_valid(self) -> None:
        """Every one of them."""
        stream = self.make(1)
        for number in range(70):
            drawn = stream.draw(number)
            expect(self.is_valid(drawn), f"draw {number}, {drawn!r}, is no configuration")

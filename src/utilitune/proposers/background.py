"""Proposals whose model is fitted in a thread of its own, while a live run goes on.

A fit takes a good part of a second and begins as soon as its runs are known, usually long before the next
proposal is asked for. Trees are grown outside the interpreter's lock, so the run's own thread is hardly held
up. Whoever asks for a proposal waits for the fit if need be: a proposal must not depend on how quick the
thread was.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from utilitune.proposers import forest
from utilitune.proposers.base import Kind
from utilitune.proposers.fitting import PromptProposals

if TYPE_CHECKING:
    from utilitune.proposers.base import Proposer, Runs


class BackgroundProposals(PromptProposals[Kind]):
    """Proposals from a model that is fitted ahead of need; all methods are called from one thread.

    Args:
        proposer: The model; the background uses it until `take` has waited for it.
        seed: What every proposal follows from.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        super().__init__(proposer, seed)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="utilitune-proposals")
        self._thread.submit(forest.load)
        self._job: Future[None] | None = None

    def learn(self, runs: Runs) -> None:
        """Begin to learn from these runs; a fit under way goes on to the newest ones when it is through."""
        super().learn(runs)
        if self._waiting and (self._job is None or self._job.done()):
            self._job = self._thread.submit(self._fit)

    def take(self) -> Kind | None:
        """A proposal from what was learnt last, once the fit is through."""
        if self._job is not None:
            self._job.result()
        return super().take()

    def close(self) -> None:
        """Start nothing more; a fit under way ends by itself."""
        super().close()
        self._thread.shutdown(wait=False, cancel_futures=True)

"""Proposals from a thread of its own, so that a live run never waits for a model.

While the procedure makes runs, the thread fits the model and prepares a few proposals. Trees are grown and
asked outside the interpreter's lock, so the run's own thread is hardly held up. Proposals wait until they are
taken or a refit has brought newer ones; if none is ready when one is wanted, the caller takes a random draw
and comes back later.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from utilitune.proposers.base import Kind
from utilitune.proposers.fitting import History, Model

if TYPE_CHECKING:
    from utilitune.proposers.base import Proposer

AHEAD = 16
"""How many proposals are prepared from one fit: configurations are often wanted several at a time."""


class BackgroundProposals(History[Kind]):
    """Proposals computed ahead of need; all methods are called from one thread and return at once.

    Args:
        proposer: The model; it is used in the background only.
        seed: What every proposal follows from.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        super().__init__()
        self._model = Model(proposer, seed)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="utilitune-proposals")
        self._job: Future[list[Kind]] | None = None
        self._asked = (0, 0)
        self._ready: deque[Kind] = deque()

    def join(self, configuration: Kind, *, proposed: bool) -> None:
        """One more configuration is in play; when the last proposal was taken, more are prepared."""
        super().join(configuration, proposed=proposed)
        self._prepare()

    def observe(self, configuration: int, position: int, runtime_s: float, known_s: float) -> None:
        """One more run was made; now and then that calls for a refit."""
        super().observe(configuration, position, runtime_s, known_s)
        self._prepare()

    def take(self) -> Kind | None:
        """The next proposal that is ready; those that came into play by chance meanwhile are left out."""
        self._collect()
        while self._ready:
            proposal = self._ready.popleft()
            if proposal not in self.known:
                return proposal
        return None

    def close(self) -> None:
        """Start nothing more; what is being computed ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _collect(self) -> None:
        if self._job is not None and self._job.done():
            self._ready = deque(self._job.result())
            self._job = None

    def _prepare(self) -> None:
        """Start on the next proposals when the old ones are used up or older than a refit."""
        self._collect()
        size, proposed = self._asked
        outdated = size != self.size
        used_up = not self._ready and proposed != self.proposed
        if self._job is not None or not (outdated or used_up):
            return
        task = self.task()
        if task is not None:
            self._asked = (self.size, self.proposed)
            self._job = self._thread.submit(self._model.proposals, task, AHEAD)

"""Which configuration is the answer of a run that searches and proves.

It is the best-proved configuration, unless a nominee was clearly better where both were run and its ε is not
much larger; then it is the latest such nominee, with what is proved of it. Where the user asked for an ε and
only the best-proved configuration reaches it, that one is the answer. None is ever one that is proved worse
than the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.domain import StopReason
from utilitune.domain.stopping import EPSILON_REACHED

if TYPE_CHECKING:
    from utilitune.domain import Progress
    from utilitune.live.hunting import Hunt
    from utilitune.live.proved import Proved

MOST_EPSILON_LOST = 0.2
"""How much larger ε may be, in utility, where the answer is not the configuration of which most is proved."""


class Choice:
    """The choice between the best-proved configuration and the nominees; see the module.

    Args:
        proof: What is proved.
        hunt: What search has found.
        epsilon: The ε that the user asked for, if any.
        proves_one: Whether the latest nominee is the answer in any case, and ε is asked for of it.

    Attributes:
        nominated: The nominees, by number, the first one first.
    """

    def __init__(self, proof: Proved, hunt: Hunt, epsilon: float | None, *, proves_one: bool) -> None:
        self._proof, self._hunt = proof, hunt
        self._epsilon, self._proves_one = epsilon, proves_one
        self.nominated: list[int] = []

    def candidates(self) -> tuple[Progress | None, Progress | None]:
        """The configuration of which most is proved, whoever brought it in, and the answer."""
        proved = self._proof.progress()
        if proved is None or not self.nominated:
            return proved, proved
        nominees = [self._proof.progress_of(each) for each in dict.fromkeys(reversed(self.nominated))]
        proved = min([proved, *reversed(nominees)], key=lambda each: each.epsilon)
        if self._proves_one:
            return proved, nominees[0]
        wanted = self._epsilon if self._epsilon is not None and proved.epsilon <= self._epsilon else 1.0
        most = min(wanted, proved.epsilon + MOST_EPSILON_LOST)
        ahead = (
            each
            for each in nominees
            if each.epsilon <= most and self._hunt.is_ahead(each.best_index, proved.best_index)
        )
        return proved, next(ahead, proved)

    def one_proved(self) -> StopReason | None:
        """Why to stop, where ε was asked for of one configuration and is proved of it."""
        if not self._proves_one or self._epsilon is None or not self.nominated:
            return None
        answer = self.candidates()[1]
        if answer is None or answer.epsilon > self._epsilon:
            return None
        return StopReason(EPSILON_REACHED, f"ε = {self._epsilon:g} is proved of the configuration.")

    def sentence(self) -> str:
        """A sentence where the best by its runs and the best-proved one differ, else nothing."""
        proved, answer = self.candidates()
        if proved is None or answer is None or not self.nominated:
            return ""
        if proved.epsilon < answer.epsilon:
            return (
                f"The answer is the best by its runs; more is proved of configuration {proved.best_index}: "
                f"ε = {proved.epsilon:.3g}."
            )
        latest = self.nominated[-1]
        if latest == answer.best_index or not self._hunt.is_ahead(latest, answer.best_index):
            return ""
        return (
            f"Configuration {latest} was better where both were run, but little is proved of it yet: "
            f"ε = {self._proof.progress_of(latest).epsilon:.3g}. More time would tell."
        )

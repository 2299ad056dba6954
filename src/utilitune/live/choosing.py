"""Which configuration is the answer of a run that searches and proves.

It is the best-proved configuration (the smallest ε + w·γ), unless something that search has found was clearly
better where both were run and not much less is proved of it; then it is the latest such find. While little is
proved of anybody, as in a short run, more of it may be given away for a better answer. Where the user
asked for an ε and only the best-proved configuration reaches it, that one is the answer. None is ever one
that is proved worse than the default; and one that is neither proved better nor was better where both were
run by more than luck explains (`Hunt.is_surely_ahead`) is not given in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.domain import StopReason, rounded_up
from utilitune.domain.stopping import EPSILON_REACHED, INSTANCES_EXHAUSTED
from utilitune.search.base import DEFAULT

if TYPE_CHECKING:
    from utilitune.domain import Progress
    from utilitune.live.hunting import Hunt
    from utilitune.live.proved import Proved

MOST_LOST = 0.1
"""How much larger ε + w·γ may be, in utility, where the answer is not the one of which most is proved."""

MOST_TIMES = 1.5
"""Or how many times as large, where that allows for more. On tasks for tuning, 267 runs each, this raised the
score of the answer by .005 ± .005 at 60 default runs, .006 ± .004 at 125 and .012 ± .009 at 250."""


class Choice:
    """The choice between the best-proved configuration and the nominees; see the module.

    Args:
        proof: What is proved.
        hunt: What search has found.
        epsilon: The ε that the user asked for, if any.
        gamma: The γ that the user asked for, if any.
        proves_one: Whether the latest nominee is the answer in any case, and ε is asked for of it.

    Attributes:
        proves_one: See above.
        found: Whom search held to be best, by number, the latest one last: nominees, and draws of the proof.
    """

    def __init__(
        self,
        proof: Proved,
        hunt: Hunt,
        epsilon: float | None,
        *,
        gamma: float | None = None,
        proves_one: bool,
    ) -> None:
        self._proof, self._hunt = proof, hunt
        self._epsilon, self._gamma, self.proves_one = epsilon, gamma, proves_one
        self.found: list[int] = []

    def note(self, configuration: int) -> None:
        """Search holds a configuration that has joined the proof to be the best now."""
        if configuration in self.found:
            self.found.remove(configuration)
        self.found.append(configuration)

    def candidates(self) -> tuple[Progress | None, Progress | None]:
        """The configuration of which most is proved, whoever brought it in, and the answer."""
        proved = self._proof.proved()
        if proved is None:
            return None, None
        if not self.found:
            return proved, self._or_default(proved)
        finds = [self._proof.progress_of(each) for each in reversed(self.found)]
        if self.proves_one:
            return min([proved, *finds], key=self._proof.worth), finds[0]
        everybody = self._that_reach_most(proved, finds)
        proved = min(everybody, key=self._proof.worth)
        least = self._proof.worth(proved)
        most = max(least + MOST_LOST, MOST_TIMES * least)
        ahead = (
            each
            for each in finds
            if each in everybody
            and self._proof.worth(each) <= most
            and self._hunt.is_ahead(each.best_index, proved.best_index)
        )
        return proved, self._or_default(next(ahead, proved))

    def _or_default(self, answer: Progress) -> Progress:
        """The answer, or the default where nothing shows yet that the answer is better."""
        number = answer.best_index
        proved = answer.gain is not None and answer.gain > 0
        if proved or number == DEFAULT or self._hunt.is_surely_ahead(number, DEFAULT):
            return answer
        default = self._proof.progress_of(DEFAULT)
        wanted = self._epsilon is not None and answer.epsilon <= self._epsilon < default.epsilon
        return answer if wanted else default

    def _that_reach_most(self, own: Progress, finds: list[Progress]) -> list[Progress]:
        """Those that reach the ε asked for, with no larger γ where the proof's own answer does; else all."""
        everybody = [own, *finds]
        if self._epsilon is None:
            return everybody
        reached = [each for each in everybody if each.epsilon <= self._epsilon]
        if own in reached:
            reached = [each for each in reached if (each.gamma or 0.0) <= (own.gamma or 0.0)]
        return reached or everybody

    def one_proved(self) -> StopReason | None:
        """Why to stop, where ε was asked for of one configuration and is proved of it."""
        if not self.proves_one or self._epsilon is None or not self.found:
            return None
        answer = self.candidates()[1]
        if answer is None or answer.epsilon > self._epsilon:
            return None
        if self._gamma is not None and (answer.gamma or 0.0) > self._gamma:
            return None
        return StopReason(EPSILON_REACHED, f"ε = {self._epsilon:g} is proved of the configuration.")

    def ending(self, reason: StopReason) -> StopReason:
        """Why the proof has ended; what it says of its own answer is put right for the one asked about."""
        answer = self.candidates()[1]
        if not self.proves_one or reason.code != INSTANCES_EXHAUSTED or answer is None or not answer.epsilon:
            return reason
        return StopReason(
            INSTANCES_EXHAUSTED,
            f"All instances are used: no more can be proved of this configuration than {_stated(answer)}.",
        )

    def sentence(self) -> str:
        """A sentence where the best by its runs and the best-proved one differ, else nothing."""
        proved, answer = self.candidates()
        if proved is None or answer is None:
            return ""
        if answer.best_index == DEFAULT != proved.best_index:
            return (
                "The answer is the default: nothing was clearly better where both were run. More is "
                f"proved of configuration {proved.best_index}: {_stated(proved)}."
            )
        if not self.found:
            return ""
        if self._proof.worth(proved) < self._proof.worth(answer):
            more = "More" if self.proves_one else "The answer was better where both were run; more"
            return f"{more} is proved of configuration {proved.best_index}: {_stated(proved)}."
        latest = self.found[-1]
        if latest == answer.best_index or not self._hunt.is_ahead(latest, answer.best_index):
            return ""
        return (
            f"Configuration {latest} was better where both were run, but little is proved of it yet: "
            f"{_stated(self._proof.progress_of(latest))}. More time would show how good it is."
        )


def _stated(progress: Progress) -> str:
    """What is proved, in short."""
    gamma = f", γ = {rounded_up(progress.gamma)}" if progress.gamma else ""
    return f"ε = {rounded_up(progress.epsilon)}{gamma}"

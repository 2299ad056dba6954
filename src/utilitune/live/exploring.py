"""The asker that searches and proves: two parts that share runs, and what passes between them.

**Search** asks for any runs it likes. **Proof** draws configurations at random and proves how good an answer
is. A run is a fact about a configuration and an instance, so each side finds what the other has run. Search's
candidates have no bound. Now and then its best one is *nominated*: it is stored, an order of the instances
is revealed that nobody could have fitted, and the proof judges it along that order (docs/theory.md).

**Time.** Search gets a share s of the seconds in runs, the proof the rest. Seconds are those of the runs that
each side has looked at, never those of a clock. The two meet at milestones M₁ < M₂ < …: search waits when it
has spent Mₖ seconds, the proof when it has spent (Mₖ − Mₖ₋₁)·(1 − s)/s more than at the last one, with a
larger s at the beginning (`meetings`). When both are there, search's best candidate is nominated if it is a
new one, and both go on. So what either side does follows from outcomes alone, whoever is quicker, and a
resumed run does the same again. A side that waits, or that has nothing left to do, leaves its workers to the
other. Something new is asked for only when neither side can go on with what is stored.

Which configuration is the **answer** is decided in `choosing`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from utilitune.domain.stopping import EPSILON_REACHED
from utilitune.live.asker import Again, Done, Make, Nominate
from utilitune.live.choosing import Choice
from utilitune.live.meetings import Meetings
from utilitune.procedures.engine import Origin
from utilitune.spaces import Assignment
from utilitune.store.records import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from utilitune.domain import PhaseRecord, Progress
    from utilitune.live.asker import Ended, Instruction, Room
    from utilitune.live.hunting import Hunt
    from utilitune.live.meetings import Shares, Stored
    from utilitune.live.proof import Proof
    from utilitune.live.supply import Drawn
    from utilitune.store.records import ConfigurationRecord


class Exploring:
    """Search and proof together; see the module.

    Args:
        proof: The side that proves.
        hunt: The side that searches.
        shares: How much of the seconds in runs is search's.
        nominations: What was nominated in earlier starts.
        epsilon: The ε that the user asked for, if any.
        proves_one: Whether the latest nominee is the answer in any case, and ε is asked for of it.

    Attributes:
        proof: The side that proves.
        is_over: Whether both sides have ended.
    """

    def __init__(
        self,
        proof: Proof,
        hunt: Hunt,
        shares: Shares,
        *,
        nominations: Stored,
        epsilon: float | None = None,
        gamma: float | None = None,
        proves_one: bool = False,
    ) -> None:
        self.proof = proof
        self._hunt = hunt
        self._choice = Choice(proof, hunt, epsilon, gamma=gamma, proves_one=proves_one)
        self._meetings = Meetings(proof, hunt, self._choice, shares, nominations)
        self._finished: Done | None = None
        self.is_over = False
        self._moved = True  # whether the next question may find something new
        self._moves = 0
        self._shown: tuple[tuple[int, float, bool], Progress | None] | None = None

    # -- events --------------------------------------------------------------------------------------------

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Take over the configurations that are stored: those of the proof, and search's candidates."""
        self._note_move()
        for record in configurations:
            self._hunt.number(Assignment(record.assignment), record.index)
        self.proof.restore([each for each in configurations if each.origin is not StoredOrigin.CANDIDATE])

    def hear(self, run: Ended) -> None:
        """Both sides learn of every run."""
        self._note_move()
        self._hunt.hear(run)
        self.proof.hear(run)

    def joined(self, number: int, drawn: Drawn) -> None:
        """A configuration has its number; search's candidates do not join the proof."""
        self._note_move()
        self._hunt.number(drawn.assignment, number)
        if drawn.origin is Origin.RANDOM:
            self._meetings.drawn.add(number)
        if drawn.origin is not Origin.NOMINEE:
            self.proof.joined(number, drawn)

    def nominated(self, number: int, configuration: int) -> None:
        """A nomination is stored: its order may be revealed."""
        self._note_move()
        self._meetings.nominated.append(configuration)
        self._choice.note(configuration)
        self._finished = None
        values = self._hunt.assignment_of(configuration)
        self.proof.nominated(number, configuration, self._meetings.first_fresh(number), values)
        if self._choice.proves_one:
            self.proof.ask_about_nominee()

    # -- instructions --------------------------------------------------------------------------------------

    def ask(self, room: Room) -> Instruction:
        """Let both sides go on with what is known, and say what they need."""
        step = self._go_on(room)
        self.is_over = isinstance(step, Done)
        self._moves += self._moved
        self._moved = not isinstance(step, Make)  # who waits for runs has gone as far as is known
        return step

    def _go_on(self, room: Room) -> Instruction:
        if not self.proof.has_given:
            return self.proof.ask(room)
        found = self._meetings.go_on_searching(proof_is_over=self._finished is not None)
        if isinstance(found, Again | Nominate):
            return found
        step = self._go_on_proving(room)
        if not isinstance(step, Make):
            return step
        if found is not None:
            return found
        both = self._meetings.together(room, step)
        over = not both.runs and not room.under_way
        return self._finished if over and self._finished is not None else both

    def _go_on_proving(self, room: Room) -> Instruction:
        """Let the proof go on, but not past the next nomination."""
        if self._finished is not None:
            return self._finished if self._hunt.exhausted else Make([])
        if (proved := self._choice.one_proved()) is not None:
            return Done(proved)
        if self.proof.spent_s >= self._meetings.limit_s:
            return self.proof.meanwhile(room)
        step = self.proof.ask(room, self._meetings.limit_s)
        if isinstance(step, Done):
            self._finished = step = Done(self._choice.ending(step.reason))
            if step.reason.code != EPSILON_REACHED and not self._hunt.exhausted:
                return Make([])
        return step

    # -- where it stands -----------------------------------------------------------------------------------

    @property
    def useful_s(self) -> float:
        """Seconds of runs that were of use to the search or to the proof."""
        return self.proof.useful_s + self._hunt.spent_s

    def progress(self) -> Progress | None:
        """The answer and what is proved of it; worked out once while both sides wait for runs.

        Somebody may look ten times a second, and with hundreds of configurations a look takes milliseconds.
        """
        stands = self._moves, self._meetings.limit_s, self.is_over
        if self._shown is None or self._shown[0] != stands:
            with self._by_what_counts():
                self._shown = stands, self._choice.candidates()[1]
        return self._shown[1]

    def _by_what_counts(self) -> AbstractContextManager[None]:
        """All runs there are count until the end, see `Proved.with_all_runs`."""
        return nullcontext() if self.is_over else self.proof.with_all_runs()

    def _note_move(self) -> None:
        self._moved = True
        self._moves += 1

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases of the proof that are over."""
        return self.proof.phases

    def captime_note(self) -> str:
        """Sentences where the largest captime limits what can be proved, or more is proved of another one."""
        with self._by_what_counts():
            return " ".join(filter(None, [self._choice.sentence(), self.proof.captime_note()]))

    def close(self) -> None:
        """Nothing more will be asked."""
        self._hunt.close()
        self.proof.close()

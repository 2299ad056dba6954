"""Questions that find a utility: a sure time against a gamble between two times.

Whoever does not care between a sure answer after s and a coin that decides between an answer after g and one
after b has said u(s) = ½u(g) + ½u(b). Four such answers draw a curve, by the fractile method of decision
analysis (Raiffa, "Decision Analysis", 1968): the quickest time that is hoped for is worth 1, the time from
which an answer is useless is worth 0, and

    1. the coin between these two is as good as a time worth ½,
    2. the coin between the quickest and that is as good as a time worth ¾,
    3. the coin between that and the slowest is as good as a time worth ¼,
    4. the coin between the times of 2 and 3 should be as good as the time of 1: how far it is off shows how
       certain the answers are.

A time of indifference is hard to name but easy to close in on, so every question is asked as a few choices:
would you rather have the sure time, or the coin? An `Interview` is nothing but the choices made so far; it
can be replayed, and the last choice can be taken back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.utility.durations import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SURE, GAMBLE, SAME = "sure", "gamble", "same"
"""What one may answer, besides a time that is just as good as the gamble."""

QUESTIONS = 4
_MOST_CHOICES = 5
_CLOSE = 1.2  # a time of indifference is known well enough within this factor
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_UNITS_S = (86400.0, 3600.0, 60.0, 1.0, 1e-3, 1e-6)


@dataclass(frozen=True, slots=True)
class Gamble:
    """A coin that decides between two times.

    Attributes:
        good_s: The shorter time.
        bad_s: The longer time.
    """

    good_s: float
    bad_s: float

    def __post_init__(self) -> None:
        if not (self.good_s > 0 and math.isfinite(self.bad_s) and self.bad_s >= self.good_s):
            raise UsageError(
                "a gamble is between a shorter and a longer time, not between "
                f"{format_duration(self.good_s)} and {format_duration(self.bad_s)}"
            )

    def words(self) -> str:
        """The gamble in words."""
        return f"heads {format_duration(self.good_s)}, tails {format_duration(self.bad_s)}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A sure time that is just as good as a gamble.

    Attributes:
        gamble: The gamble.
        sure_s: The sure time.
    """

    gamble: Gamble
    sure_s: float

    def __post_init__(self) -> None:
        if not self.gamble.good_s <= self.sure_s <= self.gamble.bad_s:
            raise UsageError(
                f"a sure time as good as a gamble ({self.gamble.words()}) lies between its two times; "
                f"{format_duration(self.sure_s)} does not"
            )


def parse_answer(text: str) -> Answer:
    """Read an answer such as ``1s|1h=5m``: the coin between 1 s and 1 h is as good as surely 5 minutes.

    >>> parse_answer("1s|1h=5m")
    Answer(gamble=Gamble(good_s=1.0, bad_s=3600.0), sure_s=300.0)
    """
    times, equals, sure = text.partition("=")
    good, bar, bad = times.partition("|")
    if not equals or not bar:
        raise UsageError(
            f"{text!r} is not an answer: write GOOD|BAD=SURE, e.g. '1s|1h=5m' for a coin between 1 s and 1 h"
            " that is as good to you as surely 5 minutes"
        )
    return Answer(Gamble(parse_duration(good), parse_duration(bad)), parse_duration(sure))


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask next.

    Attributes:
        number: Which of the questions it belongs to, from 1.
        gamble: The coin.
        sure_s: The sure time to choose instead.
        choice: Which choice within the question this is, from 1.
    """

    number: int
    gamble: Gamble
    sure_s: float
    choice: int


@dataclass(frozen=True, slots=True)
class Interview:
    """The choices made so far, and what follows from them.

    Attributes:
        best_s: The quickest time that is hoped for; worth 1.
        worst_s: The time from which an answer is useless; worth 0.
        choices: "sure", "gamble", "same", or a time as text that is just as good as the gamble.
    """

    best_s: float
    worst_s: float
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Gamble(self.best_s, self.worst_s)
        for choice in self.choices:
            if choice not in {SURE, GAMBLE, SAME}:
                parse_duration(choice)

    def then(self, choice: str) -> Interview:
        """The interview after one more choice."""
        return Interview(self.best_s, self.worst_s, (*self.choices, choice))

    def state(self) -> tuple[tuple[Answer, ...], Question | None]:
        """What has been answered, and what to ask next; None once everything has been asked.

        Raises:
            UsageError: A time was given that is not between the two times of its gamble.
        """
        answers: list[Answer] = []
        left = iter(self.choices)
        for number in range(1, QUESTIONS + 1):
            asked = _asked(number, self._gamble(number, answers), left)
            if isinstance(asked, Question):
                return tuple(answers), asked
            answers.append(asked)
        return tuple(answers), None

    def _gamble(self, number: int, answers: Sequence[Answer]) -> Gamble:
        times = [answer.sure_s for answer in answers]
        match number:
            case 1:
                good_s, bad_s = self.best_s, self.worst_s
            case 2:
                good_s, bad_s = self.best_s, times[0]
            case 3:
                good_s, bad_s = times[0], self.worst_s
            case _:
                good_s, bad_s = times[1], times[2]
        return Gamble(good_s, bad_s)


def _asked(number: int, gamble: Gamble, choices: Iterator[str]) -> Answer | Question:
    """Close in on the time of indifference with the choices there are."""
    low_s, high_s = gamble.good_s, gamble.bad_s
    for count in range(1, _MOST_CHOICES + 1):
        if high_s <= _CLOSE * low_s:
            break
        offered_s = round_time(low_s, high_s)
        choice = next(choices, None)
        if choice is None:
            return Question(number, gamble, offered_s, count)
        if choice == SAME:
            return Answer(gamble, offered_s)
        if choice == SURE:
            low_s = offered_s  # the sure time is better than the coin, so the time of indifference is later
        elif choice == GAMBLE:
            high_s = offered_s
        else:
            return Answer(gamble, parse_duration(choice))
    return Answer(gamble, round_time(low_s, high_s))


def round_time(low_s: float, high_s: float) -> float:
    """A time about halfway between two, by ratio, that is easy to think about."""
    middle_s = math.sqrt(low_s) * math.sqrt(high_s)
    size_s = next((unit_s for unit_s in _UNITS_S if middle_s >= unit_s), _UNITS_S[-1])
    power = 10.0 ** math.floor(math.log10(middle_s / size_s)) if middle_s > 0 else 1.0
    easy = [size_s * power * number for number in (*_ROUND, 10.0)]
    for times_s in (easy, [float(f"{middle_s:.2g}")]):
        inside = [time_s for time_s in times_s if low_s < time_s < high_s]
        if inside:
            return min(inside, key=lambda time_s: abs(math.log(time_s / middle_s)))
    return min(max(middle_s, low_s), high_s)

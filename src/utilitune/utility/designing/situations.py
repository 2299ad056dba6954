"""Situations in plain words, and the utilities they mean.

A `Situation` is a phrase with blanks ("useless after {time}") and the utility that it stands for. A sentence
may hold several, such as "nightly batch, useless after 10 minutes, 0.05 per hour": each is a utility of its
own, and together they are the product of all, or the smallest of them where the sentence says that the
strictest counts. What is no situation and holds no number ("nightly batch") is taken as a name; what holds a
number must be understood, because a number that is passed over would change what the user meant.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import UtilityError
from utilitune.errors.outside import number_in
from utilitune.utility.combining import Minimum, Product
from utilitune.utility.durations import parse_duration
from utilitune.utility.families import CostPerHour, Exponential, LogLaplace, Pareto, Plateau, Step, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from utilitune.utility.base import Utility

_LONGEST = 1_000
_NUMBER = r"(?>\d+\.?\d*|\.\d+)(?>e[+-]?\d+)?"  # atomic: what does not fit is not tried again in pieces
_UNIT = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_TIME = rf"(?:(?:{_NUMBER}\s*{_UNIT}\s*)+|{_NUMBER}(?![\d.]*\s*%))"
_MONEY = r"(?:€|\$|£|euros?|eur|dollars?|usd|cents?|chf|gbp)?"
_UP_TO = r"(?:up\s+to|until|till|for|within|below|before)"
_FROM = r"(?:after|from|at|by|past|beyond|in)"
_LATE = r"(?:useless|worthless|nothing|no\s+use|too\s+late|unbearable|given\s+up|gone)"
_FINE = r"(?:fine|unnoticed|full(?:\s+worth)?|no\s+matter|all\s+the\s+same)"
_HOURS_IN = {"s": 3600.0, "m": 60.0, "h": 1.0, "d": 1.0 / 24.0}
_STRICTEST = re.compile(r"(?:the\s+)?strictest(?:\s+\w+)?|whichever\s+is\s+(?:the\s+)?(?:worse|less|lower)")
_FILLING = re.compile(r"\b(?:and|but|then|also|it|is|costs?|an?|the|answer|that|which)\b|[^\w%]+")


def _counted(found: re.Match[str]) -> str:
    """One minute, where it says "a minute"; but "2 € a minute" is a price."""
    return found.group() if found["price"] else "1 "


_SPELLED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\bhalf\s+an\s+hour\b"), "30 min"),
    (re.compile(rf"(?P<price>{_NUMBER}\s*{_MONEY}\s*)?\ban?\s+(?={_UNIT})"), _counted),
    (re.compile(r"\bmilliseconds?\b"), "ms"),
)


@dataclass(frozen=True, slots=True)
class Blank:
    """What is to be filled in.

    Attributes:
        name: Its name in the phrase.
        question: What to ask for.
        usual: An answer to begin with.
    """

    name: str
    question: str
    usual: str


@dataclass(frozen=True, slots=True)
class Situation:
    """A phrase with blanks, and the utility that it means.

    Attributes:
        name: A short name.
        title: When to choose it.
        phrase: The phrase as it is written into a sentence.
        blanks: What is to be filled in.
        patterns: Other ways to say the same; each has one group per blank that it needs.
        build: From the texts in the blanks to the utility.
    """

    name: str
    title: str
    phrase: str
    blanks: tuple[Blank, ...]
    patterns: tuple[re.Pattern[str], ...]
    build: Callable[[Mapping[str, str | None]], Utility]

    def filled(self, *values: str) -> str:
        """The phrase with its blanks filled in, in their order."""
        return self.phrase.format(
            **{blank.name: value for blank, value in zip(self.blanks, values, strict=True)}
        )

    def means(self, *values: str) -> Utility:
        """The utility of the situation with its blanks filled in, in their order.

        Raises:
            UtilituneError: A value is no time or number, or they do not fit together.
        """
        filled = {blank.name: value.strip() for blank, value in zip(self.blanks, values, strict=True)}
        try:
            return self.build(filled)
        except ValueError:
            raise UtilityError(f"{', '.join(values)!r}: write plain numbers, such as 0.05") from None


def _time(text: str | None) -> float:
    return parse_duration((text or "").strip())


def _price(found: Mapping[str, str | None]) -> Utility:
    per_hour = _HOURS_IN[(found.get("unit") or "h")[0]]
    return CostPerHour(number_in(found.get("value") or "1"), number_in(found["rate"] or "") * per_hour)


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.ASCII) for text in texts)


SITUATIONS: tuple[Situation, ...] = (
    Situation(
        "deadline",
        "There is a deadline; before it, sooner is no better",
        "useless after {time}",
        (Blank("time", "An answer is useless after", "10 min"),),
        _patterns(
            rf"{_LATE}\s+(?:worth\s+)?{_FROM}\s+(?P<time>{_TIME})",
            rf"(?:deadline|(?:time\s*)?limit)\s*(?:of|at|is|:|after)?\s*(?P<time>{_TIME})",
            rf"(?:must|has\s+to|needs?\s+to)\s[^,;\d]*?(?P<time>{_TIME})",
            rf"within\s+(?P<time>{_TIME})",
            rf"(?P<time>{_TIME})[\s-]*(?:deadline|(?:time\s*)?limit)",
        ),
        lambda found: Step(_time(found["time"])),
    ),
    Situation(
        "price",
        "Waiting, or the machine, costs money",
        "worth {value}, {rate} per hour",
        (Blank("value", "An answer is worth", "1"), Blank("rate", "An hour costs", "0.05")),
        _patterns(
            rf"worth\s+(?P<value>{_NUMBER})\s*{_MONEY}[\s,;]*(?:and|but)?\s*[^,;\d]*?"
            rf"(?P<rate>{_NUMBER})\s*{_MONEY}\s*(?:per|an?|/|each|every)\s*(?P<unit>{_UNIT})",
            rf"(?P<rate>{_NUMBER})\s*{_MONEY}\s*(?:less\s+)?(?:per|an?|/|each|every)\s*(?P<unit>{_UNIT})"
            rf"(?:\s*(?:of|from|for)\s+(?P<value>{_NUMBER})\s*{_MONEY})?",
        ),
        _price,
    ),
    Situation(
        "patience",
        "Somebody waits: at first it does not matter, in the end they give up",
        "fine up to {start} and given up after {end}",
        (Blank("start", "Nobody minds up to", "10 s"), Blank("end", "They give up after", "2 min")),
        _patterns(
            rf"{_FINE}\s+{_UP_TO}\s+(?P<start>{_TIME})\W*(?:and|but|then)?\W*{_LATE}\s+{_FROM}\s+(?P<end>{_TIME})"
        ),
        lambda found: Plateau(_time(found["start"]), _time(found["end"])),
    ),
    Situation(
        "half",
        "Sooner is better, but a late answer is never quite useless",
        "half gone after {time}",
        (Blank("time", "Half of the worth is gone after", "1 min"),),
        _patterns(rf"(?:half|50\s*%)[^,;\d]*?\s(?P<time>{_TIME})"),
        lambda found: LogLaplace(_time(found["time"])),
    ),
    Situation(
        "evenly",
        "Every second costs the same, until nothing is left",
        "falls evenly to nothing at {time}",
        (Blank("time", "Nothing is left after", "1 h"),),
        _patterns(
            rf"(?:falls?\s+|falling\s+)?(?:evenly|linear(?:ly)?|(?:in\s+)?a?\s*straight\s+line|every\s+\w+\s+(?:counts|costs|hurts))"
            rf"[^,;\d]*?\s(?P<time>{_TIME})"
        ),
        lambda found: Uniform(_time(found["time"])),
    ),
    Situation(
        "called off",
        "It may be called off at any moment",
        "wanted for {time} on average",
        (Blank("time", "On average it stays wanted for", "5 min"),),
        _patterns(
            rf"(?:wanted|needed)\s[^,;\d]*?(?P<time>{_TIME})(?:\s*on\s+average)?",
            rf"halves\s+(?:every|after)\s+(?P<half>{_TIME})",
        ),
        lambda found: Exponential(
            float(f"{_time(found['half']) / math.log(2):.4g}") if found.get("half") else _time(found["time"])
        ),
    ),
    Situation(
        "tail",
        "Up to some time it does not matter; after that, twice the time halves the worth",
        "fine up to {time}",
        (Blank("time", "It does not matter up to", "10 s"),),
        _patterns(rf"{_FINE}\s+{_UP_TO}\s+(?P<time>{_TIME})"),
        lambda found: Pareto(_time(found["time"])),
    ),
)
"""Every situation that is understood, in the order in which to show them."""

_SEARCHED = ("price", "patience", "evenly", "called off", "half", "tail", "deadline")
"""The order in which a sentence is searched: a phrase that may be part of another one comes after it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One situation that a sentence holds.

    Attributes:
        phrase: Its words in the sentence.
        situation: Which situation it is.
        utility: What it means.
    """

    phrase: str
    situation: Situation
    utility: Utility


@dataclass(frozen=True, slots=True)
class Said:
    """What a sentence was understood to mean.

    Attributes:
        utility: All of it together.
        parts: Its situations, in their order.
        names: Words that were taken as a name and mean nothing.
    """

    utility: Utility
    parts: tuple[Part, ...]
    names: tuple[str, ...]


def understand(sentence: str) -> Said:
    """Find the utility that a sentence in plain words means.

    >>> str(understand("nightly batch, useless after 10 minutes, 0.05 per hour").utility)
    'product(step(deadline=600), cost-per-hour(value=1, rate=0.05))'

    Raises:
        UtilityError: It holds no situation, or a number that belongs to none.
    """
    if len(sentence) > _LONGEST:
        raise UtilityError(f"a situation is said in at most {_LONGEST} signs: say it in fewer words")
    rest = sentence.lower().replace("\n", " ")
    strictest = _STRICTEST.search(rest) is not None
    rest = _STRICTEST.sub(",", rest)
    for pattern, plain in _SPELLED:
        rest = pattern.sub(plain, rest)
    found: list[tuple[int, Part]] = []
    by_name = {situation.name: situation for situation in SITUATIONS}
    for name in _SEARCHED:
        rest = _taken(rest, by_name[name], found)
    parts = tuple(part for _, part in sorted(found, key=lambda each: each[0]))
    names = _names(rest)
    if not parts:
        raise UtilityError(f"no situation was found in {sentence!r}: {_examples()}")
    utilities = tuple(part.utility for part in parts)
    combined = (Minimum if strictest else Product)(utilities) if len(utilities) > 1 else utilities[0]
    return Said(combined, parts, names)


def _taken(rest: str, situation: Situation, found: list[tuple[int, Part]]) -> str:
    """Note every occurrence of a situation, and strike it out."""
    for pattern in situation.patterns:
        while match := pattern.search(rest):
            utility = situation.build(match.groupdict())
            found.append((match.start(), Part(match.group().strip(), situation, utility)))
            rest = rest[: match.start()] + "," * len(match.group()) + rest[match.end() :]
    return rest


def _names(rest: str) -> tuple[str, ...]:
    clauses = [clause.strip() for clause in re.split(r"[,;:.!]+(?!\d)", rest)]
    for clause in clauses:
        if any(sign.isdecimal() for sign in clause):
            raise UtilityError(f"{clause!r} was not understood: {_examples()}")
    return tuple(clause for clause in clauses if _FILLING.sub("", clause))


def _examples() -> str:
    phrases = "; ".join(
        situation.filled(*(blank.usual for blank in situation.blanks)) for situation in SITUATIONS
    )
    return f"say one or more of these, with your own numbers: {phrases}"

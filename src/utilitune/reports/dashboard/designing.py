"""The designer's side of the server: what a curve means, and who would win under it.

Everything is answered from the question alone, so the server remembers nothing about anybody. What takes
long, the bounds of a run for all utilities, is made once per source and again when its run has gone on. Texts
come from a browser: they are short, they name no file, and they never name a Python function, because reading
one would run it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import UsageError, UtilituneError, UtilityError
from utilitune.reports.contest import SHIPPED, shipped_contest, stability_in_words
from utilitune.utility import PiecewiseLinear, format_duration, parse_duration, parse_utility
from utilitune.utility.designing import (
    SITUATIONS,
    Interview,
    fit_answers,
    fit_points,
    handles_of,
    line_to_paste,
    shown_range_s,
    understand,
)
from utilitune.utility.designing.fitting import certain_time_s
from utilitune.utility.designing.gambles import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.reports.contest import Contest
    from utilitune.reports.dashboard.watching import WatchedRun
    from utilitune.utility import Utility
    from utilitune.utility.designing import Answer, Fit, Question

_LONGEST = 2_000
_DEEPEST = 10
_MOST_CHOICES = 100
_CURVE = 240
_JUST_BEFORE = 1.0 - 1e-9
_REST_S = 5.0
_REST_SHARE = 100.0  # of a run at work no more than a hundredth of the time is spent on new bounds


@dataclass(frozen=True, slots=True)
class _Ready:
    """A contest, and when and from what it was made."""

    contest: Contest
    revision: int
    made_at: float
    took_s: float


class Designer:
    """What the designer's routes answer.

    Args:
        runs: The runs that can be asked who would win.
    """

    def __init__(self, runs: Sequence[WatchedRun]) -> None:
        self._runs = tuple(runs)
        self._ready: dict[str, _Ready] = {}
        self._lock = threading.Lock()

    def beginning(self) -> dict[str, Any]:
        """What the page needs to begin: situations to choose from, and data to try a curve on."""
        names = [run.summary().get("name") or run.folder.name for run in self._runs]
        runs = [
            {
                "key": f"run:{number}",
                "name": name if names.count(name) == 1 else f"{name} ({run.folder})",
                "utility": _own_utility(run),
            }
            for number, (run, name) in enumerate(zip(self._runs, names, strict=True))
        ]
        return {
            "situations": [
                {
                    "name": each.name,
                    "title": each.title,
                    "phrase": each.phrase,
                    "blanks": [asdict(blank) for blank in each.blanks],
                }
                for each in SITUATIONS
            ],
            "sources": [*runs, *({"key": key, "name": name} for key, name in SHIPPED.items())],
        }

    def judged(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """A utility, drawn and said, and who would win under it, if a source is named."""
        utility, source = utility_from_outside(asked.get("utility", "")), asked.get("source")
        return {**_shown(utility), "contest": None if source is None else self._contested(source, utility)}

    def _contested(self, source: str, utility: Utility) -> dict[str, Any]:
        """Who would win, or why that cannot be said; the curve is shown all the same."""
        try:
            contest = self._contest(source)
        except UtilituneError as error:
            return {"problem": str(error)}
        shifts = contest.shifts(utility)
        return {**contest.ranking(utility), "shifts": shifts, "stability": stability_in_words(shifts)}

    def _contest(self, source: str) -> Contest:
        run = self._run(source)
        revision = 0 if run is None else run.revision
        with self._lock:
            known, now = self._ready.get(source), time.monotonic()
            if known is not None:
                rest_s = max(_REST_S, _REST_SHARE * known.took_s)
                if known.revision == revision or now - known.made_at < rest_s:
                    return known.contest
            contest = shipped_contest(source) if run is None else run.contest()
            took_s = time.monotonic() - now
            self._ready[source] = _Ready(contest, revision, time.monotonic(), took_s)
            return contest

    def _run(self, source: str) -> WatchedRun | None:
        kind, _, number = source.partition(":")
        if kind != "run":
            return None
        if not (
            number.isascii() and number.isdecimal() and len(number) < 6 and int(number) < len(self._runs)
        ):
            raise UsageError("there is no such run")
        return self._runs[int(number)]

    @staticmethod
    def said(asked: Mapping[str, str]) -> dict[str, Any]:
        """What a sentence means."""
        found = understand(asked.get("text", ""))
        return {
            "utility": str(found.utility),
            "parts": [
                {"phrase": part.phrase, "utility": str(part.utility), "words": part.utility.describe()}
                for part in found.parts
            ],
            "names": list(found.names),
        }

    @staticmethod
    def asked(asked: Mapping[str, str]) -> dict[str, Any]:
        """The next question of an interview, and what has been found so far."""
        choices = tuple(part for part in asked.get("choices", "").split(",") if part)
        if len(choices) > _MOST_CHOICES:
            raise UsageError("that is more answers than there are questions")
        best_s, worst_s = parse_duration(asked.get("best", "")), parse_duration(asked.get("worst", ""))
        answers, question = Interview(best_s, worst_s, choices).state()
        return {
            "question": None if question is None else _question(question),
            "questions": QUESTIONS,
            "fit": None if question is not None else _fitted(answers),
        }

    @staticmethod
    def smoothed(asked: Mapping[str, str]) -> dict[str, Any]:
        """The family that comes closest to points."""
        utility = utility_from_outside(asked.get("utility", ""))
        points = utility.points if isinstance(utility, PiecewiseLinear) else handles_of(utility)
        return _plain_fit(fit_points(points))


def _own_utility(run: WatchedRun) -> str:
    """What a run was made for, to begin with; empty where that is no utility of time for the page."""
    try:
        return str(utility_from_outside(run.utility_text()))
    except UtilituneError:
        return ""


def utility_from_outside(text: str) -> Utility:
    """A utility of time whose text came from a browser.

    Raises:
        UtilityError: It cannot be understood, is too long, or names a Python function.
    """
    if len(text) > _LONGEST or _depth(text) > _DEEPEST:
        raise UtilityError("this utility is too long: write a shorter one")
    if "python" in text.lower():
        raise UtilityError("a Python function cannot be used here: run 'utilitune utility' in a terminal")
    return parse_utility(text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        deepest = max(deepest, depth)
    return deepest


def _shown(utility: Utility) -> dict[str, Any]:
    low_s, high_s = shown_range_s(utility)
    handles = handles_of(utility)
    edges = [
        edge for time_s, _ in handles for edge in (time_s * _JUST_BEFORE, time_s) if low_s < edge < high_s
    ]
    jumps = [utility.time_to_fall_to(level) for level in (0.75, 0.5, 0.25)]
    edges += [edge for time_s in jumps for edge in (time_s * _JUST_BEFORE, time_s) if low_s < edge < high_s]
    times_s = np.sort(np.concatenate([np.geomspace(low_s, high_s, _CURVE), edges]))
    return {
        "utility": str(utility),
        "line": line_to_paste(utility),
        "words": f"An answer is {utility.describe()}.",
        "range": [low_s, high_s],
        "curve": {"t": times_s.tolist(), "u": utility(times_s).tolist()},
        "handles": [[time_s, worth] for time_s, worth in handles],
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "number": question.number,
        "choice": question.choice,
        "sure": format_duration(question.sure_s),
        "good": format_duration(question.gamble.good_s),
        "bad": format_duration(question.gamble.bad_s),
    }


def _fitted(answers: Sequence[Answer]) -> dict[str, Any]:
    fit = fit_answers(answers)
    return {
        **_plain_fit(fit),
        "answers": [
            {
                "good": format_duration(answer.gamble.good_s),
                "bad": format_duration(answer.gamble.bad_s),
                "said": format_duration(answer.sure_s),
                "curve": format_duration(certain_time_s(fit.utility, answer)),
                "error": abs(error),
            }
            for answer, error in zip(answers, fit.errors, strict=True)
        ],
    }


def _plain_fit(fit: Fit) -> dict[str, Any]:
    return {"utility": str(fit.utility), "inconsistency": fit.inconsistency, "words": fit.words}

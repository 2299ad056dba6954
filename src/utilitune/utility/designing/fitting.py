"""The family that agrees best with answers or points, and how well it agrees.

An answer says u(s) = ½u(g) + ½u(b); a point says u(t) = w. Both are equations that are linear in u, and a fit
is the member of a family with the least sum of their squared errors. Without more, a utility that is worth 1
for ever would agree with every answer, so the quickest time of all is also held to 1 and the slowest to 0.

The least squares are found by a grid over the parameters that closes in on its best cell: families have few
parameters and cost little, some have kinks and jumps, and the result must be the same on every machine.
Parameters are rounded to three digits *before* the error is told, so what is told is true of the line that is
pasted.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import UsageError, UtilityError
from utilitune.utility.durations import format_duration
from utilitune.utility.families import Exponential, LogLaplace, Pareto, Plateau, Polynomial, Step, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from utilitune.utility.base import Utility
    from utilitune.utility.designing.gambles import Answer

SIMPLER_BY = 0.01
"""A family with fewer parameters is taken if its error exceeds that of the best by no more than this."""

CONSISTENT, ROUGH = 0.03, 0.08
"""Up to which inconsistency answers agree, and agree roughly; in worth, which goes from 0 to 1."""

_DIGITS = 3
_FIRST_GRID = 25
_GRID = 7
_ROUNDS = 7
_EXPONENTS = (0.15, 15.0)


@dataclass(frozen=True, slots=True)
class _Form:
    """A family to try: its maker, and for each parameter whether it is a time."""

    make: Callable[..., Utility]
    times: tuple[bool, ...]


_FORMS = (
    _Form(Uniform, (True,)),
    _Form(Step, (True,)),
    _Form(Exponential, (True,)),
    _Form(LogLaplace, (True,)),
    _Form(LogLaplace, (True, False)),
    _Form(Polynomial, (True, False)),
    _Form(Pareto, (True, False)),
    _Form(Plateau, (True, True)),
)


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """weights · u(times) = wanted, one row each."""

    times_s: NDArray[np.float64]
    weights: NDArray[np.float64]
    wanted: NDArray[np.float64]

    def errors(self, utility: Utility) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.weights @ utility(self.times_s) - self.wanted
        return found


@dataclass(frozen=True, slots=True)
class Fit:
    """The utility that agrees best.

    Attributes:
        utility: The utility.
        inconsistency: Root mean square by which the answers, or points, disagree with it, in worth.
        errors: By how much each of them does.
        words: What that means, in a sentence or two.
    """

    utility: Utility
    inconsistency: float
    errors: tuple[float, ...]
    words: str


def fit_answers(answers: Sequence[Answer]) -> Fit:
    """Fit a family to answers.

    Raises:
        UsageError: There are none.
    """
    if not answers:
        raise UsageError("there is no answer to fit a utility to: answer at least one question")
    best_s = min(answer.gamble.good_s for answer in answers)
    worst_s = max(answer.gamble.bad_s for answer in answers)
    rows = [
        ((answer.sure_s, answer.gamble.good_s, answer.gamble.bad_s), (1.0, -0.5, -0.5), 0.0)
        for answer in answers
    ]
    anchors = [((best_s,), (1.0,), 1.0), ((worst_s,), (1.0,), 0.0)]
    utility = _best(_equations([*rows, *anchors]))
    errors = _equations(rows).errors(utility)
    return Fit(utility, _size(errors), tuple(map(float, errors)), _answers_in_words(answers, utility, errors))


def fit_points(points: Sequence[tuple[float, float]]) -> Fit:
    """Fit a family to points (seconds, worth).

    Raises:
        UsageError: There are none, or none of them has a time above 0.
    """
    if not any(time_s > 0 for time_s, _ in points):
        raise UsageError("a curve needs at least one point at a time above 0, such as 10s:0.5")
    equations = _equations([((time_s,), (1.0,), worth) for time_s, worth in points])
    utility = _best(equations)
    errors = equations.errors(utility)
    off = _size(errors)
    words = f"{_grade(off, 'points')} On average the curve is {_told(off)} away from them."
    return Fit(utility, off, tuple(map(float, errors)), words)


def _answers_in_words(answers: Sequence[Answer], utility: Utility, errors: NDArray[np.float64]) -> str:
    off = _size(errors)
    worst = int(np.argmax(np.abs(errors)))
    answer = answers[worst]
    curve_s = certain_time_s(utility, answer)
    told = f"{_grade(off, 'answers')} On average they are {_told(off)} of worth away from it"
    if off <= CONSISTENT:
        return f"{told}."
    return (
        f"{told}, most of all where the coin decides between {format_duration(answer.gamble.good_s)} and "
        f"{format_duration(answer.gamble.bad_s)}: you said {format_duration(answer.sure_s)}, the curve says "
        f"{format_duration(curve_s)}."
    )


def certain_time_s(utility: Utility, answer: Answer) -> float:
    """The sure time that is as good as the gamble of an answer, under a utility."""
    worth = 0.5 * float(utility(answer.gamble.good_s)) + 0.5 * float(utility(answer.gamble.bad_s))
    return min(max(utility.time_to_fall_to(worth), answer.gamble.good_s), answer.gamble.bad_s)


def _grade(off: float, what: str) -> str:
    if off <= CONSISTENT:
        return f"Your {what} agree with each other and with this curve."
    if off <= ROUGH:
        return f"Your {what} agree roughly with this curve, as most people's do."
    return (
        f"Your {what} contradict each other, or fit none of the families: change one of them, or move the "
        "curve by hand."
    )


def _told(off: float) -> str:
    return f"{off:.2f}" if off >= 0.01 else "less than 0.01"


def _size(errors: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _equations(rows: Sequence[tuple[tuple[float, ...], tuple[float, ...], float]]) -> _Equations:
    times_s = sorted({time_s for times, _, _ in rows for time_s in times})
    place = {time_s: number for number, time_s in enumerate(times_s)}
    weights = np.zeros((len(rows), len(times_s)))
    for row, (times, factors, _) in enumerate(rows):
        for time_s, factor in zip(times, factors, strict=True):
            weights[row, place[time_s]] += factor
    return _Equations(np.array(times_s), weights, np.array([wanted for _, _, wanted in rows]))


def _best(equations: _Equations) -> Utility:
    """The simplest family whose error is hardly larger than the least."""
    found = [
        (_size(equations.errors(each)), len(form.times), each)
        for form in _FORMS
        if (each := _fitted(form, equations))
    ]
    enough = min(error for error, _, _ in found) + SIMPLER_BY
    return min((each for each in found if each[0] <= enough), key=lambda each: (each[1], each[0]))[2]


def _fitted(form: _Form, equations: _Equations) -> Utility | None:
    """The member of a family with the least error, by a grid that closes in on its best cell."""
    finite = equations.times_s[equations.times_s > 0]
    time_range = (math.log(finite[0] / 10.0), math.log(finite[-1] * 10.0))
    exponents = (math.log(_EXPONENTS[0]), math.log(_EXPONENTS[1]))
    limits = [time_range if is_time else exponents for is_time in form.times]
    ranges = list(limits)
    best: tuple[float, Utility, tuple[float, ...]] | None = None
    for turn in range(_ROUNDS):
        axes = [np.linspace(low, high, _GRID if turn else _FIRST_GRID).tolist() for low, high in ranges]
        for logs in itertools.product(*axes):
            made = _made(form, logs)
            error = math.inf if made is None else _size(equations.errors(made))
            if made is not None and (best is None or error < best[0]):
                best = (error, made, logs)
        if best is None:
            return None
        steps = [(high - low) / (len(axis) - 1) for (low, high), axis in zip(ranges, axes, strict=True)]
        ranges = [
            (max(limit[0], at - step), min(limit[1], at + step))
            for at, step, limit in zip(best[2], steps, limits, strict=True)
        ]
    return None if best is None else best[1]


def _made(form: _Form, logs: Sequence[float]) -> Utility | None:
    values = (float(f"{math.exp(value):.{_DIGITS}g}") for value in logs)
    try:
        return form.make(*values)
    except UtilityError:
        return None

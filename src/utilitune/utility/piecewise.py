"""Straight lines between points: the utility for those who know what a few times are worth to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from utilitune.errors import UsageError, UtilityError
from utilitune.errors.outside import number_in
from utilitune.utility.base import Family, exact_text
from utilitune.utility.durations import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CLOSEST_S = 1e-9  # nearer points would make a slope overflow; nobody times an answer more finely


@dataclass(frozen=True, slots=True)
class PiecewiseLinear(Family):
    """Straight lines between points (seconds, worth); level before the first and after the last.

    Attributes:
        points: At least one, with times rising and worths never rising.
    """

    name: ClassVar[str] = "piecewise"
    aliases: ClassVar[tuple[str, ...]] = ("piecewise-linear",)
    summary: ClassVar[str] = "straight lines between points time:worth that you choose"
    example: ClassVar[str] = "piecewise(0s:1, 10s:0.8, 1m:0)"

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        try:
            points = tuple((float(time_s) + 0.0, float(worth) + 0.0) for time_s, worth in self.points)
        except (TypeError, ValueError):
            raise UtilityError(
                f"piecewise cannot read the points {self.points!r}: give pairs of seconds and worth"
            ) from None
        object.__setattr__(self, "points", points)
        if not points:
            raise UtilityError(f"piecewise needs at least one point time:worth: write e.g. {self.example}")
        for time_s, worth in points:
            if not (math.isfinite(time_s) and time_s >= 0):
                raise UtilityError(f"piecewise has a point at {time_s} s: write times from 0 up")
            if not 0 <= worth <= 1:
                raise UtilityError(f"piecewise is worth {worth} at {time_s} s: write worths from 0 to 1")
        for (early_s, before), (late_s, after) in pairwise(points):
            if late_s - early_s < _CLOSEST_S:
                raise UtilityError(
                    f"piecewise has a point at {late_s} s right after the one at {early_s} s:"
                    " write the points in order of time, at least a nanosecond apart"
                )
            if after > before:
                raise UtilityError(
                    f"piecewise is worth {before} at {early_s} s but {after} at {late_s} s:"
                    " a later answer must never be worth more"
                )

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        times, worths = np.array(self.points).T
        worth: NDArray[np.float64] = np.interp(time_s, times, worths)
        return np.clip(worth, worths[-1], worths[0], out=worth)

    def __str__(self) -> str:
        points = (f"{exact_text(time_s)}s:{exact_text(worth)}" for time_s, worth in self.points)
        return f"{self.name}({', '.join(points)})"

    def describe(self) -> str:
        """The utility in one line of plain words."""
        points = (f"{worth:.4g} at {format_duration(time_s)}" for time_s, worth in self.points)
        return f"worth {', '.join(points)}; straight lines between, level outside"

    @classmethod
    def from_arguments(cls, arguments: Sequence[str]) -> Self:
        """Build one from ``time:worth`` texts."""
        return cls(tuple(cls._point(argument) for argument in arguments))

    @classmethod
    def _point(cls, argument: str) -> tuple[float, float]:
        time_text, _, worth_text = argument.partition(":")
        try:
            return parse_duration(time_text), number_in(worth_text)
        except (UsageError, ValueError):
            raise UtilityError(
                f"piecewise cannot read the point {argument!r}: write time:worth, e.g. {cls.example}"
            ) from None

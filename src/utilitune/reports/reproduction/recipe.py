"""What a figure is made of: series of jobs, a table, a picture, and the claims of the paper it can check."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.reproduction.jobs import FigureJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from utilitune.reports.reproduction.jobs import Outcome
    from utilitune.reports.reproduction.setting import Setting, Truth

TARGET = 0.1
"""The smallest ε of Figures 1, 2 and 6, and their δ (Appendix B)."""

QUICK_TARGET = 0.15
FIRST_SEED = 1


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to do: seeds of the figures that average, and whether a first impression is enough."""

    seeds: int = 5
    quick: bool = False

    @property
    def target(self) -> float:
        """The smallest ε to prove."""
        return QUICK_TARGET if self.quick else TARGET


@dataclass(frozen=True, slots=True)
class Series:
    """One line or point of a figure: in which panel, under which name, from which job."""

    panel: str
    label: str
    job: FigureJob


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper, whether it holds on this data, and by what factor.

    Attributes:
        text: The claim.
        holds: Whether it holds; None where this data cannot tell.
        detail: The figures behind it.
    """

    text: str
    holds: bool | None
    detail: str

    def line(self) -> str:
        """The claim in one line."""
        verdict = {True: "holds", False: "DOES NOT HOLD", None: "is not known"}[self.holds]
        return f"{self.text}: {verdict} ({self.detail})"


@dataclass(frozen=True, slots=True)
class Study:
    """Everything a figure is drawn from."""

    setting: Setting
    effort: Effort
    truth: Truth
    outcomes: Mapping[str, Outcome]
    series: Sequence[Series]

    def outcome(self, series: Series) -> Outcome:
        """What came of a series' job."""
        return self.outcomes[series.job.key()]

    def played(self, panel: str | None = None) -> list[tuple[Series, Outcome]]:
        """All series of a panel (or of all) that were not refused."""
        return [
            (series, self.outcome(series))
            for series in self.series
            if panel in (None, series.panel) and self.outcome(series).points
        ]

    def panels(self) -> list[str]:
        """Names of the panels, in order."""
        return list(dict.fromkeys(series.panel for series in self.series))

    def refusal(self, *labels: str) -> str:
        """Why a procedure of one of these names could not work; nothing if all could."""
        found = (self.outcome(series).refused for series in self.series if series.label in labels)
        return next(filter(None, found), "")

    def find(self, panel: str, label: str) -> Outcome:
        """The outcome of the first series of that name."""
        return next(
            self.outcome(series) for series in self.series if (series.panel, series.label) == (panel, label)
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a figure is made.

    Attributes:
        name: ``fig1`` … ``fig7``.
        title: What stands above it.
        series: The jobs it needs.
        table: Its data as rows.
        columns: Names of the columns of the table, for where it has no rows.
        draw: Its picture.
        claims: What it says about the paper.
    """

    name: str
    title: str
    series: Callable[[Setting, Effort], list[Series]]
    table: Callable[[Study], Iterable[dict[str, Any]]]
    draw: Callable[[Study], Any]
    claims: Callable[[Study], list[Claim]]
    columns: tuple[str, ...] = ()


def job(setting: Setting, procedure: str, utility: str, seed: int = FIRST_SEED, **settings: Any) -> FigureJob:  # noqa: ANN401 -- settings of any procedure
    """A job on a data set; ``max_time_s`` among the settings limits its time."""
    max_time_s = settings.pop("max_time_s", None)
    return FigureJob(setting.source, setting.digest, procedure, utility, seed, settings, max_time_s)


def trajectories(study: Study) -> Iterable[dict[str, Any]]:
    """Every point of every series."""
    for series in study.series:
        outcome = study.outcome(series)
        shared = {
            "panel": series.panel,
            "label": series.label,
            "procedure": series.job.procedure,
            "settings": json.dumps(dict(series.job.settings), sort_keys=True),
            "utility": series.job.utility,
            "seed": series.job.seed,
            "refused": outcome.refused,
        }
        for point in outcome.points:
            yield {
                **shared,
                "time_s": point.time_s,
                "row": point.row,
                "epsilon": point.epsilon,
                "gamma": point.gamma,
                "configurations": point.configurations,
            }
        if not outcome.points:
            yield shared


def times_sooner(pairs: Iterable[tuple[float, float]]) -> list[float]:
    """How many times sooner the first of two got there: ∞ or 0 where only one did, nothing where neither.

    Args:
        pairs: When the first and when the second got there; ∞ for never.
    """
    return [
        math.inf if math.isinf(second) else second / first
        for first, second in pairs
        if min(first, second) < math.inf
    ]


def span(ratios: Sequence[float], first: str, second: str) -> str:
    """Ratios in words: their geometric mean, the smallest and the largest; and where only one got there."""
    both = [ratio for ratio in ratios if 0 < ratio < math.inf]
    words = []
    if both:
        mean = math.exp(float(np.mean(np.log(both))))
        words.append(f"{mean:.2f} times on average, {min(both):.2f} to {max(both):.2f}")
    for ratio, who in ((math.inf, first), (0.0, second)):
        if count := sum(each == ratio for each in ratios):
            words.append(f"at {count} of {len(ratios)} only {who} gets there")
    return "; ".join(words) or "nothing to compare"


def all_above_1(ratios: Sequence[float]) -> bool | None:
    """Whether the first is sooner everywhere; None where there is nothing to compare."""
    return min(ratios) > 1 if ratios else None

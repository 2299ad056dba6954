"""Panels in house style, and the curves all figures share.

A procedure has one colour, one kind of line and one marker throughout, so that figures can be read in grey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.figures import PALETTE, require_drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.reports.reproduction.jobs import Outcome

COLOURS = {
    "wager": PALETTE[0],
    "oup": PALETTE[1],
    "up": PALETTE[2],
    "coup": PALETTE[3],
    "naive": "#9a9a9a",
    "successive-halving": PALETTE[5],
    "hyperband": PALETTE[4],
    "ac-band": "#7fb7be",
    "icar": PALETTE[7],
    "car": "#c98474",
    "spc": "#6b8e23",
    "optuna-random": "#e08fb4",
    "optuna-tpe": "#b5478f",
    "smac": "#7a5c3e",
    "irace": "#8c8c1a",
}
NAMES = {
    "wager": "wager (ours)",
    "oup": "OUP",
    "up": "UP",
    "coup": "COUP",
    "naive": "Naive",
    "successive-halving": "Successive Halving",
    "hyperband": "Hyperband",
    "ac-band": "AC-Band",
    "icar": "ICAR",
    "car": "CapsAndRuns",
    "spc": "SPC",
    "optuna-random": "Optuna, random",
    "optuna-tpe": "Optuna, TPE",
    "smac": "SMAC3",
    "irace": "irace",
}
LINES: dict[str, Any] = {
    "wager": "-",
    "oup": (0, (5, 1.5)),
    "up": (0, (1, 1)),
    "coup": (0, (6, 1.5, 1, 1.5)),
    "spc": (0, (2, 1)),
    "optuna-random": (0, (1, 2)),
    "optuna-tpe": (0, (3, 1, 1, 1, 1, 1)),
    "smac": (0, (4, 1, 1, 1)),
}
"""Kinds of lines of those that have curves."""

MARKERS = {
    "successive-halving": "s",
    "hyperband": "^",
    "ac-band": "D",
    "icar": "v",
    "car": "x",
    "irace": "P",
}
"""Markers of those that have points."""

EPSILON = "proved distance to the best, ε"
GAMMA = "share of the space set aside, γ"

_PANEL_WIDTH_IN = 4.4
_PANEL_HEIGHT_IN = 3.5
_LEGEND_HEIGHT_IN = 0.5
_ENTRIES_PER_PANEL = 3
_SHOWN_ALONE = 10  # the very best
_GROUPS = 150


def panels(rows: int, columns: int, title: str) -> tuple[Any, list[Any]]:
    """An empty figure of several panels, and their axes row by row."""
    require_drawing()
    from matplotlib.figure import Figure

    size = (_PANEL_WIDTH_IN * columns, _PANEL_HEIGHT_IN * rows + 0.3 + _LEGEND_HEIGHT_IN)
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    return figure, axes


def time_axis(axes: Any) -> None:  # noqa: ANN401 -- matplotlib's axes
    """Total time on a logarithmic axis."""
    axes.set_xscale("log")
    axes.set_xlabel("total time spent on runs (s)")


def over_time(axes: Any, outcomes: Iterable[Outcome], name: str = EPSILON) -> None:  # noqa: ANN401 -- matplotlib's axes
    """A number between 0 and 1 over total time, without the time before anybody proved anything."""
    time_axis(axes)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel(name)
    first = [
        next(
            (point.time_s for point in each.points if point.epsilon is not None and point.epsilon < 0.99),
            None,
        )
        for each in outcomes
    ]
    known = [time_s for time_s in first if time_s]
    if known:
        axes.set_xlim(left=min(known) / 3)


def epsilon_curve(axes: Any, outcome: Outcome, **style: Any) -> None:  # noqa: ANN401 -- matplotlib's axes and styles
    """What was proved against what it cost."""
    points = [point for point in outcome.points if point.time_s > 0 and point.epsilon is not None]
    times, epsilons = [point.time_s for point in points], [point.epsilon for point in points]
    axes.step(times, epsilons, where="post", **{"linewidth": 1.7, **style})


def sorted_times(axes: Any, seconds: Sequence[float], order: Any, **style: Any) -> None:  # noqa: ANN401 -- matplotlib's axes and styles
    """Seconds per configuration, the best configuration first; where there are many, means of neighbours."""
    sorted_s = np.asarray(seconds)[order]
    count = len(sorted_s)
    alone, grouped = np.arange(min(_SHOWN_ALONE, count)), np.linspace(0, count - 1, _GROUPS)
    starts = np.unique(np.concatenate([alone, grouped]).astype(np.int64))
    means = np.add.reduceat(sorted_s, starts) / np.diff(np.append(starts, count))
    axes.plot(starts + 1, means, **style)


def line_style(procedure: str) -> dict[str, Any]:
    """Colour, kind of line and name of a procedure."""
    return {"color": COLOURS[procedure], "linestyle": LINES[procedure], "label": NAMES[procedure]}


def legend(figure: Any) -> None:  # noqa: ANN401 -- matplotlib's figure
    """One legend below all panels, where it hides nothing; and a word in panels that have nothing to show."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        for label, handle in zip(labels, handles, strict=True):
            entries.setdefault(label, handle)
        if not handles:
            nothing = "nothing to show on this data"
            axes.text(0.5, 0.5, nothing, ha="center", transform=axes.transAxes, color="#777777")
    if entries:
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=min(len(entries), _ENTRIES_PER_PANEL * len(figure.axes)),
            frameon=False,
            fontsize=8,
            handlelength=3,
        )

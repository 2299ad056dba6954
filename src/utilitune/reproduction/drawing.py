"""Panels in house style, and the curves all figures share; one colour per procedure throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.figures import PALETTE, require_drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.reproduction.jobs import Outcome

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
_PANEL_WIDTH_IN = 4.4
_PANEL_HEIGHT_IN = 3.5


def panels(rows: int, columns: int, title: str) -> tuple[Any, list[Any]]:
    """An empty figure of several panels, and their axes row by row."""
    require_drawing()
    from matplotlib.figure import Figure

    size = (_PANEL_WIDTH_IN * columns, _PANEL_HEIGHT_IN * rows + 0.3)
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure, axes


def time_axis(axes: Any, label: str = "total time spent on runs (s)") -> None:  # noqa: ANN401 -- matplotlib's axes
    """Total time on a logarithmic axis."""
    axes.set_xscale("log")
    axes.set_xlabel(label)


def start_at(axes: Any, outcomes: Iterable[Outcome]) -> None:  # noqa: ANN401 -- matplotlib's axes
    """Leave out the time before anybody proved anything."""
    first = [
        next((point.time_s for point in each.points if (point.epsilon or 0.0) < 0.99), None)
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
    """Seconds per configuration, the best configuration first."""
    axes.plot(np.arange(1, len(order) + 1), np.asarray(seconds)[order], **style)


def legend(axes: Any, **style: Any) -> None:  # noqa: ANN401 -- matplotlib's axes and styles
    """A legend without a frame, or a word where there is nothing to show."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8, **style)
    else:
        axes.text(
            0.5, 0.5, "nothing to show on this data", ha="center", transform=axes.transAxes, color="#777777"
        )

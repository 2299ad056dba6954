"""Figures, drawn without a display; matplotlib is loaded when the first one is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from utilitune.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.domain import Progress

PALETTE = ("#0b6e99", "#d1495b", "#66a182", "#edae49", "#574d68", "#8d6a9f", "#2e4057", "#a44a3f")
"""Line colours, told apart in print and by colour-blind readers."""


def require_drawing() -> None:
    """Refuse to draw where matplotlib is not installed; ask this before any long work."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("Drawing a picture", "plot")


def new_figure(width_in: float = 7.0, height_in: float = 4.2) -> tuple[Any, Any]:
    """An empty figure and its axes in house style."""
    require_drawing()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), dpi=150, layout="constrained")
    return figure, in_house_style(figure.subplots())


def shown_axes() -> Any:  # noqa: ANN401 -- Axes
    """Empty axes in house style that notebooks show by themselves and scripts with ``pyplot.show()``."""
    require_drawing()
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    return in_house_style(axes)


def in_house_style(axes: Any) -> Any:  # noqa: ANN401 -- Axes
    """The same axes with our lines and colours."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_prop_cycle(color=PALETTE)
    return axes


def titled(axes: Any, title: str) -> None:  # noqa: ANN401 -- Axes
    """Put a title above; names of files may hold dollar signs, which make no formula."""
    axes.set_title(title, loc="left", fontsize=10, parse_math=False)


def epsilon_over_time(curves: Mapping[str, Sequence[Progress]], title: str) -> Any:  # noqa: ANN401 -- a Figure
    """What is proved against what it cost: ε, and γ where there is one, over total time."""
    figure, axes = new_figure()
    draw_promise(axes, {f"{name}: ": points for name, points in curves.items()})
    titled(axes, title)
    return figure


def draw_promise(axes: Any, curves: Mapping[str, Sequence[Progress]]) -> None:  # noqa: ANN401 -- Axes
    """Draw ε, and γ where there is one, over total time; the names stand before them in the legend."""
    for name, points in curves.items():
        times = [point.total_time_s for point in points if point.total_time_s > 0]
        values = [point.epsilon for point in points if point.total_time_s > 0]
        (line,) = axes.step(times, values, where="post", label=f"{name}ε", linewidth=1.8)
        gammas = [point.gamma for point in points if point.total_time_s > 0]
        if any(gamma is not None for gamma in gammas):
            axes.step(
                times,
                [float("nan") if gamma is None else gamma for gamma in gammas],
                where="post",
                color=line.get_color(),
                linestyle=":",
                label=f"{name}γ",
            )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("total time spent on runs (s)")
    axes.set_ylabel("proved: within ε of the best")
    axes.legend(frameon=False)


def save_figure(figure: Any, path: Path) -> None:  # noqa: ANN401 -- a Figure
    """Write a figure in the format its name ends with."""
    figure.savefig(path)

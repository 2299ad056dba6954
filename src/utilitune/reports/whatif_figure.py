"""The figure of ``utilitune whatif``: ε and the recommended configuration over a family of utilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utilitune.reports.figures import PALETTE, new_figure, titled

if TYPE_CHECKING:
    from utilitune.reports.whatif import FamilyAnswer


def epsilon_over_family(answer: FamilyAnswer, title: str) -> Any:  # noqa: ANN401 -- a Figure
    """ε over the time that varies; the colour says which configuration is recommended there."""
    figure, axes = new_figure()
    order = list(dict.fromkeys(point.best_index for point in answer.points))
    colours = {index: PALETTE[number % len(PALETTE)] for number, index in enumerate(order)}
    labelled: set[int] = set()
    start = 0
    for found in answer.ranges:
        end = start
        while end < len(answer.points) and answer.points[end].best_index == found.best_index:
            end += 1
        shown = answer.points[start : end + 1]  # one point of the next range, so that the line has no gaps
        times, epsilons = [point.time_s for point in shown], [point.epsilon for point in shown]
        colour = colours[found.best_index]
        label = None if found.best_index in labelled else f"configuration {found.best_index}"
        labelled.add(found.best_index)
        axes.axvspan(times[0], times[-1], color=colour, alpha=0.10, linewidth=0)
        axes.plot(times, epsilons, color=colour, linewidth=1.8, label=label)
        start = end
    axes.set_xscale("log")
    axes.set_xlim(answer.points[0].time_s, answer.points[-1].time_s)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"* in {answer.family.text}{' (s)' if answer.family.of_time else ''}")
    axes.set_ylabel("proved: within ε of the best")
    titled(axes, title)
    axes.legend(frameon=False, title="recommended", ncols=1 + len(order) // 8)
    return figure

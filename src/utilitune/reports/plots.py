"""Pictures of a result for notebooks and scripts: ``result.plot.promise()`` and others.

They show what the report shows, from the same functions; nothing is worked out here. Each draws on the axes
it is given, or on new ones, and returns them. Names come from outside, so they are never read as formulas.
"""

from __future__ import annotations

import contextlib
from textwrap import fill
from typing import TYPE_CHECKING

from utilitune.errors.outside import clipped, printable
from utilitune.live.standing.card import counted
from utilitune.live.standing.standing import DEFAULT
from utilitune.live.task import Task
from utilitune.reports.digest import COLUMNS, RunDigest
from utilitune.reports.distributions import utility_curve
from utilitune.reports.document import distributions, importance
from utilitune.reports.figures import (
    PALETTE,
    draw_promise,
    in_house_style,
    require_drawing,
    shown_axes,
    titled,
)
from utilitune.utility import format_duration
from utilitune.utility.functions import shown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from utilitune.live.result import RunResult
    from utilitune.store.base import StoreReader

_ANSWER, _DEFAULT, _OTHERS = PALETTE[0], PALETTE[1], "#8fa0ab"
_UTILITY = PALETTE[4]
_MOST_PARAMETERS = 15
_LONGEST_NAME = 40


class Plots:
    """Pictures of one run, as it is stored now; they need the extra ``plot``.

    Args:
        result: The run.
    """

    def __init__(self, result: RunResult) -> None:
        self._result = result

    def promise(self, ax: Axes | None = None) -> Axes:
        """What is proved against what it cost: ε, and γ where there is one, over the time spent on runs."""
        axes = _on(ax)
        draw_promise(axes, {"": self._result.trajectory})
        return _titled(axes, "What is proved")

    def ecdf(self, ax: Axes | None = None) -> Axes:
        """The share of runs that have ended after a time, of the answer and of the default, with the utility.

        Where the quality of solutions counts, it is the share of runs that are worth at most so much.
        """
        axes = _on(ax)
        with self._facts() as (store, task, digest):
            found = distributions(store, task, digest)
        begin = found["utility"]["t"][0] if found["utility"]["t"] else 0.0
        for number, curve in found["curves"].items():
            colour, name = (_DEFAULT, "default") if int(number) == DEFAULT else (_ANSWER, "answer")
            stopped = f", {curve['stopped']} not finished" if curve["stopped"] else ""
            axes.step(
                [begin, *curve["t"], max([curve["end"], *curve["t"][-1:]])],
                [0.0, *curve["p"], *(curve["p"][-1:] or [0.0])],
                where="post",
                color=colour,
                linewidth=1.8,
                label=f"{name}: {counted(curve['runs'], 'run')}{stopped}",
            )
        if found["utility"]["t"]:
            axes.plot(found["utility"]["t"], found["utility"]["u"], "--", color=_UTILITY, label="utility")
            _time_axis(axes)
        of_worth = found["of"] == "worth"
        if of_worth:
            axes.set_xlabel("worth of a run")
        axes.set_ylabel("share of runs worth at most this" if of_worth else "share of runs ended; utility")
        axes.set_ylim(-0.02, 1.02)
        axes.legend(frameon=False)
        return _titled(axes, "What runs are worth" if of_worth else "How long runs take")

    def configurations(self, ax: Axes | None = None) -> Axes:
        """Every configuration that was run, the best first: its mean utility and the interval it lies in."""
        axes = _on(ax)
        with self._facts() as (_, _, digest):
            rows = digest.rows(record.index for record, _ in digest.judged())
        table = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        table.sort(key=lambda row: (-row["mean"], row["number"]))
        marked = {DEFAULT: "default", self._result.progress.best_index: "answer"}
        for name, colour in (("others", _OTHERS), ("default", _DEFAULT), ("answer", _ANSWER)):
            own = [n for n, row in enumerate(table) if marked.get(row["number"], "others") == name]
            if own:
                places = [place + 1 for place in own]
                lows, highs = ([table[n][end] for n in own] for end in ("low", "high"))
                axes.vlines(places, lows, highs, colors=colour, alpha=0.35 if name == "others" else 1.0)
                axes.scatter(
                    places, [table[n]["mean"] for n in own], color=colour, s=18, zorder=3, label=name
                )
        axes.set_xlabel("configurations by mean utility")
        axes.set_ylabel("mean utility, with its interval")
        axes.set_ylim(-0.02, 1.02)
        if table:
            axes.legend(frameon=False)
        return _titled(axes, f"{len(table):,} configurations that were run")

    def importance(self, ax: Axes | None = None) -> Axes:
        """How much each parameter matters, the most important first; lines show how sure that is.

        Needs the extra ``model`` and some runs; where there is nothing to show, the picture says why.
        """
        axes = _on(ax)
        with self._facts() as (_, task, digest):
            found = importance(task, digest.judged())
        rows = found["rows"][:_MOST_PARAMETERS]
        if not rows:
            axes.set_axis_off()
            axes.text(0.5, 0.5, fill(found["note"], 50), ha="center", va="center", transform=axes.transAxes)
            return _titled(axes, "How much parameters matter")
        places = range(len(rows))
        axes.barh(places, [row["share"] for row in rows], color=_ANSWER, height=0.6)
        axes.hlines(places, [row["low"] for row in rows], [row["high"] for row in rows], color=PALETTE[6])
        axes.set_yticks(places, [_short(row["name"]) for row in rows], parse_math=False)
        axes.invert_yaxis()
        axes.set_xlabel("share of the variance of mean utility")
        return _titled(axes, "How much parameters matter (of those tried; no proof)")

    def utility(self, ax: Axes | None = None) -> Axes:
        """What an answer is worth after a time, and where the finished runs of the answer lie on that."""
        axes = _on(ax)
        with self._facts() as (store, task, digest):
            utility = task.utility  # refused where the quality of solutions counts
            found = distributions(store, task, digest)
        curve = found["utility"]
        if not curve["t"]:
            curve = utility_curve(utility, task.scenario.captime0_s, 10 * task.usual_captime_s)
        axes.plot(
            curve["t"],
            curve["u"],
            color=_UTILITY,
            linewidth=1.8,
            label=_short(shown_name(task.scenario.utility)),
        )
        answer: list[float] = next((each["t"] for each in found["curves"].values()), [])
        if answer:
            axes.scatter(
                answer, utility(answer), s=18, color=_ANSWER, zorder=3, label="finished runs of the answer"
            )
        _time_axis(axes)
        axes.set_ylabel("utility")
        axes.set_ylim(-0.02, 1.02)
        for text in axes.legend(frameon=False).get_texts():
            text.set_parse_math(False)
        return _titled(axes, "What an answer is worth")

    @contextlib.contextmanager
    def _facts(self) -> Iterator[tuple[StoreReader, Task, RunDigest]]:
        """The run as it is stored now, read whole."""
        with self._result.reading() as store:
            task = Task.stored(store)
            digest = RunDigest(store, task)
            digest.read(store)
            yield store, task, digest


def _on(axes: Axes | None) -> Axes:
    """The axes to draw on: those that were given, or new ones."""
    require_drawing()
    return shown_axes() if axes is None else in_house_style(axes)  # type: ignore[no-any-return]


def _time_axis(axes: Axes) -> None:
    """Time from left to right in equal factors, marked as people say it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: format_duration(seconds)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("time")


def _titled(axes: Axes, title: str) -> Axes:
    titled(axes, title)
    return axes


def _short(name: str) -> str:
    return clipped(printable(name), _LONGEST_NAME)

"""How many test instances each configuration solves within a time: the picture of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.figures import new_figure, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def solved_share(runtimes_s: Sequence[float], captime_s: float) -> tuple[list[float], list[float]]:
    """The empirical distribution function as steps: from each time on, this share is solved.

    F(t) = |{i : runtime_i ≤ t}| / n, from the first solved instance to the captime.
    """
    finished = np.sort([each for each in runtimes_s if each <= captime_s])
    shares = np.arange(1, len(finished) + 1) / max(1, len(runtimes_s))
    first = float(finished[0]) if len(finished) else captime_s
    last = float(shares[-1]) if len(shares) else 0.0
    return [first, *finished.tolist(), captime_s], [0.0, *shares.tolist(), last]


def solved_over_time(curves: Mapping[str, Sequence[float]], captime_s: float, title: str) -> Any:  # noqa: ANN401 -- a Figure
    """Share of test instances solved within a time, one curve per configuration.

    Args:
        curves: Seconds per instance by name; infinite without an answer.
        captime_s: Where runs were stopped.
        title: What stands above it.
    """
    figure, axes = new_figure()
    for name, runtimes_s in curves.items():
        times, shares = solved_share(runtimes_s, captime_s)
        axes.step(times, shares, where="post", label=name, linewidth=1.8)
    axes.axvline(captime_s, color="#999999", linestyle=":", linewidth=1, label="captime")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("runtime (s)")
    axes.set_ylabel("share of test instances solved")
    titled(axes, title)
    axes.legend(frameon=False, loc="lower right")
    return figure

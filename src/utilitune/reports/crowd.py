"""What simulated workers brought, as a file: a picture, a table or JSON."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from utilitune.errors import UsageError
from utilitune.live.standing.card import counted
from utilitune.reports.figures import in_house_style, require_drawing, save_figure, titled
from utilitune.reports.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from utilitune.replaying.crowd import CrowdResult


def write_crowd(results: Sequence[CrowdResult], path: Path, title: str) -> None:
    """Write results in the format that the name of the file ends with; whole or not at all."""
    try:
        with replacing(path) as partial:
            if path.suffix.lower() == ".json":
                values = [each.to_dict() for each in results]
                partial.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n")
            elif path.suffix.lower() == ".csv":
                _write_table(results, partial)
            else:
                save_figure(crowd_figure(results, title), partial)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write_table(results: Sequence[CrowdResult], path: Path) -> None:
    rows = [{name: value for name, value in each.to_dict().items() if name != "promise"} for each in results]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def crowd_figure(results: Sequence[CrowdResult], title: str) -> Any:  # noqa: ANN401 -- a Figure
    """The promise against time on the clock for each number of workers; speed-up and use against workers."""
    require_drawing()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.2), dpi=150, layout="constrained")
    left, right = (in_house_style(axes) for axes in figure.subplots(1, 2))
    for each in results:
        points = [point for point in each.promise if point.wall_s > 0]
        times_s, values = [point.wall_s for point in points], [point.epsilon for point in points]
        left.step(
            times_s,
            values,
            where="post",
            label=counted(each.workers, "worker"),
        )
    left.set_xscale("log")
    left.set_ylim(0, 1.02)
    left.set_xlabel("time on the clock (s)")
    left.set_ylabel("proved: within ε of the best")
    left.legend(frameon=False)
    titled(left, title)
    counts = [each.workers for each in results]
    right.plot(counts, [each.useful for each in results], "o-", label="useful seconds / all seconds")
    right.plot(counts, [each.efficiency for each in results], "s-", label="efficiency (speed-up per worker)")
    right.plot(counts, [each.coordinator for each in results], "^:", label="coordinator at work")
    right.set_xscale("log")
    right.set_ylim(0, 1.02)
    right.set_xlabel("workers")
    right.legend(frameon=False)
    return figure

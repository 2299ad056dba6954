"""Writing results to files: whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from utilitune.domain import Progress
from utilitune.errors import UsageError
from utilitune.reports.figures import epsilon_over_time, require_drawing, save_figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from utilitune.replaying.replay import ReplayResult, RivalResult

PICTURES = (".png", ".pdf", ".svg")
"""How a file ends that holds a picture."""
TABLES = (".json", ".csv")
"""How a file ends that holds numbers; a rival's result has no picture, as it proves no ε."""
_ENDINGS = (*TABLES, *PICTURES)


def check_writable(path: Path, endings: tuple[str, ...] = _ENDINGS) -> None:
    """Refuse a file that could not be written, before any work is done."""
    if path.suffix.lower() not in endings:
        raise UsageError(f"cannot write {path}: its name must end in {', '.join(endings)}")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK) or path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder, or its folder is not writable")
    if path.suffix.lower() in PICTURES:
        require_drawing()


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be written, before any work is done."""
    if path.suffix.lower() not in PICTURES:
        raise UsageError(f"cannot draw {path.name!r}: its name must end in {', '.join(PICTURES)}")
    check_writable(path)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place when it was written to the end, else vanishes."""
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_picture(figure: Any, path: Path) -> None:  # noqa: ANN401 -- a Figure
    """Write a figure, whole or not at all."""
    with replacing(path) as partial:
        save_figure(figure, partial)


def write_result(result: ReplayResult | RivalResult, path: Path, title: str) -> None:
    """Write a result in the format its name ends with; a failure leaves nothing half-written."""
    try:
        with replacing(path) as partial:
            if path.suffix.lower() == ".json":
                partial.write_text(json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n")
            elif path.suffix.lower() == ".csv":
                _write_trajectory(result, partial)
            else:
                points = [point for point in result.trajectory if isinstance(point, Progress)]
                save_figure(epsilon_over_time({result.procedure: points}, title), partial)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write_trajectory(result: ReplayResult | RivalResult, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Progress)])
        writer.writeheader()
        writer.writerows(result.to_dict()["trajectory"])

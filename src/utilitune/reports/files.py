"""Writing results to files: whole or not at all."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING

from utilitune.domain import Progress
from utilitune.errors import UsageError
from utilitune.reports.figures import epsilon_over_time, require_drawing, save_figure

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.replaying import ReplayResult, RivalResult

_PICTURES = (".png", ".pdf", ".svg")
TABLES = (".json", ".csv")
"""How a file ends that holds numbers; a rival's result has no picture, as it proves no ε."""
_ENDINGS = (*TABLES, *_PICTURES)


def check_writable(path: Path, endings: tuple[str, ...] = _ENDINGS) -> None:
    """Refuse a file that could not be written, before any work is done."""
    if path.suffix.lower() not in endings:
        raise UsageError(f"cannot write {path}: its name must end in {', '.join(endings)}")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK) or path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder, or its folder is not writable")
    if path.suffix.lower() in _PICTURES:
        require_drawing()


def write_result(result: ReplayResult | RivalResult, path: Path, title: str) -> None:
    """Write a result in the format its name ends with; a failure leaves nothing half-written."""
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        if path.suffix.lower() == ".json":
            partial.write_text(json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n")
        elif path.suffix.lower() == ".csv":
            _write_trajectory(result, partial)
        else:
            points = [point for point in result.trajectory if isinstance(point, Progress)]
            save_figure(epsilon_over_time({result.procedure: points}, title), partial)
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


def _write_trajectory(result: ReplayResult | RivalResult, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Progress)])
        writer.writeheader()
        writer.writerows(result.to_dict()["trajectory"])

"""The argument of commands that look after a run: its folder, or the scenario file it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.texts import FOLDER_HELP
from utilitune.live.places import beside, default_folder, run_folder

__all__ = ["RunPlace", "beside", "default_folder"]


def _found(place: Path) -> Path:
    """The run folder; Typer reads the types of this function when the command starts."""
    return run_folder(place)


RunPlace = Annotated[Path, typer.Argument(metavar="RUN", help=FOLDER_HELP, callback=_found)]
"""The argument of commands that look after a run."""

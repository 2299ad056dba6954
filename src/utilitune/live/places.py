"""Where a run is kept: whoever looks after one names its folder, or the scenario file it belongs to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import StoreError, UsageError
from utilitune.errors.outside import is_file, shell_word

if TYPE_CHECKING:
    from utilitune.store.base import StoreReader


def default_folder(scenario: Path) -> Path:
    """Where the run of a scenario is kept if nobody says where."""
    return beside(scenario, ".run")


def beside(place: Path, suffix: str) -> Path:
    """What lies beside a file or folder and is named after it, with another suffix."""
    if place.name in ("", ".."):
        place = Path(os.path.abspath(place))  # noqa: PTH100 - a link may lead nowhere
    return place.parent / f"{place.stem}{suffix}"


def run_folder(place: Path) -> Path:
    """The run folder that is meant: the folder itself, or the usual one of a scenario file."""
    if not is_file(place):
        return place
    folder = default_folder(place)
    if not folder.is_dir():
        raise UsageError(
            f"{place} has no run yet: its run is kept in {folder} unless 'utilitune run' was given another "
            f"--folder; name that folder, or start it with: utilitune run {shell_word(str(place))}"
        )
    return folder


def unanswered(store: StoreReader, what: str = "no answer") -> StoreError:
    """Why there is nothing to answer with: the run has just begun, or it is a collection, which never has it.

    Args:
        store: The run.
        what: What there is not.
    """
    sessions = store.sessions()
    if store.configurations() and not any("procedure" in session.settings for session in sessions):
        return StoreError(
            "this folder holds a collection, which looks for no best configuration: 'utilitune whatif' says "
            "which one of it is the best, and 'utilitune replay' lets a procedure look for it in the matrix"
        )
    return StoreError(f"this run has {what} yet: let it run a little longer")

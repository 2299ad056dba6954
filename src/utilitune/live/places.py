"""Where a run is kept: whoever looks after one names its folder, or the scenario file it belongs to."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- the command line reads the annotations at run time

from utilitune.errors import UsageError


def default_folder(scenario: Path) -> Path:
    """Where the run of a scenario is kept if nobody says where."""
    return scenario.with_suffix(".run")


def run_folder(place: Path) -> Path:
    """The run folder that is meant: the folder itself, or the usual one of a scenario file."""
    if not place.is_file():
        return place
    folder = default_folder(place)
    if not folder.is_dir():
        raise UsageError(
            f"{place} has no run yet: its run is kept in {folder} unless 'utilitune run' was given another "
            f"--folder; start it with 'utilitune run {place}', or name the folder"
        )
    return folder

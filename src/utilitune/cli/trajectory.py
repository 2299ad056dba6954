"""``utilitune trajectory``: how the answer of a run came about, also in the files of SMAC."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import hand_over, say
from utilitune.errors.outside import json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.store import StoreReader


def trajectory(
    folder: RunPlace,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="table, aclib2 (SMAC's traj_aclib2.json), runhistory (the runhistory.json of SMAC 3 up to "
            "1.4, with all runs) or runhistory2 (that of SMAC 3 from 2.3 on).",
        ),
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write.  [default: the standard output]")
    ] = None,
) -> None:
    """Show which configuration was the best after how much time, and what was proved of it.

    For example:

    - `utilitune trajectory scenario.run`
    - `utilitune trajectory scenario.run --format aclib2 -o traj_aclib2.json`
    """
    import contextlib

    from utilitune.errors import UsageError, did_you_mean
    from utilitune.store import read_run_folder

    if form not in _FORMATS:
        raise UsageError(f"there is no format {form!r}; {did_you_mean(form, _FORMATS)}")
    with contextlib.closing(read_run_folder(folder)) as store:
        text = _FORMATS[form](store)
    if output is None:
        hand_over(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}; name another file") from None
    say(f"Wrote {output}.")


def _table(store: StoreReader) -> str:
    from utilitune.domain import rounded_up
    from utilitune.reports.exports import trajectory_rows
    from utilitune.store.records import StoredOrigin
    from utilitune.utility import format_duration

    lines = ["time in runs      runs  configuration     ε         γ"]
    for row in trajectory_rows(store):
        gamma = "" if row["gamma"] is None else rounded_up(row["gamma"])
        name = f"{row['configuration']} ({StoredOrigin(row['origin']).words})"
        time_text = format_duration(float(f"{row['time_s']:.3g}"))
        epsilon = rounded_up(row["epsilon"])
        lines.append(f"{time_text:>12}  {row['runs']:>8,}  {name:<16}  {epsilon:<8}  {gamma}".rstrip())
    return "\n".join(lines)


def _aclib2(store: StoreReader) -> str:
    from utilitune.reports.exports import trajectory_lines

    return "\n".join(trajectory_lines(store))


def _runhistory2(store: StoreReader) -> str:
    from utilitune.reports.exports import latest_run_history

    return json_text(latest_run_history(store), indent=2)


def _runhistory(store: StoreReader) -> str:
    from utilitune.reports.exports import run_history

    return json_text(run_history(store), indent=2)


_FORMATS: dict[str, Callable[[StoreReader], str]] = {
    "table": _table,
    "aclib2": _aclib2,
    "runhistory": _runhistory,
    "runhistory2": _runhistory2,
}

"""``utilitune runs``: a table of the runs of a run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import Terminal, hand_over
from utilitune.errors.outside import clipped, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = dict[str, Any]
_USUAL_LIMIT = 50
_LONGEST_DETAIL = 80

_FOLDED = {"instance": 3, "detail": 4}
"""The columns whose texts take several lines, with their shares of the room that is left."""

_FEWEST = 12
"""The room that such a column needs."""

_LEFT_OUT = ("memory", "exit", "captime", "detail", "of", "runtime")
"""What is left out in a narrow terminal, the first one first."""


def runs(
    folder: RunPlace,
    configuration: Annotated[
        int | None, typer.Option(help="Only runs of the configuration with this number; 0 is the default.")
    ] = None,
    status: Annotated[
        str | None, typer.Option(help="Only these: finished, timeout, crashed, memout or wrong-answer.")
    ] = None,
    instance: Annotated[
        str | None, typer.Option(help="Only runs on instances whose name contains this text.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help=f"Show only the latest ones; 0 shows all.  [default: {_USUAL_LIMIT}; --csv: 0]"),
    ] = None,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print comma-separated values with all columns.")
    ] = False,
) -> None:
    """Show the runs that were made, also while more are being made.

    For example:

    - `utilitune runs scenario.run --status crashed`
    - `utilitune runs scenario.run --configuration 0 --csv > default.csv`
    """
    import contextlib

    from utilitune.errors import UsageError
    from utilitune.live.rows import named_rows
    from utilitune.store import read_run_folder

    if limit is not None and limit < 0:
        raise UsageError(f"--limit must not be negative, but is {limit}")
    wanted = {"configuration": configuration, "status": _known_status(status)}
    with contextlib.closing(read_run_folder(folder)) as store:
        found = [
            row
            for row in named_rows(store)
            if all(value is None or row[key] == value for key, value in wanted.items())
            and (instance is None or instance in row["instance"])
        ]
    most = limit if limit is not None else 0 if csv else _USUAL_LIMIT
    shown = found[-most:] if most else found
    if csv:
        _print_csv(shown)
    else:
        _print_table(shown, len(found))


def _known_status(status: str | None) -> str | None:
    from utilitune.domain import RunStatus
    from utilitune.errors import UsageError, did_you_mean

    known = [each.value for each in RunStatus]
    if status is not None and status not in known:
        raise UsageError(f"there is no status {status!r}; {did_you_mean(status, known)}")
    return status


def _print_csv(rows: Iterable[Row]) -> None:
    import csv
    import io

    text = io.StringIO(newline="")
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(map(_visible, row))
        writer.writerow(map(_visible, row.values()))
    hand_over(text.getvalue(), end="")


def _visible(value: Any) -> Any:  # noqa: ANN401 - a cell of any kind
    """A cell without control characters: a table is looked at sooner or later."""
    return printable(value) if isinstance(value, str) else value


def _print_table(rows: list[Row], found: int) -> None:
    from rich.table import Table

    console = Terminal(highlight=False, markup=False)
    if not rows:
        console.print("There are no such runs.")
        return
    solutions = any(row["quality"] is not None for row in rows)
    detailed = any(row["detail"] for row in rows)
    quality = ["quality"] if solutions else []
    names = ["run", "of", "instance", "status", "runtime", "captime", *quality, "memory", "exit", "detail"]
    cells = [dict(zip(names, _cells(row, solutions=solutions), strict=True)) for row in rows]
    wanted = [name for name in names if detailed or name != "detail"]
    shown = _fitting(wanted, cells, console.width)
    table = Table(box=None, header_style="bold", pad_edge=False, expand=True)
    for name in shown:
        if name in _FOLDED:
            table.add_column(name, overflow="fold", ratio=_FOLDED[name])
        else:
            table.add_column(name, justify="left" if name == "status" else "right", overflow="fold")
    for row_cells in cells:
        table.add_row(*(row_cells[name] for name in shown))
    console.print(table)
    left_out = [name for name in _LEFT_OUT if name in wanted and name not in shown]
    if left_out:
        hidden = " and ".join(filter(None, [", ".join(left_out[:-1]), left_out[-1]]))
        console.print(f"There is no room for {hidden}: widen the terminal, or take --csv.")
    if len(rows) < found:
        console.print(f"The latest {len(rows):,} of {found:,} runs; --limit 0 shows all.")


def _fitting(names: list[str], cells: list[dict[str, str]], width: int) -> list[str]:
    """The columns for which a terminal has room; those that say least are left out first."""
    needed = {
        name: _FEWEST if name in _FOLDED else max(len(each[name]) for each in [*cells, {name: name}])
        for name in names
    }
    shown = list(names)
    for name in _LEFT_OUT:
        if sum(needed[each] + 2 for each in shown) <= width:
            break
        if name in shown:
            shown.remove(name)
    return shown


def _cells(row: Mapping[str, Any], *, solutions: bool) -> list[str]:
    from utilitune.cli.texts import memory_text
    from utilitune.utility import format_duration

    times = [format_duration(row[name]) for name in ("runtime_s", "captime_s")]
    detail = " ".join(row["detail"].split())
    return [
        str(row["sequence"]),
        f"#{row['configuration']}",
        printable(row["instance"]),
        row["status"],
        *times,
        *(["" if row["quality"] is None else f"{row['quality']:.8g}"] if solutions else []),
        memory_text(row["peak_memory_bytes"]) if row["peak_memory_bytes"] else "",
        "" if row["exit_code"] is None else str(row["exit_code"]),
        printable(clipped(detail, _LONGEST_DETAIL)),
    ]

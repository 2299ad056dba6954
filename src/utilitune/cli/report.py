"""``utilitune report``: everything about a run as one file to look at, print or send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.places import RunPlace, beside
from utilitune.cli.terminal import say


def report(
    folder: RunPlace,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write, an .html file.  [default: beside the run]"),
    ] = None,
) -> None:
    """Write a report of a run: one HTML file that needs no network, to look at, print or send.

    It holds the promise in words and as a picture, the answer in the forms of several tools, what differs
    from the default, the result on test instances, runtimes, configurations, parameters and their importance,
    captimes, failures, and what made it. Works while the run goes on, too.

    For example:

    - `utilitune report scenario.run -o report.html`
    """
    import contextlib

    from utilitune.errors import UsageError
    from utilitune.reports.files import check_writable, replacing
    from utilitune.reports.page import html_report
    from utilitune.store import read_run_folder

    path = output or beside(folder, ".html")
    check_writable(path, (".html", ".htm"))
    with contextlib.closing(read_run_folder(folder)) as store:
        text = html_report(store, folder)
    try:
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file") from None
    say(f"Wrote {path} ({len(text.encode()) / 1e6:.1f} MB): open it in a browser.")

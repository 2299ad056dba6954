"""``utilitune serve``: runs on a live page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.texts import FOLDER_HELP


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help=f"{FOLDER_HELP} Several are shown side by side.  [default: all *.run here]"),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8750,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; with any but the usual one, other machines can read the page."
        ),
    ] = "127.0.0.1",
) -> None:
    """Show runs on a live page in the browser: everything a report holds, kept up to date.

    Reads the run folders only; a run at work is not disturbed. Stopping, pausing and extending a run from the
    page needs the token that is printed at the start. Ctrl-C ends the server, never a run. The utility
    designer is served as well, also where there is no run.

    For example:

    - `utilitune serve scenario.run`
    - `utilitune serve one.run other.run --port 0`
    """
    from utilitune.cli.texts import words
    from utilitune.live.places import run_folder
    from utilitune.reports.dashboard.serving import Address
    from utilitune.reports.dashboard.serving import serve as serve_runs
    from utilitune.store import read_run_folder

    folders = [run_folder(place) for place in runs or sorted(Path().glob("*.run"))]
    for folder in folders:
        read_run_folder(folder).close()
    address = Address(host, port)
    say = words().print

    def announce(url: str, token: str) -> None:
        if folders:
            say(f"Open {url}#token={token}")
            say("Without what follows the # it only shows; with it, it can also stop, pause and extend runs.")
        else:
            say(
                "There is no *.run folder here, so no run is shown; name those to show, such as scenario.run."
            )
        say(f"To find your utility function: {url}designer")
        if not address.is_loopback:
            say("Warning: everybody who can reach this address can read the page.", style="yellow")
        say("Ctrl-C ends the server; runs go on.")

    serve_runs(folders, address, announce)

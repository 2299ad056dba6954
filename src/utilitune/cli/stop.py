"""``utilitune stop``: end a run in good order, from another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import say
from utilitune.errors.outside import shell_word

if TYPE_CHECKING:
    from utilitune.store import RunFolderReader

_LOOK_EVERY_S = 0.1


def stop(
    folder: RunPlace,
    wait: Annotated[
        str, typer.Option(help="How long to wait for the end of the run, e.g. 30s; 0 does not wait.")
    ] = "30s",
) -> None:
    """Ask a run at work to stop in good order; its answer stays valid and it can be started again.

    Runs of the program that have not ended yet are killed, and do not count.
    """
    import contextlib

    from utilitune.store import read_run_folder
    from utilitune.utility import parse_duration

    patience_s = parse_duration(wait)
    with contextlib.closing(read_run_folder(folder)) as store:
        owner = store.owner()
        if owner is None:
            say(f"No run is at work in {folder}: there is nothing to stop.")
            return
        if _stopped(store, patience_s):
            _tell_how_it_ended(store, folder)
            return
    whom = f"process {owner}" if owner else "its process"
    say(f"The run in {folder} was asked to stop; {whom} is still at work and will end soon.")


def _stopped(store: RunFolderReader, patience_s: float) -> bool:
    """Ask, and wait for the end; a run that is just starting forgets old requests, so it is asked again."""
    import time

    deadline = time.monotonic() + patience_s
    while store.owner() is not None:
        if not store.stop_requested():
            store.request_stop()
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _tell_how_it_ended(store: RunFolderReader, folder: Path) -> None:
    from utilitune.live.standing.card import counted

    sessions = store.sessions()
    reason = sessions[-1].stop if sessions else None
    how = "The run has ended." if reason is None else reason.advice
    runs = sum(store.counts().values())
    say(f"{how} {counted(runs, 'run')} {'is' if runs == 1 else 'are'} kept.")
    if store.last_progress() is not None:
        say(f"See the answer with: utilitune best {shell_word(str(folder))}")

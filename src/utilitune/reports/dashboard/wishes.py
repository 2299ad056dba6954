"""What can be asked of a run at work from outside: to stop, to wait, to go on, to go on for longer.

A wish is a file in the run folder, which the run looks at between any two runs of its program.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from utilitune.domain import require_positive
from utilitune.errors import UsageError, did_you_mean
from utilitune.store import read_run_folder
from utilitune.utility import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from utilitune.store import RunFolderReader


def fulfil(folder: Path, wish: str, settings: Mapping[str, Any]) -> str:
    """Leave a wish in a run folder, and say what will come of it.

    Args:
        folder: The run folder.
        wish: "stop", "pause", "go-on" or "extend".
        settings: What else belongs to it.

    Raises:
        UsageError: There is no such wish, or nobody is there to fulfil it.
    """
    if wish not in _WISHES:
        raise UsageError(f"there is no wish {wish!r}; {did_you_mean(wish, _WISHES)}")
    if not isinstance(settings, dict):
        raise UsageError("what belongs to a wish is a JSON object")
    with contextlib.closing(read_run_folder(folder)) as store:
        if store.owner() is None:
            raise UsageError("the run is not at work; start it with 'utilitune run'")
        return _WISHES[wish](store, settings)


def _stop(store: RunFolderReader, _: Mapping[str, Any]) -> str:
    store.request_stop()
    return "The run was asked to stop; its answer stays valid, and it can be started again."


def _pause(store: RunFolderReader, _: Mapping[str, Any]) -> str:
    store.request_pause(pause=True)
    return "The run begins no more runs until it is told to go on; time on the clock counts meanwhile."


def _go_on(store: RunFolderReader, _: Mapping[str, Any]) -> str:
    store.request_pause(pause=False)
    return "The run goes on."


def _extend(store: RunFolderReader, settings: Mapping[str, Any]) -> str:
    text = settings.get("wall_time")
    if not isinstance(text, str):
        raise UsageError('say how much longer, such as {"wall_time": "30m"}')
    seconds = require_positive("the time to go on for", parse_duration(text))
    store.request_more_time(seconds)
    longer = format_duration(store.more_time_s())
    return f"The run may take {longer} longer than its budget of time on the clock says."


_WISHES: dict[str, Callable[[RunFolderReader, Mapping[str, Any]], str]] = {
    "stop": _stop,
    "pause": _pause,
    "go-on": _go_on,
    "extend": _extend,
}

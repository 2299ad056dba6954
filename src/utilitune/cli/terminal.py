"""The one way to a terminal: whatever is written there has its control characters made visible.

Names of instances, values of parameters and outputs of programs come from outside. An escape sequence in one
of them could move the cursor, rename the window or type into the shell. Every command writes through this
module, and a test sees to it that none does otherwise.

* `Terminal` is rich's console; it cleans every piece of text just before it gets its colours.
* `say` is for sentences, `say_json` for JSON.
* `hand_over` is for texts that another program reads: exact in a pipe or a file, cleaned on a screen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from utilitune.errors.outside import json_text, printable, storable

if TYPE_CHECKING:
    from rich.console import Console

_LAYOUT = "\n\t"


def is_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


def Terminal(**options: Any) -> Console:  # noqa: ANN401, N802 -- stands for rich's class, which loads slowly
    """A rich console that shows no control characters but its own.

    Args:
        options: As for `rich.console.Console`.
    """
    from utilitune.cli.rich_terminal import CleaningConsole

    return CleaningConsole(**options)


def say(text: str = "", *, err: bool = False) -> None:
    """Write a sentence or a few lines."""
    typer.echo(printable(text, keep=_LAYOUT), err=err)


def say_json(value: Any, *, allow_nan: bool = True) -> None:  # noqa: ANN401 -- whatever JSON holds
    """Write a value as JSON; what is not printable is written as JSON writes it."""
    typer.echo(json_text(value, allow_nan=allow_nan))


def hand_over(text: str, *, end: str = "\n") -> None:
    """Write a text for another program: exact, unless somebody looks at it."""
    shown = printable(text, keep=_LAYOUT) if sys.stdout.isatty() else text
    sys.stdout.write(storable(shown + end))  # typer would take colours out of values

"""The command line: one file per command, loaded when the command is used.

`main` is the only place that turns an error into a sentence and an exit code: 2 for what a user can
mend, 1 for a defect of ours.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.commands import CliCommand, CommandGroup
from utilitune.cli.mistakes import Misunderstood, sentence, showed_help
from utilitune.cli.texts import INTERRUPTED
from utilitune.errors import UtilituneError
from utilitune.errors.outside import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

_MENDABLE = 2

_PANELS = {
    "Configure a program": ("demo", "init", "convert", "check", "run", "prove"),
    "Look after a run": (
        "status",
        "stop",
        "best",
        "show",
        "report",
        "serve",
        "runs",
        "evaluate",
        "whatif",
        "export",
        "trajectory",
        "certify",
        "verify",
    ),
    "Recorded runtimes": ("collect", "replay", "simulate", "reproduce"),
    "Compare with others": ("peer",),
}
_GROUPS = {
    "utility": ("Configure a program", "Draw a utility function, or find the one that is yours."),
    "datasets": ("Recorded runtimes", "List, fetch and describe recorded runtimes."),
}


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command tree; if the arguments name a command, only as much of it as that command needs."""
    app = typer.Typer(
        name="utilitune",
        cls=CommandGroup,
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_top)
    asked = next((word for word in arguments if not word.startswith("-")), "")
    panels = {name: panel for panel, names in _PANELS.items() for name in names}
    for name in [asked] if asked in panels else panels:
        command = getattr(import_module(f"utilitune.cli.{name}"), name)
        app.command(name, cls=CliCommand, rich_help_panel=panels[name])(command)
    for name, (panel, summary) in _GROUPS.items():
        group = import_module(f"utilitune.cli.{name}").app if asked == name else _closed_group()
        app.add_typer(group, name=name, help=summary, rich_help_panel=panel)
    return app


def _closed_group() -> typer.Typer:
    """Stands for a group of commands in the overview, without loading them."""
    group = typer.Typer()
    group.callback()(_nothing)
    return group


def _nothing() -> None:
    """Do nothing."""


def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Find the best parameter settings for a program, with a proof.

    New here? 'utilitune demo' shows it at work, 'utilitune init' begins a task of your own.
    """
    if version:
        from utilitune import __version__

        typer.echo(f"utilitune {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    given = sys.argv[1:] if arguments is None else arguments
    interrupted = _noting_interrupts()
    if arguments is None:
        _make_streams_usable()
    try:
        code = build_app(given)(args=given, prog_name="utilitune", standalone_mode=False)
    except UtilituneError as error:
        code = _refused(str(error))
    except Misunderstood as error:
        code = _MENDABLE if showed_help(error) else _refused(sentence(error, given))
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except SystemExit as ended:
        code = 0 if _nobody_reads_on(ended) else ended.code
    except OSError as error:
        code = INTERRUPTED if interrupted else _refused(_by_the_system(error))
    except Exception:
        if not interrupted:
            raise
        code = INTERRUPTED  # libraries make errors of their own of a Ctrl-C, the compiler among them
    if arguments is None:
        _leave_quickly(code)
    sys.exit(code)


def _leave_quickly(code: object) -> None:
    """End this process without taking the compiler's memory apart, which takes seconds and helps nobody.

    Whatever was registered for the end is done first. Where threads must be waited for, or the output cannot
    be written, the process ends as every other does.
    """
    awaited = [thread for thread in threading.enumerate() if not thread.daemon]
    if awaited != [threading.main_thread()] or not isinstance(code, int | None):
        return
    try:
        _flush()
    except (BrokenPipeError, ValueError):
        return
    except OSError as error:
        code = _refused(_by_the_system(error))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail once more
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it
    with contextlib.suppress(OSError, ValueError):
        _flush()
    os._exit(code or 0)


def _make_streams_usable() -> None:
    """Let our output take every character, also where it was closed or its encoding has only few."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _noting_interrupts() -> list[int]:
    """A list that is no longer empty once Ctrl-C was pressed, where nobody else looks after that."""
    noted: list[int] = []

    def note(number: int, _: object) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, note)
    return noted


def _nobody_reads_on(ended: SystemExit) -> bool:
    """Whether the reader of our output has left, such as head: Typer and rich end the program there."""
    return isinstance(ended.__context__, BrokenPipeError)


def _by_the_system(error: OSError) -> str:
    """What the system refused, where nobody closer to it could say more."""
    what = "" if error.filename is None else f"{error.filename}: "
    return f"{what}the system says: {error.strerror or error}"


def _refused(text: str) -> int:
    shown = shortened(printable(text, keep="\n"))
    sys.stderr.write(f"utilitune: {shown}\n")
    return _MENDABLE

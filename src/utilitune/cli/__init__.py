"""The command line: one file per command, loaded when the command is used.

`main` is the only place that turns an error into a sentence and an exit code: 2 for what a user can
mend, 1 for a defect of ours.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def build_app() -> typer.Typer:
    """The command tree."""
    import typer

    from utilitune.cli.replay import replay

    app = typer.Typer(
        name="utilitune",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_top)
    app.command()(replay)
    return app


def _top(version: bool = False) -> None:
    """Find the best parameter settings for a program, with a proof."""
    if version:
        import typer

        from utilitune import __version__

        typer.echo(f"utilitune {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    from utilitune.errors import UtilituneError

    try:
        build_app()(args=arguments, standalone_mode=True)
    except UtilituneError as error:
        sys.stderr.write(f"utilitune: {error}\n")
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)

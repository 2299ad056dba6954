"""Options in groups: one option per field on the command line, frozen values inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from utilitune.cli.grouping import grouped


@dataclass(frozen=True)
class Inner:
    depth: Annotated[int, typer.Option(help="How deep.")] = 3


@dataclass(frozen=True, kw_only=True)
class Outer:
    words: Annotated[list[str] | None, typer.Option("--word")] = None
    quiet: bool = False
    inner: Inner


@grouped
def command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Whose.")],
    outer: Outer,
    last: float = 0.5,
) -> None:
    """Show what was given."""
    given = [key for key in context.params if context.get_parameter_source(key).name == "COMMANDLINE"]
    typer.echo(f"{name} {outer} {last} {sorted(given)}")


def shown(*words: str) -> str:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stdout


def test_every_field_is_an_option_and_arrives_in_its_group():
    told = shown("me", "--word", "a", "--word", "b", "--depth", "7", "--quiet")
    assert told == (
        f"me {Outer(words=['a', 'b'], quiet=True, inner=Inner(7))} 0.5 ['depth', 'name', 'quiet', 'words']\n"
    )


def test_fields_keep_their_defaults():
    assert shown("me", "--last", "1") == f"me {Outer(inner=Inner())} 1.0 ['last', 'name']\n"


def test_the_help_is_that_of_the_command():
    told = shown("--help")
    assert "Show what was given." in told
    assert "How deep." in told
    assert "--no-quiet" in told

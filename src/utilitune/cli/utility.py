"""``utilitune utility``: what a utility function says, drawn and in words, and finding one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.commands import CliCommand, CommandGroup
from utilitune.cli.utility_design import design

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from utilitune.utility import Goal, SolutionUtility, Utility

_DRAW = "draw"


class ExpressionGroup(CommandGroup):
    """Draws whatever is not the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own types
        """Take an expression, or nothing at all, as something to draw."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [_DRAW, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ExpressionGroup,
    help="""Draw a utility function and say it in words, or find the one that is yours.

    For example:

    - `utilitune utility 'log-laplace(k0=1m)'`
    - `utilitune utility design`
    """,
    rich_markup_mode="markdown",
)
app.command("design", cls=CliCommand)(design)


@app.command(_DRAW, cls=CliCommand)
def draw(
    expression: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPR",
            help="The utility, in quotes, such as 'log-laplace(k0=1m)'; all of them if left out.",
        ),
    ] = None,
    better: Annotated[
        str, typer.Option(help="Which qualities are better, for a utility of the quality: smaller or larger.")
    ] = "smaller",
) -> None:
    """Draw a utility function, with a table of examples, and say it in words.

    For example:

    - `utilitune utility 'log-laplace(k0=1m)'`
    - `utilitune utility 'product(step(10m), cost-per-hour(value=1, rate=0.05))'`
    - `utilitune utility 'relative-gap(to=known, limit=10%)' --better larger`
    """
    from utilitune.cli.texts import words
    from utilitune.errors import UsageError, did_you_mean
    from utilitune.utility import Goal, SolutionUtility, parse_any_utility

    if expression is None:
        _list_all()
        return
    parsed = parse_any_utility(expression)
    if better not in list(Goal):
        raise UsageError(f"there is no direction {better!r}; {did_you_mean(better, [*Goal])}")
    goal = Goal(better)
    if isinstance(parsed, SolutionUtility):
        parsed.check(goal)
    show_utility(words(), parsed, goal)


def show_utility(console: Console, utility: Utility | SolutionUtility, goal: Goal | None = None) -> None:
    """Print a utility, its picture, a table of examples, and what it says."""
    from utilitune.cli.texts import prose
    from utilitune.utility import Goal
    from utilitune.utility.picture import picture_of

    picture = picture_of(utility, goal or Goal.SMALLER)
    console.print(f"{utility}\n")
    fits = all(len(line) <= console.width for line in (*picture.bars, picture.axis))
    for line in picture.bars if fits else ():
        console.print(line)
    if fits:  # what is broken into several lines is no picture
        console.print(f"{picture.axis}\n")
    console.print(plain_table(picture.head, picture.rows))
    prose(console, f"\n{picture.words}")


def plain_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table as plain text, its columns to the right."""
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    )


def _list_all() -> None:
    from utilitune.cli.texts import prose, words
    from utilitune.utility import FAMILIES, QUALITY_FAMILIES

    console = words()
    for title, families in (("Of the time of a run", FAMILIES), ("Of a quality", QUALITY_FAMILIES)):
        console.print(f"{title}:")
        for family in families.values():
            console.print(f"  {family.example}")
            prose(console, family.summary, indent=6)
    console.print("product and minimum put any of them together.")

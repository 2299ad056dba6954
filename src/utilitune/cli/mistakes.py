"""A command line that cannot be understood, told in one sentence as every other mistake.

Typer raises click's errors, and brings its own copy of click along or not, depending on its version. So their
classes are reached through the one that Typer itself exports, and told apart by what they hold.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperGroup

from utilitune.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

Misunderstood = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""What click raises for a command line it does not understand: the base of a bad parameter."""


class CommandGroup(TyperGroup):
    """A group of commands that knows what a misspelt one was meant to be."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - click's own types
        """Find the command that the first word names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = did_you_mean(name, self.list_commands(ctx))
            raise UsageError(f"'{ctx.command_path}' has no command {name!r}; {known}")
        return super().resolve_command(ctx, args)


def showed_help(error: typer.BadParameter) -> bool:
    """Whether nothing is wrong: a command without arguments shows its help, which click tells as an error."""
    return type(error).__name__ == "NoArgsIsHelpError"


def sentence(error: typer.BadParameter, words: Sequence[str]) -> str:
    """What is wrong with a command line, and what to do.

    Args:
        error: What click says of it.
        words: The command line.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    place = error.ctx.command_path if error.ctx else f"utilitune {command}".rstrip()
    help_page = f"see '{place} --help'"
    parameter = getattr(error, "param", None)
    if hasattr(error, "possibilities"):
        unknown: str = getattr(error, "option_name", "")
        known = [name for option in error.ctx.command.params for name in option.opts] if error.ctx else []
        near = get_close_matches(unknown, known, n=1)
        return f"'{place}' has no option {unknown!r}; {f'did you mean {near[0]!r}?' if near else help_page}"
    if parameter is not None and hasattr(error, "param_type"):
        return f"'{place}' needs {_shown(parameter)}; {help_page}"
    if parameter is not None and (kind := _number_kind(parameter, error.message)):
        return f"{_shown(parameter)} takes {kind}{_given(parameter, words)}; {help_page}"
    text = error.format_message().rstrip(".")
    return f"{text[:1].lower()}{text[1:]}; {help_page}"


def _shown(parameter: Any) -> str:  # noqa: ANN401 - click's own type
    """An option as it is written, an argument as the help pages show it."""
    option = max(parameter.opts, key=len)
    return option if option.startswith("-") else f"the argument {option.upper()}"


def _number_kind(parameter: Any, complaint: str) -> str:  # noqa: ANN401 - click's own type
    """Which numbers are wanted where something else was given; nothing if it was not about numbers."""
    least = getattr(parameter, "min", getattr(getattr(parameter, "type", None), "min", None))
    if least is not None:
        return f"a number of at least {least}"
    if "integer" in complaint:
        return "a whole number"
    return "a number" if "number" in complaint or "float" in complaint else ""


def _given(parameter: Any, words: Sequence[str]) -> str:  # noqa: ANN401 - click's own type
    """What was given in place of a number, where it can be found."""
    for place, word in reversed(list(enumerate(words))):
        name, equals, value = word.partition("=")
        if name in parameter.opts:
            given = value if equals else "".join(words[place + 1 : place + 2])
            return f", not {given!r}"
    return ""

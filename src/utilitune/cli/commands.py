"""Commands and groups of them: a misspelt one is guessed, an option is given once, a switch has no type.

Some versions of Typer print ``<bool>`` behind a switch, as if it took a value.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from utilitune.errors import UsageError, did_you_mean
from utilitune.errors.outside import user_path


class CliCommand(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - click's own types
        """Its options and arguments."""
        return _switches_without_type(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own types
        """Read its words; an option that takes one value is refused where it comes twice.

        No shell reads the ~ in --folder=~/runs, so it is read here.
        """
        args = [_with_home(word) for word in args]
        _refuse_repeated(self.make_parser(ctx).parse_args(args=list(args))[2], ctx.command_path)
        return super().parse_args(ctx, args)


class CommandGroup(TyperGroup):
    """A group of commands that knows what a misspelt one was meant to be."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - click's own types
        """Its options."""
        return _switches_without_type(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - click's own types
        """Find the command that the first word names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = did_you_mean(name, self.list_commands(ctx))
            raise UsageError(f"'{ctx.command_path}' has no command {name!r}; {known}")
        return super().resolve_command(ctx, args)


def _with_home(word: str) -> str:
    option, equals, value = word.partition("=")
    is_path = option.startswith("--") and equals and value.startswith("~/")
    return f"{option}={user_path(value)}" if is_path else word


def _refuse_repeated(given: list[Any], place: str) -> None:
    """Refuse an option that comes twice, unless it takes several values or says the same thing again."""
    for each in {id(each): each for each in given if given.count(each) > 1}.values():
        says_the_same = getattr(each, "is_flag", False) and not each.secondary_opts
        if each.param_type_name == "option" and not (each.multiple or says_the_same):
            raise UsageError(f"'{place}' takes {max(each.opts, key=len)} only once; leave one of them out")


def _switches_without_type(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return parameters

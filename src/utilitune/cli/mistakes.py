"""A command line that cannot be understood, told in one sentence as every other mistake.

Typer raises click's errors, and brings its own copy of click along or not, depending on its version. So their
classes are reached through the one that Typer itself exports, and told apart by what they hold.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

Misunderstood = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""What click raises for a command line it does not understand: the base of a bad parameter."""

_NO_OPTIONS = {
    "--delta": "set delta under [promise] in the scenario",
    "--seed": "set seed in the scenario",
    "--utility": "set utility in the scenario",
    "--captime": "set largest_captime under [limits] in the scenario",
    "--resume": "the same command goes on with a run that was begun",
}
"""What to do where a command on a scenario is given an option that it might be expected to have."""

_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)


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
        return f"'{place}' has no option {unknown!r}; {_meant(unknown, error.ctx) or help_page}"
    if parameter is not None and hasattr(error, "param_type"):
        return f"'{place}' needs {_shown(parameter)}; {help_page}"
    if parameter is not None and (kind := _number_kind(parameter, error.message)):
        return f"{_shown(parameter)} takes {kind}{_given(parameter, words)}; {help_page}"
    text = error.format_message().rstrip(".")
    if extra := _EXTRA.fullmatch(text):
        return f"'{place}' has no use for {extra[1]!r}; quote a name with blanks, or {help_page}"
    return f"{text[:1].lower()}{text[1:]}; {help_page}"


def _meant(unknown: str, context: Any) -> str:  # noqa: ANN401 - click's own type
    """What to write in place of an unknown option; nothing if none is like it."""
    parameters = context.command.get_params(context) if context else []
    options = [name for each in parameters for name in (*each.opts, *each.secondary_opts) if _is_option(name)]
    arguments = {f"--{name}": name for each in parameters for name in each.opts if not _is_option(name)}
    if "--scenario" in arguments and unknown in _NO_OPTIONS:
        return _NO_OPTIONS[unknown]
    names = {name.lstrip("-"): name for name in (*arguments, *options)}
    near = get_close_matches(unknown.lstrip("-"), names, n=1)  # dashes are alike in all of them
    if not near:
        return ""
    name = names[near[0]]
    return (
        f"write the {arguments[name]} without {unknown}" if name in arguments else f"did you mean {name!r}?"
    )


def _is_option(name: str) -> bool:
    return name.startswith("-")


def _shown(parameter: Any) -> str:  # noqa: ANN401 - click's own type
    """An option as it is written, an argument as the help pages list it."""
    name = max(parameter.opts, key=len)
    return name if _is_option(name) else f"the argument {(getattr(parameter, 'metavar', None) or name)!r}"


def _number_kind(parameter: Any, complaint: str) -> str:  # noqa: ANN401 - click's own type
    """Which numbers are wanted where something else was given; nothing if it was not about numbers."""
    ends = {"at least": "min", "at most": "max"}
    known = {words: _limit(parameter, end) for words, end in ends.items()}
    within = " and ".join(f"{words} {limit}" for words, limit in known.items() if limit is not None)
    if not within and not any(word in complaint for word in ("integer", "number", "float")):
        return ""
    kind = "a whole number" if _is_whole(parameter) else "a number"
    return f"{kind} of {within}" if within else kind


def _limit(parameter: Any, end: str) -> Any:  # noqa: ANN401 - click's own type
    """The smallest or largest number that is allowed; None if there is none."""
    return getattr(parameter, end, getattr(getattr(parameter, "type", None), end, None))


def _is_whole(parameter: Any) -> bool:  # noqa: ANN401 - click's own type
    """Whether an integer is wanted; newer versions of Typer know the Python type, older ones click's name."""
    described = getattr(parameter, "type_descriptor", None)
    return described.annotation is int if described else parameter.type.name.startswith("integer")


def _given(parameter: Any, words: Sequence[str]) -> str:  # noqa: ANN401 - click's own type
    """What was given in place of a number, where it can be found."""
    for place, word in reversed(list(enumerate(words))):
        name, equals, value = word.partition("=")
        if name in parameter.opts:
            given = value if equals else "".join(words[place + 1 : place + 2])
            return f", not {given!r}"
    return ""

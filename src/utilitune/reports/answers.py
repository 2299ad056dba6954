"""The answer of a run in the forms that other tools read: what `utilitune best` and the report print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.errors.outside import json_text, shell_line
from utilitune.scenario.dialects.r_tables import MISSING, is_column_name, written_cell
from utilitune.scenario.writer import toml_value
from utilitune.spaces import ParameterSpace, SpaceError
from utilitune.spaces.dialects import write_parameter_file
from utilitune.targets.command import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.live.result import RunResult
    from utilitune.scenario.model import Scenario


def _as_command(result: RunResult, _: Scenario) -> str:
    return result.command


def _as_json(result: RunResult, _: Scenario) -> str:
    return json_text(result.to_dict(), indent=2)


def _as_toml(result: RunResult, _: Scenario) -> str:
    """Parameters as TOML keys, after a comment that holds the promise."""
    lines = [f"{toml_value(name)} = {toml_value(value)}" for name, value in result.best.items()]
    return "\n".join([f"# {result.promise.sentence()}", *lines])


def _as_irace(result: RunResult, scenario: Scenario) -> str:
    """A table of configurations with one row: numbers, quoted texts, NA where a parameter does not apply."""
    names = scenario.space.names
    for name in names:
        if not is_column_name(name):
            raise UsageError(
                f"irace cannot read the parameter name {name!r} in a configurationsFile: it must be letters, "
                "digits, '.' and '_', begin with a letter, and be no word of R such as if or TRUE; use "
                "--format toml or json instead"
            )
    cells = [_irace_cell(name, result.best[name]) if name in result.best else MISSING for name in names]
    if cells == ['""']:
        raise _not_for_irace(names[0], "")  # R takes the line for a blank one
    widths = [max(len(name), len(cell)) for name, cell in zip(names, cells, strict=True)]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in (names, cells)
    )
    return "\n".join(lines)


def _irace_cell(name: str, value: object) -> str:
    """A value in the table: a number as it is, a text in quotes."""
    text = written(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return text
    try:
        return written_cell(text)
    except ValueError:
        raise _not_for_irace(name, text) from None


def _not_for_irace(name: str, text: str) -> UsageError:
    return UsageError(
        f"a configurationsFile of irace cannot hold the value {text!r} of parameter {name!r}; use --format "
        "smac, toml or json instead"
    )


def _as_smac(result: RunResult, _: Scenario) -> str:
    return shell_line(word for name, value in result.best.items() for word in (f"-{name}", written(value)))


def _as_pcs(result: RunResult, scenario: Scenario) -> str:
    """The parameters as a PCS file in which the answer is the default."""
    tables = scenario.space.to_tables()
    for name, value in result.best.items():
        tables["parameters"][name]["default"] = value
    for table in tables["parameters"].values():
        table.pop("digits", None)  # PCS has no word for it, and no default needs it
    try:
        return write_parameter_file(ParameterSpace.from_tables(**tables), "pcs-new").rstrip("\n")
    except SpaceError as error:
        raise UsageError(f"{error.reason}; use --format irace, smac, toml or json instead") from None


FORMS: dict[str, Callable[[RunResult, Scenario], str]] = {
    "command": _as_command,
    "json": _as_json,
    "toml": _as_toml,
    "irace": _as_irace,
    "smac": _as_smac,
    "pcs": _as_pcs,
}
"""How the answer can be written, by the name of the form."""

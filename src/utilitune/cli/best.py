"""``utilitune best``: the answer of a run, ready to be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.texts import FOLDER_HELP

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.errors import UsageError
    from utilitune.scenario.model import Scenario
    from utilitune.session.result import RunResult


def best(
    folder: Annotated[Path, typer.Argument(help=FOLDER_HELP)],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="command (a line for the shell, put your instance where INSTANCE stands), json, toml, irace "
            "(a configurationsFile), smac (an initial_incumbent) or pcs (a PCS file with these defaults).",
        ),
    ] = "command",
) -> None:
    """Print the best configuration so far, exactly as it can be pasted elsewhere.

    For example:

    - `utilitune best scenario.run`
    - `utilitune best scenario.run --format json | jq .best`
    """
    import contextlib

    from utilitune.errors import UsageError, did_you_mean
    from utilitune.scenario.model import Scenario
    from utilitune.session.result import RunResult
    from utilitune.store import read_run_folder

    if form not in _FORMATS:
        raise UsageError(f"there is no format {form!r}; {did_you_mean(form, _FORMATS)}")
    with contextlib.closing(read_run_folder(folder)) as store:
        result = RunResult.read(store, folder, with_runs=False)
        scenario = Scenario.from_snapshot(store.snapshot.scenario)
    typer.echo(_FORMATS[form](result, scenario))


def _as_command(result: RunResult, _: Scenario) -> str:
    return result.command


def _as_json(result: RunResult, _: Scenario) -> str:
    import json

    return json.dumps(result.to_dict(), ensure_ascii=False, indent=2)


def _as_toml(result: RunResult, _: Scenario) -> str:
    """Parameters as TOML keys, after a comment that holds the promise."""
    from utilitune.scenario.writer import toml_value

    lines = [f"{toml_value(name)} = {toml_value(value)}" for name, value in result.best.items()]
    return "\n".join([f"# {result.promise.sentence()}", *lines])


def _as_irace(result: RunResult, scenario: Scenario) -> str:
    """A table of configurations with one row: numbers, quoted texts, NA where a parameter does not apply."""
    from utilitune.errors import UsageError
    from utilitune.scenario.dialects.r_tables import MISSING, is_column_name

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
    from utilitune.scenario.dialects.r_tables import written_cell
    from utilitune.targets.command import written

    text = written(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return text
    try:
        return written_cell(text)
    except ValueError:
        raise _not_for_irace(name, text) from None


def _not_for_irace(name: str, text: str) -> UsageError:
    from utilitune.errors import UsageError

    return UsageError(
        f"a configurationsFile of irace cannot hold the value {text!r} of parameter {name!r}; use --format "
        "smac, toml or json instead"
    )


def _as_smac(result: RunResult, _: Scenario) -> str:
    import shlex

    from utilitune.targets.command import written

    return " ".join(
        f"{shlex.quote(f'-{name}')} {shlex.quote(written(value))}" for name, value in result.best.items()
    )


def _as_pcs(result: RunResult, scenario: Scenario) -> str:
    """The parameters as a PCS file in which the answer is the default."""
    from utilitune.errors import UsageError
    from utilitune.spaces import ParameterSpace, SpaceError
    from utilitune.spaces.dialects import write_parameter_file

    tables = scenario.space.to_tables()
    for name, value in result.best.items():
        tables["parameters"][name]["default"] = value
    for table in tables["parameters"].values():
        table.pop("digits", None)  # PCS has no word for it, and no default needs it
    try:
        return write_parameter_file(ParameterSpace.from_tables(**tables), "pcs-new").rstrip("\n")
    except SpaceError as error:
        raise UsageError(f"{error.reason}; use --format irace, smac, toml or json instead") from None


_FORMATS: dict[str, Callable[[RunResult, Scenario], str]] = {
    "command": _as_command,
    "json": _as_json,
    "toml": _as_toml,
    "irace": _as_irace,
    "smac": _as_smac,
    "pcs": _as_pcs,
}

"""``utilitune best``: the answer of a run, ready to be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.texts import FOLDER_HELP

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.session.result import RunResult


def best(
    folder: Annotated[Path, typer.Argument(help=FOLDER_HELP)],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="command (a line for the shell, put your instance where INSTANCE stands), json or toml.",
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
    from utilitune.session.result import RunResult
    from utilitune.store import read_run_folder

    if form not in _FORMATS:
        raise UsageError(f"there is no format {form!r}; {did_you_mean(form, _FORMATS)}")
    with contextlib.closing(read_run_folder(folder)) as store:
        result = RunResult.read(store, folder, with_runs=False)
    typer.echo(_FORMATS[form](result))


def _as_command(result: RunResult) -> str:
    return result.command


def _as_json(result: RunResult) -> str:
    import json

    return json.dumps(result.to_dict(), ensure_ascii=False, indent=2)


def _as_toml(result: RunResult) -> str:
    """Parameters as TOML keys, after a comment that holds the promise."""
    from utilitune.scenario.writer import toml_value

    lines = [f"{toml_value(name)} = {toml_value(value)}" for name, value in result.best.items()]
    return "\n".join([f"# {result.promise.sentence()}", *lines])


_FORMATS: dict[str, Callable[[RunResult], str]] = {
    "command": _as_command,
    "json": _as_json,
    "toml": _as_toml,
}

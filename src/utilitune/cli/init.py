"""``utilitune init``: write a commented starter scenario, from a template or by asking."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.errors import UsageError, UtilituneError

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.scenario.template import Answers

SCENARIO_FILE = "scenario.toml"
_WITHOUT_QUESTIONS = "utilitune init --template sat|command|python|recorded"


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write scenario.toml.")] = Path(),
    template: Annotated[
        str | None,
        typer.Option(
            "--template",
            "-t",
            help="What to configure: sat (a SAT solver), command (any program), python (a function) or "
            "recorded (runtimes in a file); without it you are asked.",
        ),
    ] = None,
) -> None:
    """Write a commented scenario file to start from.

    A scenario says what to run, which parameters may be changed, on which instances, and what an answer is
    worth.

    For example:

    - `utilitune init my-task`
    - `utilitune init my-task --template sat`
    """
    from utilitune.scenario.template import companion_files, starter_scenario

    if template is None and not _is_terminal():
        raise UsageError(f"choose what to start from: {_WITHOUT_QUESTIONS}")
    _refuse_existing(folder / SCENARIO_FILE)
    name = folder.resolve().name or "my-scenario"
    kind, answers = (template, _default_answers(name)) if template else _asked(name)
    written = {SCENARIO_FILE: starter_scenario(kind, answers), **companion_files(kind)}
    for file_name in written:
        _refuse_existing(folder / file_name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in written.items():
            (folder / file_name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    path = folder / SCENARIO_FILE
    typer.echo(f"Wrote {' and '.join(str(folder / file_name) for file_name in written)}.")
    typer.echo(f"Edit it, then try one run with: utilitune check {shlex.quote(str(path))}")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise UsageError(f"{path} exists and is left as it is; choose another folder or remove it first")


def _default_answers(name: str) -> Answers:
    from utilitune.scenario.template import Answers

    return Answers(name=name)


def _asked(name: str) -> tuple[str, Answers]:
    """The answers to all questions; an input that ends before them is a mistake, unlike Ctrl-C."""
    try:
        return _ask(name)
    except typer.Abort as ended:
        if not isinstance(ended.__context__, EOFError):
            raise
        typer.echo()  # the question has no end of line yet
        raise UsageError(
            "nothing is written, for the answers ended too early; start again, or without questions: "
            f"{_WITHOUT_QUESTIONS}"
        ) from None


def _ask(name: str) -> tuple[str, Answers]:
    """Ask for what matters most; everything else is explained in the file."""
    from utilitune.scenario.template import KINDS, Answers
    from utilitune.utility import parse_duration, parse_utility

    for kind, purpose in KINDS.items():
        typer.echo(f"  {kind:10} {purpose}")
    kind = _prompt("What do you want to configure?", "command", _known_kind)
    standard = Answers(name=name)
    command: tuple[str, ...] | None = None
    training = standard.training
    if kind in {"sat", "command"}:
        program = _prompt("Program", "kissat" if kind == "sat" else "./solver", _program)
        command = (program, "--seed={seed}", "{parameters}", "{instance}")
        training = typer.prompt("Training instances (folder, pattern or list file)", default=training)
    return kind, Answers(
        name=typer.prompt("Name", default=name),
        command=command,
        training=training,
        utility=_prompt("What is an answer worth after a time", standard.utility, parse_utility),
        largest_captime=_prompt("Longest time for one run", standard.largest_captime, parse_duration),
        wall_time=_prompt("Time for the whole search", standard.wall_time, parse_duration),
    )


def _prompt(question: str, default: str, check: Callable[[str], object]) -> str:
    """Ask until the answer passes the check."""
    while True:
        answer = str(typer.prompt(question, default=default)).strip()
        try:
            check(answer)
        except UtilituneError as error:
            typer.echo(f"  {error}")
        else:
            return answer


def _known_kind(text: str) -> None:
    from utilitune.scenario.template import starter_scenario

    starter_scenario(text)


def _program(text: str) -> None:
    if not text or "{" in text or "}" in text:
        raise UsageError("write the plain name or path of the program; its arguments are edited in the file")

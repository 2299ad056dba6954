"""``utilitune init``: write a commented starter scenario, from a template or by asking."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.terminal import say
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
    kind, answers = (template, _default_answers(name)) if template else _asked(name, folder)
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
    say(f"Wrote {' and '.join(str(folder / file_name) for file_name in written)}.")
    say(f"Edit it, then try one run with: utilitune check {shlex.quote(str(path))}")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise UsageError(f"{path} exists and is left as it is; choose another folder or remove it first")


def _default_answers(name: str) -> Answers:
    from utilitune.scenario.template import Answers

    return Answers(name=name)


def _asked(name: str, folder: Path) -> tuple[str, Answers]:
    """The answers to all questions; an input that ends before them is a mistake, unlike Ctrl-C."""
    try:
        return _ask(name, folder)
    except typer.Abort as ended:
        if not isinstance(ended.__context__, EOFError):
            raise
        say()  # the question has no end of line yet
        raise UsageError(
            "nothing is written, for the answers ended too early; start again, or without questions: "
            f"{_WITHOUT_QUESTIONS}"
        ) from None


def _ask(name: str, folder: Path) -> tuple[str, Answers]:
    """Ask for what matters most; everything else is explained in the file."""
    from utilitune.scenario.template import KINDS, SOLVERS, Answers, known_solver
    from utilitune.utility import parse_duration

    for kind, purpose in KINDS.items():
        say(f"  {kind:10} {purpose}")
    kind = _prompt("What do you want to configure?", "command", _known_kind)
    standard = Answers(name=name)
    command: tuple[str, ...] | None = None
    training, test, solver = standard.training, None, None
    if kind in {"sat", "command"}:
        program = _prompt("Program", "kissat" if kind == "sat" else "./solver", _program)
        solver = known_solver(program) if kind == "sat" else None
        arguments: tuple[str, ...] = ("--seed={seed}", "{parameters}", "{instance}")
        if solver is not None:
            say(f"  The parameters of {solver} are known and will stand in the file.")
            arguments = SOLVERS[solver].arguments
        command = (_from_folder(program, folder, is_program=True), *arguments)
        training = _place("Training instances (folder, pattern or list file)", training, folder)
        test = _place("Test instances, to judge the answer on (may stay empty)", "", folder) or None
    return kind, Answers(
        name=typer.prompt("Name", default=name),
        command=command,
        training=training,
        test=test,
        solver=solver,
        utility=_asked_utility(standard.utility),
        largest_captime=_prompt("Longest time for one run", standard.largest_captime, parse_duration),
        wall_time=_prompt("Time for the whole search", standard.wall_time, parse_duration),
    )


def _place(question: str, default: str, folder: Path) -> str:
    """A place of instances, checked where the user stands, and written as the scenario's folder sees it."""
    while True:
        answer = str(typer.prompt(question, default=default, show_default=bool(default))).strip()
        if not answer or _is_there(answer):
            return _from_folder(answer, folder)
        say(f"  {answer} is not there, seen from {Path.cwd()}.")
        if typer.confirm("  Use it anyway?", default=False):
            return _from_folder(answer, folder)


def _is_there(text: str) -> bool:
    """Whether a path or pattern names something."""
    path = Path(text).expanduser()
    if not any(sign in text for sign in "*?["):
        return path.exists()
    fixed = next(parent for parent in path.parents if not any(sign in str(parent) for sign in "*?["))
    return any(fixed.glob(str(path.relative_to(fixed))))


def _from_folder(text: str, folder: Path, *, is_program: bool = False) -> str:
    """A path that the user wrote, seen from the folder of the scenario; names of programs stay names."""
    import os

    if not text or Path(text).is_absolute() or (is_program and "/" not in text):
        return text
    if not Path(text).parent.exists() and not _is_there(text):
        return text
    seen = os.path.relpath(Path.cwd() / text, folder.resolve())
    return f"./{seen}" if is_program and "/" not in seen else seen


_UTILITIES = {
    "1": (
        "Sooner is better, and never worthless: half the worth is gone after",
        "10s",
        "log-laplace(k0={}, alpha=1)",
    ),
    "2": ("A deadline: worth everything until then, nothing after", "60s", "step(deadline={})"),
    "3": ("Falling evenly, worth nothing after", "60s", "uniform(k0={})"),
}


def _asked_utility(default: str) -> str:
    """What an answer is worth, by a situation in words, or as an expression."""
    from utilitune.utility import parse_duration, parse_utility

    say("  What is an answer worth after a time?")
    for number, (words, usual, _) in _UTILITIES.items():
        say(f"  {number}  {words} … (such as {usual})")
    say(f"  Or an expression such as {default}; 'utilitune utility' draws and explains it.")

    def check(text: str) -> None:
        if text not in _UTILITIES:
            parse_utility(text)

    chosen = _prompt("Number or expression", "1", check)
    if chosen not in _UTILITIES:
        return chosen
    words, usual, form = _UTILITIES[chosen]
    return form.format(_prompt(words, usual, parse_duration))


def _prompt(question: str, default: str, check: Callable[[str], object]) -> str:
    """Ask until the answer passes the check."""
    while True:
        answer = str(typer.prompt(question, default=default)).strip()
        try:
            check(answer)
        except UtilituneError as error:
            say(f"  {error}")
        else:
            return answer


def _known_kind(text: str) -> None:
    from utilitune.scenario.template import starter_scenario

    starter_scenario(text)


def _program(text: str) -> None:
    if not text or "{" in text or "}" in text:
        raise UsageError("write the plain name or path of the program; its arguments are edited in the file")

"""``utilitune init``: write a commented starter scenario, from a template or by asking."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.terminal import is_terminal, say
from utilitune.errors import UsageError, UtilituneError
from utilitune.errors.outside import printable, shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.scenario.template import Answers
    from utilitune.utility import Utility
    from utilitune.utility.designing import Situation

SCENARIO_FILE = "scenario.toml"
_USUAL_SITUATION = "half"
_HARDLY = 0.1
_SHORTEST_S, _LONGEST_S = 1.0, 3600.0
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

    if template is None and not is_terminal():
        raise UsageError(f"choose what to start from: {_WITHOUT_QUESTIONS}")
    _refuse_existing(folder / SCENARIO_FILE)
    name = printable(Path(os.path.abspath(folder)).name) or "my-scenario"  # noqa: PTH100 - links may go round
    kind, answers = _asked(name, folder) if template is None else (template, _default_answers(name))
    written = {SCENARIO_FILE: starter_scenario(kind, answers), **companion_files(kind)}
    for file_name in written:
        _refuse_existing(folder / file_name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in written.items():
            (folder / file_name).write_text(text, encoding="utf-8")
    except OSError as error:
        for file_name in written:  # a part of it would be in the way of the next try
            with contextlib.suppress(OSError):
                (folder / file_name).unlink()
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    path = folder / SCENARIO_FILE
    say(f"Wrote {' and '.join(str(folder / file_name) for file_name in written)}.")
    say(f"Edit it, then try one run with: utilitune check {shell_word(str(path))}")


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
            "nothing is written, because the answers ended too early; start again, or without questions: "
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
        command = (*_program_words(program, folder), *arguments)
        training = _place("Training instances (folder, pattern or list file)", training, folder)
        test = _place("Test instances, to judge the answer on (may stay empty)", "", folder) or None
    name = typer.prompt("Name", default=name)
    utility = _asked_utility(standard.utility)
    return kind, Answers(
        name=name,
        command=command,
        training=training,
        test=test,
        solver=solver,
        utility=utility,
        largest_captime=_prompt("Longest time for one run", _usual_captime(utility), parse_duration),
        wall_time=_prompt("Time for the whole search", standard.wall_time, parse_duration),
    )


def _program_words(program: str, folder: Path) -> Iterator[str]:
    """A program as the scenario's folder sees it, with what was written behind it: python3 solver.py."""
    name, *more = [program] if Path(program).exists() else shlex.split(program)
    yield _from_folder(name, folder, is_program=True)
    for word in more:
        yield _from_folder(word, folder) if _is_there(word) else word


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
    if not text or Path(text).is_absolute() or (is_program and "/" not in text):
        return text
    if not Path(text).parent.exists() and not _is_there(text):
        return text
    seen = os.path.relpath(Path.cwd() / text, os.path.realpath(folder))
    return f"./{seen}" if is_program and "/" not in seen else seen


def _asked_utility(default: str) -> str:
    """What an answer is worth: by the designer's situations, in words, or as an expression."""
    from utilitune.utility import Product, parse_utility
    from utilitune.utility.designing import SITUATIONS

    say("  What is an answer worth after a time? Which of these fit (several: 1, 2)?")
    for number, situation in enumerate(SITUATIONS, 1):
        say(f"  {number}  {situation.title}")
    say("  Or in words, such as 'useless after 10 minutes, 0.05 per hour', or as an expression such")
    say(f"  as {default}. 'utilitune utility design' asks more, and draws it.")

    usual = next(number for number, each in enumerate(SITUATIONS, 1) if each.name == _USUAL_SITUATION)
    chosen = _prompt("Numbers, words or expression", str(usual), _worth)
    numbers = _numbers(chosen)
    parts = tuple(_asked_situation(SITUATIONS[number - 1]) for number in numbers)
    combined = str(Product(parts) if len(parts) > 1 else parts[0]) if parts else _worth(chosen)
    say(f"  Understood: an answer is {parse_utility(combined).describe()}.")
    return combined


def _worth(text: str) -> str:
    """The utility that words or an expression mean; nothing for numbers, which have to exist."""
    from utilitune.utility import parse_utility
    from utilitune.utility.designing import SITUATIONS, understand

    if numbers := _numbers(text):
        if not all(1 <= number <= len(SITUATIONS) for number in numbers):
            raise UsageError(f"the situations have the numbers 1 to {len(SITUATIONS)}")
        return ""
    if "(" in text or ":" in text:
        parse_utility(text)
        return text
    return str(understand(text).utility)


def _numbers(text: str) -> list[int]:
    """The numbers of situations, where there is nothing else."""
    parts = text.replace(",", " ").split()
    return [int(part) for part in parts] if all(re.fullmatch(r"[0-9]{1,3}", part) for part in parts) else []


def _asked_situation(situation: Situation) -> Utility:
    """The utility of a situation, its blanks filled in by the user."""
    while True:
        values = [str(typer.prompt(blank.question, default=blank.usual)) for blank in situation.blanks]
        try:
            return situation.means(*values)
        except UtilituneError as error:
            say(f"  {error}")


def _usual_captime(utility: str) -> str:
    """When hardly anything is left of the worth of an answer: no run needs longer."""
    from utilitune.utility import format_duration, parse_utility

    worth = parse_utility(utility)
    return format_duration(min(_LONGEST_S, max(_SHORTEST_S, worth.time_to_fall_to(worth.infimum + _HARDLY))))


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
    try:
        shlex.split(text)
    except ValueError:
        raise UsageError(
            f"a quote in {text!r} is not closed: write the plain name or path of the program"
        ) from None

"""Reading the scenario a command was given, and saying once what was understood of a foreign one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.live.running import RunSettings
    from utilitune.scenario import Scenario, Understanding

_TOOLS = {"irace": "irace", "smac": "SMAC or AClib"}


_SETTINGS = {
    "limits.largest_captime": {"irace": "boundMax", "smac": "cutoff_time"},
    "budget.wall_time": {"irace": "maxTime", "smac": "wallclock_limit"},
    "instances.test": {"irace": "testInstancesFile", "smac": "test_instance_file"},
    "target.command": {"irace": "targetCmdline"},
}
"""Settings of ours that other tools have a word for."""


def told(path: Path) -> Scenario:
    """The scenario in a file; a file of another tool is explained on the standard error stream."""
    return explained(path).scenario


GUESSED = "What counts is guessed:"
"""Begins the sentence on what a file leaves open."""


def explained(path: Path, *, guess_on_stdout: bool = False) -> Understanding:
    """What is understood of a file, also told on the standard error stream, first what was guessed.

    Args:
        path: The file.
        guess_on_stdout: Whether what was guessed is a part of what the command has to say.
    """
    from utilitune.cli.texts import words
    from utilitune.scenario import understand

    understanding = understand(path)
    if understanding.guess:
        console = words(stderr=not guess_on_stdout)
        console.print(f"{GUESSED} {understanding.guess}", style="yellow" if guess_on_stdout else None)
    lines = explanation(path, understanding)
    if understanding.dialect.value in _TOOLS:
        lines.append(
            f"To change what such a file cannot say, such as the utility: {converting(path, understanding)}"
        )
    for line in lines:
        words(stderr=True).print(line)
    return understanding


def setting(path: Path, understanding: Understanding, key: str) -> str:
    """What to call a setting in advice: as the user's own tool calls it, where it has a word for it.

    The key may come with a value, as in "target.reported_runtime = true".
    """
    if understanding.dialect.value not in _TOOLS:
        return key
    word = _SETTINGS.get(key, {}).get(understanding.dialect.value)
    return word or f"{key} in the file that '{converting(path, understanding)}' writes"


def converting(path: Path, understanding: Understanding) -> str:
    """The command that writes a scenario of another tool as one of ours, in the folder where it belongs."""
    import os
    from pathlib import Path

    from utilitune.errors.outside import shell_line

    output = Path(os.path.relpath(understanding.scenario.directory)) / f"{path.stem}.toml"
    return shell_line(["utilitune", "convert", path, "-o", output])


def settings_told(path: Path, scenario: Scenario, workers: int | None = None) -> RunSettings:
    """The settings a scenario asks for; what is wrong in them is said with its place in the file."""
    from utilitune.errors import ScenarioError, UsageError
    from utilitune.live.running import settings_of
    from utilitune.live.task import Task
    from utilitune.scenario.source import Source

    try:
        settings = settings_of(scenario)
    except UsageError as error:
        if path.suffix == ".toml":
            raise Source.read(path).problem(("procedure",), str(error)) from None
        raise ScenarioError(str(error), path=path) from None
    return replace(settings, workers=Task(scenario).worker_count(workers))


def check_search_told(
    path: Path, scenario: Scenario, settings: RunSettings, folder: Path | None = None
) -> None:
    """Refuse a procedure or a search method that cannot be used, with its place in the file."""
    from utilitune.errors import ScenarioError, UsageError
    from utilitune.live.running import check_procedure, check_search
    from utilitune.live.task import Task
    from utilitune.scenario.source import Source

    try:
        check_procedure(Task(scenario), settings, folder)
    except UsageError as error:
        if path.suffix == ".toml":
            raise Source.read(path).problem(("procedure",), str(error)) from None
        raise
    try:
        check_search(Task(scenario), settings, folder)
    except ScenarioError as error:
        if path.suffix == ".toml":
            raise Source.read(path).problem(("search", "method"), str(error)) from None
        raise


def explanation(path: Path, understanding: Understanding) -> list[str]:
    """What was understood of a foreign file, in lines; of our own, only notes on a parameter file."""
    tool = _TOOLS.get(understanding.dialect.value)
    if tool is None:
        return [f"Note: {text}" for text in understanding.understood]
    lines = [f"{path} is a scenario for {tool}. It means here:"]
    lines += [f"  {text}" for text in understanding.understood]
    if understanding.without_meaning:
        lines += ["These lines of it have no meaning here:"]
        lines += [f"  {text}" for text in understanding.without_meaning]
    return lines

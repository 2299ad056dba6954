"""How irace calls its target runner, in our placeholders."""

from __future__ import annotations

import shlex
import string
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import did_you_mean
from utilitune.errors.outside import is_file
from utilitune.scenario.dialects.instance_lists import PlacedInstances, seen_from
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import CommandSpec
from utilitune.scenario.switches import switch_templates
from utilitune.targets.command import PARAMETERS, SPECIFICS, literal
from utilitune.targets.wrappers import Contract, WrapperRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.scenario.dialects.irace_values import IraceValues
    from utilitune.spaces.dialects import ParameterFile

_USUAL_CMDLINE = "{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"
_USUAL_LAUNCHER_ARGUMENTS = "{targetRunner} {targetCmdline}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What limits a run: the largest captime, the penalty factor, and how the runner learns of it."""

    largest_s: float | None
    factor: float
    passed: bool
    whole: bool


class RunnerCall:
    """Turns what a scenario says of its runner into a command.

    Args:
        values: The scenario's values.
        directory: Where the runner is started.
    """

    def __init__(self, values: IraceValues, directory: Path) -> None:
        self._values = values
        self._notes, self._folder = values.notes, values.folder
        self._directory = directory

    def target(
        self,
        parameters: ParameterFile,
        bounds: Bounds,
        training: PlacedInstances,
        test: PlacedInstances | None,
    ) -> CommandSpec:
        """The program that is run, and how.

        Args:
            parameters: What can be set, and how it is written.
            bounds: What limits a run.
            training: The instances it is configured on, some with arguments of their own.
            test: The instances it is evaluated on.
        """
        runner = self._runner()
        placed = [each for each in (training, test) if each is not None]
        files = all(each.listed.files for each in placed)
        whole_lines = any(each.whole_lines for each in placed)
        arguments = self._command_line(bounds, files=files, whole_lines=whole_lines)
        contract = Contract.IRACE
        if self._values.switch("aclib"):
            contract = Contract.ACLIB2
            arguments = [
                "--instance",
                "{instance_path}" if files else "{instance}",
                "--cutoff",
                "{captime}",
                "--seed",
                "{seed}",
                "--config",
            ]
            arguments.append(PARAMETERS)
            self._notes.say("aclib = 1", "the runner is called as AClib2 wrappers are")
        launcher = self._values.text("targetRunnerLauncher")
        if launcher is None:
            argv = (literal(runner), *arguments)
            if self._values.text("targetRunnerLauncherArgs") is not None:
                self._notes.skip("targetRunnerLauncherArgs", "there is no targetRunnerLauncher")
        else:
            argv = (literal(launcher), *self._launched(runner, arguments))
            self._notes.say(f"targetRunnerLauncher = {launcher}", "what starts the runner")
        if program_path(self._directory, argv[0].format()) is None:
            key = "targetRunner" if launcher is None else "targetRunnerLauncher"
            raise self._values.problem(
                key, f"the program {argv[0].format()!r} is not executable or not there; run chmod +x on it"
            )
        return CommandSpec(
            argv,
            templates=switch_templates(parameters),
            rules=WrapperRules(contract),
            specifics={
                name: words
                for each in placed
                for name, words in (each.in_words() if whole_lines else each.arguments).items()
            },
        )

    def _runner(self) -> str:
        named = self._values.text("targetRunner") or "./target-runner"
        if is_file(self._folder / named):
            place_of_link = (self._folder / named).parent.resolve()  # a linked runner may look around itself
            name = seen_from(self._directory, place_of_link / Path(named).name)
            self._notes.say(f"targetRunner = {named}", "the program to run; we meter and stop it ourselves")
            return name if "/" in name else f"./{name}"
        if "/" not in named and program_path(self._folder, named) is not None:
            self._notes.say(f"targetRunner = {named}", "a program on the PATH, metered and stopped by us")
            return named
        raise self._values.problem(
            "targetRunner", f"the target runner {named!r} does not exist; check the path"
        )

    def _command_line(self, bounds: Bounds, *, files: bool, whole_lines: bool) -> list[str]:
        """The arguments of the runner, in our placeholders; files by absolute paths, as irace does."""
        words = {
            "configurationID": "{configuration_id}",
            "instanceID": "{instance_id}",
            "seed": "{seed}",
            "instance": "{instance_path}" if files else "{instance}",
            "bound": ("{whole_captime}" if bounds.whole else "{captime}") if bounds.passed else "",
        }
        own = self._values.text("targetCmdline")
        if own is not None:
            self._notes.say(f"targetCmdline = {own}", "how the program is called")
        arguments: list[str] = []
        for word in self._split("targetCmdline", own or _USUAL_CMDLINE):
            if word == "{targetRunnerArgs}":
                arguments.append(PARAMETERS)
            elif word == "{instance}" and whole_lines:
                arguments.append(SPECIFICS)
            elif "{targetRunnerArgs}" in word:
                raise self._values.problem(
                    "targetCmdline",
                    f"targetCmdline has {{targetRunnerArgs}} inside {word!r}; put blanks around it",
                )
            elif word != "{bound}" or bounds.passed:
                arguments.append(self._filled("targetCmdline", word, words))
            if "{instance}" in word and not whole_lines:
                arguments.append(SPECIFICS)
        if PARAMETERS not in arguments:
            raise self._values.problem(
                "targetCmdline",
                "targetCmdline needs {targetRunnerArgs} as a word of its own, for the parameters",
            )
        return arguments

    def _launched(self, runner: str, arguments: list[str]) -> list[str]:
        """The arguments of a launcher, such as an interpreter, that starts the runner."""
        key = "targetRunnerLauncherArgs"
        launched: list[str] = []
        for word in self._split(key, self._values.text(key) or _USUAL_LAUNCHER_ARGUMENTS):
            if word == "{targetCmdline}":
                launched += arguments
            else:
                launched.append(self._filled(key, word, {"targetRunner": literal(runner)}))
        return launched

    def _split(self, key: str, template: str) -> list[str]:
        try:
            return shlex.split(template)
        except ValueError:
            raise self._values.problem(
                key, f"{key} has a quotation mark that is not closed; close it"
            ) from None

    def _filled(self, key: str, word: str, known: Mapping[str, str]) -> str:
        """A word with irace's placeholders replaced; everything else in it is literal."""
        filled = []
        try:
            pieces = list(string.Formatter().parse(word))
        except ValueError:
            raise self._values.problem(key, f"{key} has an unpaired brace in {word!r}") from None
        for text, name, form, conversion in pieces:
            filled.append(literal(text))
            if name is not None and (name not in known or form or conversion):
                shown = "".join([name, f"!{conversion}" if conversion else "", f":{form}" if form else ""])
                raise self._values.problem(
                    key, f"{key} has the unknown placeholder {{{shown}}}; {did_you_mean(name, known)}"
                )
            filled.append("" if name is None else known[name])
        return "".join(filled)

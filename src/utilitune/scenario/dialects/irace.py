"""irace's ``scenario.txt``: literal R assignments.

All relative paths start at the folder of the scenario file, and the runner is started in ``execDir``. It is
called as irace calls it: ``targetRunner configurationID instanceID seed instance [bound] switches…``, or as
``targetCmdline`` says. A bound is there exactly when irace would use capping.
"""

from __future__ import annotations

import math
import shlex
import string
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, did_you_mean
from utilitune.scenario.dialects.configurations import read_configurations_table
from utilitune.scenario.dialects.instance_lists import (
    Entry,
    PlacedInstances,
    all_files,
    place,
    read_entries,
    seen_from,
)
from utilitune.scenario.dialects.irace_keys import KEYS, REFUSED, WITHOUT_MEANING
from utilitune.scenario.dialects.r_literals import Assigned, Literal, read_assignments
from utilitune.scenario.dialects.understanding import (
    LEAST_BOUND_S,
    Dialect,
    Notes,
    Understanding,
    penalised_utility,
    smallest_captime_s,
    utility_in_words,
)
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import (
    DEFAULT_SEED,
    CommandSpec,
    Scenario,
    StopRules,
)
from utilitune.scenario.switches import switch_templates
from utilitune.spaces.dialects import read_parameter_file
from utilitune.spaces.parameters import MOST_DIGITS
from utilitune.targets.command import PARAMETERS, SPECIFICS, literal
from utilitune.targets.wrappers import Contract, WrapperRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.spaces import Assignment
    from utilitune.spaces.dialects import ParameterFile

_USUAL_CMDLINE = "{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"
_ROLES = {"train": "training", "test": "test"}
_USUAL_LAUNCHER_ARGUMENTS = "{targetRunner} {targetCmdline}"


def read_irace_scenario(path: Path, text: str) -> Understanding:
    """Read an irace scenario.

    Raises:
        ScenarioError: Something is wrong or is R code; the text names the file and the line.
    """
    return _IraceReader(path, read_assignments(path, text)).read()


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What limits a run: the largest captime, the penalty factor, and how the runner learns of it."""

    largest_s: float | None
    factor: float
    passed: bool
    whole: bool


class _IraceReader:
    """Turns the assignments of one file into a scenario."""

    def __init__(self, path: Path, assigned: Mapping[str, Assigned]) -> None:
        self._path = path
        self._assigned = assigned
        self._folder = path.parent.resolve()
        self._notes = Notes()
        self._check_keys()
        self._directory = self._file("execDir", "./", "the folder to run in")
        if not self._directory.is_dir():
            raise self._problem("execDir", f"execDir, {self._text('execDir')!r}, is no folder; name one")

    # -- the whole ---------------------------------------------------------------------------------------

    def read(self) -> Understanding:
        parameters = self._parameters()
        bounds = self._bounds()
        training = self._instances("train")
        if training is None:
            raise self._problem(
                "trainInstancesDir", "trainInstancesDir or trainInstancesFile must say what to train on"
            )
        test = self._instances("test")
        target = self._target(parameters, bounds, training, test)
        seed = self._whole("seed")
        scenario = Scenario(
            name=self._folder.name if self._path.stem == "scenario" else self._path.stem,
            directory=self._directory,
            target=target,
            space=parameters.space,
            training=training.listed,
            test=None if test is None else test.listed,
            utility=penalised_utility(bounds.largest_s, bounds.factor),
            captime0_s=smallest_captime_s(bounds.largest_s),
            max_captime_s=bounds.largest_s,
            stop=self._stop_rules(),
            seed=DEFAULT_SEED if seed is None else seed,
            workers=self._workers(),
            initial=self._initial(parameters),
        )
        if seed is not None:
            self._notes.say(f"seed = {seed}", "what every random choice follows from")
        if self._switch("deterministic") is not None:
            self._notes.say("deterministic", "every instance has one seed, the same for all configurations")
        self._notes.say("the measure", utility_in_words(bounds.largest_s, bounds.factor))
        self._notes.skip("the cost a run prints", "how long the run takes counts, its cost does not")
        self._list_meaningless()
        return Understanding(
            scenario, Dialect.IRACE, tuple(self._notes.understood), tuple(self._notes.without_meaning)
        )

    def _check_keys(self) -> None:
        for key, assigned in self._assigned.items():
            if key.startswith("."):
                self._notes.skip(key, "a name of your own")
            elif key not in KEYS:
                raise ScenarioError(
                    f"irace has no option {key!r}; {did_you_mean(key, KEYS)}",
                    path=self._path,
                    line=assigned.line,
                )
            if key in REFUSED and assigned.value not in (None, "", "0", 0.0):
                raise self._problem(key, f"{key} cannot be used: {REFUSED[key]}; remove it")

    def _list_meaningless(self) -> None:
        for key, assigned in self._assigned.items():
            if key in WITHOUT_MEANING | {"elitist"} and self._raw(key) is not None:
                self._notes.skip(key)
            for line in assigned.earlier:
                self._notes.skip(
                    f"{key} in line {line}", f"assigned again in line {assigned.line}, which counts"
                )

    # -- values --------------------------------------------------------------------------------------------

    def _problem(self, key: str, reason: str) -> ScenarioError:
        line = self._assigned[key].line if key in self._assigned else None
        return ScenarioError(reason, path=self._path, line=line)

    def _raw(self, key: str) -> Literal:
        """The value of a key; an empty text says as little as NULL."""
        value = self._assigned[key].value if key in self._assigned else None
        return None if value == "" else value

    def _text(self, key: str) -> str | None:
        value = self._raw(key)
        if value is not None and not isinstance(value, str):
            raise self._problem(key, f"{key} must be a text in quotes, not {value!r}")
        return value

    def _number(self, key: str) -> float | None:
        """A number that is not negative; irace writes 0 where a limit is not meant, so 0 stays."""
        value = self._raw(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, float) or not 0 <= value < math.inf:
            raise self._problem(key, f"{key} must be a number from 0 up, not {value!r}")
        return value

    def _whole(self, key: str) -> int | None:
        value = self._number(key)
        if value is not None and not value.is_integer():
            raise self._problem(key, f"{key} must be a whole number, not {value:g}")
        return None if value is None else int(value)

    def _switch(self, key: str) -> bool | None:
        """What is on or off: TRUE and FALSE, or 1 and 0."""
        value = self._raw(key)
        if value is not None and (isinstance(value, list) or value not in {True, False, "0", "1"}):
            raise self._problem(key, f"{key} must be TRUE or FALSE, or 1 or 0, not {value!r}")
        return None if value is None else value not in {False, "0"}

    def _file(self, key: str, usual: str, what: str) -> Path:
        named = self._text(key) or usual
        found = Path.resolve(self._folder / named)
        if not found.exists():
            raise self._problem(key, f"{what}, {named!r}, does not exist beside the scenario; check {key}")
        return found

    # -- parts ---------------------------------------------------------------------------------------------

    def _parameters(self) -> ParameterFile:
        path = self._file("parameterFile", "./parameters.txt", "the parameter file")
        digits = self._whole("digits")
        if digits is not None and digits > MOST_DIGITS:
            raise self._problem(
                "digits", f"digits must be a whole number from 0 to {MOST_DIGITS}, not {digits}"
            )
        forbidden = self._text("forbiddenFile")
        if forbidden is not None:
            self._notes.say(f"forbiddenFile = {forbidden}", "combinations that are never tried")
        read = read_parameter_file(
            path,
            "irace",
            digits=digits,
            forbidden_file=None
            if forbidden is None
            else self._file("forbiddenFile", "", "the file of forbidden expressions"),
        )
        count = len(read.space.names)
        self._notes.say(f"parameterFile = {path.name}", f"{count} parameter{'' if count == 1 else 's'}")
        self._notes.understood.extend(read.notes)
        if digits is not None and digits == read.digits:
            self._notes.say(f"digits = {digits}", "decimal places of real numbers")
        elif digits is not None:
            self._notes.skip(f"digits = {digits}", f"digits = {read.digits} in {path.name} counts")
        return read

    def _bounds(self) -> _Bounds:
        limits = {key: self._number(key) or math.inf for key in ("boundMax", "targetRunnerTimeout")}
        largest_s = min(limits.values())
        for key, limit_s in limits.items():
            if limit_s == largest_s < math.inf:
                self._notes.say(f"{key} = {limit_s:.15g}", f"largest captime {limit_s:.15g} s")
            elif limit_s < math.inf:
                self._notes.skip(f"{key} = {limit_s:.15g}", f"every run is stopped after {largest_s:.15g} s")
        if largest_s < LEAST_BOUND_S:
            key = min(limits, key=limits.__getitem__)
            raise self._problem(key, f"{key} = {largest_s:.15g} is too short for any run; it is in seconds")
        bounds = _Bounds(
            largest_s=None if largest_s == math.inf else largest_s,
            factor=self._number("boundPar") or 1.0,
            passed=self._passes_bound(),
            whole=not self._whole("boundDigits"),
        )
        if bounds.passed:
            self._notes.say("capping", "the runner is told the bound, and stopped by us when it is reached")
        elif self._raw("capping") is not None:
            self._notes.say("capping", "the runner is not told the bound, but stopped by us")
        if bounds.passed and self._raw("boundDigits") is not None:
            told = "rounded up to whole seconds" if bounds.whole else "as it is"
            self._notes.say("boundDigits", f"the bound is told {told}")
        elif self._raw("boundDigits") is not None:
            self._notes.skip("boundDigits", "the runner is not told the bound")
        if bounds.largest_s is None and self._raw("boundPar") is not None:
            self._notes.skip("boundPar", "there is no boundMax")
        return bounds

    def _passes_bound(self) -> bool:
        """Whether irace would cap, and so tell the runner its bound."""
        if not self._number("boundMax"):
            return False
        capping = self._switch("capping")
        if capping is None:
            return bool(self._number("maxTime")) and self._switch("elitist") is not False
        return capping

    def _stop_rules(self) -> StopRules:
        runs, time_s = self._whole("maxExperiments") or None, self._number("maxTime") or None
        if runs is not None:
            self._notes.say(f"maxExperiments = {runs}", f"at most {runs} runs")
        if time_s is not None:
            self._notes.say(f"maxTime = {time_s:.15g}", f"at most {time_s:.15g} s in runs of the program")
        return StopRules(runs=runs, cpu_time_s=time_s)

    def _workers(self) -> int | None:
        parallel = self._whole("parallel")
        if parallel is None:
            return None
        count = max(1, parallel)
        self._notes.say(f"parallel = {parallel}", f"{count} run{'' if count == 1 else 's'} at once")
        return count

    def _initial(self, parameters: ParameterFile) -> tuple[Assignment, ...]:
        if self._text("configurationsFile") is None:
            return ()
        path = self._file("configurationsFile", "", "the file of configurations")
        found = read_configurations_table(path, parameters.space)
        if not found:
            raise self._problem(
                "configurationsFile", f"{path.name} holds no configurations; add one, or leave it out"
            )
        different = len({given.assignment for given in found})
        count = f"{different} configuration{' is' if different == 1 else 's are'}"
        self._notes.say(f"configurationsFile = {path.name}", f"{count} tried first, after the default")
        lines: dict[Assignment, int] = {}
        for given in found:
            self._notes.skip_unused(path.name, given)
            first = lines.setdefault(given.assignment, given.line)
            if first != given.line:
                self._notes.skip(f"line {given.line} of {path.name}", f"it says the same as line {first}")
        return tuple(lines)

    # -- instances -----------------------------------------------------------------------------------------

    def _instances(self, role: str) -> PlacedInstances | None:
        inline_key = "instances" if role == "train" else "testInstances"
        if self._raw(inline_key) is not None:
            return self._inline(inline_key, role)
        folder_key, list_key = f"{role}InstancesDir", f"{role}InstancesFile"
        folder_name, list_name = self._text(folder_key), self._text(list_key)
        if folder_name is None and list_name is None:
            if role == "test" or not (self._folder / "Instances").is_dir():
                return None
            folder_name = "./Instances"
        folder = None
        if folder_name is not None:
            folder = self._file(folder_key, folder_name, "the folder of instances")
            if not folder.is_dir():
                raise self._problem(folder_key, f"{folder_key}, {folder_name!r}, is no folder; name one")
        if list_name is not None:
            path = self._file(list_key, list_name, "the instance list")
            entries = read_entries(path, lambda line: tuple(shlex.split(line, comments=True)))
            usual = self._folder / "Instances"  # where irace looks when no folder is named
            bases = (self._folder, usual) if folder is None else (folder, self._folder)
            placed = place(entries, path, self._directory if folder is None else folder, bases)
            if folder is not None and not placed.listed.files:
                raise self._problem(
                    list_key, f"no instance of {list_name!r} lies in {folder_name!r}; check both"
                )
            placed = _moved(placed, folder, self._directory)
        else:
            placed = self._all_files(folder_key, folder or self._folder)
        source = f"{list_key} = {list_name}" if list_name else f"{folder_key} = {folder_name}"
        meaning = f"{len(placed.listed.names)} {_ROLES[role]} instances"
        self._notes.say(source, meaning + ("" if placed.listed.files else ", passed as written: no files"))
        self._notes.skip_repeated(list_key, placed.repeated)
        return placed

    def _inline(self, key: str, role: str) -> PlacedInstances:
        """Instances that stand in the scenario itself, which irace prefers to lists and folders."""
        value = self._raw(key)
        items = value if isinstance(value, list) else [value]
        names = [f"{item:.15g}" if isinstance(item, float) else item for item in items]
        if not names or not all(isinstance(name, str) and name for name in names):
            raise self._problem(key, f'{key} must be a list of names such as c("a.txt", "b.txt")')
        line = self._assigned[key].line
        entries = [Entry(str(name), (), line) for name in names]
        placed = place(entries, self._path, self._directory, (self._folder,))
        self._notes.say(key, f"{len(placed.listed.names)} {_ROLES[role]} instances")
        self._notes.skip_repeated(key, placed.repeated)
        for other in (f"{role}InstancesDir", f"{role}InstancesFile"):
            if self._raw(other) is not None:
                self._notes.skip(other, f"{key} names the instances")
        return placed

    def _all_files(self, key: str, folder: Path) -> PlacedInstances:
        entries = all_files(folder, self._directory)
        if not entries:
            raise self._problem(key, f"the folder {folder.name!r} holds no instances; add at least one")
        return place(entries, folder, self._directory, ())

    # -- the runner ------------------------------------------------------------------------------------------

    def _target(
        self,
        parameters: ParameterFile,
        bounds: _Bounds,
        training: PlacedInstances,
        test: PlacedInstances | None,
    ) -> CommandSpec:
        runner = self._runner()
        files = all(placed is None or placed.listed.files for placed in (training, test))
        arguments = self._command_line(bounds, files=files)
        contract = Contract.IRACE
        if self._switch("aclib"):
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
        launcher = self._text("targetRunnerLauncher")
        if launcher is None:
            argv = (literal(runner), *arguments)
            if self._text("targetRunnerLauncherArgs") is not None:
                self._notes.skip("targetRunnerLauncherArgs", "there is no targetRunnerLauncher")
        else:
            argv = (literal(launcher), *self._launched(runner, arguments))
            self._notes.say(f"targetRunnerLauncher = {launcher}", "what starts the runner")
        if program_path(self._directory, argv[0].format()) is None:
            key = "targetRunner" if launcher is None else "targetRunnerLauncher"
            raise self._problem(
                key, f"the program {argv[0].format()!r} is not executable or not there; run chmod +x on it"
            )
        return CommandSpec(
            argv,
            templates=switch_templates(parameters),
            rules=WrapperRules(contract),
            specifics={**training.arguments, **({} if test is None else test.arguments)},
        )

    def _runner(self) -> str:
        named = self._text("targetRunner") or "./target-runner"
        if (self._folder / named).is_file():
            place_of_link = (self._folder / named).parent.resolve()  # a linked runner may look around itself
            name = seen_from(self._directory, place_of_link / Path(named).name)
            self._notes.say(f"targetRunner = {named}", "the program to run; we meter and stop it ourselves")
            return name if "/" in name else f"./{name}"
        if "/" not in named and program_path(self._folder, named) is not None:
            self._notes.say(f"targetRunner = {named}", "a program on the PATH, metered and stopped by us")
            return named
        raise self._problem("targetRunner", f"the target runner {named!r} does not exist; check the path")

    def _command_line(self, bounds: _Bounds, *, files: bool) -> list[str]:
        """The arguments of the runner, in our placeholders; files by absolute paths, as irace does."""
        words = {
            "configurationID": "{configuration_id}",
            "instanceID": "{instance_id}",
            "seed": "{seed}",
            "instance": "{instance_path}" if files else "{instance}",
            "bound": ("{whole_captime}" if bounds.whole else "{captime}") if bounds.passed else "",
        }
        own = self._text("targetCmdline")
        if own is not None:
            self._notes.say(f"targetCmdline = {own}", "how the program is called")
        arguments: list[str] = []
        for word in self._split("targetCmdline", own or _USUAL_CMDLINE):
            if word == "{targetRunnerArgs}":
                arguments.append(PARAMETERS)
            elif "{targetRunnerArgs}" in word:
                raise self._problem(
                    "targetCmdline",
                    f"targetCmdline has {{targetRunnerArgs}} inside {word!r}; put blanks around it",
                )
            elif word != "{bound}" or bounds.passed:
                arguments.append(self._filled("targetCmdline", word, words))
            if "{instance}" in word:
                arguments.append(SPECIFICS)
        if PARAMETERS not in arguments:
            raise self._problem(
                "targetCmdline",
                "targetCmdline needs {targetRunnerArgs} as a word of its own, for the parameters",
            )
        return arguments

    def _launched(self, runner: str, arguments: list[str]) -> list[str]:
        """The arguments of a launcher, such as an interpreter, that starts the runner."""
        key = "targetRunnerLauncherArgs"
        launched: list[str] = []
        for word in self._split(key, self._text(key) or _USUAL_LAUNCHER_ARGUMENTS):
            if word == "{targetCmdline}":
                launched += arguments
            else:
                launched.append(self._filled(key, word, {"targetRunner": literal(runner)}))
        return launched

    def _split(self, key: str, template: str) -> list[str]:
        try:
            return shlex.split(template)
        except ValueError:
            raise self._problem(key, f"{key} has a quotation mark that is not closed; close it") from None

    def _filled(self, key: str, word: str, known: Mapping[str, str]) -> str:
        """A word with irace's placeholders replaced; everything else in it is literal."""
        filled = []
        try:
            pieces = list(string.Formatter().parse(word))
        except ValueError:
            raise self._problem(key, f"{key} has an unpaired brace in {word!r}") from None
        for text, name, form, conversion in pieces:
            filled.append(literal(text))
            if name is not None and (name not in known or form or conversion):
                shown = "".join([name, f"!{conversion}" if conversion else "", f":{form}" if form else ""])
                raise self._problem(
                    key, f"{key} has the unknown placeholder {{{shown}}}; {did_you_mean(name, known)}"
                )
            filled.append("" if name is None else known[name])
        return "".join(filled)


def _moved(placed: PlacedInstances, folder: Path | None, directory: Path) -> PlacedInstances:
    """Names that were found from the folder of instances, as seen from where the program runs."""
    if folder is None or folder == directory:
        return placed
    names = {name: seen_from(directory, folder / name) for name in placed.listed.names}
    listed = replace(placed.listed, names=tuple(names.values()), files=True)
    arguments = {names[name]: words for name, words in placed.arguments.items()}
    return replace(placed, listed=listed, arguments=arguments)

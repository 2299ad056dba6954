"""irace's ``scenario.txt``: literal R assignments.

All relative paths start at the folder of the scenario file, and the runner is started in ``execDir``. It is
called as irace calls it: ``targetRunner configurationID instanceID seed instance [bound] switches…``, or as
``targetCmdline`` says. A bound is there exactly when irace would use capping.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from utilitune.errors import Mistakes, ScenarioError, did_you_mean
from utilitune.errors.outside import exists, is_folder
from utilitune.errors.wording import counted
from utilitune.scenario.dialects.configurations import read_configurations_table
from utilitune.scenario.dialects.instance_lists import (
    Entry,
    PlacedInstances,
    all_files,
    are_files,
    place,
    place_lines,
    read_entries,
    seen_from,
)
from utilitune.scenario.dialects.irace_keys import KEYS, REFUSED, WITHOUT_MEANING
from utilitune.scenario.dialects.irace_runner import Bounds, RunnerCall
from utilitune.scenario.dialects.irace_values import IraceValues
from utilitune.scenario.dialects.r_literals import Assigned, read_assignments
from utilitune.scenario.dialects.understanding import (
    LEAST_BOUND_S,
    USUAL_QUALITY_UTILITY,
    Dialect,
    Understanding,
    penalised_utility,
    quality_in_words,
    smallest_captime_s,
    utility_in_words,
)
from utilitune.scenario.model import (
    DEFAULT_SEED,
    QualityRules,
    Scenario,
    StopRules,
)
from utilitune.spaces.dialects import read_parameter_file
from utilitune.spaces.dialects.source import SourceText
from utilitune.spaces.parameters import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.scenario.model import CommandSpec
    from utilitune.spaces import Assignment
    from utilitune.spaces.dialects import ParameterFile

_ROLES = {"train": "training", "test": "test"}


def read_irace_scenario(path: Path, text: str) -> Understanding:
    """Read an irace scenario.

    Raises:
        ScenarioError: Something is wrong or is R code; the text names the file and the line.
    """
    return _IraceReader(path, read_assignments(path, text)).read()


class _IraceReader:
    """Turns the assignments of one file into a scenario.

    Its parts are made when they are first asked for. `read` asks for each by itself, so that the mistakes of
    all of them are told at once.
    """

    def __init__(self, path: Path, assigned: Mapping[str, Assigned]) -> None:
        self._values = IraceValues(path, assigned)
        self._notes, self._folder = self._values.notes, self._values.folder

    # -- the whole ---------------------------------------------------------------------------------------

    def read(self) -> Understanding:
        mistakes = Mistakes()
        for key, assigned in self._values.assigned.items():
            with mistakes.collected():
                self._check_key(key, assigned)
        for part in (
            "_parameters",
            "_bounds",
            "_training",
            "_test",
            "_target",
            "_seed",
            "_stop",
            "_workers",
            "_initial",
        ):
            with mistakes.collected():
                getattr(self, part)
        mistakes.tell()
        return self._understanding()

    def _understanding(self) -> Understanding:
        bounds, timed = self._bounds, self._is_timed
        scenario = Scenario(
            name=self._folder.name if self._values.path.stem == "scenario" else self._values.path.stem,
            directory=self._directory,
            target=self._target,
            space=self._parameters.space,
            training=self._training.listed,
            test=None if self._test is None else self._test.listed,
            utility=penalised_utility(bounds.largest_s, bounds.factor) if timed else USUAL_QUALITY_UTILITY,
            captime0_s=smallest_captime_s(bounds.largest_s),
            max_captime_s=bounds.largest_s,
            stop=self._stop,
            seed=self._seed,
            workers=self._workers,
            initial=self._initial,
            quality=None if timed else QualityRules(),
        )
        if self._values.switch("deterministic") is not None:
            self._notes.say("deterministic", "every instance has one seed, the same for all configurations")
        if timed:
            self._notes.say("the measure", utility_in_words(bounds.largest_s, bounds.factor))
            self._notes.skip("the cost a run prints", "how long the run takes counts, its cost does not")
        else:
            self._notes.say("the cost a run prints", quality_in_words(scenario))
        self._list_meaningless()
        return Understanding(
            scenario,
            Dialect.IRACE,
            tuple(self._notes.understood),
            tuple(self._notes.without_meaning),
            self._guess(timed=timed),
        )

    @property
    def _is_timed(self) -> bool:
        """Whether the time of a run counts, and not the cost that it prints."""
        return bool(self._values.number("boundMax"))

    def _guess(self, *, timed: bool) -> str:
        """A sentence where the file leaves open what counts, else nothing."""
        if not timed:
            return (
                "There is no boundMax, so the cost that a run prints counts, and smaller is better; set "
                "boundMax (in seconds) if the time of a run is what counts."
            )
        if self._values.switch("capping") is False:
            return (
                "There is a boundMax, so the time of a run counts, although capping is off; leave boundMax "
                "out if the cost that a run prints is what counts."
            )
        return ""

    def _check_key(self, key: str, assigned: Assigned) -> None:
        if key.startswith("."):
            self._notes.skip(key, "a name of your own")
        elif key not in KEYS:
            raise ScenarioError(
                f"irace has no option {key!r}; {did_you_mean(key, KEYS)}",
                path=self._values.path,
                line=assigned.line,
            )
        if key in REFUSED and assigned.value not in (None, "", "0", 0.0):
            raise self._values.problem(key, f"{key} cannot be used: {REFUSED[key]}; remove it")

    def _list_meaningless(self) -> None:
        for key, assigned in self._values.assigned.items():
            if key in WITHOUT_MEANING | {"elitist"} and self._values.raw(key) is not None:
                self._notes.skip(key)
            for line in assigned.earlier:
                self._notes.skip(
                    f"{key} in line {line}", f"assigned again in line {assigned.line}, which counts"
                )

    # -- parts ---------------------------------------------------------------------------------------------

    @cached_property
    def _directory(self) -> Path:
        found = self._values.file("execDir", "./", "the folder to run in")
        if not is_folder(found):
            raise self._values.problem(
                "execDir", f"execDir, {self._values.text('execDir')!r}, is no folder; name one"
            )
        return found

    @cached_property
    def _training(self) -> PlacedInstances:
        found = self._instances("train")
        if found is None:
            raise self._values.problem(
                "trainInstancesDir", "trainInstancesDir or trainInstancesFile must say what to train on"
            )
        return found

    @cached_property
    def _test(self) -> PlacedInstances | None:
        return self._instances("test")

    @cached_property
    def _target(self) -> CommandSpec:
        call = RunnerCall(self._values, self._directory)
        return call.target(self._parameters, self._bounds, self._training, self._test)

    @cached_property
    def _seed(self) -> int:
        seed = self._values.whole("seed")
        if seed is None:
            return DEFAULT_SEED
        self._notes.say(f"seed = {seed}", "what every random choice follows from")
        return seed

    @cached_property
    def _parameters(self) -> ParameterFile:
        path = self._values.file("parameterFile", "./parameters.txt", "the parameter file")
        digits = self._values.whole("digits")
        if digits is not None and digits > MOST_DIGITS:
            raise self._values.problem(
                "digits", f"digits must be a whole number from 0 to {MOST_DIGITS}, not {digits}"
            )
        read = read_parameter_file(path, "irace", digits=digits, forbidden=self._forbidden())
        count = len(read.space.names)
        self._notes.say(f"parameterFile = {path.name}", counted(count, "parameter"))
        self._notes.understood.extend(read.notes)
        if digits is not None and digits == read.digits:
            self._notes.say(f"digits = {digits}", "decimal places of real numbers")
        elif digits is not None:
            self._notes.skip(f"digits = {digits}", f"digits = {read.digits} in {path.name} counts")
        return read

    def _forbidden(self) -> SourceText | None:
        """Forbidden expressions of the scenario, which come first, or of the file that irace 3 had."""
        named, own = self._values.text("forbiddenFile"), self._values.raw("forbiddenExps")
        if own is not None:
            texts = own if isinstance(own, list) else [own]
            if not all(isinstance(text, str) for text in texts):
                raise self._values.problem("forbiddenExps", "forbiddenExps must be expressions as texts")
            self._notes.say("forbiddenExps", "combinations that are never tried")
            if named is not None:
                self._notes.skip(f"forbiddenFile = {named}", "forbiddenExps says what is forbidden")
            above = ("",) * (self._values.assigned["forbiddenExps"].line - 1)
            return SourceText(self._values.path, (*above, *map(str, texts)))
        if named is None:
            return None
        self._notes.say(f"forbiddenFile = {named}", "combinations that are never tried")
        return SourceText.read(self._values.file("forbiddenFile", "", "the file of forbidden expressions"))

    @cached_property
    def _bounds(self) -> Bounds:
        limits = {key: self._values.number(key) or math.inf for key in ("boundMax", "targetRunnerTimeout")}
        largest_s = min(limits.values())
        for key, limit_s in limits.items():
            if limit_s == largest_s < math.inf:
                self._notes.say(f"{key} = {limit_s:.15g}", f"largest captime {limit_s:.15g} s")
            elif limit_s < math.inf:
                self._notes.skip(f"{key} = {limit_s:.15g}", f"every run is stopped after {largest_s:.15g} s")
        if largest_s < LEAST_BOUND_S:
            key = min(limits, key=limits.__getitem__)
            raise self._values.problem(
                key, f"{key} = {largest_s:.15g} is too short for any run; it is in seconds"
            )
        bounds = Bounds(
            largest_s=None if largest_s == math.inf else largest_s,
            factor=self._values.number("boundPar") or 1.0,
            passed=self._passes_bound(),
            whole=not self._values.whole("boundDigits"),
        )
        if bounds.passed:
            self._notes.say("capping", "the runner gets the bound, and we stop it at the bound")
        elif self._values.raw("capping") is not None:
            self._notes.say("capping", "the runner does not get the bound, but we stop it there")
        if bounds.passed and self._values.raw("boundDigits") is not None:
            told = "rounded up to whole seconds" if bounds.whole else "as it is"
            self._notes.say("boundDigits", f"the runner gets the bound {told}")
        elif self._values.raw("boundDigits") is not None:
            self._notes.skip("boundDigits", "the runner does not get the bound")
        if bounds.largest_s is None and self._values.raw("boundPar") is not None:
            self._notes.skip("boundPar", "there is no boundMax")
        return bounds

    def _passes_bound(self) -> bool:
        """Whether irace would cap, and so tell the runner its bound."""
        if not self._values.number("boundMax"):
            return False
        capping = self._values.switch("capping")
        if capping is None:
            return bool(self._values.number("maxTime")) and self._values.switch("elitist") is not False
        return capping

    @cached_property
    def _stop(self) -> StopRules:
        runs, time_s = self._values.whole("maxExperiments") or None, self._values.number("maxTime") or None
        if runs is not None:
            self._notes.say(f"maxExperiments = {runs}", f"at most {counted(runs, 'run')}")
        if time_s is not None:
            self._notes.say(f"maxTime = {time_s:.15g}", f"at most {time_s:.15g} s in runs of the program")
        return StopRules(runs=runs, cpu_time_s=time_s)

    @cached_property
    def _workers(self) -> int | None:
        parallel = self._values.whole("parallel")
        if parallel is None:
            return None
        count = max(1, parallel)
        self._notes.say(f"parallel = {parallel}", f"{counted(count, 'run')} at once")
        return count

    @cached_property
    def _initial(self) -> tuple[Assignment, ...]:
        if self._values.text("configurationsFile") is None:
            return ()
        path = self._values.file("configurationsFile", "", "the file of configurations")
        found = read_configurations_table(path, self._parameters.space, self._parameters.idle)
        if not found:
            raise self._values.problem(
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
        if self._values.raw(inline_key) is not None:
            return self._inline(inline_key, role)
        folder_key, list_key = f"{role}InstancesDir", f"{role}InstancesFile"
        folder_name, list_name = self._values.text(folder_key), self._values.text(list_key)
        if folder_name is None and list_name is None:
            if role == "test" or not is_folder(self._folder / "Instances"):
                return None
            folder_name = "./Instances"
        folder = None
        if folder_name is not None:
            folder = self._values.file(folder_key, folder_name, "the folder of instances")
            if not is_folder(folder):
                raise self._values.problem(
                    folder_key, f"{folder_key}, {folder_name!r}, is no folder; name one"
                )
        if list_name is not None:
            path = self._values.file(list_key, list_name, "the instance list")
            placed = self._placed(read_entries(path, _words), path, folder)
        else:
            placed = self._all_files(folder_key, folder or self._folder)
        source = f"{list_key} = {list_name}" if list_name else f"{folder_key} = {folder_name}"
        self._notes.say(source, _in_words(placed, role, self._directory))
        self._notes.skip_repeated(list_key, placed.repeated)
        return placed

    def _placed(self, entries: list[Entry], path: Path, folder: Path | None) -> PlacedInstances:
        """The instances of a list: files where all of them are, else whole lines."""
        usual = self._folder / "Instances"  # where irace looks when no folder is named
        home = self._directory if folder is None else folder
        bases = (self._folder, usual) if folder is None else (folder, self._folder)
        if are_files(entries, (home, *bases)):
            return _moved(place(entries, path, home, bases), folder, self._directory)
        if folder is not None and folder != self._directory:  # irace puts the folder before every line
            entries = [replace(each, name=seen_from(self._directory, folder / each.name)) for each in entries]
        return place_lines(entries, self._directory, bases)

    def _inline(self, key: str, role: str) -> PlacedInstances:
        """Instances that stand in the scenario itself, which irace prefers to lists and folders."""
        value = self._values.raw(key)
        items = value if isinstance(value, list) else [value]
        names = [f"{item:.15g}" if isinstance(item, float) else item for item in items]
        if not names or not all(isinstance(name, str) and name for name in names):
            raise self._values.problem(key, f'{key} must be a list of names such as c("a.txt", "b.txt")')
        line = self._values.assigned[key].line
        entries = [Entry(name, tuple(rest), line) for name, *rest in map(_words, map(str, names))]
        placed = self._placed(entries, self._values.path, None)
        self._notes.say(key, _in_words(placed, role, self._directory))
        self._notes.skip_repeated(key, placed.repeated)
        for other in (f"{role}InstancesDir", f"{role}InstancesFile"):
            if self._values.raw(other) is not None:
                self._notes.skip(other, f"{key} names the instances")
        return placed

    def _all_files(self, key: str, folder: Path) -> PlacedInstances:
        entries = all_files(folder, self._directory)
        if not entries:
            raise self._values.problem(
                key, f"the folder {folder.name!r} holds no instances; add at least one"
            )
        return place(entries, folder, self._directory, ())


def _words(line: str) -> tuple[str, ...]:
    """The words of an instance, as a shell would split them."""
    return tuple(shlex.split(line, comments=True)) or (line,)


def _in_words(placed: PlacedInstances, role: str, directory: Path) -> str:
    """How many instances there are, and where some of them are files, which are not."""
    count = counted(len(placed.listed.names), f"{_ROLES[role]} instance")
    if placed.listed.files:
        return count
    first = [words[0] for words in placed.in_words().values()]
    missing = [name for name in first if not exists(directory / name)]
    odd = f"; note that {missing[0]!r} is no file, unlike others" if 0 < len(missing) < len(first) else ""
    return f"{count}, each passed as its line is written{odd}"


def _moved(placed: PlacedInstances, folder: Path | None, directory: Path) -> PlacedInstances:
    """Names that were found from the folder of instances, as seen from where the program runs."""
    if folder is None or folder == directory:
        return placed
    names = {name: seen_from(directory, folder / name) for name in placed.listed.names}
    listed = replace(placed.listed, names=tuple(names.values()), files=True)
    arguments = {names[name]: words for name, words in placed.arguments.items()}
    return replace(placed, listed=listed, arguments=arguments)

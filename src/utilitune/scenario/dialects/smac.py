"""The ``scenario.txt`` of SMAC up to 1.4, ParamILS and AClib: ``key = value`` lines.

Those tools start relative paths in the folder they are called from; scenarios are written to be used from
their own folder or from the folder above a whole library. So the parameter file decides: it is looked for
from the scenario's folder and then from the current one, and all other paths start where it was found.
``execdir`` starts there too, the program runs in it, and instances are passed as they are written.
"""

from __future__ import annotations

import re
import shlex
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import Mistakes, ScenarioError, did_you_mean
from utilitune.errors.outside import is_file, is_folder, number_in, resolved
from utilitune.errors.wording import counted
from utilitune.scenario.dialects.configurations import read_option_string
from utilitune.scenario.dialects.instance_lists import (
    PlacedInstances,
    all_files,
    place,
    read_entries,
    seen_from,
)
from utilitune.scenario.dialects.understanding import (
    LEAST_BOUND_S,
    USUAL_QUALITY_UTILITY,
    Dialect,
    Notes,
    Understanding,
    penalised_utility,
    quality_in_words,
    smallest_captime_s,
    utility_in_words,
)
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import CommandSpec, QualityRules, Scenario, StopRules
from utilitune.spaces.dialects import read_parameter_file
from utilitune.targets.command import PARAMETERS, SPECIFICS, literal
from utilitune.targets.wrappers import Contract, WrapperRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.spaces import Assignment
    from utilitune.spaces.dialects import ParameterFile

_ALIASES = {
    "algo": "algo algorithm algo_exec",
    "execdir": "execdir exec_dir algo_exec_dir",
    "deterministic": "deterministic algo_deterministic",
    "paramfile": "paramfile param_file pcs_file pcs_fn",
    "run_obj": "run_obj run_objective",
    "overall_obj": "overall_obj overall_objective intra_instance_obj intra_obj",
    "inter_instance_obj": "inter_instance_obj inter_obj",
    "cutoff_time": "cutoff_time cutoff target_run_cputime_limit algo_cutoff_time",
    "cutoff_length": "cutoff_length",
    "memory_limit": "memory_limit algo_memory_limit",
    "tuner_timeout": "tuner_timeout cputime_limit algo_runs_timelimit",
    "wallclock_limit": "wallclock_limit runtime_limit",
    "runcount_limit": "runcount_limit total_num_runs_limit ta_run_limit",
    "instance_file": "instance_file instances train_inst_fn",
    "test_instance_file": "test_instance_file test_instances test_inst_fn",
    "feature_file": "feature_file feature_fn instance_feature_file features",
    "initial_incumbent": "initial_incumbent",
}
_SPELLINGS = {alias.replace("_", ""): alias for each in _ALIASES.values() for alias in each.split()}
_CANONICAL = {alias.replace("_", ""): key for key, aliases in _ALIASES.items() for alias in aliases.split()}
KEYS = frozenset(_CANONICAL)
"""Every key that means something, in the form of `normal_key`."""

_USUAL_OBJECTIVE = "RUNTIME"
_TIMES = frozenset({"RUNTIME", "RUNTIME_EXP", "TIME"})
_QUALITIES = frozenset({"QUALITY", "QUAL"})
_GUESS = (
    "There is no run_obj, so the time of a run counts, as in SMAC: set run_obj = QUALITY if the quality in "
    "the answer of the program is what counts."
)
_TRUE = frozenset({"1", "true", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "no", "n", "off"})
_NO_FACTOR = ("MEAN", "PAR", "RUNTIME")
_FACTOR = re.compile(r"(?:MEAN|PAR)_?(\d+)")
_USUAL_FACTOR = 10
_LONGEST_RUN = "2147483647"
_NO_SPECIFICS = "0"
_LARGEST_SCRIPT_BYTES = 1_000_000
_ACLIB2_SIGNS = ("--config", "genericWrapper4AC", "generic_wrapper")


def normal_key(key: str) -> str:
    """A key as it is compared: small letters only, so cutoff_time, cutoff-time and cutoffTime are one."""
    return key.strip().lower().replace("-", "").replace("_", "")


def read_smac_scenario(path: Path, text: str) -> Understanding:
    """Read a scenario of SMAC, ParamILS or AClib.

    Raises:
        ScenarioError: Something is wrong; the text names the file and the line.
    """
    return _SmacReader(path, text).read()


class _SmacReader:
    """Turns the lines of one file into a scenario.

    Its parts are made when they are first asked for. `read` asks for each by itself, so that the mistakes of
    all of them are told at once.
    """

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._notes = Notes()
        self._values: dict[str, tuple[str, int]] = {}
        self._mistakes = Mistakes()
        for number, line in enumerate(text.splitlines(), 1):
            with self._mistakes.collected():
                self._read_line(line, number)

    def read(self) -> Understanding:
        for part in (
            "_about_quality",
            "_parameters",
            "_training",
            "_test",
            "_limit",
            "_target",
            "_memory",
            "_stop",
            "_features",
            "_initial",
        ):
            with self._mistakes.collected():
                getattr(self, part)
        self._mistakes.tell()
        return self._understanding()

    def _understanding(self) -> Understanding:
        about_quality, (cutoff_s, factor) = self._about_quality, self._limit
        scenario = Scenario(
            name=self._path.parent.name if self._path.stem == "scenario" else self._path.stem,
            directory=self._directory,
            target=self._target,
            space=self._parameters.space,
            training=self._training.listed,
            test=None if self._test is None else self._test.listed,
            utility=USUAL_QUALITY_UTILITY if about_quality else penalised_utility(cutoff_s, factor),
            captime0_s=smallest_captime_s(cutoff_s),
            max_captime_s=cutoff_s,
            memory_bytes=self._memory,
            stop=self._stop,
            features=self._features,
            initial=self._initial,
            quality=QualityRules() if about_quality else None,
        )
        if about_quality:
            self._notes.say("the quality in an answer", quality_in_words(scenario))
        else:
            self._notes.say("the measure", utility_in_words(cutoff_s, factor))
        return Understanding(
            scenario,
            Dialect.SMAC,
            tuple(self._notes.understood),
            tuple(self._notes.without_meaning),
            "" if "run_obj" in self._values else _GUESS,
        )

    @cached_property
    def _parameters(self) -> ParameterFile:
        read = read_parameter_file(self._base / self._value("paramfile"))
        count = len(read.space.names)
        self._say("paramfile", counted(count, "parameter"))
        self._notes.understood.extend(read.notes)
        return read

    @cached_property
    def _training(self) -> PlacedInstances:
        found = self._instances("instance_file", "training")
        if found is None:
            raise ScenarioError(
                "instance_file is missing: name the list of instances to train on", path=self._path
            )
        return found

    @cached_property
    def _test(self) -> PlacedInstances | None:
        return self._instances("test_instance_file", "test")

    @cached_property
    def _directory(self) -> Path:
        found = resolved(self._base / self._value("execdir", "."))
        if not is_folder(found):
            raise self._problem("execdir", f"the folder {self._value('execdir')!r} does not exist; create it")
        return found

    # -- values ----------------------------------------------------------------------------------------------

    def _read_line(self, line: str, number: int) -> None:
        """One ``key = value``; the value may hold further equals signs."""
        content = line.strip()
        if not content or content.startswith("#"):
            return
        written_key, sign, value = content.partition("=")
        key, value = normal_key(written_key), re.sub(r"\s+#.*$", "", value.strip()).strip()
        if not sign:
            raise ScenarioError(
                "a line of a SMAC scenario is key = value, or a comment that starts with #",
                path=self._path,
                line=number,
            )
        if key in _CANONICAL and not value:
            self._notes.skip(written_key.strip(), "it has no value")
            return
        if key in _CANONICAL:
            self._keep(_CANONICAL[key], _unquoted(value), number)
            return
        written = written_key.strip()
        hint = did_you_mean(written.lower().replace("-", "_"), _SPELLINGS.values())
        if hint.startswith("did you mean") and _nearly(key):
            raise ScenarioError(f"there is no option {written!r}; {hint}", path=self._path, line=number)
        self._notes.skip(written_key.strip())

    def _keep(self, key: str, value: str, line: int) -> None:
        """A value; the same key may come again, also by another of its names, but not with another value."""
        known, first = self._values.setdefault(key, (value, line))
        if known != value:
            raise ScenarioError(
                f"{key} is {value!r} here but {known!r} in line {first} (a key may have several names); "
                "remove one of the two lines",
                path=self._path,
                line=line,
            )

    def _value(self, key: str, usual: str = "") -> str:
        return self._values[key][0] if key in self._values else usual

    def _problem(self, key: str, reason: str) -> ScenarioError:
        return ScenarioError(
            reason, path=self._path, line=self._values[key][1] if key in self._values else None
        )

    def _say(self, key: str, meaning: str) -> None:
        self._notes.say(f"{key} = {self._value(key)}", meaning)

    def _number(self, key: str) -> float | None:
        text = self._value(key)
        if not text:
            return None
        try:
            value = number_in(text)
        except ValueError:
            value = -1.0
        if not value > 0:
            raise self._problem(key, f"{key} must be a number above 0, not {text!r}")
        if value == float("inf"):
            self._notes.skip(f"{key} = {text}", "no limit")
            return None
        return value

    def _whole(self, key: str) -> int | None:
        value = self._number(key)
        if value is not None and not value.is_integer():
            raise self._problem(key, f"{key} must be a whole number, not {self._value(key)!r}")
        return None if value is None else int(value)

    def _boolean(self, key: str) -> bool:
        text = self._value(key, "0").lower()
        if text not in _TRUE | _FALSE:
            raise self._problem(key, f"{key} must be true or false, not {text!r}")
        return text in _TRUE

    # -- paths -----------------------------------------------------------------------------------------------

    @cached_property
    def _base(self) -> Path:
        if "paramfile" not in self._values:
            raise ScenarioError("paramfile is missing: name the file of parameters", path=self._path)
        name = self._value("paramfile")
        for folder in (self._path.parent, Path.cwd()):
            if is_file(folder / name):
                return folder.resolve()
        raise self._problem(
            "paramfile",
            f"the parameter file {name!r} exists neither from the scenario's folder nor from the current "
            "folder; correct it, or start from the folder its path begins in",
        )

    def _file(self, key: str) -> Path:
        path = self._base / self._value(key)
        if not is_file(path):
            raise self._problem(
                key, f"the file {self._value(key)!r} does not exist in {self._base}; correct {key}"
            )
        return path

    # -- parts -----------------------------------------------------------------------------------------------

    @cached_property
    def _about_quality(self) -> bool:
        """Whether the quality in the answer counts, and not the time of a run."""
        objective = self._value("run_obj", _USUAL_OBJECTIVE).upper()
        if objective not in _TIMES | _QUALITIES:
            raise self._problem(
                "run_obj",
                f"run_obj is {self._value('run_obj')}, which is unknown; write RUNTIME or QUALITY",
            )
        if "run_obj" in self._values:
            counts = "quality in its answer" if objective in _QUALITIES else "time a run takes"
            self._say("run_obj", f"the {counts} counts")
        if "execdir" in self._values:
            self._say("execdir", "where the program runs")
        return objective in _QUALITIES

    @cached_property
    def _limit(self) -> tuple[float | None, float]:
        """The largest captime, and by what a timeout is multiplied."""
        cutoff_s = self._number("cutoff_time")
        if cutoff_s is not None and cutoff_s < LEAST_BOUND_S:
            raise self._problem(
                "cutoff_time", f"cutoff_time = {cutoff_s:.15g} is too short for any run; it is in seconds"
            )
        if cutoff_s is not None:
            self._say("cutoff_time", f"largest captime {cutoff_s:.15g} s")
        if "inter_instance_obj" in self._values:
            told = f"inter_instance_obj = {self._value('inter_instance_obj')}"
            self._notes.skip(told, "the mean over instances counts")
        if self._about_quality:
            if "overall_obj" in self._values:
                self._notes.skip(f"overall_obj = {self._value('overall_obj')}", "the mean worth counts")
            return cutoff_s, 1.0
        objective = self._value("overall_obj", f"PAR{_USUAL_FACTOR}").upper()
        match = _FACTOR.fullmatch(objective)
        if match is not None and float(match[1]) < 1:
            raise self._problem(
                "overall_obj", f"overall_obj is {objective}, but its factor must be 1 or more"
            )
        if match is None and objective not in _NO_FACTOR:
            self._notes.skip(f"overall_obj = {objective}", "the mean utility counts")
        return cutoff_s, float(match[1]) if match else 1.0

    @cached_property
    def _memory(self) -> int | None:
        megabytes = self._number("memory_limit")
        if megabytes is None:
            return None
        self._say("memory_limit", f"{megabytes:.15g} MB for the whole process tree")
        return int(megabytes * 1024 * 1024)

    @cached_property
    def _stop(self) -> StopRules:
        cpu_s, wall_s = self._number("tuner_timeout"), self._number("wallclock_limit")
        runs = self._whole("runcount_limit")
        if cpu_s is not None:
            self._say("tuner_timeout", f"at most {cpu_s:.15g} s in runs of the program")
        if wall_s is not None:
            self._say("wallclock_limit", f"at most {wall_s:.15g} s on the clock")
        if runs is not None:
            self._say("runcount_limit", f"at most {counted(runs, 'run')}")
        return StopRules(cpu_time_s=cpu_s, wall_time_s=wall_s, runs=runs)

    def _instances(self, key: str, role: str) -> PlacedInstances | None:
        if not self._value(key):
            return None
        folder = self._base / self._value(key)
        if is_folder(folder):
            path, entries = folder, all_files(folder, self._directory)
        else:
            path = self._file(key)
            folders = (self._directory, self._base, path.parent)
            entries = read_entries(path, lambda line: _entry(line, folders))
        if not entries:
            raise self._problem(key, f"the folder {self._value(key)!r} holds no instances; add at least one")
        placed = place(entries, path, self._directory, (self._base, path.parent))
        files = "" if placed.listed.files else ", passed as written: no files"
        specifics = f", {len(placed.arguments)} with specifics" if placed.arguments else ""
        self._say(key, f"{counted(len(placed.listed.names), f'{role} instance')}{specifics}{files}")
        self._notes.skip_repeated(key, placed.repeated)
        return placed

    @cached_property
    def _features(self) -> str | None:
        if not self._value("feature_file"):
            return None
        self._say("feature_file", "instance features, kept for models and reports")
        return seen_from(self._directory, self._file("feature_file"))

    @cached_property
    def _initial(self) -> tuple[Assignment, ...]:
        text = self._value("initial_incumbent", "DEFAULT")
        if text.upper() == "DEFAULT":
            return ()
        if not text.startswith("-"):
            self._notes.skip(f"initial_incumbent = {text}", "the default is tried first, then random ones")
            return ()
        space = self._parameters.space
        found = read_option_string(text, space, self._path, self._values["initial_incumbent"][1])
        self._notes.say("initial_incumbent", "tried right after the default")
        self._notes.skip_unused(self._path.name, found)
        return (found.assignment,)

    # -- the wrapper -----------------------------------------------------------------------------------------

    @cached_property
    def _target(self) -> CommandSpec:
        words, training, test = self._algorithm(), self._training, self._test
        seed = "{seed}"
        if self._boolean("deterministic"):
            seed = "0"
            self._say("deterministic", "every run gets the seed 0")
        arguments = {**training.arguments, **({} if test is None else test.arguments)}
        if self._is_aclib2(words):
            self._say("algo", "called as AClib2 wrappers are, for the script speaks of --config")
            call = [
                "--instance",
                "{instance}",
                "--cutoff",
                "{captime}",
                "--seed",
                seed,
                "--config",
                PARAMETERS,
            ]
            if arguments:
                self._notes.skip("what follows instances in their list", "AClib2 wrappers do not get it")
            if "cutoff_length" in self._values:
                self._notes.skip("cutoff_length", "AClib2 wrappers do not get it")
            contract, arguments = Contract.ACLIB2, {}
        else:
            self._say("algo", "called as SMAC and ParamILS call it; we meter and stop it ourselves")
            length = self._value("cutoff_length", _LONGEST_RUN)
            if "cutoff_length" in self._values:
                self._say("cutoff_length", "passed to the wrapper")
            runlength = _LONGEST_RUN if length.lower() == "max" else length
            call = ["{instance}", SPECIFICS, "{whole_captime}", literal(runlength), seed, PARAMETERS]
            contract, arguments = Contract.SMAC, {"": (_NO_SPECIFICS,), **arguments}
        return CommandSpec(
            (*map(literal, words), *call),
            default_template=("-{name}", "{value}"),
            rules=WrapperRules(contract),
            specifics=arguments,
        )

    def _algorithm(self) -> list[str]:
        if not self._value("algo"):
            raise ScenarioError("algo is missing: say which program to run", path=self._path)
        try:
            words = shlex.split(self._value("algo"))
        except ValueError:
            raise self._problem("algo", "algo has a quotation mark that is not closed; close it") from None
        program = words[0]
        if program_path(self._directory, program) is None:
            if program_path(self._base, program) is None:
                raise self._problem(
                    "algo",
                    f"the program {program!r} is neither an executable file in {self._directory} nor on the "
                    "PATH; correct its path, run chmod +x on it, or install it",
                )
            words[0] = seen_from(self._directory, self._base / program)
        return words

    def _is_aclib2(self, words: list[str]) -> bool:
        """Whether a script among the words of the call speaks of AClib2's options."""
        for word in words:
            script = self._directory / word
            if is_file(script) and script.stat().st_size < _LARGEST_SCRIPT_BYTES:
                text = script.read_bytes().decode("utf-8", "replace")
                if any(sign in text for sign in _ACLIB2_SIGNS):
                    return True
        return False


def _entry(line: str, folders: Sequence[Path]) -> tuple[str, ...]:
    """An instance and, as one argument, whatever follows it; a file may have blanks in its name."""
    if " " in line and any(is_file(folder / line) for folder in folders):
        return (line,)
    if line[0] in "\"'":
        name, *rest = shlex.split(line)
        return (name, " ".join(rest)) if rest else (name,)
    name, *specifics = line.split(maxsplit=1)
    return (name, *map(_unquoted, specifics))


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _nearly(key: str) -> bool:
    """Whether a key is one of ours but for a slip of the pen."""
    from difflib import SequenceMatcher

    return any(SequenceMatcher(None, key, known).ratio() > 0.9 for known in KEYS)

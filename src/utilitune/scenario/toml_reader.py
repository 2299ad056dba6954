"""The native scenario file: one TOML file, checked completely before anything runs.

`read_native` reads the file table by table; ``target_reader`` and ``instance_reader`` know the two
larger ones. Every complaint names file and line. All relative paths start at the scenario's folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.domain import DEFAULT_DELTA, SMALLEST_DELTA, Guesses, Measure, RunStatus
from utilitune.errors import Mistakes, ScenarioError, UtilituneError
from utilitune.errors.outside import is_file
from utilitune.scenario.instance_reader import read_instances
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import (
    DEFAULT_PROCEDURE,
    DEFAULT_SEED,
    FAILURES,
    RECORDED_PARAMETER,
    CommandSpec,
    FailurePolicy,
    GeneratedInstances,
    InstanceSet,
    ListedInstances,
    Population,
    QualityRules,
    RecordedSpec,
    Scenario,
    SearchRules,
    StopRules,
    TargetSpec,
    usual_smallest_captime_s,
)
from utilitune.scenario.quality_reader import check_references, check_utility, choice, read_quality
from utilitune.scenario.source import Source, Table
from utilitune.scenario.switches import switch_templates
from utilitune.scenario.target_reader import check_parameters_are_used, named_in, read_target
from utilitune.search.naming import require_known
from utilitune.spaces import Assignment, ChoiceParameter, ParameterSpace, SpaceError
from utilitune.spaces.dialects import read_parameter_file
from utilitune.utility.carried import make_importable
from utilitune.utility.drawn import is_python

if TYPE_CHECKING:
    from utilitune.spaces.dialects import ParameterFile


_ASKED_LATE = ("instances", "parameters", "forbidden", "better", "references", "bounds", "utility", "initial")
"""Keys that are asked for only where what comes before them is right."""


@dataclass(frozen=True, slots=True)
class _Material:
    """What is run, over which parameters, on what.

    Attributes:
        target: The target, with the switches of a parameter file that has some.
        space: The parameters.
        training: The training instances.
        test: The test instances, where there are any.
        population: What the instances stand for.
        notes: What is to be said of a parameter file.
    """

    target: TargetSpec
    space: ParameterSpace
    training: InstanceSet
    test: InstanceSet | None
    population: Population
    notes: tuple[str, ...] = ()


def read_native(path: Path | str) -> tuple[Scenario, tuple[str, ...]]:
    """Read and check a scenario file; also says what is worth knowing of a parameter file it names.

    Raises:
        ScenarioError: Something is wrong; the text has a line for every mistake, with the file and the line.
    """
    return _NativeReader(Source.read(Path(path).absolute()).top).read()


class _NativeReader:
    """Turns one file into a scenario.

    Its parts are made when they are first asked for. `read` asks for each by itself, so that the mistakes of
    all of them are told at once.
    """

    def __init__(self, top: Table) -> None:
        self._top = top

    def read(self) -> tuple[Scenario, tuple[str, ...]]:
        mistakes = Mistakes()
        for part in (
            "_name",
            "_target",
            "_material",
            "_quality",
            "_utility",
            "_captimes",
            "_promise",
            "_measure",
            "_policies",
            "_seed",
            "_workers",
            "_cluster",
            "_guesses",
            "_features",
            "_initial",
            "_procedure",
            "_search",
        ):
            with mistakes.collected():
                getattr(self, part)
        self._top.asked.update(_ASKED_LATE)
        with mistakes.collected():
            self._top.finish()
        mistakes.tell()
        scenario = self._scenario()
        try:
            check_references(scenario)
        except ScenarioError as error:
            raise self._top.problem("utility", str(error)) from None
        return scenario, self._material.notes

    def _scenario(self) -> Scenario:
        material, (delta, stop) = self._material, self._promise
        return Scenario(
            name=self._name,
            directory=self._top.source.path.parent,
            target=material.target,
            space=material.space,
            training=material.training,
            test=material.test,
            population=material.population,
            utility=self._utility,
            delta=delta,
            stop=stop,
            measure=self._measure,
            policies=self._policies,
            seed=self._seed,
            workers=self._workers,
            cluster=self._cluster,
            guesses=self._guesses,
            features=self._features,
            initial=self._initial,
            quality=self._quality,
            search=self._search,
            **self._captimes,
            **self._procedure,
        )

    @cached_property
    def _name(self) -> str:
        return self._top.text("name") or self._top.source.path.stem

    @cached_property
    def _target(self) -> TargetSpec:
        return read_target(
            _needed_table(self._top, "target", 'say what to run, such as command = ["solver", …]')
        )

    @cached_property
    def _material(self) -> _Material:
        return _material(self._top, self._target)

    @cached_property
    def _quality(self) -> QualityRules | None:
        return read_quality(self._top, self._target)

    @cached_property
    def _utility(self) -> str:
        return _utility(self._top, self._quality)

    @cached_property
    def _captimes(self) -> dict[str, Any]:
        return _limits(self._top.table("limits"))

    @cached_property
    def _promise(self) -> tuple[float, StopRules]:
        return _promise_and_budget(self._top)

    @cached_property
    def _measure(self) -> Measure:
        return choice(self._top, "measure", Measure) or Measure.CPU

    @cached_property
    def _policies(self) -> dict[RunStatus, FailurePolicy]:
        return _policies(self._top.table("failures"))

    @cached_property
    def _seed(self) -> int:
        return int(_or(self._top.integer("seed", least=0), DEFAULT_SEED))

    @cached_property
    def _workers(self) -> int | None:
        return self._top.integer("workers", least=1)

    @cached_property
    def _cluster(self) -> str | None:
        return self._top.text("cluster")

    @cached_property
    def _guesses(self) -> Guesses:
        return choice(self._top, "guesses", Guesses) or Guesses.USEFUL

    @cached_property
    def _features(self) -> str | tuple[str, ...] | None:
        return _features(self._top.table("instances"))

    @cached_property
    def _initial(self) -> tuple[Assignment, ...]:
        return _initial(self._top, self._material.space)

    @cached_property
    def _procedure(self) -> dict[str, Any]:
        return _procedure(self._top.table("procedure"))

    @cached_property
    def _search(self) -> SearchRules:
        return _search(self._top.table("search"))


def _or(value: Any, default: Any) -> Any:  # noqa: ANN401 - any value a key may have
    return default if value is None else value


def _needed_table(top: Table, key: str, reason: str) -> Table:
    if top.raw(key) is None:
        raise top.need(key, reason)
    return top.table(key)


def _material(top: Table, target: TargetSpec) -> _Material:
    notes: tuple[str, ...] = ()
    if isinstance(target, RecordedSpec):
        space, training = _recorded(top, target)
        instances = top.table("instances")
        test = None
    else:
        space, file = _space(top)
        if file is not None:
            notes, target = file.notes, _with_switches(top, target, file)
        check_parameters_are_used(top.table("target"), target, space)
        instances = _needed_table(top, "instances", 'name the folder: training = "instances"')
        files = instances.boolean("files")
        as_files = isinstance(target, CommandSpec) if files is None else files
        found = read_instances(instances, "training", files=as_files)
        if found is None:
            raise instances.need("training", "name a folder, a pattern, a list file, a list or a generator")
        training = found
        test = read_instances(instances, "test", files=as_files)
    if isinstance(test, GeneratedInstances) and test.count is None:
        raise instances.problem("test", "generated test instances need a count, such as count = 100")
    endless = isinstance(training, GeneratedInstances)
    population = choice(instances, "population", Population)
    if endless and population is Population.FINITE:
        raise instances.problem(
            "population", 'generated instances stand for a larger population; write population = "infinite"'
        )
    if population is Population.INFINITE and isinstance(training, ListedInstances) and training.repeated:
        raise instances.problem(
            "seeds_per_instance",
            "several runs on one instance are no independent sample of instances like these; write "
            'population = "finite", or remove seeds_per_instance',
        )
    instances.asked.add("features")
    instances.finish()
    usual = Population.INFINITE if endless else Population.FINITE
    return _Material(target, space, training, test, population or usual, notes)


def _with_switches(top: Table, target: TargetSpec, file: ParameterFile) -> TargetSpec:
    """The target with the switches of the file, unless the scenario itself says how to write parameters."""
    if not isinstance(target, CommandSpec) or top.table("target").raw("template") is not None:
        return target
    named = named_in(target)
    switches = {name: words for name, words in switch_templates(file).items() if name not in named}
    return replace(target, templates={**switches, **target.templates})


def _space(top: Table) -> tuple[ParameterSpace, ParameterFile | None]:
    """The parameters, and the file they stand in, where it is one of its own."""
    parameters = top.raw("parameters")
    forbidden = top.raw("forbidden") or []
    if parameters is None:
        raise top.need("parameters", "add tables such as [parameters.NAME], or name a parameter file")
    if isinstance(parameters, str):
        file = _space_file(top, parameters, forbidden)
        return file.space, file
    if not isinstance(parameters, dict) or not isinstance(forbidden, list):
        key = "forbidden" if isinstance(parameters, dict) else "parameters"
        raise top.problem(
            key, f"{key} must be written as {'[[forbidden]]' if key == 'forbidden' else '[parameters.NAME]'}"
        )
    try:
        return ParameterSpace.from_tables(parameters, forbidden), None
    except SpaceError as error:
        raise top.source.problem(error.where, error.reason) from None


def _space_file(top: Table, name: str, forbidden: object) -> ParameterFile:
    path = top.source.path.parent / name
    if forbidden:
        raise top.problem("forbidden", f"forbidden clauses belong into {name!r}, where the parameters are")
    if not is_file(path):
        raise top.problem("parameters", f"the parameter file {name!r} does not exist; check the path")
    return read_parameter_file(path)


def _recorded(top: Table, target: RecordedSpec) -> tuple[ParameterSpace, InstanceSet]:
    """A recorded target brings its own space (its rows) and instances (its columns)."""
    from utilitune.data import read_matrix

    for key in ("parameters", "forbidden"):
        if top.raw(key) is not None:
            raise top.problem(key, f"recorded runtimes bring their own configurations; remove {key}")
    instances = top.table("instances")
    for key in ("training", "test", "seeds_per_instance"):
        if instances.raw(key) is not None:
            raise instances.problem(key, f"recorded runtimes bring their own instances; remove {key}")
    try:
        matrix = read_matrix(top.source.path.parent / target.matrix)
    except ScenarioError:
        raise
    except UtilituneError as error:
        raise top.table("target").problem("matrix", str(error)) from None
    if matrix.solutions is not None:
        raise top.table("target").problem(
            "matrix", "a scenario replays recorded runtimes, and these are solutions; use 'utilitune replay'"
        )
    rows = ChoiceParameter(RECORDED_PARAMETER, matrix.configurations, matrix.configurations[0])
    return ParameterSpace([rows]), ListedInstances(matrix.instances, files=False)


def _utility(top: Table, quality: QualityRules | None) -> str:
    text = top.text("utility")
    if text is None and quality is not None:
        raise top.need("utility", 'say what a solution is worth, such as "compared(to=default, alpha=5)"')
    if text is None:
        raise top.need(
            "utility", 'say what an answer is worth after a time, such as "log-laplace(k0=60, alpha=1)"'
        )
    if is_python(text):
        make_importable(top.source.path.parent)
    try:
        check_utility(text, quality)
    except UtilituneError as error:
        raise top.problem("utility", str(error)) from None
    return text


def _limits(table: Table) -> dict[str, Any]:
    smallest = table.duration("smallest_captime")
    largest = table.duration("largest_captime")
    memory = table.memory("memory")
    pause_memory = table.memory("pause_memory")
    table.finish()
    if smallest is None:
        smallest = usual_smallest_captime_s(largest)
    if largest is not None and largest < smallest:
        raise table.problem(
            "largest_captime", f"the largest captime, {largest:g} s, is below the smallest, {smallest:g} s"
        )
    return {
        "captime0_s": smallest,
        "max_captime_s": largest,
        "memory_bytes": memory,
        "pause_memory_bytes": pause_memory,
    }


def _promise_and_budget(top: Table) -> tuple[float, StopRules]:
    promise, budget = top.table("promise"), top.table("budget")
    delta = _or(promise.share("delta", least=SMALLEST_DELTA), DEFAULT_DELTA)
    stop = StopRules(
        epsilon=promise.share("epsilon"),
        gamma=promise.share("gamma"),
        cpu_time_s=budget.duration("cpu_time"),
        wall_time_s=budget.duration("wall_time"),
        runs=budget.integer("runs", least=1),
    )
    promise.finish()
    budget.finish()
    return delta, stop


def _search(table: Table) -> SearchRules:
    share, method = table.number("share"), table.text("method")
    table.finish()
    usual = SearchRules()
    try:
        require_known(method or usual.method)
    except ScenarioError as error:
        raise table.problem("method", str(error)) from None
    try:
        return SearchRules(_or(share, usual.share), method or usual.method)
    except ScenarioError as error:
        raise table.problem("share", str(error)) from None


def _policies(table: Table) -> dict[RunStatus, FailurePolicy]:
    policies = {status: choice(table, status.value, FailurePolicy) for status in FAILURES}
    table.finish()
    return {status: policy for status, policy in policies.items() if policy is not None}


def _procedure(table: Table) -> dict[str, Any]:
    name = table.text("name") or DEFAULT_PROCEDURE
    return {
        "procedure": name,
        "options": {key: value for key, value in table.content.items() if key != "name"},
    }


def _initial(top: Table, space: ParameterSpace) -> tuple[Assignment, ...]:
    """Configurations to try first, each a table of all its active parameters."""
    tables = top.raw("initial") or []
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise top.problem(
            "initial", "initial must be a list of tables such as [{ mode = 'fast', depth = 3 }]"
        )
    found = []
    for place, table in enumerate(tables):
        try:
            found.append(space.validate(table))
        except SpaceError as error:
            reason = f"configuration {place + 1} to try first does not fit the parameters: {error.reason}"
            raise top.source.problem(("initial", place), reason) from None
    return tuple(found)


def _features(table: Table) -> str | tuple[str, ...] | None:
    """A file, or a command that prints the features of one instance."""
    if isinstance(table.raw("features"), list):
        command = table.texts("features") or ()
        if not any("{instance}" in word for word in command):
            raise table.problem("features", "the command for instance features needs {instance} in a word")
        if program_path(table.source.path.parent, command[0]) is None:
            raise table.problem("features", f"the program {command[0]!r} does not exist or is not executable")
        return command
    name = table.text("features")
    if name is not None and not is_file(table.source.path.parent / name):
        raise table.problem("features", f"the file {name!r} does not exist; check the path")
    return name

"""``configure``: a whole configuration run as one Python call.

Either a scenario (a file or an object) says everything, or the few things that matter are given as objects:
a Python function, its parameters, its instances and the utility. Both ways end in one frozen `Scenario`
and in the same run that the command line makes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from utilitune.domain import DEFAULT_DELTA, Measure
from utilitune.errors import UsageError, did_you_mean
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario.dialects import read_scenario
from utilitune.scenario.model import (
    DEFAULT_PROCEDURE,
    DEFAULT_SEED,
    FunctionSpec,
    ListedInstances,
    Population,
    Scenario,
    StopRules,
    usual_smallest_captime_s,
)
from utilitune.spaces import ParameterSpace
from utilitune.targets.function import FunctionTarget
from utilitune.utility import Utility, as_utility, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from utilitune.live.events import Event, View
    from utilitune.live.result import RunResult

Kind = TypeVar("Kind", Population, Measure)
Space = ParameterSpace | Mapping[str, Any] | Path | str
"""Parameters: a space, tables as in a scenario file, or the parameter file of any tool."""

Duration = str | float
"""A time as people write it, such as "90s" or "1h30m", or a number of seconds."""


class StopSettings(TypedDict, total=False):
    """When a run ends and how much it may use; these may be given with a scenario, too.

    Attributes:
        epsilon: Stop once the answer is proved within this of the best.
        gamma: ... and the promise covers all but this fraction of the space.
        max_time: Stop after this much time in runs of the target.
        max_wall_time: Stop after this much time on the clock.
        max_runs: Stop after this many runs.
        workers: Runs at the same time; the cores if left out.
        cluster: Where runs are made: "local:8", "tcp://host:8786" or a file; on this machine if left out.
    """

    epsilon: float
    gamma: float
    max_time: Duration
    max_wall_time: Duration
    max_runs: int
    workers: int
    cluster: str


class Settings(StopSettings, total=False):
    """What else there is to say of a run from objects; everything has a usual value.

    Attributes:
        name: What to call it.
        test_instances: Instances to evaluate the answer on.
        seeds_per_instance: How many seeds every instance is run with, each a run of its own; an instance that
            is listed several times has as many times the seeds.
        population: "finite" (the instances are all there is) or "infinite" (they are a sample).
        measure: "cpu" or "wall" seconds.
        smallest_captime: The first captime.
        largest_captime: The largest captime.
        memory_bytes: Memory limit of one run.
        delta: The probability with which the promise may fail.
        seed: What every random choice follows from.
        procedure: Name of the procedure.
        options: Its options.
        reports_runtime: Whether the function returns its own runtime in seconds.
        initial: Configurations to try right after the default one, each with all its active parameters.
    """

    name: str
    test_instances: Sequence[str]
    seeds_per_instance: int
    population: str
    measure: str
    smallest_captime: Duration
    largest_captime: Duration
    memory_bytes: int
    delta: float
    seed: int
    procedure: str
    options: Mapping[str, Any]
    reports_runtime: bool
    initial: Sequence[Mapping[str, Any]]


class CallSettings(Settings, total=False):
    """The same, and who hears how far a run is.

    Attributes:
        progress: Whether to show on the standard error stream how far it is, in one line.
        on_update: Called a few times a second with what there is to show.
        on_event: Called with everything that happens, see `utilitune.live.events`.
    """

    progress: bool
    on_update: Callable[[View], None] | None
    on_event: Callable[[Event], None] | None


def configure(
    function: Callable[..., Any] | str | None = None,
    *,
    scenario: Scenario | Path | str | None = None,
    space: Space | None = None,
    instances: Sequence[str] | None = None,
    utility: Utility | str | Callable[[Any], Any] | None = None,
    folder: Path | str | None = None,
    **settings: Unpack[CallSettings],
) -> RunResult:
    """Find the best configuration of a program or function, with a proof.

    Example::

        # packing.py
        import random, zlib

        def pack(configuration, instance, seed):
            numbers = random.Random(seed).choices(range(50), k=int(instance))
            text = str(numbers).encode()
            return len(zlib.compress(text, configuration["level"])) < 0.4 * len(text)

        # tune.py
        import utilitune
        from packing import pack

        result = utilitune.configure(
            pack,
            space={"level": {"type": "integer", "range": [1, 9], "default": 9}},
            instances=[str(size) for size in range(1000, 5000, 100)],
            utility="uniform(k0=100ms)",
            max_wall_time="60s",
        )
        print(result.best, result.promise.sentence())

    Args:
        function: What to configure, called as ``function(configuration, instance, seed)`` in a process of
            its own; an object, also of a script, a notebook or inside another function, or
            "module:function".
        scenario: A scenario or its file, in place of function, space, instances and utility.
        space: Parameters: a `ParameterSpace`, tables as in a scenario file (type, range, default, …), or the
            parameter file of any tool.
        instances: What the function gets as its instance, one text each.
        utility: What an answer is worth after a time, such as "log-laplace(k0=60, alpha=1)".
        folder: Where the run is kept, to go on with it later; nowhere if left out.
        settings: Everything else: see `Settings` (with a scenario, only the `StopSettings` among them), and
            `CallSettings` for who is told how far it is.

    Returns:
        The answer, the promise, the trajectory and every run.
    """
    _refuse_unknown(settings, CallSettings.__optional_keys__)
    progress, on_update = settings.pop("progress", False), settings.pop("on_update", None)
    on_event = settings.pop("on_event", None)
    if scenario is not None:
        objects = {"function": function, "space": space, "instances": instances, "utility": utility}
        chosen = _given_scenario(scenario, objects, settings)
    elif function is None or space is None or instances is None or utility is None:
        raise UsageError("configure needs a scenario, or all of function, space, instances and utility")
    else:
        chosen = _scenario_from_objects(function, space, instances, utility, settings)
    place = None if folder is None else Path(folder)
    with _showing(on_update, progress=progress) as show:
        return run_scenario(chosen, place, settings_of(chosen), on_update=show, on_event=on_event)


@contextlib.contextmanager
def _showing(
    on_update: Callable[[View], None] | None, *, progress: bool
) -> Iterator[Callable[[View], None] | None]:
    """What is called with every view: the listener, and the line of progress where it is wanted."""
    if not progress:
        yield on_update
        return
    from utilitune.live.progress_line import ProgressLine

    def show(view: View) -> None:
        line(view)
        if on_update is not None:
            on_update(view)

    with contextlib.closing(ProgressLine()) as line:
        yield show


def _given_scenario(
    scenario: Scenario | Path | str, objects: Mapping[str, object], settings: Settings
) -> Scenario:
    """The scenario with other limits."""
    fixed = [name for name, value in objects.items() if value is not None]
    fixed += [name for name in settings if name not in StopSettings.__optional_keys__]
    if fixed:
        raise UsageError(f"{', '.join(fixed)} cannot be given beside a scenario: write it into the scenario")
    given = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    stop = _stop_rules(settings, given.stop)
    workers, cluster = settings.get("workers", given.workers), settings.get("cluster", given.cluster)
    return replace(given, stop=stop, workers=workers, cluster=cluster)


def _scenario_from_objects(
    function: Callable[..., Any] | str,
    space: Space,
    instances: Sequence[str],
    utility: Utility | str | Callable[[Any], Any],
    settings: Settings,
) -> Scenario:
    reports = settings.get("reports_runtime", False)
    target = FunctionTarget.of(function, reports_runtime=reports)
    described = FunctionSpec(f"{target.module}:{target.function}", reports_runtime=reports)
    return scenario_around(described, space, instances, utility, settings)


def scenario_around(
    target: FunctionSpec,
    space: Space,
    instances: Sequence[str],
    utility: Utility | str | Callable[[Any], Any],
    settings: Settings,
) -> Scenario:
    """The scenario that objects describe."""
    _refuse_unknown(settings, Settings.__optional_keys__)
    largest_s = _seconds_or_none(settings.get("largest_captime"))
    smallest_s = _seconds_or_none(settings.get("smallest_captime"))
    test = settings.get("test_instances")
    seeds = settings.get("seeds_per_instance", 1)
    parameters = _parameters(space)
    return Scenario(
        name=settings.get("name", target.reference.rpartition(":")[2]),
        directory=Path.cwd(),
        target=target,
        space=parameters,
        training=_listed("instances", instances).seeded(seeds),
        test=None if test is None else _listed("test_instances", test).seeded(seeds),
        utility=str(as_utility(utility)),
        population=_choice("population", Population, settings.get("population", Population.FINITE)),
        measure=_choice("measure", Measure, settings.get("measure", Measure.CPU)),
        captime0_s=usual_smallest_captime_s(largest_s) if smallest_s is None else smallest_s,
        max_captime_s=largest_s,
        memory_bytes=settings.get("memory_bytes"),
        delta=settings.get("delta", DEFAULT_DELTA),
        stop=_stop_rules(settings, StopRules()),
        seed=settings.get("seed", DEFAULT_SEED),
        workers=settings.get("workers"),
        cluster=settings.get("cluster"),
        procedure=settings.get("procedure", DEFAULT_PROCEDURE),
        options=settings.get("options", {}),
        initial=tuple(parameters.validate(values) for values in settings.get("initial", ())),
    )


def _parameters(space: Space) -> ParameterSpace:
    """The parameters as a space, whichever way they were given."""
    if isinstance(space, str | Path):
        from utilitune.spaces.dialects import read_parameter_file

        return read_parameter_file(space).space
    return space if isinstance(space, ParameterSpace) else ParameterSpace.from_tables(space)


def _stop_rules(settings: Settings, usual: StopRules) -> StopRules:
    return StopRules(
        epsilon=settings.get("epsilon", usual.epsilon),
        gamma=settings.get("gamma", usual.gamma),
        cpu_time_s=_seconds_or_none(settings.get("max_time", usual.cpu_time_s)),
        wall_time_s=_seconds_or_none(settings.get("max_wall_time", usual.wall_time_s)),
        runs=settings.get("max_runs", usual.runs),
    )


def _seconds_or_none(value: Duration | None) -> float | None:
    if value is None:
        return None
    seconds = parse_duration(value) if isinstance(value, str) else float(value)
    if not 0 < seconds < math.inf:
        raise UsageError(
            f'a time must be a positive number of seconds, or a text such as "90s", not {value!r}'
        )
    return seconds


def _listed(what: str, instances: Sequence[str]) -> ListedInstances:
    if isinstance(instances, str) or not all(isinstance(name, str) for name in instances):
        raise UsageError(
            f'{what} must be a list of texts, such as ["a.cnf", "b.cnf"]: turn numbers into texts'
        )
    return ListedInstances(tuple(instances), files=False)


def _choice(what: str, kind: type[Kind], value: str) -> Kind:
    try:
        return kind(value)
    except ValueError:
        names = [member.value for member in kind]
        raise UsageError(f"there is no {what} {value!r}; {did_you_mean(str(value), names)}") from None


def _refuse_unknown(settings: Mapping[str, object], known: frozenset[str]) -> None:
    for name in settings:
        if name not in known:
            raise UsageError(f"configure has no setting {name!r}; {did_you_mean(name, known)}")

"""``configure``: a whole configuration run as one Python call.

Either a scenario (a file or an object) says everything, or the few things that matter are given as objects:
a Python function, its parameters, its instances and the utility. Both ways end in one frozen `Scenario`
and in the same run that the command line makes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from utilitune.domain import DEFAULT_DELTA, Guesses, Measure
from utilitune.errors import UsageError, did_you_mean
from utilitune.errors.outside import user_path
from utilitune.live.call_settings import CallSettings, StopSettings, checked, texts
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
from utilitune.utility import Utility, as_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from utilitune.live.events import View
    from utilitune.live.result import RunResult

Kind = TypeVar("Kind", Guesses, Population, Measure)
Space = ParameterSpace | Mapping[str, Any] | Path | str
"""Parameters: a space, tables as in a scenario file, or the parameter file of any tool."""


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
    given = checked(settings, CallSettings.__optional_keys__)
    progress, on_update = given.pop("progress", False), given.pop("on_update", None)
    on_event = given.pop("on_event", None)
    if scenario is not None:
        objects = {"function": function, "space": space, "instances": instances, "utility": utility}
        chosen = _given_scenario(scenario, objects, given)
    elif function is None or space is None or instances is None or utility is None:
        raise UsageError("configure needs a scenario, or all of function, space, instances and utility")
    else:
        chosen = _scenario_from_objects(function, space, instances, utility, given)
    place = None if folder is None else user_path(folder)
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
    scenario: Scenario | Path | str, objects: Mapping[str, object], settings: Mapping[str, Any]
) -> Scenario:
    """The scenario with other limits."""
    fixed = [name for name, value in objects.items() if value is not None]
    fixed += [name for name in settings if name not in StopSettings.__optional_keys__]
    if fixed:
        raise UsageError(f"{', '.join(fixed)} cannot be given beside a scenario: write it into the scenario")
    given = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    stop = _stop_rules(settings, given.stop)
    workers, cluster = settings.get("workers", given.workers), settings.get("cluster", given.cluster)
    guesses = _choice("guesses", Guesses, settings.get("guesses", given.guesses))
    return replace(given, stop=stop, workers=workers, cluster=cluster, guesses=guesses)


def _scenario_from_objects(
    function: Callable[..., Any] | str,
    space: Space,
    instances: Sequence[str],
    utility: Utility | str | Callable[[Any], Any],
    settings: Mapping[str, Any],
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
    settings: Mapping[str, Any],
) -> Scenario:
    """The scenario that objects describe, with settings that were checked."""
    largest_s, smallest_s = settings.get("largest_captime"), settings.get("smallest_captime")
    test = settings.get("test_instances")
    seeds = settings.get("seeds_per_instance", 1)
    parameters = _parameters(space)
    return Scenario(
        name=settings.get("name", target.reference.rpartition(":")[2]),
        directory=Path.cwd(),
        target=target,
        space=parameters,
        training=ListedInstances(texts("instances", instances), files=False).seeded(seeds),
        test=None if test is None else ListedInstances(test, files=False).seeded(seeds),
        utility=str(as_utility(utility).require_falling()),
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
        guesses=_choice("guesses", Guesses, settings.get("guesses", Guesses.USEFUL)),
        procedure=settings.get("procedure", DEFAULT_PROCEDURE),
        options=settings.get("options", {}),
        initial=tuple(parameters.validate(values) for values in settings.get("initial", ())),
    )


def _parameters(space: Space) -> ParameterSpace:
    """The parameters as a space, whichever way they were given."""
    if isinstance(space, str | Path):
        from utilitune.spaces.dialects import read_parameter_file

        return read_parameter_file(space).space
    if isinstance(space, ParameterSpace):
        return space
    if not isinstance(space, Mapping):
        raise UsageError(
            "space must be a ParameterSpace, the path of a parameter file, or a dictionary such as "
            f'{{"level": {{"type": "integer", "range": [1, 9]}}}}, not {space!r}'
        )
    return ParameterSpace.from_tables(space)


def _stop_rules(settings: Mapping[str, Any], usual: StopRules) -> StopRules:
    return StopRules(
        epsilon=settings.get("epsilon", usual.epsilon),
        gamma=settings.get("gamma", usual.gamma),
        cpu_time_s=settings.get("max_time", usual.cpu_time_s),
        wall_time_s=settings.get("max_wall_time", usual.wall_time_s),
        runs=settings.get("max_runs", usual.runs),
    )


def _choice(what: str, kind: type[Kind], value: str) -> Kind:
    try:
        return kind(value)
    except ValueError:
        names = [member.value for member in kind]
        raise UsageError(f"there is no {what} {value!r}; {did_you_mean(str(value), names)}") from None

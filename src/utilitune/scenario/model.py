"""What a run is about, as one frozen value: `Scenario`.

A scenario holds descriptions only. `utilitune.scenario.targets` turns its target into something that
runs, `utilitune.scenario.instances` puts its instances into the order in which they are taken. Every
dialect of scenario file is a reader that ends here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from utilitune.domain import (
    DEFAULT_DELTA,
    Guesses,
    Measure,
    Objective,
    RunStatus,
    require_delta,
    require_positive,
)
from utilitune.domain.stopping import Audience, Budget
from utilitune.errors import ScenarioError
from utilitune.targets.verdict import VerdictRules
from utilitune.utility import Goal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.targets.command import JudgingRules, Template, Words

RECORDED_PARAMETER = "configuration"
"""The one parameter of a recorded target: which row."""

DEFAULT_SEED = 1
DEFAULT_PROCEDURE = "wager"
_LEAST_CAPTIME_S = 0.01
_CAPTIME_DOUBLINGS = 10
MOST_PAIRS = 10_000_000
"""Pairs of an instance and a seed; more would fill the memory before the first run."""


class Population(StrEnum):
    """What the promise is about: exactly the listed instances, or all instances like them."""

    FINITE = "finite"
    INFINITE = "infinite"


class FailurePolicy(StrEnum):
    """What a failed run means."""

    NEVER_FINISHES = "never-finishes"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A program, run in the scenario's folder.

    Attributes:
        argv: The program and its arguments, with placeholders.
        default_template: How a parameter is written.
        templates: How single parameters are written instead.
        environment: Variables set for the program.
        rules: How its exit code and output are judged.
        specifics: Per instance, the arguments that belong to it; those of the empty name are for all others.
    """

    argv: Words
    default_template: Words = ("--{name}={value}",)
    templates: Mapping[str, Template] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    rules: JudgingRules = field(default_factory=VerdictRules)
    specifics: Mapping[str, Words] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """A Python function, named ``module:function`` and importable from the scenario's folder.

    Attributes:
        reference: Its name.
        reports_runtime: Whether the number it returns is its runtime.
    """

    reference: str
    reports_runtime: bool = False


@dataclass(frozen=True, slots=True)
class RecordedSpec:
    """Recorded runtimes in place of a program: rows are configurations, columns are instances."""

    matrix: str


TargetSpec = CommandSpec | FunctionSpec | RecordedSpec


@dataclass(frozen=True, slots=True)
class ListedInstances:
    """Instances by name.

    A name that comes k times is one instance with k seeds: k runs of every configuration, each at a position
    of its own in the random order.

    Attributes:
        names: The instances, each as often as it has seeds.
        files: Whether each is a file, relative to the scenario's folder.
    """

    names: tuple[str, ...]
    files: bool = True

    def __post_init__(self) -> None:
        for name in self.names:
            if not isinstance(name, str) or "\0" in name:
                raise ScenarioError(f"an instance must be a text without zero bytes, not {name!r}")

    @property
    def distinct(self) -> tuple[str, ...]:
        """Every instance once."""
        return tuple(dict.fromkeys(self.names))

    @property
    def repeated(self) -> bool:
        """Whether an instance has several seeds."""
        return len(self.distinct) < len(self.names)

    def seeded(self, seeds_per_instance: int) -> ListedInstances:
        """The same instances, each with so many times the seeds."""
        if type(seeds_per_instance) is not int or seeds_per_instance < 1:
            raise ScenarioError(
                f"seeds_per_instance must be a whole number of at least 1, not {seeds_per_instance!r}"
            )
        if len(self.names) * seeds_per_instance > MOST_PAIRS:
            raise ScenarioError(
                f"seeds_per_instance = {seeds_per_instance} makes more than {MOST_PAIRS:,} pairs of an "
                "instance and a seed; take fewer"
            )
        return replace(self, names=self.names * seeds_per_instance)


@dataclass(frozen=True, slots=True)
class GeneratedInstances:
    """Instances that a command makes on demand, each from a seed of its own.

    Attributes:
        argv: The command, with ``{seed}`` and ``{output}``.
        folder: Where the files are kept, relative to the scenario's folder.
        suffix: How their names end.
        count: How many there are; None means without end.
    """

    argv: tuple[str, ...]
    folder: str
    suffix: str = ""
    count: int | None = None


InstanceSet = ListedInstances | GeneratedInstances


@dataclass(frozen=True, slots=True)
class StopRules:
    """When a run ends; None means that this alone never ends it.

    Attributes:
        epsilon: The promised distance to the best is this small.
        gamma: The promise covers all but this fraction of the space.
        cpu_time_s: The target has used this much CPU time in all.
        wall_time_s: This much time has passed.
        runs: This many runs were made.
    """

    epsilon: float | None = None
    gamma: float | None = None
    cpu_time_s: float | None = None
    wall_time_s: float | None = None
    runs: int | None = None

    def budget(self) -> Budget:
        """The limits among them."""
        return Budget(
            max_time_s=math.inf if self.cpu_time_s is None else self.cpu_time_s,
            max_runs=self.runs,
            max_wall_s=math.inf if self.wall_time_s is None else self.wall_time_s,
            audience=Audience.SCENARIO,
        )


@dataclass(frozen=True, slots=True)
class QualityRules:
    """How the quality of solutions counts, for a scenario that is not about runtime alone.

    Attributes:
        objective: Whether the quality at the end counts, or how it improves.
        better: Which qualities are better.
        references: What is known of instances, such as their best known quality, by name.
        bounds: Qualities that cannot be surpassed, by instance.
    """

    objective: Objective = Objective.QUALITY
    better: Goal = Goal.SMALLER
    references: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, float] = field(default_factory=dict)


DEFAULT_SEARCH_SHARE = 0.25
"""After its head start, a quarter of the time is search's, the rest proves how good it is: docs/search.md."""

DEFAULT_SEARCH_METHOD = "utilitune"
"""Our own search."""


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How good configurations are looked for, beside the random draws that the promise needs.

    Attributes:
        share: The share of the time in runs that goes to search after its head start; 0 for no search.
        method: Who searches: a name, or "module:Class".
    """

    share: float = DEFAULT_SEARCH_SHARE
    method: str = DEFAULT_SEARCH_METHOD

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise ScenarioError(f"the share of search must be at least 0 and below 1, not {self.share:g}")


NO_SEARCH = SearchRules(share=0.0)
"""Random draws and a model's proposals only, as in run folders of earlier versions."""

LONGEST_QUALITY_RUN_S = 86_400.0
"""Where nothing else limits a run for the quality of its solution, it is stopped after a day."""

FAILURES = (RunStatus.CRASHED, RunStatus.MEMOUT, RunStatus.WRONG_ANSWER)
"""The outcomes that have a policy."""


def usual_smallest_captime_s(
    largest_s: float | None, least_s: float = _LEAST_CAPTIME_S, doublings: int = _CAPTIME_DOUBLINGS
) -> float:
    """The smallest captime where nobody says one: ten doublings below the largest, but at least 10 ms."""
    return 1.0 if largest_s is None else min(largest_s, max(least_s, largest_s / 2**doublings))


def _has_repeats(instances: InstanceSet) -> bool:
    return isinstance(instances, ListedInstances) and instances.repeated


def require_runtime(objective: Objective, what: str) -> None:
    """Raise a `ScenarioError` where something that is possible for runtimes only is asked of solutions."""
    if objective is not Objective.RUNTIME:
        about = "solutions at any time" if objective is Objective.ANYTIME else "quality"
        raise ScenarioError(
            f"{what} is only possible where the time of runs counts, but this scenario is about {about}"
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that defines a configuration task.

    Attributes:
        name: What to call it.
        directory: The scenario's folder: relative paths start here, and the program runs here.
        target: The program, function or record that is configured.
        space: Its parameters.
        training: The instances it is configured on.
        utility: What an answer is worth after a given time, as text.
        test: Instances to evaluate the answer on, where there are some.
        population: Whether the promise is about exactly the training instances.
        measure: What a second is.
        captime0_s: The smallest captime.
        max_captime_s: The largest captime; None means there is none.
        memory_bytes: Memory limit of a run; None means there is none.
        pause_memory_bytes: Memory for runs that are stopped at their captime to be continued later; None
            means that they are ended.
        delta: The probability with which the promise may fail.
        stop: When to end.
        policies: What failed runs mean; a status that is missing counts as never finishing.
        seed: What every random choice follows from.
        workers: How many runs at once; None means one per core.
        cluster: Where runs are made, see `utilitune.scenario.cluster_reader`; None means on this machine.
        guesses: Which runs are made ahead of need.
        procedure: Name of the procedure.
        options: Its options.
        features: A file of instance features, relative to the scenario's folder, or a command with
            ``{instance}`` that prints those of one instance, see `utilitune.scenario.features`.
        initial: Configurations to try right after the default one.
        quality: How the quality of solutions counts; None where the time of a run is all that does.
        search: How good configurations are looked for.
    """

    name: str
    directory: Path
    target: TargetSpec
    space: ParameterSpace
    training: InstanceSet
    utility: str
    test: InstanceSet | None = None
    population: Population = Population.FINITE
    measure: Measure = Measure.CPU
    captime0_s: float = 1.0
    max_captime_s: float | None = None
    memory_bytes: int | None = None
    pause_memory_bytes: int | None = None
    delta: float = DEFAULT_DELTA
    stop: StopRules = StopRules()
    policies: Mapping[RunStatus, FailurePolicy] = field(default_factory=dict)
    seed: int = DEFAULT_SEED
    workers: int | None = None
    cluster: str | None = None
    guesses: Guesses = Guesses.USEFUL
    procedure: str = DEFAULT_PROCEDURE
    options: Mapping[str, Any] = field(default_factory=dict)
    features: str | tuple[str, ...] | None = None
    initial: tuple[Assignment, ...] = ()
    quality: QualityRules | None = None
    search: SearchRules = SearchRules()

    def __post_init__(self) -> None:
        require_positive("the smallest captime", self.captime0_s)
        require_delta(self.delta)
        if self.max_captime_s is not None and self.max_captime_s < self.captime0_s:
            raise ScenarioError(
                f"the largest captime, {self.max_captime_s:g} s, is below the smallest, {self.captime0_s:g} s"
            )
        if isinstance(self.training, ListedInstances) and not self.training.names:
            raise ScenarioError("there are no training instances; add at least one")
        if isinstance(self.training, GeneratedInstances) and self.population is Population.FINITE:
            raise ScenarioError('generated instances have no end; set population = "infinite"')
        if self.quality is not None and isinstance(self.target, RecordedSpec):
            raise ScenarioError("recorded runtimes hold no qualities; leave objective out")
        if self.population is Population.INFINITE and _has_repeats(self.training):
            raise ScenarioError(
                "several runs on one instance are no independent sample of instances like these: set "
                'population = "finite", or take every instance once'
            )

    @property
    def objective(self) -> Objective:
        """What the target is configured for."""
        return Objective.RUNTIME if self.quality is None else self.quality.objective

    @property
    def limit_s(self) -> float:
        """Where every run is stopped, for a scenario about the quality of solutions."""
        return LONGEST_QUALITY_RUN_S if self.max_captime_s is None else self.max_captime_s

    def require_quality(self) -> QualityRules:
        """The rules of quality; a scenario about runtime has none and is refused."""
        if self.quality is None:
            raise ScenarioError("this scenario is about runtime, so its runs have no qualities")
        return self.quality

    def require_runtime(self, what: str = "this") -> None:
        """Raise a `ScenarioError` unless the time of runs counts.

        Args:
            what: What is possible for runtimes only.
        """
        require_runtime(self.objective, what)

    @property
    def looks_early(self) -> bool:
        """Whether runs are looked at before they are over, so that short captimes tell something."""
        if self.objective is Objective.ANYTIME:
            return self.procedure == DEFAULT_PROCEDURE
        return self.objective is Objective.RUNTIME

    @property
    def captimes_s(self) -> tuple[float, float]:
        """The smallest and the largest captime that the procedure may ask for."""
        if self.quality is None:
            return self.captime0_s, math.inf if self.max_captime_s is None else self.max_captime_s
        return (min(self.captime0_s, self.limit_s) if self.looks_early else self.limit_s), self.limit_s

    def policy(self, status: RunStatus) -> FailurePolicy:
        """What a run that ended like this means."""
        return self.policies.get(status, FailurePolicy.NEVER_FINISHES)

    def snapshot(self) -> dict[str, Any]:
        """The scenario as plain JSON values, from which `from_snapshot` restores it."""
        from utilitune.scenario.snapshot import to_snapshot

        return to_snapshot(self)

    @staticmethod
    def from_snapshot(snapshot: Mapping[str, Any]) -> Scenario:
        """Restore a scenario; nothing on disk is looked at."""
        from utilitune.scenario.snapshot import from_snapshot

        return from_snapshot(snapshot)

    def digest(self) -> str:
        """A fingerprint of what gives the runs their meaning, see `utilitune.scenario.snapshot`."""
        from utilitune.scenario.snapshot import digest

        return digest(self)

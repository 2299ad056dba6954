"""What a run is about, as one frozen value: `Scenario`.

A scenario holds descriptions only. `utilitune.scenario.targets` turns its target into something that
runs, `utilitune.scenario.instances` puts its instances into the order in which they are taken. Every
dialect of scenario file is a reader that ends here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from utilitune.domain import Measure, RunStatus, require_positive, require_probability
from utilitune.errors import ScenarioError
from utilitune.targets.verdict import VerdictRules

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.targets.command import Rules, Template, Words

RECORDED_PARAMETER = "configuration"
"""The one parameter of a recorded target: which row."""

DEFAULT_SEED = 1
DEFAULT_DELTA = 0.05
DEFAULT_PROCEDURE = "wager"
_LEAST_CAPTIME_S = 0.01
_CAPTIME_RANGE = 1024


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
    rules: Rules = field(default_factory=VerdictRules)
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
    """Instances by name; `files` says that each is a file, relative to the scenario's folder."""

    names: tuple[str, ...]
    files: bool = True


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


FAILURES = (RunStatus.CRASHED, RunStatus.MEMOUT, RunStatus.WRONG_ANSWER)
"""The outcomes that have a policy."""


def usual_smallest_captime_s(largest_s: float | None) -> float:
    """The smallest captime where nobody says one: ten doublings below the largest, but at least 10 ms."""
    return 1.0 if largest_s is None else min(largest_s, max(_LEAST_CAPTIME_S, largest_s / _CAPTIME_RANGE))


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
        delta: The probability with which the promise may fail.
        stop: When to end.
        policies: What failed runs mean; a status that is missing counts as never finishing.
        seed: What every random choice follows from.
        workers: How many runs at once; None means one per core.
        procedure: Name of the procedure.
        options: Its options.
        features: A file of instance features, relative to the scenario's folder, or a command with
            ``{instance}`` that prints those of one instance, see `utilitune.scenario.features`.
        initial: Configurations to try right after the default one.
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
    delta: float = DEFAULT_DELTA
    stop: StopRules = StopRules()
    policies: Mapping[RunStatus, FailurePolicy] = field(default_factory=dict)
    seed: int = DEFAULT_SEED
    workers: int | None = None
    procedure: str = DEFAULT_PROCEDURE
    options: Mapping[str, Any] = field(default_factory=dict)
    features: str | tuple[str, ...] | None = None
    initial: tuple[Assignment, ...] = ()

    def __post_init__(self) -> None:
        require_positive("the smallest captime", self.captime0_s)
        require_probability("delta", self.delta)
        if self.max_captime_s is not None and self.max_captime_s < self.captime0_s:
            raise ScenarioError(
                f"the largest captime, {self.max_captime_s:g} s, is below the smallest, {self.captime0_s:g} s"
            )
        if isinstance(self.training, ListedInstances) and not self.training.names:
            raise ScenarioError("there are no training instances; add at least one")
        if isinstance(self.training, GeneratedInstances) and self.population is Population.FINITE:
            raise ScenarioError('generated instances have no end; set population = "infinite"')

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

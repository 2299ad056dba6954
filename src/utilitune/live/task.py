"""A scenario resolved once: what every command and every run needs of it, made when it is first asked for.

A `Scenario` holds descriptions only. A `Task` turns them into objects: the utility, the instances in their
order, the target, the rules by which its runs are made and judged. Nobody else does that, so a recorded
matrix is read once and a function is imported once, however many ask for it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import Objective, RunStatus
from utilitune.errors import ScenarioError, UsageError
from utilitune.errors.outside import exists, is_folder
from utilitune.execution.backend import CALIBRATION
from utilitune.procedures.anytime_evidence import AnytimeEvidence
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.judged_evidence import JudgedEvidence
from utilitune.scenario.features import computed_features, feature_file
from utilitune.scenario.instances import TEST, instance_source
from utilitune.scenario.judging import AnytimeJudge, QualityJudge, judge_of
from utilitune.scenario.model import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
    ListedInstances,
    RecordedSpec,
    Scenario,
)
from utilitune.scenario.snapshot import contents, digest
from utilitune.scenario.targets import build_target
from utilitune.store import RunFolderReader, Snapshot
from utilitune.targets.base import Command, Invocation
from utilitune.targets.function import as_arguments, call_text
from utilitune.targets.recorded import RecordedTarget
from utilitune.utility import parse_solution_utility, parse_utility
from utilitune.utility.carried import make_importable
from utilitune.utility.drawn import drawing_of, drawn, is_python

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from utilitune.execution.backend import Backend, Job
    from utilitune.execution.cluster.places import Cluster
    from utilitune.execution.runs import RunRules
    from utilitune.scenario.fingerprints import Fingerprint
    from utilitune.scenario.instances import InstanceSource
    from utilitune.spaces import Assignment
    from utilitune.store.base import StoreReader
    from utilitune.targets.base import Target
    from utilitune.targets.base import Task as TargetTask
    from utilitune.utility import SolutionUtility, Utility

MOST_WORKERS = 4096
"""More processes than any machine has cores; such a number is a mistake."""

ENDLESS = 2**31 - 1
"""Stands for the number of instances of a generator without end; the largest that tables of 32 bits hold."""

CURVE = "utility_curve"
"""Where the settings of a start keep the curve of a utility that is a Python function."""

_HARDLY_WORTH = 0.05
_LOOKS = 32
"""At how many captimes runs are looked at where no procedure says at which."""


class Task:
    """What there is to configure, as objects.

    Args:
        scenario: The description.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.space = scenario.space

    @classmethod
    def stored(cls, store: StoreReader) -> Task:
        """The task of a stored run, as it was when the run began.

        Where the scenario's folder is gone and the scenario lies beside the run folder, both were moved: the
        task is there now.

        A utility that is a Python function is read from the curve that the run has kept, if it has: nobody's
        code is run for a look.
        """
        scenario = Scenario.from_snapshot(store.snapshot.scenario)
        if isinstance(store, RunFolderReader) and not is_folder(scenario.directory):
            beside = Path(os.path.abspath(store.folder)).parent  # noqa: PTH100 - links stay what they are
            if _lies_in(scenario, beside):
                scenario = replace(scenario, directory=beside)
        task = cls(scenario)
        kept = (session.settings.get(CURVE) for session in reversed(store.sessions()))
        curve = next(filter(None, kept), None) if is_python(task.scenario.utility) else None
        if curve is not None:
            task.utility = drawn(task.scenario.utility, curve)
        return task

    def settings(self) -> dict[str, Any]:
        """What a start keeps of the task, for those who look at its run later."""
        python = self.scenario.quality is None and is_python(self.scenario.utility)
        return {CURVE: drawing_of(self.utility)} if python else {}

    @cached_property
    def utility(self) -> Utility:
        """What an answer is worth after a time.

        Raises:
            ScenarioError: The scenario is about the quality of solutions: time alone has no utility.
        """
        self.scenario.require_runtime()
        if is_python(self.scenario.utility):
            make_importable(self.scenario.directory)
        return parse_utility(self.scenario.utility)

    @cached_property
    def solution_utility(self) -> SolutionUtility:
        """What a solution is worth, where the scenario is about the quality of solutions."""
        self.scenario.require_quality()
        return parse_solution_utility(self.scenario.utility)

    def evidence(self) -> LiveEvidence:
        """Where the outcomes of training runs go for a procedure to read; nothing is known yet."""
        if self.scenario.quality is None:
            return LiveEvidence(self.utility, self.positions)
        judge = self.judge()
        if isinstance(judge, AnytimeJudge) and self.scenario.looks_early:
            evidence = AnytimeEvidence(judge, self.positions)
            evidence.look_at(np.geomspace(*self.scenario.captimes_s, _LOOKS))
            return evidence
        return JudgedEvidence(judge, self.positions)

    def judge(self, instances: InstanceSource | None = None) -> QualityJudge:
        """What runs on these instances are worth, by default on the training instances."""
        asked = self.training if instances is None else instances
        return judge_of(self.scenario, self.solution_utility, asked)

    @cached_property
    def contents(self) -> dict[str, Fingerprint]:
        """The files whose content gives the runs their meaning, as they are when this is first asked for."""
        return contents(self.scenario)

    @cached_property
    def training(self) -> InstanceSource:
        """The instances it is configured on, in their order."""
        return instance_source(self.scenario, known=lambda: self.contents)

    @cached_property
    def test(self) -> InstanceSource:
        """The instances an answer is evaluated on, in their order."""
        return instance_source(self.scenario, TEST)

    @property
    def positions(self) -> int:
        """How many training instances there are; a large number for a generator without end."""
        return ENDLESS if self.training.count is None else self.training.count

    @cached_property
    def target(self) -> Target:
        """What is run."""
        return build_target(self.scenario)

    @cached_property
    def rules(self) -> RunRules:
        """How a run is made and what it counts as; a target that cannot be run is refused here."""
        from utilitune.execution.runs import RunRules

        self.target.check()
        anytime = self.scenario.objective is Objective.ANYTIME
        return RunRules(self.target, self.scenario.measure, self.scenario.memory_bytes, anytime=anytime)

    @cached_property
    def given(self) -> tuple[Assignment, ...]:
        """The configurations to try first: the default and then what the scenario lists, each once."""
        return tuple(dict.fromkeys([self.space.default(), *self.scenario.initial]))

    @cached_property
    def abort_on(self) -> frozenset[RunStatus]:
        """How a run must end for everything to be stopped."""
        return frozenset(
            status for status in RunStatus if self.scenario.policy(status) is FailurePolicy.ABORT
        )

    @cached_property
    def snapshot(self) -> Snapshot:
        """What a run folder keeps of the scenario."""
        return Snapshot(self.scenario.snapshot(), digest(self.scenario, self.contents))

    @property
    def recorded_cutoff_s(self) -> float | None:
        """Where recorded runs were stopped; None for a target that is really run."""
        if not isinstance(self.scenario.target, RecordedSpec):
            return None  # nobody's code is imported to know that
        return self.target.matrix.cutoff_s if isinstance(self.target, RecordedTarget) else None

    @property
    def usual_captime_s(self) -> float:
        """The largest captime, or where there is none, the time after which little worth is left."""
        if self.scenario.quality is not None:
            return self.scenario.limit_s
        if self.scenario.max_captime_s is not None:
            return self.scenario.max_captime_s
        time_s = self.utility.time_to_fall_to(self.utility.infimum + _HARDLY_WORTH)
        if not 0 < time_s < float("inf"):
            raise UsageError("this scenario has no largest captime: say with --captime when to stop a run")
        return max(time_s, self.scenario.captime0_s)

    def worker_count(self, asked: int | None = None) -> int:
        """How many runs are made at once: as many as asked for or as the scenario says, else one per core."""
        from utilitune.execution.machine import available_cores, cores_text

        count = (self.scenario.workers or available_cores()) if asked is None else asked
        if count < 1:
            raise UsageError(f"the number of workers must be at least 1, not {count}")
        if count > MOST_WORKERS:
            raise UsageError(
                f"the number of workers must be at most {MOST_WORKERS}, not {count}: each is a process on "
                f"this machine, which has {cores_text()}"
            )
        return count

    @cached_property
    def cluster(self) -> Cluster | None:
        """Where runs are made; None for this machine.

        Raises:
            UsageError: The scenario names a cluster that is none, or its runs are only looked up.
        """
        if self.scenario.cluster is None:
            return None
        from utilitune.scenario.cluster_reader import read_cluster

        found = read_cluster(self.scenario.cluster, self.scenario.directory)
        if found is not None and isinstance(self.scenario.target, RecordedSpec):
            raise UsageError("recorded runs are looked up here, nobody makes them: leave the cluster out")
        return found

    @property
    def is_elsewhere(self) -> bool:
        """Whether runs are made on other machines than this one."""
        return self.cluster is not None and not self.cluster.is_here

    def backend(
        self, workers: int, folder: Path | None = None, facts: Mapping[str, str] | None = None
    ) -> Backend:
        """A cluster, processes on this machine, or a virtual clock where runs are only looked up.

        Args:
            workers: How many runs are made at the same time; a cluster knows that itself.
            folder: The run folder, held by us alone; what a kill left alive there is ended first.
            facts: What is known of an earlier start.
        """
        from utilitune.execution.local import LocalBackend
        from utilitune.execution.simulated import SimulatedBackend, SimulatedRun

        if self.cluster is not None:
            from utilitune.execution.cluster.backend import DaskBackend

            known = (facts or {}).get(CALIBRATION)
            return DaskBackend(self.cluster, None if known is None else float(known))
        target = self.target
        if not isinstance(target, RecordedTarget):
            return LocalBackend(workers, folder)

        def looked_up(job: Job) -> SimulatedRun:
            if not isinstance(job.task, Command):
                raise TypeError("recorded runs are written down as commands")
            return SimulatedRun(target.runtime_s(job.task))

        return SimulatedBackend(workers, looked_up)

    def command_text(
        self, assignment: Mapping[str, Any], instance: str = "INSTANCE", seed: int | None = None
    ) -> str:
        """A configuration as a command line to paste into a shell, or as a call; nothing is imported."""
        scenario = self.scenario
        seed = scenario.seed if seed is None else seed
        if isinstance(scenario.target, FunctionSpec):
            module, _, function = scenario.target.reference.partition(":")
            return call_text(module, function, as_arguments(assignment, instance, seed))
        captime_s = scenario.max_captime_s or (scenario.limit_s if scenario.quality else scenario.captime0_s)
        return task_text(self.target.prepare(Invocation(assignment, instance, seed, captime_s)))

    def feature_file(self) -> Path | None:
        """The file of instance features; where a command makes them, those that are missing are made now."""
        return feature_file(self.scenario, self.training)

    def features(self) -> NDArray[np.float64] | None:
        """What is known of the training instances, in their order."""
        from utilitune.search.proposers.instance_features import read_instance_features

        instances = self.training
        if instances.count is None or (path := self.feature_file()) is None:
            return None
        names = [instances.name(position) for position in range(instances.count)]
        return read_instance_features(path, names)

    def check_features(self) -> None:
        """Read the file of instance features, or try the command that makes them on the first instance."""
        if isinstance(self.scenario.features, str):
            self.features()
        elif self.scenario.features is not None:
            computed_features(self.scenario, self.training, 0)

    def test_count(self) -> int:
        """How many test instances there are.

        Raises:
            ScenarioError: They have no end.
        """
        if self.test.count is None:
            raise ScenarioError("the test instances have no end: give their generator a count")
        return self.test.count


def _lies_in(scenario: Scenario, folder: Path) -> bool:
    """Whether what is run, or the first instance, is seen from a folder as the scenario names it."""
    names: list[str] = []
    match scenario.target:
        case CommandSpec(argv=argv):
            names.append(argv[0])
        case FunctionSpec(reference=reference):
            module = reference.partition(":")[0].replace(".", "/")
            names += [f"{module}.py", f"{module}/__init__.py"]
        case RecordedSpec(matrix=matrix):
            names.append(matrix)
    if isinstance(scenario.training, ListedInstances) and scenario.training.files:
        names += scenario.training.names[:1]
    return any(not os.path.isabs(name) and exists(folder / name) for name in names)  # noqa: PTH117 - texts


def task_text(task: TargetTask) -> str:
    """What is run, to be repeated by hand: a line for a shell, or a function with its arguments."""
    if isinstance(task, Command):
        return task.shell_text()
    return call_text(task.module, task.function, task.arguments)

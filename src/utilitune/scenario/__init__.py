"""Scenarios: what to configure, on which instances, for which utility, within which limits.

- `model`: the frozen `Scenario` that every reader ends in;
- `toml_reader` with `target_reader`, `instance_reader`, `source` and `locator`: the native file;
- `switches`: parameter files that also say how their parameters are written;
- `dialects`: the files of irace, SMAC and AClib;
- `instances`: the one order of instances, and their seeds; `generating`: a command that makes them;
- `overlap`: test instances that are training instances, too;
- `snapshot`: a scenario as JSON, and the fingerprint that guards a run folder;
- `targets`: from the description of a target to one that runs;
- `template` and `writer`: starter files, and any scenario as a commented file;
- `demo`: a real task that can be tried at once.
"""

from __future__ import annotations

from utilitune.scenario.dialects import Understanding, read_scenario, understand
from utilitune.scenario.instances import InstanceSource, instance_source
from utilitune.scenario.model import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
    GeneratedInstances,
    ListedInstances,
    Population,
    RecordedSpec,
    Scenario,
    StopRules,
)
from utilitune.scenario.targets import build_target, recorded_matrix

__all__ = [
    "CommandSpec",
    "FailurePolicy",
    "FunctionSpec",
    "GeneratedInstances",
    "InstanceSource",
    "ListedInstances",
    "Population",
    "RecordedSpec",
    "Scenario",
    "StopRules",
    "Understanding",
    "build_target",
    "instance_source",
    "read_scenario",
    "recorded_matrix",
    "understand",
]

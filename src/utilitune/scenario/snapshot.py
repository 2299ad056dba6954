"""A scenario as JSON for the run folder, and the fingerprint that guards a run folder.

The fingerprint covers what gives a run its meaning: target, space, training instances (their names and
the SHA-256 of the content of every file), population, utility, measure, captimes, memory limit,
policies, δ, seed, procedure and the configurations to try first. It leaves out what may change between
two starts of one run: name, folder, stop rules, workers, test instances and features.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.domain import Measure, RunStatus
from utilitune.errors import ScenarioError
from utilitune.scenario.model import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
    GeneratedInstances,
    InstanceSet,
    ListedInstances,
    Population,
    RecordedSpec,
    Scenario,
    StopRules,
    TargetSpec,
)
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.targets.command import Rules

FORMAT = 1
_FREE = ("name", "directory", "stop", "workers", "test", "features")
_PLAIN = (
    "name",
    "utility",
    "captime0_s",
    "max_captime_s",
    "memory_bytes",
    "delta",
    "seed",
    "workers",
    "procedure",
)


def to_snapshot(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain JSON values."""
    return {
        "format": FORMAT,
        **{key: getattr(scenario, key) for key in _PLAIN},
        "directory": str(scenario.directory),
        "target": _target_to_plain(scenario.target),
        "space": scenario.space.to_tables(),
        "training": _instances_to_plain(scenario.training),
        "test": None if scenario.test is None else _instances_to_plain(scenario.test),
        "population": scenario.population.value,
        "measure": scenario.measure.value,
        "stop": asdict(scenario.stop),
        "policies": {status.value: policy.value for status, policy in sorted(scenario.policies.items())},
        "options": dict(scenario.options),
        "features": list(scenario.features) if isinstance(scenario.features, tuple) else scenario.features,
        "initial": [dict(assignment) for assignment in scenario.initial],
    }


def from_snapshot(snapshot: Mapping[str, Any]) -> Scenario:
    """Restore what `to_snapshot` wrote."""
    if snapshot.get("format") != FORMAT:
        raise ScenarioError(
            f"this snapshot has format {snapshot.get('format')!r}, but this version reads format {FORMAT}; "
            "use the version of utilitune that wrote it"
        )
    test = snapshot["test"]
    return Scenario(
        **{key: snapshot[key] for key in _PLAIN},
        directory=Path(snapshot["directory"]),
        target=_target_from_plain(snapshot["target"]),
        space=ParameterSpace.from_tables(**snapshot["space"]),
        training=_instances_from_plain(snapshot["training"]),
        test=None if test is None else _instances_from_plain(test),
        population=Population(snapshot["population"]),
        measure=Measure(snapshot["measure"]),
        stop=StopRules(**snapshot["stop"]),
        policies={RunStatus(key): FailurePolicy(value) for key, value in snapshot["policies"].items()},
        options=snapshot["options"],
        features=tuple(snapshot["features"])
        if isinstance(snapshot["features"], list)
        else snapshot["features"],
        initial=tuple(Assignment(values) for values in snapshot.get("initial", ())),
    )


def digest(scenario: Scenario) -> str:
    """The fingerprint of what gives the runs their meaning."""
    meaning = {key: value for key, value in to_snapshot(scenario).items() if key not in _FREE}
    # The order of the parameters is part of their meaning on a command line; JSON objects sort it away.
    meaning["space"] = scenario.space.digest()
    if isinstance(scenario.training, ListedInstances):
        meaning["training"]["names"] = sorted(scenario.training.names)
    meaning["contents"] = sorted(
        (name, _content_digest(scenario.directory / name)) for name in _files(scenario)
    )
    text = json.dumps(meaning, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _files(scenario: Scenario) -> tuple[str, ...]:
    if isinstance(scenario.target, RecordedSpec):
        return (scenario.target.matrix,)
    if isinstance(scenario.training, ListedInstances) and scenario.training.files:
        return scenario.training.names
    return ()


def _content_digest(path: Path) -> str:
    if path.is_dir():
        parts = sorted(child for child in path.rglob("*") if child.is_file())
        return hashlib.sha256("".join(map(_content_digest, parts)).encode()).hexdigest()
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ScenarioError(f"the instance cannot be read: {error.strerror}", path=path) from None


def _target_to_plain(target: TargetSpec) -> dict[str, Any]:
    match target:
        case FunctionSpec():
            return {"kind": "function", **asdict(target)}
        case RecordedSpec():
            return {"kind": "recorded", **asdict(target)}
        case CommandSpec():
            return {
                "kind": "command",
                "argv": list(target.argv),
                "default_template": list(target.default_template),
                "templates": {name: _template_to_plain(value) for name, value in target.templates.items()},
                "environment": dict(target.environment),
                "rules": _rules_to_plain(target.rules),
                "specifics": {name: list(words) for name, words in target.specifics.items()},
            }


def _template_to_plain(template: Any) -> Any:  # noqa: ANN401 - words, or words per value
    if isinstance(template, tuple):
        return list(template)
    return {value: list(words) for value, words in template.items()}


def _rules_to_plain(rules: Rules) -> dict[str, Any]:
    if isinstance(rules, WrapperRules):
        return {"contract": rules.contract.value, "reports_runtime": rules.reports_runtime}
    return {
        **asdict(rules),
        "exit_codes": None if rules.exit_codes is None else sorted(rules.exit_codes),
        "answer_exit_codes": {str(code): answer for code, answer in rules.answer_exit_codes.items()},
        "answers": dict(rules.answers),
    }


def _target_from_plain(plain: Mapping[str, Any]) -> TargetSpec:
    fields = {key: value for key, value in plain.items() if key != "kind"}
    if plain["kind"] == "function":
        return FunctionSpec(**fields)
    if plain["kind"] == "recorded":
        return RecordedSpec(**fields)
    templates = {
        name: tuple(value) if isinstance(value, list) else {key: tuple(words) for key, words in value.items()}
        for name, value in fields["templates"].items()
    }
    return CommandSpec(
        tuple(fields["argv"]),
        tuple(fields["default_template"]),
        templates,
        fields["environment"],
        _rules_from_plain(fields["rules"]),
        {name: tuple(words) for name, words in fields["specifics"].items()},
    )


def _rules_from_plain(plain: Mapping[str, Any]) -> Rules:
    if "contract" in plain:
        return WrapperRules(Contract(plain["contract"]), plain["reports_runtime"])
    rules = dict(plain)
    codes = rules["exit_codes"]
    rules["exit_codes"] = None if codes is None else frozenset(codes)
    rules["answer_exit_codes"] = {int(code): text for code, text in rules["answer_exit_codes"].items()}
    return VerdictRules(**rules)


def _instances_to_plain(instances: InstanceSet) -> dict[str, Any]:
    if isinstance(instances, ListedInstances):
        return {"names": list(instances.names), "files": instances.files}
    return {**asdict(instances), "argv": list(instances.argv)}


def _instances_from_plain(plain: Mapping[str, Any]) -> InstanceSet:
    if "names" in plain:
        return ListedInstances(tuple(plain["names"]), plain["files"])
    return GeneratedInstances(**{**plain, "argv": tuple(plain["argv"])})

"""A scenario as JSON for the run folder, and the fingerprint that guards a run folder.

The fingerprint covers what gives a run its meaning: target, space, training instances (their names and
the SHA-256 of the content of every file), population, utility, measure, captimes, memory limit,
policies, δ, seed, procedure, the configurations to try first, and how qualities count. It leaves out what may
change between two starts of one run: name, folder, stop rules, workers, cluster, guesses, test instances,
features and how good configurations are looked for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.domain import Guesses, Measure, Objective, RunStatus
from utilitune.errors import ScenarioError
from utilitune.scenario.fingerprints import Fingerprint
from utilitune.scenario.model import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
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
)
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.store.changes import FREE
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules
from utilitune.utility import Goal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.targets.command import JudgingRules

FORMAT = 1
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
        "search": asdict(scenario.search),
        **({} if scenario.cluster is None else {"cluster": scenario.cluster}),
        **({} if scenario.guesses is Guesses.USEFUL else {"guesses": scenario.guesses.value}),
        **(
            {} if scenario.pause_memory_bytes is None else {"pause_memory_bytes": scenario.pause_memory_bytes}
        ),
        **_quality_to_plain(scenario.quality),
    }


def from_snapshot(snapshot: Mapping[str, Any]) -> Scenario:
    """Restore what `to_snapshot` wrote.

    Raises:
        ScenarioError: It was written by another version, or is damaged.
    """
    try:
        return _restored(snapshot)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ScenarioError(
            "the scenario in the run folder is damaged: restore a copy or use another folder"
        ) from error


def _restored(snapshot: Mapping[str, Any]) -> Scenario:
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
        quality=_quality_from_plain(snapshot.get("quality")),
        search=SearchRules(**snapshot.get("search", {"share": 0.0})),
        cluster=snapshot.get("cluster"),
        guesses=Guesses(snapshot.get("guesses", Guesses.USEFUL)),
        pause_memory_bytes=snapshot.get("pause_memory_bytes"),
    )


def contents(scenario: Scenario) -> dict[str, Fingerprint]:
    """The fingerprints of the files whose content gives the runs their meaning, by name."""
    found = {}
    for name in _files(scenario):
        path = scenario.directory / name
        try:
            found[name] = Fingerprint.of(path)
        except OSError as error:
            raise ScenarioError(f"the instance cannot be read: {error.strerror}", path=path) from None
    return found


def digest(scenario: Scenario, fingerprints: Mapping[str, Fingerprint] | None = None) -> str:
    """The fingerprint of what gives the runs their meaning.

    Args:
        scenario: What is run.
        fingerprints: Its `contents`, where they are known.
    """
    meaning = {key: value for key, value in to_snapshot(scenario).items() if key not in FREE}
    # The order of the parameters is part of their meaning on a command line; JSON objects sort it away.
    meaning["space"] = scenario.space.digest()
    if isinstance(scenario.training, ListedInstances):
        meaning["training"]["names"] = sorted(scenario.training.names)
    known = contents(scenario) if fingerprints is None else fingerprints
    meaning["contents"] = sorted((name, each.digest) for name, each in known.items())
    text = json.dumps(meaning, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def content_digests(scenario: Scenario) -> dict[str, str]:
    """SHA-256 of the content of every file that a run is about, by its name in the scenario."""
    return {name: each.digest for name, each in contents(scenario).items()}


def _files(scenario: Scenario) -> tuple[str, ...]:
    if isinstance(scenario.target, RecordedSpec):
        return (scenario.target.matrix,)
    if isinstance(scenario.training, ListedInstances) and scenario.training.files:
        return scenario.training.distinct
    return ()


def _quality_to_plain(quality: QualityRules | None) -> dict[str, Any]:
    """Nothing where only time counts: snapshots of such scenarios are as they always were."""
    if quality is None:
        return {}
    return {
        "quality": {
            "objective": quality.objective.value,
            "better": quality.better.value,
            "references": dict(quality.references),
            **({"bounds": dict(quality.bounds)} if quality.bounds else {}),
        }
    }


def _quality_from_plain(plain: Mapping[str, Any] | None) -> QualityRules | None:
    if plain is None:
        return None
    return QualityRules(
        Objective(plain["objective"]), Goal(plain["better"]), plain["references"], plain.get("bounds", {})
    )


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


def _rules_to_plain(rules: JudgingRules) -> dict[str, Any]:
    if isinstance(rules, WrapperRules):
        return {"contract": rules.contract.value, "reports_runtime": rules.reports_runtime}
    later = (
        "quality_pattern",
        "bound_pattern",
        "time_pattern",
    )  # left out where unused: older snapshots know nothing of them
    plain = {name: value for name, value in asdict(rules).items() if name not in later or value is not None}
    return {
        **plain,
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


def _rules_from_plain(plain: Mapping[str, Any]) -> JudgingRules:
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

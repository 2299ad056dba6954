"""Any scenario as a commented TOML file that `read_scenario` turns into the same scenario.

Instances are written as the list they are, parameters inline: the file says everything itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from utilitune.domain import Guesses, Objective
from utilitune.errors import ScenarioError
from utilitune.scenario.model import (
    DEFAULT_PROCEDURE,
    CommandSpec,
    FunctionSpec,
    InstanceSet,
    ListedInstances,
    QualityRules,
    RecordedSpec,
    Scenario,
    SearchRules,
    TargetSpec,
)
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import WrapperRules

if TYPE_CHECKING:
    from utilitune.targets.command import JudgingRules

_LONG = 90
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PATTERNS = tuple(field.name for field in fields(VerdictRules) if field.name.endswith("_pattern"))


def write_scenario(scenario: Scenario) -> str:
    """The scenario as TOML text; save it in the scenario's folder."""
    sections = [
        _head(scenario),
        _target(scenario.target),
        [] if isinstance(scenario.target, RecordedSpec) else _space(scenario),
        _instances(scenario),
        _limits(scenario),
        _promise(scenario),
    ]
    return "\n".join("\n".join(lines) + "\n" for lines in sections if lines)


def toml_value(value: Any) -> str:  # noqa: ANN401 - any TOML value
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    return repr(value)


def _key(key: object) -> str:
    text = str(key)
    return text if _BARE_KEY.fullmatch(text) else toml_value(text)


def _lines(pairs: Iterable[tuple[str, Any]]) -> list[str]:
    """``key = value`` for everything that has a value; a long list gets a line per element."""
    lines = [f"{_key(key)} = {_folded(value)}" for key, value in pairs if value is not None]
    return "\n".join(lines).split("\n") if lines else []


def _folded(value: Any) -> str:  # noqa: ANN401 - any TOML value
    text = toml_value(value)
    if isinstance(value, list | tuple) and len(text) > _LONG:
        return "[\n" + "".join(f"  {toml_value(item)},\n" for item in value) + "]"
    return text


def _head(scenario: Scenario) -> list[str]:
    worth = "after a given time" if scenario.quality is None else "by the quality of its solution"
    return [
        "# A Utilitune scenario. Relative paths start at the folder of this file.",
        *_lines([("name", scenario.name)]),
        *_quality(scenario.quality),
        f"# What an answer is worth {worth}; the best configuration has the largest mean.",
        *_lines([("utility", scenario.utility)]),
        '# What a second is: "cpu" (CPU time of the program and all it starts) or "wall" (the clock).',
        *_lines([("measure", scenario.measure.value)]),
        "# Every random choice follows from this.",
        *_lines([("seed", scenario.seed)]),
        *_workers(scenario),
        *_initial(scenario),
    ]


_COUNTS = {
    Objective.QUALITY: "the quality of the solution a run ends with",
    Objective.ANYTIME: "the solutions a run finds while it runs",
}


def _quality(quality: QualityRules | None) -> list[str]:
    if quality is None:
        return []
    return [
        f"# What counts: {_COUNTS[quality.objective]}; smaller or larger qualities are better.",
        *_lines([("objective", quality.objective.value), ("better", quality.better.value)]),
        *_lines([("references", quality.references or None), ("bounds", quality.bounds or None)]),
    ]


def _workers(scenario: Scenario) -> list[str]:
    lines = _lines([("workers", scenario.workers)])
    place = _lines([("cluster", scenario.cluster)])
    guesses = _lines([("guesses", None if scenario.guesses is Guesses.USEFUL else scenario.guesses.value)])
    return [
        *(["# How many runs are made at once.", *lines] if lines else []),
        *(["# Where they are made.", *place] if place else []),
        *(["# Every free worker gets a run, likely to be needed or not.", *guesses] if guesses else []),
    ]


def _initial(scenario: Scenario) -> list[str]:
    if not scenario.initial:
        return []
    tables = [dict(assignment) for assignment in scenario.initial]
    return ["# Configurations to try right after the default one.", *_lines([("initial", tables)])]


def _target(target: TargetSpec) -> list[str]:
    head = ["# What to run.", "[target]"]
    match target:
        case FunctionSpec():
            reports = True if target.reports_runtime else None
            return [*head, *_lines([("function", target.reference), ("reports_runtime", reports)])]
        case RecordedSpec():
            return [*head, *_lines([("matrix", target.matrix)])]
        case CommandSpec():
            return [*head, *_command(target)]


def _command(target: CommandSpec) -> list[str]:
    return [
        "# One element is one argument; words in braces are filled in for every run.",
        *_lines([("command", target.argv)]),
        "# How a parameter is written, unless [target.templates] says it otherwise.",
        *_lines([("template", target.default_template)]),
        *_rules(target.rules),
        *_lines([("environment", target.environment or None)]),
        *_table("# How single parameters are written.", "target.templates", target.templates),
        *_table("# Arguments of single instances, for {specifics}.", "target.specifics", target.specifics),
    ]


def _rules(rules: JudgingRules) -> list[str]:
    if isinstance(rules, WrapperRules):
        return [
            "# The program is a wrapper that prints its answer in this form.",
            *_lines([("contract", rules.contract.value)]),
            "# Whether the runtime it reports counts in place of the measured one.",
            *_lines([("reported_runtime", rules.reports_runtime)]),
        ]
    return _lines(
        [
            ("exit_codes", None if rules.exit_codes is None else sorted(rules.exit_codes)),
            *((name, getattr(rules, name)) for name in _PATTERNS),
            ("answer_exit_codes", rules.answer_exit_codes or None),
            ("answers", rules.answers or None),
        ]
    )


def _table(comment: str, header: str, entries: Mapping[str, Any]) -> list[str]:
    return ["", comment, f"[{header}]", *_lines(entries.items())] if entries else []


def _space(scenario: Scenario) -> list[str]:
    tables = scenario.space.to_tables()
    lines = ["# What may be changed."]
    for name, table in tables["parameters"].items():
        lines += [f"[parameters.{_key(name)}]", *_lines(table.items()), ""]
    if tables["forbidden"]:
        lines.append("# What may not go together.")
    for table in tables["forbidden"]:
        lines += ["[[forbidden]]", *_lines(table.items()), ""]
    return lines[:-1]


def _instances(scenario: Scenario) -> list[str]:
    """Recorded runtimes bring their own instances and keep only the population."""
    pairs: list[tuple[str, Any]] = [
        ("population", scenario.population.value),
        ("features", scenario.features),
    ]
    if not isinstance(scenario.target, RecordedSpec):
        sets = [each for each in (scenario.training, scenario.test) if isinstance(each, ListedInstances)]
        pairs = [
            ("files", all(each.files for each in sets) if sets else None),
            ("training", _instance_value(scenario.training)),
            ("test", None if scenario.test is None else _instance_value(scenario.test)),
            ("seeds_per_instance", _seeds_per_instance(sets)),
            *pairs,
        ]
    return [
        "# What to run it on; the promise is about these (finite) or all like them (infinite).",
        "[instances]",
        *_lines(pairs),
    ]


def _instance_value(instances: InstanceSet) -> Any:  # noqa: ANN401 - a list or a table
    if isinstance(instances, ListedInstances):
        return list(instances.distinct)
    table = {"generator": list(instances.argv), "folder": instances.folder, "suffix": instances.suffix}
    return table if instances.count is None else {**table, "count": instances.count}


def _seeds_per_instance(sets: Sequence[ListedInstances]) -> int | None:
    """How many seeds every listed instance has; None for one, as usual."""
    counts = {count for each in sets for count in Counter(each.names).values()}
    if len(counts) > 1:
        raise ScenarioError(
            "instances with different numbers of seeds cannot be written to a scenario file: list every "
            "instance equally often"
        )
    return next((count for count in counts if count > 1), None)


def _limits(scenario: Scenario) -> list[str]:
    return [
        "# Seconds and bytes one run may use; first runs get the smallest captime, later ones more.",
        "[limits]",
        *_lines(
            [
                ("smallest_captime", scenario.captime0_s),
                ("largest_captime", scenario.max_captime_s),
                ("memory", scenario.memory_bytes),
                ("pause_memory", scenario.pause_memory_bytes),
            ]
        ),
    ]


def _promise(scenario: Scenario) -> list[str]:
    stop = scenario.stop
    promise = [("delta", scenario.delta), ("epsilon", stop.epsilon), ("gamma", stop.gamma)]
    budget = [("cpu_time", stop.cpu_time_s), ("wall_time", stop.wall_time_s), ("runs", stop.runs)]
    failures = [(status.value, policy.value) for status, policy in scenario.policies.items()]
    lines = [
        "# The promise may fail with probability delta; epsilon and gamma say how good it must be to stop.",
        "[promise]",
        *_lines(promise),
    ]
    for comment, header, pairs in (
        ("# Stop when this is used up: seconds in runs, seconds on the clock, or runs.", "[budget]", budget),
        ("# What failed runs mean.", "[failures]", failures),
    ):
        if written := _lines(pairs):
            lines += ["", comment, header, *written]
    if scenario.search != SearchRules():
        search = [("share", scenario.search.share), ("method", scenario.search.method)]
        lines += ["", "# Looking for good configurations.", "[search]", *_lines(search)]
    if scenario.procedure != DEFAULT_PROCEDURE or scenario.options:
        lines += ["", "[procedure]", *_lines([("name", scenario.procedure), *scenario.options.items()])]
    return lines

"""What a scenario file says of the quality of solutions: objective, better, references and bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from utilitune.domain import Guesses, Measure, Objective
from utilitune.errors import ScenarioError, UtilityError, did_you_mean
from utilitune.errors.outside import is_file, number_in
from utilitune.scenario.model import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
    GeneratedInstances,
    Population,
    QualityRules,
    TargetSpec,
)
from utilitune.scenario.source import read_text
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import WrapperRules
from utilitune.utility import Goal, parse_solution_utility, parse_utility
from utilitune.utility.solutions import BOUND, KNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.scenario.model import Scenario
    from utilitune.scenario.source import Table

Kind = TypeVar("Kind", Guesses, Measure, Population, FailurePolicy, Objective, Goal)


def choice(table: Table, key: str, kind: type[Kind]) -> Kind | None:
    """The member of an enumeration that a key names."""
    text = table.text(key)
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        names = [member.value for member in kind]
        raise table.problem(
            key, f"{key} is {text!r}, which is unknown; {did_you_mean(text, names)}"
        ) from None


def read_quality(top: Table, target: TargetSpec) -> QualityRules | None:
    """How qualities count; None where only the time of a run does."""
    objective = choice(top, "objective", Objective) or Objective.RUNTIME
    better = choice(top, "better", Goal)
    references, bounds = _by_instance(top, "references"), _by_instance(top, "bounds")
    if objective is Objective.RUNTIME:
        for key, value in (("better", better), ("references", references), ("bounds", bounds)):
            if value:
                raise top.problem(key, f'{key} is about qualities; set objective = "quality", or remove it')
        if isinstance(target, CommandSpec) and target.rules.reports_quality:
            raise top.table("target").problem(
                "quality_pattern", 'quality_pattern has no use for runtimes; set objective = "quality"'
            )
        return None
    _check_target(top, target)
    _check_trace(top, target, objective)
    return QualityRules(objective, better or Goal.SMALLER, references, bounds)


def _check_trace(top: Table, target: TargetSpec, objective: Objective) -> None:
    """Refuse a target that tells nothing while it runs, where that counts."""
    rules = target.rules if isinstance(target, CommandSpec) else None
    if objective is not Objective.ANYTIME:
        if isinstance(rules, VerdictRules) and rules.time_pattern is not None:
            raise top.table("target").problem(
                "time_pattern", 'only the end of a run counts; set objective = "anytime", or remove it'
            )
        return
    if isinstance(rules, WrapperRules):
        raise top.problem(
            "objective",
            "a wrapper prints its answer only when it ends; remove contract and say with quality_pattern how "
            'the output tells of solutions, or set objective = "quality"',
        )
    if rules is not None and rules.reports_runtime:
        raise top.table("target").problem(
            "runtime_pattern", "solutions are timed while the program runs; remove runtime_pattern"
        )


def _check_target(top: Table, target: TargetSpec) -> None:
    """Refuse a target that cannot report a quality."""
    if isinstance(target, CommandSpec):
        if isinstance(target.rules, VerdictRules) and not target.rules.reports_quality:
            raise top.table("target").need(
                "quality_pattern", "say where the output has the quality, such as 'cost: ([0-9.]+)'"
            )
    elif not isinstance(target, FunctionSpec):
        raise top.problem("objective", "recorded runtimes hold no qualities; remove objective")
    elif target.reports_runtime:
        raise top.table("target").problem(
            "reports_runtime", "the number that the function returns is its quality; remove reports_runtime"
        )


def check_utility(text: str, quality: QualityRules | None) -> None:
    """Raise a `UtilityError` where the utility cannot be used for what the scenario is about."""
    if quality is None:
        parse_utility(text).require_falling()
        return
    utility = parse_solution_utility(text)
    utility.check(quality.better)
    if KNOWN in utility.references and not quality.references:
        raise UtilityError(
            "the utility compares with the known quality of an instance; name a file with one per instance: "
            'references = "known.csv"'
        )


def check_references(scenario: Scenario) -> None:
    """Raise a `ScenarioError` where a number that the utility compares with is missing."""
    if scenario.quality is None:
        return
    needed, references = parse_solution_utility(scenario.utility).references, scenario.quality.references
    if KNOWN in needed:
        for instances in (scenario.training, scenario.test):
            if isinstance(instances, GeneratedInstances):
                raise ScenarioError("nothing is known of generated instances; compare with default instead")
            missing = (
                [] if instances is None else [each for each in instances.names if each not in references]
            )
            if missing:
                raise ScenarioError(f"references has no number for the instance {missing[0]!r}; add one")
    target = scenario.target
    if BOUND in needed and isinstance(target, CommandSpec) and not target.rules.reports_bound:
        raise ScenarioError("the utility compares with a bound that no run reports; add target.bound_pattern")


def _by_instance(top: Table, key: str) -> dict[str, float]:
    """Qualities by instance, inline or from a file with ``instance<TAB or comma>quality`` per line."""
    value = top.raw(key)
    if isinstance(value, str):
        path = top.source.path.parent / value
        if not is_file(path):
            raise top.problem(key, f"the file of {key} {value!r} does not exist; check the path")
        return read_references(path)
    table = top.table(key)
    found = {}
    for name in table.content:
        number = table.raw(name)
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise table.problem(name, f"what {key} says of {name!r} must be a number, not {number!r}")
        found[name] = float(number)
    return found


def read_references(path: Path) -> dict[str, float]:
    """A file of references: an instance, a comma or tab, and its quality per line."""
    found: dict[str, float] = {}
    for number, line in enumerate(read_text(path, "the file of references").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        instance, separator, quality = line.rpartition("\t" if "\t" in line else ",")
        value = _number(quality)
        if value is None and separator and not found:
            continue  # names of columns
        if value is None or not instance.strip():
            raise ScenarioError(
                "a line of references is an instance, a comma or tab, and its quality as a number",
                path=path,
                line=number,
            )
        found[instance.strip()] = value
    return found


def _number(text: str) -> float | None:
    try:
        value = number_in(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

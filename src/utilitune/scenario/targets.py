"""From a scenario's description of its target to one that can be run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import Objective
from utilitune.errors import ScenarioError
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import RECORDED_PARAMETER, CommandSpec, FunctionSpec, RecordedSpec, Scenario
from utilitune.targets.command import CommandTarget, literal
from utilitune.targets.function import FunctionTarget
from utilitune.targets.recorded import RecordedTarget
from utilitune.targets.wrappers import WrapperRules
from utilitune.utility.carried import make_importable

if TYPE_CHECKING:
    from utilitune.data import RuntimeMatrix
    from utilitune.targets.base import Target


def build_target(scenario: Scenario) -> Target:
    """The target of a scenario; a command or function is run in the scenario's folder.

    A function's module is imported here, so the scenario's folder joins the module search path.
    """
    match scenario.target:
        case CommandSpec() as spec:
            program = program_path(scenario.directory, spec.argv[0]) or spec.argv[0]
            rules = spec.rules
            if scenario.quality is not None and isinstance(rules, WrapperRules):
                rules = replace(rules, reports_quality=True)
            argv = (literal(program), *spec.argv[1:])
            return CommandTarget(
                argv,
                spec.templates,
                spec.default_template,
                spec.environment,
                str(scenario.directory),
                rules,
                spec.specifics,
                scenario.space.names,
                anytime=scenario.objective is Objective.ANYTIME,
            )
        case FunctionSpec() as spec:
            make_importable(scenario.directory)
            target = FunctionTarget.of(spec.reference, reports_runtime=spec.reports_runtime)
            target = replace(
                target, directory=str(scenario.directory), reports_quality=scenario.quality is not None
            )
            return target.anytime() if scenario.objective is Objective.ANYTIME else target
        case RecordedSpec():
            return RecordedTarget(recorded_matrix(scenario), RECORDED_PARAMETER)


def recorded_matrix(scenario: Scenario) -> RuntimeMatrix:
    """The recorded runtimes of a scenario that replays some."""
    from utilitune.data import read_matrix

    if not isinstance(scenario.target, RecordedSpec):
        raise ScenarioError("this scenario runs a program, so it has no recorded runtimes")
    return read_matrix(scenario.directory / scenario.target.matrix)

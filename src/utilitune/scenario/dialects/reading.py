"""Read a scenario file of any tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.scenario.dialects.detect import dialect_of
from utilitune.scenario.dialects.irace import read_irace_scenario
from utilitune.scenario.dialects.smac import read_smac_scenario
from utilitune.scenario.dialects.understanding import Dialect, Understanding
from utilitune.scenario.source import read_text
from utilitune.scenario.toml_reader import read_native

if TYPE_CHECKING:
    from utilitune.scenario.model import Scenario


def understand(path: Path | str) -> Understanding:
    """Read and check a scenario file, and say what was understood of it.

    Raises:
        ScenarioError: Something is wrong; the text names the file and the line.
    """
    place = Path(path).absolute()
    text = read_text(place, "the scenario")
    match dialect_of(place, text):
        case Dialect.IRACE:
            return read_irace_scenario(place, text)
        case Dialect.SMAC:
            return read_smac_scenario(place, text)
        case Dialect.NATIVE:
            scenario, notes = read_native(place)
            return Understanding(scenario, Dialect.NATIVE, notes)


def read_scenario(path: Path | str) -> Scenario:
    """Read and check a scenario file: our own, or one written for irace, SMAC or AClib.

    Raises:
        ScenarioError: Something is wrong; the text names the file and the line.
    """
    return understand(path).scenario

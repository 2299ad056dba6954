"""The public names are few, pinned here, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import utilitune

PUBLIC = [
    "Budget",
    "ParameterSpace",
    "PhaseRecord",
    "ProcedureSpec",
    "Progress",
    "Promise",
    "Recording",
    "ReplayResult",
    "RivalResult",
    "RunResult",
    "RuntimeMatrix",
    "Scenario",
    "Schedule",
    "StopReason",
    "Trial",
    "Tuner",
    "UtilituneError",
    "Utility",
    "UtilityFamily",
    "__version__",
    "configure",
    "named_schedule",
    "parse_utility",
    "read_matrix",
    "read_scenario",
    "replay",
    "replay_rival",
    "utility_from_callable",
    "whatif",
    "whatif_run",
]
HEAVY = ["numpy", "numba", "matplotlib", "pandas", "ConfigSpace", "sklearn", "typer", "rich"]


def test_the_public_names_are_these():
    assert sorted(utilitune.__all__) == PUBLIC
    assert dir(utilitune) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_had(name: str):
    assert getattr(utilitune, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'tune_everything'"):
        _ = utilitune.tune_everything


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, utilitune; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

"""The public names are few, pinned here, and cost nothing until they are used."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
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
    "load",
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


def _packages() -> list[str]:
    walked = pkgutil.walk_packages(utilitune.__path__, "utilitune.")
    return ["utilitune", *(info.name for info in walked if info.ispkg)]


def test_the_public_names_are_these():
    assert sorted(utilitune.__all__) == PUBLIC
    assert dir(utilitune) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_had(name: str):
    assert getattr(utilitune, name) is not None


@pytest.mark.parametrize("package", _packages())
def test_no_name_means_a_module_or_something_else_by_who_came_first(package: str):
    """Importing a submodule sets it as an attribute of its package, over whatever had the name before.

    So a package that gives out a name must have no submodule of that name. (A function that lies in a module
    of its own name is fine one package further up.)
    """
    module = importlib.import_module(package)
    submodules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    assert not submodules & set(getattr(module, "__all__", ()))
    lazy = set(getattr(module, "_HOME", ()))
    assert not submodules & lazy
    assert all(not inspect.ismodule(getattr(module, name)) for name in getattr(module, "__all__", ()))


def test_a_public_name_is_the_same_whatever_was_imported_before():
    """Every public name, asked for after every module of the package was imported."""
    code = (
        "import importlib, inspect, pkgutil, utilitune\n"
        "before = {name: getattr(utilitune, name) for name in utilitune.__all__}\n"
        "for home in sorted(set(utilitune._HOME.values())): importlib.import_module(home)\n"
        "for info in pkgutil.iter_modules(utilitune.__path__):\n"
        "    importlib.import_module('utilitune.' + info.name) if info.name != '__main__' else None\n"
        "changed = [name for name in before if getattr(utilitune, name) is not before[name]]\n"
        "print(changed, [name for name in before if inspect.ismodule(before[name])])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] []"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'tune_everything'"):
        _ = utilitune.tune_everything


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, utilitune; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

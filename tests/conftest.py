"""What tests of several rooms share: public scenarios, hypothesis' habits, fresh compiled code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import quick
from compiled_cache import remove_stale_code

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pluggy import Result

_SCENARIOS = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"

# Compiling a rule on first use can take seconds, and a fixed sequence of examples keeps results repeatable.
settings.register_profile(
    "utilitune", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("utilitune")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick`, the inner loop."""
    parser.addoption("--quick", action="store_true", help="skip tests that start processes or compile rules")


def pytest_configure(config: pytest.Config) -> None:
    """Once, before any worker begins; `--quick` is for those that run tests."""
    runs_tests = hasattr(config, "workerinput") or config.getoption("dist", "no") == "no"
    if config.getoption("quick") and runs_tests:
        quick.begin()
    elif not hasattr(config, "workerinput"):
        remove_stale_code()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Rooms without quick tests are not even read."""
    return True if config.getoption("quick") and collection_path.name in quick.LEFT_OUT else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Result[pytest.TestReport], None]:
    """With `--quick`, what fails for want of a process has not failed."""
    outcome = yield
    quick.excuse(outcome.get_result())


@pytest.fixture(scope="session")
def aslib_scenario() -> Callable[[str], Path]:
    """The folder of a public ASlib scenario by name; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        folder = _SCENARIOS / name
        if not (folder / "algorithm_runs.arff").exists():
            pytest.skip(f"the ASlib scenario {name} is not beside the repository")
        return folder

    return find

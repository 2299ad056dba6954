"""The inner loop: with `--quick`, a test that starts a process or compiles a rule is left to `make test`.

Such tests are not listed anywhere. The first attempt of a test to start a process or to compile skips it,
so a new test is quick or not by what it does. Where the attempt is made on another thread, or by somebody who
catches what is raised, the test fails without it: that counts as skipped, too. Tests that take seconds are
marked `long` and left out. Generated examples are few.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from hypothesis import settings
from numba.core.dispatcher import Dispatcher

_STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"})
_EXAMPLES = 10
LEFT_OUT = frozenset(
    {
        *("statistical", "end_to_end", "reproduction", "execution"),
        *("test_backends.py", "test_feature_commands.py", "test_instances.py"),
        *("test_rivals_against_oracle.py", "test_model_guided.py"),
        *("test_browser.py", "test_designer_page.py", "packages"),
    }
)
"""Folders and files of tests about processes, browsers and other packages, and of long ones."""


_attempts: dict[str, str] = {}


def _left(what: str) -> None:
    test, _, _ = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    if test:
        reason = _attempts.setdefault(test, f"{what}: left to make test")
        pytest.skip(reason)


def excuse(report: pytest.TestReport) -> None:
    """A test that failed after it was kept from starting a process or compiling is one that was skipped."""
    if report.failed and report.nodeid in _attempts:
        path, line, _ = report.location
        report.outcome = "skipped"
        report.longrepr = (path, line or 0, f"Skipped: {_attempts[report.nodeid]}")


def begin() -> None:
    """From here on processes and compilation skip the test that wants them."""
    sys.addaudithook(lambda event, _: _left("starts a process") if event in _STARTS else None)

    def compile_later(self: Dispatcher, signature: Any) -> None:
        _left("compiles a rule")

    Dispatcher.compile = compile_later
    settings.register_profile("quick", settings.get_profile("utilitune"), max_examples=_EXAMPLES)
    settings.load_profile("quick")

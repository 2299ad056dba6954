"""`--quick`: what fails for want of a process has not failed, everything else has."""

from __future__ import annotations

import pytest

import quick


def report(test: str) -> pytest.TestReport:
    return pytest.TestReport(test, ("tests/test_quick.py", 3, test), {}, "failed", "why", "call")


def test_a_test_that_was_kept_from_a_process_is_skipped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(quick, "_attempts", {})
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/some.py::test[a b] (call)")
    with pytest.raises(pytest.skip.Exception):
        quick._left("starts a process")
    kept, other = report("tests/some.py::test[a b]"), report("tests/some.py::test")
    quick.excuse(kept)
    quick.excuse(other)
    assert kept.skipped
    assert kept.longrepr[2] == "Skipped: starts a process: left to make test"
    assert other.failed


def test_outside_of_tests_nothing_is_kept_from_anything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(quick, "_attempts", {})
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    quick._left("starts a process")
    assert quick._attempts == {}

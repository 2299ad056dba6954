"""Compiled rules: called by one another, and by Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from utilitune.domain.compiled import compiled


@compiled
def _doubled(values, place):
    return 2.0 * values[place]


@compiled
def _sum_of_doubled(values, first=0):
    total = 0.0
    for place in range(first, len(values)):
        total += _doubled(values, place)
    return total


def test_python_calls_a_rule_that_rules_call_too():
    values = np.array([1.0, 2.0, 4.0])
    assert _sum_of_doubled(values) == 14.0
    assert _doubled(values, 2) == 8.0
    assert _sum_of_doubled(values, first=1) == 12.0
    assert _doubled.py_func(values, 1) == 4.0


@pytest.fixture
def told(tmp_path):
    """Runs code in a process of its own, which knows the rules ``inner`` and ``outer``; what it prints."""
    (tmp_path / "rules.py").write_text(
        "from utilitune.domain.compiled import compiled, is_on_disk\n"
        "@compiled\ndef inner(x):\n    return x + 1\n"
        "@compiled\ndef outer(x):\n    return 2 * inner(x)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def run(code):
        asked = [sys.executable, "-c", f"from rules import *; {code}"]
        ended = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        return ended.stdout.split()

    return run


def test_a_second_process_finds_both_kinds_in_the_cache(told):
    """One cache for both would hand Python code that cannot unpack what Python hands over: a crash."""
    assert told("print(outer(1), inner(1))") == ["4", "2"]
    assert told("print(inner(1), outer(1))") == ["2", "4"]
    assert told("print(inner(1), inner(1))") == ["2", "2"]


def test_a_rule_that_python_has_called_lies_on_disk(told):
    shown = "print(is_on_disk(outer), is_on_disk(inner), is_on_disk(len))"
    assert told(shown) == ["False", "False", "False"]
    assert told("outer(1)") == []
    assert told(shown) == ["True", "False", "False"]


def test_nothing_is_compiled_where_that_is_not_wanted(tmp_path):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    code = "from utilitune.domain.compiled import compiled; print(compiled(lambda x: -x)(-3))"
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "3"

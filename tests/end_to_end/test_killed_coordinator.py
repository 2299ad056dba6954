"""A coordinator killed without warning loses nothing, repeats nothing and leaves nobody behind."""

from __future__ import annotations

import os
import random
import sys

import pytest

from end_to_end.killing import killed_again_and_again, start, told, write_scenario

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=[pytest.mark.audit, pytest.mark.timeout(1800)])])
def test_sigkill_at_random_moments_changes_nothing(tmp_path, kills):
    runs = 15 * (kills + 2)
    scenario = write_scenario(tmp_path, runs)
    assert start(scenario, tmp_path / "whole", f"whole-{os.getpid()}").wait(300) == 0
    expected = told(tmp_path / "whole")
    assert len(expected) == runs

    assert killed_again_and_again(scenario, tmp_path / "killed", random.Random(1), kills) == kills
    assert told(tmp_path / "killed") == expected

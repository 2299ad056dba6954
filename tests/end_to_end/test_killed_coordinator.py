"""A coordinator killed without warning loses nothing, repeats nothing and leaves nobody behind."""

from __future__ import annotations

import os
import random
import sys

import pytest

from end_to_end.killing import (
    MOST_BETWEEN_KILLS,
    drawn,
    killed_again_and_again,
    start,
    told,
    write_scenario,
)
from utilitune.store.records import StoredOrigin

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


AUDIT = [pytest.mark.audit, pytest.mark.timeout(1800)]


SETTINGS = {"wager": 'name = "wager"\n[search]\nshare = 0.5'}
"""With as much search as proof, so that candidates come in soon."""


@pytest.mark.parametrize(
    ("procedure", "kills"),
    [
        ("coup", 3),
        ("wager", 10),  # after so many runs, search has brought candidates in
        pytest.param("coup", 50, marks=AUDIT),
        pytest.param("wager", 50, marks=AUDIT),
    ],
)
def test_sigkill_at_random_moments_changes_nothing(tmp_path, procedure, kills):
    runs = MOST_BETWEEN_KILLS * (kills + 1)
    scenario = write_scenario(tmp_path, runs, SETTINGS.get(procedure, procedure))
    assert start(scenario, tmp_path / "whole", f"whole-{os.getpid()}").wait(300) == 0
    expected = told(tmp_path / "whole")
    assert len(expected) == runs

    assert killed_again_and_again(scenario, tmp_path / "killed", random.Random(1), kills) == kills
    assert told(tmp_path / "killed") == expected
    assert drawn(tmp_path / "killed") == drawn(tmp_path / "whole")
    proposed = any(
        origin in {StoredOrigin.MODEL, StoredOrigin.CANDIDATE} for _, origin, _ in drawn(tmp_path / "whole")
    )
    assert proposed == (procedure == "wager")

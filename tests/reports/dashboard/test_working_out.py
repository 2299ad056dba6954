"""What is worked out for the page in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from utilitune.reports.dashboard.working_out import LAST, importance_apart, importance_in_process
from utilitune.reports.importance import FEWEST
from utilitune.spaces import ParameterSpace

TABLES = {"parameters": {"x": {"type": "float", "range": [0.0, 1.0], "default": 0.5}}}
ROWS = [({"x": n / 40}, n / 40, 9) for n in range(40)]


@pytest.mark.long
def test_importance_from_plain_values():
    assert importance_in_process(TABLES, ROWS)["rows"][0]["name"] == "x"


@pytest.mark.long
def test_a_process_of_its_own_finds_the_same():
    space, few = ParameterSpace.from_tables(**TABLES), ROWS[: FEWEST - 1]
    found = importance_apart(space, few)
    assert found == importance_in_process(TABLES, few)
    assert "too few" in found["note"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_helper_lets_others_go_first_in_a_session_of_its_own():
    """Beside a run in other sessions, a low priority within the page's session would not hold it back."""
    text = (
        "import os; from utilitune.reports.dashboard import working_out; working_out.step_back(); "
        "print(os.getpriority(os.PRIO_PROCESS, 0), os.getsid(0) == os.getpid()); "
        "print(open('/proc/self/autogroup').read() if os.path.exists('/proc/self/autogroup') else 'nice 5')"
    )
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    nice, alone = told.split()[:2]
    assert int(nice) >= LAST
    assert alone == "True"
    assert f"nice {LAST}" in told

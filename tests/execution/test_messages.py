from __future__ import annotations

import json

import pytest

from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.messages import as_job, as_message, as_result, result_message
from utilitune.targets.base import Call, Command, Ending, RawResult, Reports

LIMITS = RunLimits(Measure.CPU, 1.5, 60.0, memory_bytes=2**30, grace_s=0.5, output_bytes=100)
TASKS = [
    Command(("solver", "a b.cnf"), {"LANG": "C"}, "/tmp", (r"^s (\S+)",), (r"^o (\d+)", None, None)),
    Command(("solver",)),
    Call("package.module", "solve", {"x": 1.5, "name": "y"}, ("/a", "/b"), None, Reports.YIELD),
    Call("module", "solve", {}, ()),
]


@pytest.mark.parametrize("task", TASKS)
def test_a_job_survives_the_way(task):
    job = Job(task, LIMITS)
    message = json.loads(json.dumps(as_message(job)))
    assert as_job(message) == job
    assert json.loads(json.dumps(as_message(as_job(message)))) == message


def test_a_result_survives_the_way():
    raw = RawResult(
        Ending.MEMORY, 1.25, 2.5, 2**20, -9, "out", ("a", None), "slow", "{}", "no", ((0.5, "3", None, None),)
    )
    assert as_result(json.loads(json.dumps(result_message(raw)))) == raw
    assert as_result(result_message(RawResult(Ending.CANCELLED))) == RawResult(Ending.CANCELLED)

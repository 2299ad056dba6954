"""Runs on a Dask cluster keep what runs on this machine keep."""

from __future__ import annotations

import re
import secrets

import pytest

from execution.running import alive, limits, nasty_command, run
from utilitune.execution.backend import Job
from utilitune.targets.base import Command, Ending
from utilitune.testing import BackendSuite


@pytest.mark.parametrize("check", BackendSuite.checks())
def test_a_cluster_keeps_the_contract_of_backends(dask, check: str):
    class OnDask(BackendSuite):
        def make(self, slots):
            return dask.backend(slots)

    getattr(OnDask(), check)()


@pytest.fixture(scope="module")
def backend(dask):
    with dask.backend(2) as backend:
        yield backend


@pytest.mark.parametrize("kind", ["burn_forever", "family_forever", "daemon_forever", "deaf_forever", "bomb"])
def test_nothing_survives_the_captime(backend, kind):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command(kind, mark=mark), limits(captime_s=0.3))
    assert alive(mark) == []
    assert raw.ending is Ending.CAPTIME
    assert 0.3 <= raw.cpu_s < 1.3


@pytest.mark.parametrize("kind", ["forks", "detaches"])
def test_cpu_time_covers_the_whole_tree(backend, kind):
    raw = run(backend, nasty_command(kind), limits(output_bytes=2000))
    consumed_s = sum(map(float, re.findall(r"consumed ([\d.]+)", raw.output_tail)))
    assert raw.exit_code == 0
    assert raw.cpu_s == pytest.approx(consumed_s, rel=0.02, abs=0.03)


def test_memory_above_the_limit_ends_the_run(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("hog", mark=mark), limits(memory_bytes=80 << 20))
    assert raw.ending is Ending.MEMORY
    assert alive(mark) == []


def test_output_is_kept_and_watched(backend):
    command = nasty_command("flood", watch=(r"^the answer is (\d+)$", "never"))
    raw = run(backend, command, limits(output_bytes=1000))
    assert (raw.exit_code, len(raw.output_tail), raw.matches) == (0, 1000, ("42", None))


def test_a_crash_is_a_crash(backend):
    raw = run(backend, Command(("sh", "-c", "kill -SEGV $$")))
    assert (raw.ending, raw.exit_code, raw.launch_error) == (Ending.EXITED, -11, "")


def test_output_that_is_no_text_arrives(backend):
    raw = run(backend, Command(("sh", "-c", r"printf '\377\000x'")))
    assert raw.output_tail.endswith("x")


def test_a_program_that_is_not_there_is_named_with_its_worker(backend):
    raw = run(backend, Command(("no-such-program",)))
    assert "no-such-program" in raw.launch_error
    assert "on the worker tcp://127.0.0.1:" in raw.launch_error


def test_closing_ends_every_run(dask):
    mark = secrets.token_hex(8)
    with dask.backend(2) as backend:
        for job_id in range(2):
            backend.submit(job_id, Job(nasty_command("family_forever", mark=mark), limits()))
        while len(alive(mark)) < 2:
            backend.wait(0.02)
    assert alive(mark) == []


def test_a_slot_that_was_offered_is_not_taken_back(backend, monkeypatch):
    assert backend.free_slots == 2
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(backend._link.roster, "capacity", 0)
        backend.submit(0, Job(Command(("true",)), limits()))
        assert backend.free_slots == 0
    [(job_id, raw)] = backend.wait()
    assert (job_id, raw.exit_code) == (0, 0)

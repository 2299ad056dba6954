"""Stores, backends and bounds pass the suites that people who write their own are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from utilitune.execution.local import LocalBackend
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.procedures.bounds.betting import lower_bound, upper_bound
from utilitune.store import MemoryStore, open_run_folder
from utilitune.testing import BackendSuite, BoundSuite, ContractError, StoreSuite


class Memory(StoreSuite):
    def make(self, snapshot):
        return MemoryStore(snapshot)


class Folder(StoreSuite):
    def __init__(self, place):
        self.place = place

    def make(self, snapshot):
        return open_run_folder(self.place / "run", snapshot)


@pytest.mark.parametrize("check", StoreSuite.checks())
@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_store_keeps_its_contract(kind: str, check: str, tmp_path):
    getattr(Memory() if kind == "memory" else Folder(tmp_path), check)()


class Leaky(MemoryStore):
    """Forgets every other run, and takes an unknown configuration."""

    def add_run(self, record):
        return super().add_run(record) if record.request.position % 2 == 0 else 1

    def add_phase(self, phase):
        pass


class Leaking(StoreSuite):
    def make(self, snapshot):
        return Leaky(snapshot)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("test_runs_come_back_whole_and_numbered", "runs were numbered"),
        ("test_progress_phases_and_messages_come_back_in_order", "must be refused"),
    ],
)
def test_a_store_that_breaks_the_contract_is_found(check: str, sentence: str):
    with pytest.raises(ContractError, match=sentence):
        getattr(Leaking(), check)()


class Local(BackendSuite):
    def make(self, slots):
        return LocalBackend(slots)


class Simulated(BackendSuite):
    def make(self, slots):
        return SimulatedBackend(slots, lambda job: SimulatedRun(float(job.task.argv[1])))


@pytest.mark.parametrize("check", BackendSuite.checks())
@pytest.mark.parametrize("suite", [Local, Simulated])
def test_a_backend_keeps_its_contract(suite, check: str):
    getattr(suite(), check)()


class Betting(BoundSuite):
    def bounds(self, least, most, delta):
        return lower_bound(least, delta / 2), upper_bound(most, delta / 2)


class Normal(BoundSuite):
    """Valid at one moment only, and only for many runs."""

    def bounds(self, least, most, delta):
        width = 1.65 / math.sqrt(len(least))
        lower, upper = float(np.mean(least)), float(np.mean(most))
        return lower - width * float(np.std(least)), upper + width * float(np.std(most))


class Upside(Betting):
    def bounds(self, least, most, delta):
        lower, upper = super().bounds(least, most, delta)
        return upper + 0.01, lower


@pytest.mark.parametrize("check", BoundSuite.checks())
def test_a_bound_keeps_its_contract(check: str):
    getattr(Betting(), check)()


@pytest.mark.parametrize(
    ("suite", "check", "sentence"),
    [
        (Normal, "test_they_fail_with_probability_delta_at_most", "wrong in"),
        (Upside, "test_the_lower_one_is_not_above_the_upper_one", "is above the upper"),
    ],
)
def test_a_bound_that_breaks_the_contract_is_found(suite, check: str, sentence: str):
    with pytest.raises(ContractError, match=sentence):
        getattr(suite(), check)()

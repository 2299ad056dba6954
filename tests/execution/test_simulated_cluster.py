from __future__ import annotations

import math

import pytest

from utilitune.domain import Measure
from utilitune.errors import UsageError
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.simulated import SimulatedRun
from utilitune.execution.simulated_cluster import Conditions, SimulatedCluster
from utilitune.targets.base import Command, Ending
from utilitune.testing.backends import BackendSuite


def job(seconds: float, captime_s: float = 100.0) -> Job:
    return Job(Command(("run", repr(seconds))), RunLimits(Measure.CPU, captime_s, 1e9))


def cluster(workers: int, **conditions: float) -> SimulatedCluster:
    chosen = Conditions(**{"handling_s": 0.0, **conditions})
    return SimulatedCluster(workers, lambda job: SimulatedRun(float(job.task.argv[1])), chosen)


def all_of(backend: SimulatedCluster, seconds: list[float]) -> dict[int, float]:
    """Make all these runs; when each was heard of."""
    waiting, heard_s = list(enumerate(seconds)), {}
    while len(heard_s) < len(seconds):
        while waiting and backend.free_slots:
            number, value = waiting.pop(0)
            backend.submit(number, job(value))
        for number, raw in backend.wait():
            assert number not in heard_s, "every job comes out once"
            assert raw.ending is Ending.EXITED
            assert raw.cpu_s == seconds[number]
            heard_s[number] = backend.now_s
    return heard_s


class TestContract(BackendSuite):
    def make(self, slots: int) -> SimulatedCluster:
        return cluster(slots)


class TestContractUnderBadConditions(BackendSuite):
    def make(self, slots: int) -> SimulatedCluster:
        return cluster(slots, latency_s=0.001, mtbf_s=50.0, repair_s=0.1, speed_spread=0.01)


def test_a_message_takes_time_both_ways():
    assert all_of(cluster(1, latency_s=0.5), [2.0, 3.0]) == {0: 3.0, 1: 7.0}


def test_a_run_that_is_over_while_the_coordinator_is_busy_keeps_its_end():
    """Ended by mistake, it would count as one that was stopped, and another answer might follow."""
    backend = cluster(2, handling_s=5.0)
    backend.submit(0, job(1.0))
    backend.submit(1, job(3.0))
    assert [number for number, _ in backend.wait()] == [0]
    assert backend.now_s == 6.0
    backend.cancel(1)
    [(number, raw)] = backend.wait()
    assert (number, raw.ending, raw.wall_s) == (1, Ending.EXITED, 3.0)
    assert backend.account.run_s == 4.0


def test_a_run_on_a_slower_worker_lasts_longer_but_counts_the_same():
    backend = cluster(1, speed_spread=0.5)
    heard_s = all_of(backend, [10.0])
    speed = float(backend._speed[0])
    assert speed != 1.0
    assert heard_s[0] == pytest.approx(10.0 / speed)
    assert backend.account.run_s == 10.0


def test_the_coordinator_handles_one_result_after_the_other():
    backend = cluster(4, handling_s=0.25)
    for number in range(4):
        backend.submit(number, job(1.0))
    assert len(backend.wait()) == 4
    assert backend.now_s == 2.0


def test_workers_that_never_last_for_a_run_end_the_simulation():
    backend = cluster(2, mtbf_s=1.0, repair_s=1.0)
    with pytest.raises(UsageError, match="workers are lost before a run ends"):
        all_of(backend, [0.1, 90.0])
    assert backend.account.completions == 1


def test_a_lost_run_is_made_again_counted_once_and_accounted_for():
    backend = cluster(3, mtbf_s=20.0, repair_s=5.0)
    all_of(backend, [9.0] * 60)
    account = backend.account
    assert account.completions == 60
    assert account.run_s == pytest.approx(540.0)
    assert account.losses > 0
    assert 0.0 < account.lost_s < account.losses * 9.0
    assert account.busy_clock_s == pytest.approx(account.all_s)


def test_a_spot_worker_is_away_for_longer_than_one_that_failed():
    failing = cluster(1, mtbf_s=10.0, repair_s=1.0, seed=3)
    taken = cluster(1, spot_s=10.0, replace_s=100.0, seed=3)
    assert max(all_of(taken, [3.0] * 30).values()) > max(all_of(failing, [3.0] * 30).values())


def test_the_same_seed_gives_the_same_times():
    times = [all_of(cluster(3, mtbf_s=30.0, speed_spread=0.3, seed=7), [5.0] * 20) for _ in range(2)]
    assert times[0] == times[1]


def test_who_is_cancelled_has_spent_what_it_ran():
    backend = cluster(2)
    backend.submit(0, job(50.0))
    assert backend.left_s(0, 4.0) == 4.0
    assert backend.wait(3.0) == []
    assert backend.so_far_s(0) == 3.0
    backend.cancel(0)
    [(_, raw)] = backend.wait()
    assert (raw.ending, raw.cpu_s, backend.account.run_s) == (Ending.CANCELLED, 3.0, 3.0)
    assert backend.left_s(0, 4.0) == math.inf


def test_what_is_under_way_at_the_end_is_accounted_for():
    backend = cluster(2)
    backend.submit(0, job(50.0))
    backend.wait(3.0)
    backend.close()
    assert backend.account.all_s == 3.0


@pytest.mark.parametrize(
    ("name", "value"), [("latency_s", -1.0), ("mtbf_s", 0.0), ("speed_spread", math.inf), ("spot_s", -2.0)]
)
def test_conditions_that_make_no_sense_are_refused(name: str, value: float):
    with pytest.raises(UsageError, match=name):
        Conditions(**{name: value})


def test_no_workers_make_no_sense():
    with pytest.raises(UsageError, match="at least 1"):
        cluster(0)

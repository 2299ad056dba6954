"""The kernel's own books: children that nobody waits for count, stolen time does not."""

from __future__ import annotations

import os
import sys
import time

import pytest

from execution import nasty_targets as nasty
from utilitune.execution import accounts
from utilitune.execution.accounts import Account, TaskClock, open_task_clock
from utilitune.execution.cgroups import ControlGroup

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps these books")


@pytest.fixture
def clock():
    clock = open_task_clock()
    if clock is None:
        pytest.skip("task clocks are refused here")
    yield clock
    os.close(clock.descriptor)


class FakeBook(TaskClock):
    """A task clock that shows what the test says."""

    def __init__(self, shows_s: float = 0.0) -> None:
        self.shows_s = shows_s
        self.stolen_s = 0.0

    def cpu_s(self):
        return self.shows_s + time.process_time()

    def doubtful_s(self):
        return self.stolen_s


def test_a_clock_counts_children_that_nobody_waits_for(clock):
    before_s, own_s = clock.cpu_s(), time.process_time()

    def ignores() -> None:
        nasty.signal.signal(nasty.signal.SIGCHLD, nasty.signal.SIG_IGN)
        for _ in range(5):
            nasty.with_end(lambda: nasty.fork(lambda: _burn(0.03)))

    os.waitpid(nasty.fork(ignores), 0)
    counted_s = clock.cpu_s() - before_s - (time.process_time() - own_s)
    assert 5 * 0.03 <= counted_s < 5 * 0.03 + 0.2


def _burn(seconds: float) -> None:
    until_s = time.process_time() + seconds
    while time.process_time() < until_s:
        pass


def test_a_clock_counts_time_in_the_kernel(clock):
    before_s, own_s = clock.cpu_s(), time.process_time()

    def work() -> None:
        zero, until_s = os.open("/dev/zero", os.O_RDONLY), time.process_time() + 0.1
        while time.process_time() < until_s:
            os.read(zero, 1 << 20)

    os.waitpid(nasty.fork(work), 0)
    assert clock.cpu_s() - before_s - (time.process_time() - own_s) >= 0.1


def test_a_clock_is_not_opened_where_it_is_switched_off_or_the_machine_unknown(monkeypatch):
    monkeypatch.setattr(accounts, "_PERF_EVENT_OPEN", {})
    assert open_task_clock() is None
    monkeypatch.undo()
    monkeypatch.setenv(accounts.OFF, "1")
    assert open_task_clock() is None


def test_a_clock_that_agrees_with_those_who_were_followed_changes_nothing():
    book = FakeBook()
    account = Account(book, frozenset())
    book.shows_s = 1.003
    assert account.consumed_s(1.0) == 1.0


def test_a_clock_that_shows_clearly_more_counts_without_what_was_stolen():
    book = FakeBook()
    account = Account(book, frozenset())
    book.shows_s = 2.0
    assert account.consumed_s(1.0) == pytest.approx(2.0, abs=0.01)
    book.stolen_s = 0.4
    assert account.consumed_s(1.0) == pytest.approx(1.6, abs=0.01)
    book.stolen_s = 5.0
    assert account.consumed_s(1.0) == 1.0


def test_what_was_known_before_is_part_of_the_run_and_servers_are_not():
    book = FakeBook(3.0)
    account = Account(book, frozenset({os.getpid()}), known_s=0.5)
    book.shows_s = 5.0
    assert account.consumed_s(0.0) == pytest.approx(2.5, abs=0.05)


def test_a_control_group_is_believed_to_the_microsecond(tmp_path):
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    group = ControlGroup(str(tmp_path))
    assert (group.cpu_s(), group.doubtful_s(), group.clear_s(1.25)) == (1.5, 0.0, 1.25)


def test_stolen_time_is_read_where_the_system_tells_it():
    assert accounts.stolen_s() >= 0.0

"""What every store keeps: each fact once, in order, whole, and the same answers to the same questions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import PhaseRecord, Progress, RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.store import ConfigurationRecord, RunRecord, Snapshot, StoredOrigin
from utilitune.testing.base import Suite, expect, expect_error

if TYPE_CHECKING:
    from utilitune.store import Store

SNAPSHOT = Snapshot({"target": {"command": ["solve", "{instance}"]}, "delta": 0.05}, "digest-1")
_PROGRESS = Progress(2, 0.25, 0.125, 0.05, 12.5, 40, 7, 3, 2)


class StoreSuite(Suite):
    """The contract of `Store`."""

    @abstractmethod
    def make(self, snapshot: Snapshot) -> Store:
        """A new, empty store for this scenario."""

    def _filled(self) -> Store:
        store = self.make(SNAPSHOT)
        store.add_configuration(*(ConfigurationRecord(i, {"x": i}, StoredOrigin.RANDOM) for i in range(3)))
        return store

    def test_an_empty_store_answers(self) -> None:
        """With nothing, and with the scenario."""
        store = self.make(SNAPSHOT)
        expect(store.snapshot == SNAPSHOT, "the scenario did not come back as it was given")
        lists = [list(store.runs()), store.sessions(), store.configurations(), store.events(), store.phases()]
        expect(not any(lists) and not list(store.trajectory()), "an empty store answers with something")
        expect(store.counts() == dict.fromkeys(RunStatus, 0), "every status needs its count, also of no runs")
        expect(store.last_progress() is None, "an empty store has no progress")
        store.close()

    def test_configurations_come_back_by_number(self) -> None:
        """However they came in, with every kind of value."""
        store = self.make(SNAPSHOT)
        records = [
            ConfigurationRecord(0, {}, StoredOrigin.DEFAULT, drawn_at=3.5),
            ConfigurationRecord(
                1, {"a b": 'it\'s "x"\n', "y": 1e-300, "z": None, "w": True}, StoredOrigin.USER, 12, 4.5
            ),
            ConfigurationRecord(2, {"x": -3}, StoredOrigin.MODEL),
        ]
        for record in reversed(records):
            store.add_configuration(record)
        expect(
            store.configurations() == records, "configurations did not come back as they went in, by number"
        )
        store.close()

    def test_what_does_not_fit_is_refused_and_changes_nothing(self) -> None:
        """A number twice; a run of an unknown configuration."""
        store = self._filled()
        pair = [ConfigurationRecord(index, {}, StoredOrigin.RANDOM) for index in (3, 1)]
        with expect_error(ValueError, "a configuration number that is taken must be refused"):
            store.add_configuration(*pair)
        expect(len(store.configurations()) == 3, "configurations are kept together or not at all")
        with expect_error(ValueError, "a run of an unknown configuration must be refused"):
            store.add_run(RunRecord(RunRequest(9, 0, 1.0), RunOutcome(RunStatus.FINISHED, 0.5)))
        expect(not list(store.runs()), "a run that was refused is there")
        store.close()

    def test_runs_come_back_whole_and_numbered(self) -> None:
        """Also those whose number and status are asked for."""
        store = self._filled()
        records = [
            RunRecord(
                RunRequest(number % 3, number, 4.0),
                RunOutcome(status, 0.1 + number, 0.2, 0.3, 7, -9, 0.01, "tail \u2603\n", "why"),
                seed=2**62,
                started_at=1.5,
                ended_at=2.5,
                speculative=number % 2 == 1,
            )
            for number, status in enumerate(RunStatus)
        ]
        numbers = [store.add_run(record) for record in records]
        expect(numbers == list(range(len(records))), f"runs were numbered {numbers}")
        stored = [replace(record, sequence=number) for number, record in enumerate(records)]
        expect(list(store.runs()) == stored, "runs did not come back as they went in")
        expect(list(store.runs(since=2)) == stored[2:], "`since` gave other runs")
        expect(list(store.runs(configuration=1)) == stored[1::3], "`configuration` gave other runs")
        expect(list(store.runs(position=2)) == [stored[2]], "`position` gave other runs")
        timeouts = [run for run in stored if run.outcome.status is RunStatus.TIMEOUT]
        expect(list(store.runs(status=RunStatus.TIMEOUT)) == timeouts, "`status` gave other runs")
        expect(store.counts() == dict.fromkeys(RunStatus, 1), "the counts by status are wrong")
        failed = [(run.status, run.configuration, run.position, run.detail) for run in store.failed_runs()]
        wanted = [
            (run.outcome.status, run.request.configuration, run.request.position, "why")
            for run in stored
            if run.outcome.failed
        ]
        expect(failed == wanted, "`failed_runs` gave other runs")
        expect(store.runs_each() == {0: 2, 1: 2, 2: 1}, "the counts by configuration are wrong")
        store.add_run(RunRecord(RunRequest(2, 0, 1.0), RunOutcome(RunStatus.CRASHED, 1.0)))
        expect(store.counts()[RunStatus.CRASHED] == 2, "a new run is not counted")
        expect(store.runs_each() == {0: 2, 1: 2, 2: 2}, "a new run is not counted with its configuration")
        latest = [run.sequence for run in store.failed_runs(since=len(stored))]
        expect(latest == [len(stored)], "`since` gave other failed runs")
        store.close()

    def test_runs_may_be_stored_together(self) -> None:
        """They are numbered as ever, and those added before an interruption are kept."""
        store = self._filled()
        first, second, third = (
            RunRecord(RunRequest(0, position, 1.0), RunOutcome(RunStatus.FINISHED, 0.5, output_tail="x"))
            for position in range(3)
        )
        with store.together():
            numbers = [store.add_run(first), store.add_run(second)]
        expect(numbers == [0, 1], f"runs that were stored together were numbered {numbers}")
        with expect_error(KeyboardInterrupt, "an interruption must come out"), store.together():
            _add_and_interrupt(store, third)
        with expect_error(ValueError, "a run of an unknown configuration must be refused"), store.together():
            store.add_run(replace(first, request=RunRequest(9, 0, 1.0)))
        stored = [replace(record, sequence=number) for number, record in enumerate((first, second, third))]
        expect(list(store.runs()) == stored, "runs that were added before an interruption are not there")
        expect(store.add_run(first) == 3, "the run after an interruption has another number")
        store.close()

    def test_progress_phases_and_messages_come_back_in_order(self) -> None:
        """Each with the number of runs stored before it, where that belongs to it."""
        store = self._filled()
        store.add_progress(replace(_PROGRESS, gamma=None))
        store.add_run(RunRecord(RunRequest(0, 0, 1.0), RunOutcome(RunStatus.FINISHED, 0.5)))
        store.add_progress(_PROGRESS)
        points = [(point.progress.gamma, point.sequence) for point in store.trajectory()]
        expect(points == [(None, 0), (0.125, 1)], f"the trajectory came back as {points}")
        latest = store.last_progress()
        expect(latest is not None and latest.progress == _PROGRESS, "the latest progress is another one")
        phase = PhaseRecord.of(1, _PROGRESS)
        store.add_phase(phase)
        with expect_error(ValueError, "a phase that is kept already must be refused"):
            store.add_phase(phase)
        expect(store.phases() == [phase], "phases did not come back")
        store.add_event("warning", "first")
        store.add_event("note", "")
        events = [(event.kind, event.text) for event in store.events()]
        expect(events == [("warning", "first"), ("note", "")], f"events came back as {events}")
        store.close()

    def test_facts_gains_and_nominations_come_back(self) -> None:
        """A fact has one value, the last one; nominations are numbered from 1."""
        store = self._filled()
        expect(not store.facts() and not store.nominations(), "an empty store answers with something")
        store.keep_fact("entropy", "ab")
        store.keep_fact("fresh from", "3")
        store.keep_fact("fresh from", "7")
        expect(store.facts() == {"entropy": "ab", "fresh from": "7"}, f"facts came back as {store.facts()}")
        numbers = [store.nominate(2), store.nominate(0)]
        expect(numbers == [1, 2] and store.nominations() == [2, 0], "nominations did not come back in order")
        with expect_error(ValueError, "a nomination of an unknown configuration must be refused"):
            store.nominate(9)
        for gain in (0.125, None, -0.5):
            store.add_progress(replace(_PROGRESS, gain=gain))
        gains = [point.progress.gain for point in store.trajectory()]
        expect(gains == [0.125, None, -0.5], f"gains came back as {gains}")
        store.close()

    def test_sessions_and_requests_to_stop(self) -> None:
        """A new session forgets an old request; the first reason for an end stays."""
        store = self.make(SNAPSHOT)
        expect(not store.stop_requested(), "nobody asked to stop")
        store.request_stop()
        expect(store.stop_requested(), "a request to stop is not seen")
        store.begin_session({"workers": 2})
        expect(not store.stop_requested(), "a new session must forget an old request to stop")
        store.request_pause(pause=True)
        expect(store.pause_requested(), "a request to pause is not seen")
        store.request_pause(pause=False)
        expect(not store.pause_requested(), "the end of a pause is not seen")
        store.request_more_time(60.0)
        store.request_more_time(30.5)
        expect(store.more_time_s() == 90.5, "requests for more time must add up")
        store.request_pause(pause=True)
        store.begin_session({"workers": 2})
        expect(not store.pause_requested(), "a new session must forget an old request to pause")
        expect(store.more_time_s() == 0.0, "a new session must forget old requests for more time")
        store.end_session(StopReason("budget", "more time"))
        store.end_session(StopReason("again", "a second end"))
        _, session = store.sessions()
        expect(session.settings == {"workers": 2}, "the settings of a session did not come back")
        expect(session.stop == StopReason("budget", "more time"), "a second end must change nothing")
        store.close()


def _add_and_interrupt(store: Store, record: RunRecord) -> None:
    store.add_run(record)
    raise KeyboardInterrupt

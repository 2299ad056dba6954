"""Jobs: what they give, what names them, and that no result is computed twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import active_children, get_context

import numpy as np
import pytest

from utilitune import ProcedureSpec, ReplayResult, StopReason, read_matrix, replay
from utilitune.errors import UsageError
from utilitune.reports.reproduction import jobs as jobs_module
from utilitune.reports.reproduction import running
from utilitune.reports.reproduction.jobs import TO_THE_END, FigureJob, Outcome, run_job
from utilitune.reports.reproduction.running import run_jobs

SOURCE = "synthetic:rows=12,columns=20000,seed=3,cutoff_s=900"
UTILITY = "log-laplace(k0=60)"


def a_job(procedure: str = "oup", seed: int = 1, max_time_s: float | None = None, **settings) -> FigureJob:
    return FigureJob(SOURCE, "0123", procedure, UTILITY, seed, settings, max_time_s)


def test_a_job_gives_what_a_replay_of_the_shuffled_data_gives():
    job = a_job(epsilon=0.2, delta=0.1)
    outcome = run_job(job)
    matrix = read_matrix(SOURCE)
    rows = np.random.default_rng(1).permutation(12)
    shuffled = matrix.take_rows(rows).shuffle_columns(1)
    expected = replay(shuffled, ProcedureSpec("oup", epsilon=0.2, delta=0.1), utility=UTILITY, seed=None)
    assert outcome.final.time_s == expected.progress.total_time_s
    assert outcome.final.epsilon == expected.progress.epsilon
    assert matrix.configurations[outcome.final.row] == expected.best
    assert sum(outcome.time_each_s) == pytest.approx(expected.progress.total_time_s, rel=1e-4)
    assert len(outcome.points) == len(expected.trajectory)


def test_short_lists_of_instances_are_drawn_from_with_repetition():
    short = replace(a_job(epsilon=0.2, delta=0.1), source="synthetic:rows=4,columns=50,seed=1,cutoff_s=900")
    assert run_job(short).final.epsilon <= 0.2


def test_coup_to_the_end_has_all_configurations_in_its_last_phase():
    outcome = run_job(a_job("coup", delta=0.1, schedule=TO_THE_END, max_time_s=1e7))
    assert outcome.final.configurations == 12
    assert [point.configurations for point in outcome.phases] == sorted(
        {point.configurations for point in outcome.phases}
    )


def test_rivals_give_points_or_curves():
    halving = run_job(a_job("successive-halving", budget="480", captime="100"))
    assert len(halving.points) == 1
    assert not halving.anytime
    curve = run_job(a_job("spc", max_time_s=1e5))
    assert curve.anytime
    assert len(curve.points) > 5
    assert curve.time_each_s == ()


def test_what_cannot_be_done_is_refused_with_a_reason():
    outcome = run_job(a_job("naive", epsilon=0.1, delta=0.1, captime_s=1.0))
    assert outcome.points == ()
    assert "choose a larger captime" in outcome.refused


def test_outcomes_survive_json():
    outcome = run_job(a_job("coup", delta=0.1, phases=1))
    assert Outcome.from_plain(json.loads(json.dumps(outcome.plain()))) == outcome


def test_the_key_names_all_that_matters_and_nothing_else(monkeypatch):
    job = a_job(epsilon=0.2)
    assert job.key() == a_job(epsilon=0.2).key()
    assert job.key() == replace(job, source="elsewhere").key()
    others = [a_job(epsilon=0.3), a_job(epsilon=0.2, seed=2), replace(job, digest="4567")]
    others += [replace(job, utility="uniform(k0=60)"), replace(job, max_time_s=5.0)]
    assert len({job.key(), *(other.key() for other in others)}) == 6
    before = job.key()
    monkeypatch.setattr(jobs_module, "code_digest", lambda: "other code")
    assert job.key() != before


def test_known_results_are_not_computed_again(tmp_path, monkeypatch):
    made: list[str] = []

    def counted(job: FigureJob) -> Outcome:
        made.append(job.procedure)
        return run_job(job)

    monkeypatch.setattr(running, "run_job", counted)
    work = [a_job(epsilon=0.3), a_job("up", epsilon=0.3), a_job(epsilon=0.3)]
    seen: list[tuple[int, int]] = []
    first = run_jobs(work, tmp_path, 1, lambda done, total: seen.append((done, total)))
    assert made == ["oup", "up"]
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert run_jobs(work, tmp_path, 1) == first
    assert len(made) == 2
    broken = next((tmp_path / "cache").glob("*.json"))
    broken.write_text(broken.read_text()[:40])
    assert run_jobs(work, tmp_path, 1) == first
    assert len(made) == 3


def test_several_workers_give_the_same(tmp_path):
    work = [a_job(epsilon=0.4), a_job("up", epsilon=0.4)]
    assert run_jobs(work, tmp_path / "two", 2) == run_jobs(work, tmp_path / "one", 1)


def test_the_first_job_of_a_procedure_compiles_for_all_others(monkeypatch):
    """Which of two workers is quicker is chance, but a second job never starts before the first is done."""
    events: list[tuple[str, str]] = []

    def noted(job: FigureJob) -> Outcome:
        events.append(("start", job.procedure))
        events.append(("end", job.procedure))
        return Outcome()

    monkeypatch.setattr(running, "run_job", noted)
    queue = [(f"{name} {seed}", a_job(name, seed)) for name in ("oup", "up") for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        made = [key for key, _ in running._made_by(pool, 2, list(queue))]
    assert sorted(made) == sorted(key for key, _ in queue)
    for name in ("oup", "up"):
        own = [what for what, procedure in events if procedure == name]
        assert own[:2] == ["start", "end"]


def test_what_takes_longest_to_compile_goes_first(tmp_path, monkeypatch):
    made: list[str] = []
    monkeypatch.setattr(running, "run_job", lambda job: made.append(job.procedure) or Outcome())
    run_jobs([a_job("oup"), a_job("up"), a_job("wager")], tmp_path, 1)
    assert made == ["wager", "oup", "up"]


def test_an_interrupted_job_is_no_outcome_and_ends_all(tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> ReplayResult:
        real = replay(SOURCE, ProcedureSpec("oup", delta=0.1, epsilon=0.5), utility=UTILITY)
        return replace(real, stop_reason=StopReason("interrupted", "Interrupted."))

    monkeypatch.setattr(jobs_module, "replay", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_jobs([a_job(epsilon=0.2), a_job(epsilon=0.3)], tmp_path, workers=1)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_worker_that_is_killed_is_one_sentence_and_nobody_else_is_killed(tmp_path):
    bystander = get_context("spawn").Process(target=time.sleep, args=(600,))
    bystander.start()

    def kill_a_worker() -> None:
        while not (workers := set(active_children()) - {bystander}):
            time.sleep(0.01)
        workers.pop().kill()

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    try:
        with pytest.raises(UsageError, match=r"a worker was killed.*--workers 1; what was done is kept"):
            run_jobs([a_job(epsilon=0.2), a_job(epsilon=0.3)], tmp_path, workers=2)
        assert bystander.is_alive()
    finally:
        killer.join()
        bystander.kill()
        bystander.join()


_PARENT = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context
from {room} import {begins} as begins

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begins) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize(
    ("room", "begins"),
    [
        ("utilitune.reports.reproduction.running", "end_with_the_parent"),
        ("utilitune.reports.dashboard.working_out", "step_back"),
    ],
)
def test_workers_do_not_survive_a_parent_that_is_killed(tmp_path, room, begins):
    script = tmp_path / "parent.py"
    script.write_text(_PARENT.format(room=room, begins=begins))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        os.kill(worker, signal.SIGINT)  # a terminal's Ctrl-C reaches all: it is for the parent
        os.kill(worker, 0)
        parent.kill()
    for _ in range(600):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the worker goes on without its parent")

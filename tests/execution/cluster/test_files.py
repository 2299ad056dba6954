from __future__ import annotations

import os
from pathlib import Path

import pytest

from execution.cluster.on_loopback import collect
from execution.running import limits
from utilitune.errors import ClusterError
from utilitune.execution.backend import Job
from utilitune.execution.cluster.files import Digests, Kept, named_files, packed, renamed
from utilitune.execution.messages import as_message
from utilitune.targets.base import Command


def message(*argv: str, directory: str | None = None) -> dict:
    return as_message(Job(Command(argv, directory=directory), limits()))


def test_files_are_found_in_words(tmp_path):
    (tmp_path / "a.cnf").write_text("p")
    for name in ("b.cnf", "0.5", "3", "solver"):
        (tmp_path / name).write_text("q")
    whole = str(tmp_path / "a.cnf")
    words = ("/no/such", "solver", whole, f"--file={whole}", "b.cnf", "0.5", "3", "--x=1/2", str(tmp_path))
    assert named_files(message(*words, directory=str(tmp_path))) == (whole, str(tmp_path / "b.cnf"))
    assert named_files(message("solver", "--in=b.cnf", directory=str(tmp_path))) == (str(tmp_path / "b.cnf"),)
    assert named_files(message("solver", "./b.cnf")) == ()


def test_words_are_renamed(tmp_path):
    (tmp_path / "a.cnf").write_text("p")
    whole = str(tmp_path / "a.cnf")
    told = message("solver", whole, f"--file={whole}", "./a.cnf", "x", directory=str(tmp_path))
    places = dict.fromkeys(named_files(told), "/kept/a.cnf")
    assert renamed(told, places)["argv"] == [
        "solver",
        "/kept/a.cnf",
        "--file=/kept/a.cnf",
        "/kept/a.cnf",
        "x",
    ]


def test_a_file_is_kept_by_its_content(tmp_path):
    here, there = tmp_path / "here.sh", Kept(str(tmp_path / "worker"))
    here.write_text("#!/bin/sh\necho 1\n")
    here.chmod(0o755)
    digest = Digests().of(str(here))
    elsewhere = {"/elsewhere/here.sh": digest}
    assert there.places(elsewhere) == {}
    there.keep(packed(str(here), digest))
    [place] = there.places(elsewhere).values()
    assert Path(place).read_text() == here.read_text()
    assert os.access(place, os.X_OK)
    assert there.places({str(here): digest}) == {str(here): str(here)}  # the same content under the same path
    here.write_text("#!/bin/sh\necho two\n")
    assert there.places({str(here): digest}) == {str(here): place}
    assert Digests().of(str(here)) != digest


def test_files_that_workers_lack_are_sent_once(dask, tmp_path, monkeypatch):
    """Workers on this machine would find the files, so they are named where they are not."""
    program, instance = tmp_path / "program.sh", tmp_path / "instance.txt"
    program.write_text('#!/bin/sh\necho "$0 got $(cat "$1")"\n')
    program.chmod(0o755)
    instance.write_text("42")
    digests = {str(tmp_path / "gone" / path.name): Digests().of(str(path)) for path in (program, instance)}
    sent = []

    def packed_here(path: str, digest: str):
        sent.append(path)
        return packed(path.replace("/gone/", "/"), digest)

    monkeypatch.setattr("utilitune.execution.cluster.link.packed", packed_here)
    told = message(*digests, directory=str(tmp_path / "gone"))
    with dask.backend(2, ship=True) as backend:
        for job_id in range(4):
            backend._in_flight.add(job_id)
            backend._tell(backend._link.begin, job_id, {**told, "files": digests})
        outputs = [raw.output_tail for _, raw in collect(backend, 4)]
    assert all(text.endswith("got 42\n") for text in outputs), outputs
    assert len(sent) == 2 * 2, sent  # each file to each worker


@pytest.fixture
def absent_files(tmp_path, monkeypatch):
    """Makes a command that shows files; workers of this machine are made to lack them."""
    monkeypatch.setattr(
        "utilitune.execution.cluster.link.packed",
        lambda path, digest: packed(path.replace("/gone/", "/"), digest),
    )

    def shown(**contents: str) -> dict:
        digests = {}
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
            digests[str(tmp_path / "gone" / name)] = Digests().of(str(tmp_path / name))
        told = message("cat", *digests, directory=str(tmp_path / "gone"))
        return {**told, "argv": ["cat", *digests], "files": digests}

    return shown


def shipped(backend, told: dict, jobs: list[int]) -> list[str]:
    for job_id in jobs:
        backend._in_flight.add(job_id)
        backend._tell(backend._link.begin, job_id, told)
    return [raw.output_tail for _, raw in collect(backend, len(jobs))]


def test_files_of_one_content_and_two_names_are_both_sent(dask, absent_files):
    """The second was once asked for, and taken to be there, for ever."""
    told = absent_files(a_cnf="the same\n", b_cnf="the same\n")
    with dask.backend(2, ship=True) as backend:
        assert shipped(backend, told, [0, 1, 2, 3]) == 4 * [2 * "the same\n"]


def test_a_file_that_a_worker_has_lost_is_sent_again(dask, absent_files):
    told = absent_files(lost="some tool tidies up\n")
    with dask.backend(2, ship=True) as backend:
        assert shipped(backend, told, [0, 1]) == 2 * ["some tool tidies up\n"]
        for copy in dask.folder.rglob("utilitune-files/*/lost"):
            copy.unlink()
        assert shipped(backend, told, [2, 3]) == 2 * ["some tool tidies up\n"]


def test_a_worker_that_cannot_keep_a_file_is_named(dask, absent_files):
    """Its runs once counted as crashes: the worker was taken to have gone, again and again."""
    told = absent_files(unkept="nobody can keep this\n")
    for folder in dask.folder.rglob("worker-*/"):
        place = folder / "utilitune-files" / next(iter(told["files"].values()))
        place.parent.mkdir(exist_ok=True)
        place.write_text("in the way")
    with dask.backend(2, ship=True) as backend, pytest.raises(ClusterError, match=r"cannot keep .*unkept"):
        shipped(backend, told, [0])


def test_nothing_is_sent_to_workers_that_have_the_files(dask, tmp_path, monkeypatch):
    monkeypatch.delattr("utilitune.execution.cluster.link.packed")
    (tmp_path / "instance.txt").write_text("42")
    with dask.backend(2, ship=True) as backend:
        backend.submit(0, Job(Command(("cat", str(tmp_path / "instance.txt"))), limits()))
        [(_, raw)] = collect(backend, 1)
    assert raw.output_tail == "42"


def test_a_file_that_a_worker_lacks_is_named(dask, tmp_path):
    gone = str(tmp_path / "gone.cnf")
    with dask.backend(2) as backend:
        backend._in_flight.add(0)
        backend._tell(backend._link.begin, 0, {**message("cat", gone), "files": [gone]})
        [(_, raw)] = collect(backend, 1)
    assert raw.launch_error.startswith("the worker tcp://127.0.0.1:")
    assert (
        f"does not have {gone!r}: put it where all workers find it, or let files be sent" in raw.launch_error
    )

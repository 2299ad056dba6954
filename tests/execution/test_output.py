from __future__ import annotations

import os
from typing import TYPE_CHECKING

import coverage
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.execution import output
from utilitune.execution.output import LONGEST_LINE, LONGEST_MATCH, OutputCollector

if TYPE_CHECKING:
    from collections.abc import Iterator


def collect(chunks: list[bytes], tail_bytes: int, patterns: list[str]) -> OutputCollector:
    reading, writing = os.pipe()
    collector = OutputCollector(reading, tail_bytes, patterns)
    for chunk in chunks:
        os.write(writing, chunk)
        while collector._waiting_bytes > output.MOST_WAITING:
            collector.read()
        collector.read()
    os.close(writing)
    collector.finish()
    return collector


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=20), st.integers(0, 500))
def test_the_tail_is_the_end_of_everything(chunks, tail_bytes):
    whole = b"".join(chunks)
    expected = whole[max(0, len(whole) - tail_bytes) :].decode("utf-8", "replace")
    assert collect(chunks, tail_bytes, []).tail == expected


@given(st.lists(st.integers(1, 12), min_size=1))
def test_lines_are_found_however_they_are_cut(sizes):
    whole = "c log\ns UNKNOWN\ns SATISFIABLE\nv 1 -2 é\nruntime 0.25".encode()
    chunks = []
    for size in sizes:
        chunks.append(whole[:size])
        whole = whole[size:]
    collector = collect(
        [c for c in [*chunks, whole] if c], 10, [r"^s (\w+)$", r"^runtime ([\d.]+)", "^v .*é$", "x"]
    )
    assert collector.matches == ["SATISFIABLE", "0.25", "v 1 -2 é", None]


def test_endless_lines_and_matches_are_cut():
    collector = collect([b"a" * 50_000] * 5, 10, ["a+"])
    assert collector.matches == ["a" * LONGEST_MATCH]
    assert len(collector._partial) <= LONGEST_LINE


@given(st.lists(st.integers(1, 12), max_size=40))
def test_a_pattern_never_crosses_lines_however_they_are_cut(sizes):
    rest = b"time:\n5 s\nc time:   \n\n7\ntime:"
    chunks = []
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    collector = collect([c for c in [*chunks, rest] if c], 10, [r"time:\s*(\S+)", r"\s7", r"(?s)5.*7"])
    assert collector.matches == [None, None, None]


@given(st.lists(st.integers(1, 3 * LONGEST_LINE), max_size=8))
@settings(deadline=None, max_examples=30)
def test_long_lines_are_cut_at_the_same_places_however_they_arrive(sizes):
    rest = b"".join(b"%07d " % number for number in range(40_000)) + b"\nend"
    chunks = []
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    chunks.append(rest)
    pieces = [chunk[at : at + 60_000] for chunk in chunks for at in range(0, len(chunk), 60_000)]
    collector = collect(pieces, 10, [r"^(\d+) ", r"(\d+) $"])
    assert collector.matches == [f"{4 * LONGEST_LINE // 8:07d}", "0039999"]


@pytest.fixture
def uncovered() -> Iterator[None]:
    """Without measuring coverage, which keeps a lock while it notes a call: an alarm that ends that call just
    then would leave the lock to nobody, and every call after it would wait for ever."""
    measuring = coverage.Coverage.current()
    if measuring is not None:
        measuring.stop()
    yield
    if measuring is not None:
        measuring.start()


@pytest.mark.usefixtures("uncovered")
def test_a_pattern_that_never_ends_is_given_up_and_said_so(monkeypatch):
    monkeypatch.setattr(output, "MATCHING_S", 0.05)
    collector = collect([b"a" * 5000 + b"!\n"], 10, [r"(a+)+$", "a"])
    assert "took longer than" in collector.problem


@pytest.mark.usefixtures("uncovered")
def test_a_slow_line_does_not_hold_up_the_run_and_its_match_is_found_later(monkeypatch):
    monkeypatch.setattr(output, "MOST_WAITING", 1000)
    hard = b"a" * 20 + b"!\n"  # a fraction of a second for this pattern
    collector = collect([hard, b"x\n" * 20_000, b"aaa\n", b"y\n" * 2000], 10, [r"((a+)+)$", "y"])
    assert collector.matches == ["aaa", "y"]
    assert collector.problem == ""


@pytest.mark.usefixtures("uncovered")
def test_slow_lines_without_end_are_given_up_while_the_run_goes_on(monkeypatch):
    """The last of them was once taken away twice, which ended the whole search."""
    monkeypatch.setattr(output, "MOST_WAITING", 5000)
    monkeypatch.setattr(output, "SLICE_S", 1e-4)
    hard = b"a" * 40 + b"!\n"
    collector = collect([hard * 150] * 3, 3, [r"((a+)+)$", "a"])
    assert "took longer than" in collector.problem
    assert collector.tail == "a!\n"


@pytest.mark.usefixtures("uncovered")
def test_a_trace_of_slow_lines_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(output, "MOST_WAITING", 5000)
    monkeypatch.setattr(output, "SLICE_S", 1e-4)
    reading, writing = os.pipe()
    collector = OutputCollector(reading, 10, [], output.Tracer([r"((a+)+)$", None, None], lambda: 0.0))
    for _ in range(6):
        os.write(writing, (b"a" * 40 + b"!\n") * 100)
        while collector._waiting_bytes > output.MOST_WAITING:
            collector.read()
        collector.read()
    os.close(writing)
    collector.finish()
    assert "took longer than" in collector.problem
    assert collector._waiting_bytes == 0


@pytest.mark.usefixtures("uncovered")
def test_much_output_is_no_slow_output(monkeypatch):
    monkeypatch.setattr(output, "MOST_WAITING", 10_000)
    monkeypatch.setattr(output, "SLICE_S", 1e-5)
    collector = collect([b"nothing\n" * 7000] * 5 + [b"here 5\n"], 10, [r"here (\d)"])
    assert (collector.matches, collector.problem) == (["5"], "")


def test_much_output_keeps_little_memory():
    collector = collect([b"x" * 60_000] * 50, 100, [])
    assert collector.tail == "x" * 100
    assert len(collector._tail) < 200_000


def test_an_optional_group_that_did_not_match_gives_the_whole_match():
    assert collect([b"done\n"], 10, ["done(!)?"]).matches == ["done"]


def traced(chunks: list[bytes], patterns: list[str | None]) -> list[list[float | str | None]]:
    """The trace of an output of which each chunk arrives a second after the one before."""
    reading, writing = os.pipe()
    moment = iter(range(1, 1_000_000))
    collector = OutputCollector(reading, 10, [], output.Tracer(patterns, lambda: float(next(moment))))
    for chunk in chunks:
        os.write(writing, chunk)
        collector.read()
    os.close(writing)
    collector.finish()
    return collector.tracer.seen


def test_every_solution_is_kept_with_the_moment_at_which_its_line_arrived():
    chunks = [b"start\nsolution 9 bound 1\nsol", b"ution 7 bound 1\n", b"nothing\n", b"bound 2\nsolution 7"]
    assert traced(chunks, [r"solution (\S+)", r"bound (\S+)", None]) == [
        [1.0, "9", "1", None],
        [2.0, "7", "1", None],
        [4.0, None, "2", None],
        [4.0, "7", None, None],
    ]


def test_a_line_that_says_the_same_again_is_left_out_and_a_time_may_stand_in_it():
    chunks = [b"0.5s: 9\n0.7s: 9\n0.9s: 8\n"]
    seen = traced(chunks, [r": (\d+)", None, r"^(\S+)s"])
    assert seen == [[1.0, "9", None, "0.5"], [1.0, "8", None, "0.9"]]


def test_a_trace_without_end_is_thinned():
    lines = b"".join(b"%d\n" % number for number in range(3 * output.MOST_POINTS))
    seen = traced(
        [lines[start : start + 50_000] for start in range(0, len(lines), 50_000)], [r"(\d+)", None, None]
    )
    assert output.MOST_POINTS / 2 <= len(seen) <= output.MOST_POINTS
    assert [int(point[1]) for point in seen] == sorted(int(point[1]) for point in seen)
    assert int(seen[-1][1]) == 3 * output.MOST_POINTS - 1

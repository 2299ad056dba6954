from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from utilitune.execution.output import LONGEST_LINE, LONGEST_MATCH, OutputCollector


def collect(chunks: list[bytes], tail_bytes: int, patterns: list[str]) -> OutputCollector:
    reading, writing = os.pipe()
    collector = OutputCollector(reading, tail_bytes, patterns)
    for chunk in chunks:
        os.write(writing, chunk)
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


def test_much_output_keeps_little_memory():
    collector = collect([b"x" * 60_000] * 50, 100, [])
    assert collector.tail == "x" * 100
    assert len(collector._tail) < 200_000


def test_an_optional_group_that_did_not_match_gives_the_whole_match():
    assert collect([b"done\n"], 10, ["done(!)?"]).matches == ["done"]

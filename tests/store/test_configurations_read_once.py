"""Configurations are read once and kept; whatever was added, in whatever order, is seen."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from reports.dashboard.stored_runs import Writer
from utilitune.store import read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_reader_sees_what_is_added_and_parses_nothing_twice(tmp_path: Path):
    writer = Writer(tmp_path)
    writer.add_configurations(5)
    with contextlib.closing(read_run_folder(writer.folder)) as reader:
        first = reader.configurations()
        writer.add_configurations(3)
        again = reader.configurations()
        assert len(again) == 8
        assert all(old is new for old, new in zip(first, again, strict=False))
        first.clear()
        assert len(reader.configurations()) == 8, "a list that is handed out is the caller's own"
    writer.end()


def test_rows_that_come_out_of_order_are_seen_too(tmp_path: Path):
    writer = Writer(tmp_path)
    writer.add_configurations(6)
    with contextlib.closing(read_run_folder(writer.folder)) as reader:
        connection = writer.store._connection
        kept = connection.execute("SELECT * FROM configurations WHERE number = 2").fetchone()
        connection.execute("DELETE FROM configurations WHERE number = 2")
        assert [record.index for record in reader.configurations()] == [0, 1, 3, 4, 5]
        connection.execute(f"INSERT INTO configurations VALUES ({', '.join('?' * len(kept))})", kept)
        assert [record.index for record in reader.configurations()] == [0, 1, 2, 3, 4, 5]
    writer.end()

"""``utilitune.load``, and what Python and a notebook show of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import utilitune
from reports.dashboard.stored_runs import HOSTILE, Writer, small_run
from utilitune.domain import Promise, no_promise
from utilitune.errors import StoreError, UsageError
from utilitune.live.standing.card import line

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_is_loaded_also_by_its_scenario_file(tmp_path: Path):
    writer = small_run(tmp_path)
    result = utilitune.load(str(writer.folder))
    assert result.folder == writer.folder
    assert len(result.runs) == result.progress.runs
    scenario = tmp_path / "large.toml"
    scenario.write_text("")
    assert utilitune.load(scenario) == result


def test_a_run_at_work_is_loaded(tmp_path: Path):
    writer = Writer(tmp_path)
    with pytest.raises(StoreError, match="no progress yet"):
        utilitune.load(writer.folder)
    writer.add_configurations(3)
    writer.add_runs(2)
    writer.add_progress(0.7)
    result = utilitune.load(writer.folder)
    assert result.stop_reason is None
    assert "at work" in result._repr_html_()
    writer.end()


def test_what_is_no_run_is_refused(tmp_path: Path):
    with pytest.raises(StoreError, match="is no run folder"):
        utilitune.load(tmp_path / "nowhere")
    (tmp_path / "other.toml").write_text("")
    with pytest.raises(UsageError, match="has no run yet"):
        utilitune.load(tmp_path / "other.toml")


def test_nothing_from_outside_is_markup_in_a_notebook(tmp_path: Path):
    result = utilitune.load(small_run(tmp_path, hostile=True).folder)
    shown = result._repr_html_()
    assert result.promise.sentence().split("ε")[0] in shown
    assert HOSTILE not in shown
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;/script&gt;" in shown


def test_a_line_is_short_and_on_the_safe_side():
    many = {f"parameter{n}": n + 1 / 3 for n in range(100)}
    text = line("RunResult", many, Promise(0.06441, 0.05, 0.1, 9, gain=0.06441))
    assert text.startswith("<RunResult best={'parameter0': 0.333333, ")
    assert text.endswith(", epsilon=0.0645, gamma=0.1, gain=0.0644>")
    assert len(text) < 250
    assert line("RunResult", many, Promise(0.06, 0.05, 0.1, 9, gain=-0.13)).endswith(", gain=None>")
    text = line("RunResult", {"a": "\x1b[31m" * 100}, Promise(0.5, 0.05, None, 9))
    assert text.isprintable()
    assert len(text) < 250
    assert line("RunResult", {}, Promise(0.5, 0.05, None, 9, refusal=no_promise("irace"))) == (
        "<RunResult best={}, nothing proved>"
    )


def test_a_replay_shows_itself():
    matrix = utilitune.read_matrix("synthetic:rows=20,columns=60,seed=1")
    result = utilitune.replay(matrix, utility="uniform(k0=60)", budget=utilitune.Budget(max_time_s=5.0))
    assert repr(result).startswith(f"<ReplayResult best={result.best!r}, epsilon=")
    assert result.stop_reason.advice.split()[0] in result._repr_html_()

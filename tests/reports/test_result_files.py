from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from utilitune import ProcedureSpec, ReplayResult, RuntimeMatrix, UtilituneError, replay
from utilitune.reports import figures, files
from utilitune.reports.files import check_writable, write_result

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def result() -> ReplayResult:
    matrix = RuntimeMatrix.from_array([[1.0, 4.0], [2.0, 8.0]] * 2).resample(2000, seed=0)
    return replay(matrix, ProcedureSpec("coup", delta=0.4, phases=1), utility="uniform(k0=16)")


@pytest.mark.parametrize(
    "name", ["result.json", "RESULT.JSON", "curve.csv", "curve.png", "curve.svg", "curve.pdf"]
)
def test_every_ending_gives_a_whole_file_and_nothing_else(result: ReplayResult, tmp_path: Path, name: str):
    check_writable(tmp_path / name)
    write_result(result, tmp_path / name, "a title")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).stat().st_size > 100


def test_json_is_what_the_result_says(result: ReplayResult, tmp_path: Path):
    write_result(result, tmp_path / "result.json", "a title")
    assert json.loads((tmp_path / "result.json").read_text()) == json.loads(json.dumps(result.to_dict()))


def test_a_failure_leaves_the_old_file_and_no_half_of_the_new_one(
    result: ReplayResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "curve.csv"
    target.write_text("old")

    def fill_the_disk(_: ReplayResult, path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_write_trajectory", fill_the_disk)
    with pytest.raises(UtilituneError, match=r"cannot write .*curve\.csv: No space left on device"):
        write_result(result, target, "a title")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("curve.csv", "old")]


def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(UtilituneError, match="its folder is not writable"):
        check_writable(tmp_path / "result.json")


def test_without_matplotlib_a_picture_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(figures, "find_spec", lambda _: None)
    check_writable(tmp_path / "result.json")
    with pytest.raises(UtilituneError, match=r"pip install 'utilitune\[plot\]'"):
        check_writable(tmp_path / "curve.png")

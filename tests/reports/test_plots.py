"""Pictures of a result: they hold what the report holds, and survive every name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import utilitune
from reports.dashboard.stored_runs import Writer, small_run
from utilitune.errors import MissingExtraError, StoreError
from utilitune.reports import plots as plots_module
from utilitune.reports.plots import Plots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = ["promise", "ecdf", "configurations", "importance", "utility"]
pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    import matplotlib as mpl

    mpl.use("Agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def drawn(axes: Any) -> None:
    axes.figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_drawn_where_it_is_asked_for(kind: str, tmp_path: Path):
    from matplotlib import pyplot as plt

    result = utilitune.load(small_run(tmp_path, hostile=True).folder)
    axes = getattr(result.plot, kind)()
    drawn(axes)
    assert axes.get_title(loc="left")
    _, given = plt.subplots()
    assert getattr(result.plot, kind)(ax=given) is given
    drawn(given)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_has_hardly_begun_is_drawn(kind: str, tmp_path: Path):
    writer = Writer(tmp_path)
    writer.add_configurations(1)
    writer.add_progress(1.0)
    axes = getattr(utilitune.load(writer.folder).plot, kind)()
    drawn(axes)
    assert axes.get_title(loc="left")
    writer.end()


def test_the_pictures_show_the_numbers_of_the_tables(tmp_path: Path):
    result = utilitune.load(small_run(tmp_path).folder)
    table = result.to_pandas("configurations")
    axes = result.plot.configurations()
    heights = sorted(float(y) for points in axes.collections for _, y in _offsets(points))
    assert heights == pytest.approx(sorted(table["mean"].dropna()))
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"others", "default", "answer"}
    steps = result.plot.promise().get_lines()[0].get_ydata()
    assert list(steps) == [point.epsilon for point in result.trajectory]


def _offsets(points: Any) -> list[Any]:
    from matplotlib.collections import PathCollection

    return list(points.get_offsets()) if isinstance(points, PathCollection) else []


def test_a_name_is_never_read_as_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [{"name": r"$\broken{$", "share": 0.5, "low": 0.4, "high": 0.6}]
    found = {"rows": rows, "skill": 0.9, "note": ""}
    monkeypatch.setattr(plots_module, "importance", lambda *_: found)
    axes = utilitune.load(small_run(tmp_path).folder).plot.importance()
    drawn(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"$\broken{$"]


def test_too_few_configurations_are_said_in_the_picture(tmp_path: Path):
    pytest.importorskip("sklearn")
    axes = utilitune.load(small_run(tmp_path, configurations=5).folder).plot.importance()
    assert "too few" in " ".join(axes.texts[0].get_text().split())


def test_without_matplotlib_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = utilitune.load(small_run(tmp_path).folder)
    monkeypatch.setattr("utilitune.reports.figures.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"utilitune\[plot\]"):
        result.plot.promise()


def test_a_run_that_was_moved_away_is_said(tmp_path: Path):
    writer = small_run(tmp_path)
    result = utilitune.load(writer.folder)
    writer.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="no run folder"):
        result.plot.ecdf()


def test_loading_a_result_loads_no_pictures():
    import subprocess

    heavy = ("matplotlib", "pandas")
    code = f"import sys, utilitune; utilitune.load; print([n for n in {heavy} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    assert Plots.__doc__

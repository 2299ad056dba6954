from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from utilitune.domain import Progress
from utilitune.reports.evaluation import solved_over_time
from utilitune.reports.figures import epsilon_over_time, new_figure, save_figure
from utilitune.reports.reproduction.drawing import panels

if TYPE_CHECKING:
    from pathlib import Path


def progress(total_time_s: float, epsilon: float, gamma: float | None) -> Progress:
    return Progress(0, epsilon, gamma, 0.1, total_time_s, 1, 1, 5, 5)


def test_a_curve_holds_every_point_that_cost_time():
    points = [progress(0, 1, None), progress(10, 0.5, None), progress(100, 0.25, None)]
    figure = epsilon_over_time({"oup": points}, "a title")
    (line,) = figure.axes[0].lines
    assert line.get_xdata().tolist() == [10, 100]
    assert line.get_ydata().tolist() == [0.5, 0.25]
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[0].get_title(loc="left") == "a title"


def test_gamma_has_a_curve_of_its_own_where_there_is_one():
    points = [progress(10, 0.5, None), progress(100, 0.25, 0.75)]
    figure = epsilon_over_time({"coup": points}, "")
    _, gammas = figure.axes[0].lines
    assert math.isnan(gammas.get_ydata()[0])
    assert gammas.get_ydata()[1] == 0.75
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["coup: ε", "coup: γ"]


def test_dollar_signs_in_a_name_make_no_formula(tmp_path: Path):
    title = r"replay of a$\x^$.csv"
    points = [progress(10, 0.5, None), progress(100, 0.25, 0.75)]
    both = epsilon_over_time({"oup": points}, title), solved_over_time({"default": [1.0, 2.0]}, 5.0, title)
    panelled, _ = panels(1, 1, title)
    for figure in (*both, panelled):
        save_figure(figure, tmp_path / "picture.png")
    assert both[0].axes[0].get_title(loc="left") == title


def test_figures_have_the_size_asked_for():
    figure, _ = new_figure(5, 3)
    assert figure.get_size_inches().tolist() == pytest.approx([5, 3])

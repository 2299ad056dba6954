from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.errors import UsageError
from utilitune.procedures.bounds.every_utility import CensoredRuns
from utilitune.reports.files import check_picture, write_picture
from utilitune.reports.whatif import FamilyAnswer, UtilityFamily, whatif
from utilitune.reports.whatif_figure import epsilon_over_family

if TYPE_CHECKING:
    from pathlib import Path


def answer() -> FamilyAnswer:
    steady = CensoredRuns.capped(np.full(400, 20.0), 100.0)
    risky = CensoredRuns.capped(np.tile([2.0, 2.0, 2.0, 300.0], 100), 100.0)
    return whatif([steady, risky]).over(UtilityFamily("step(deadline=*)", 1.0, 200.0, points=12))


def test_every_recommended_configuration_has_its_line_once_in_the_legend():
    axes = epsilon_over_family(answer(), "title").axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sorted(labels) == ["configuration 0", "configuration 1"]
    assert axes.get_xscale() == "log"
    drawn = np.concatenate([line.get_xdata() for line in axes.get_lines()])
    assert (drawn.min(), drawn.max()) == pytest.approx((1.0, 200.0))


@pytest.mark.long
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_are_written_whole(tmp_path: Path, ending: str):
    picture = tmp_path / f"k0.{ending}"
    check_picture(picture)
    write_picture(epsilon_over_family(answer(), "title"), picture)
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("name", ["k0.csv", "missing/k0.png"])
def test_a_picture_that_cannot_be_written_is_refused_beforehand(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="cannot"):
        check_picture(tmp_path / name)

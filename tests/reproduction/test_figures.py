"""Every figure on a tiny matrix: its files, its table and its claims."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from utilitune.errors import UsageError
from utilitune.reproduction import FIGURES, Effort, jobs, reproduce
from utilitune.reproduction.drawing import panels
from utilitune.reproduction.gaps import _draw_point
from utilitune.reproduction.jobs import Job, Outcome, Point
from utilitune.reproduction.making import named_figure
from utilitune.reproduction.proofs import _compared, _naive_claim, times_faster, times_sooner
from utilitune.reproduction.recipe import Claim, Series, Study, span

SOURCE = "synthetic:rows=12,columns=400,seed=5,spread=1.5,cutoff_s=900"


@pytest.fixture(autouse=True)
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer instances than usual: every figure takes a moment only."""
    monkeypatch.setattr(jobs, "POSITIONS", 5_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


def a_job(name: str) -> Job:
    return Job(SOURCE, "0123", "naive", "uniform(k0=60)", 1, {"name": name})


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_writes_its_data_two_pictures_and_its_claims(folder: Path, name: str):
    (report,) = reproduce(SOURCE, folder, [name], effort=Effort(seeds=1, quick=True), workers=1)
    assert [path.name for path in report.files] == [f"{name}.csv", f"{name}.pdf", f"{name}.png"]
    assert all(path.stat().st_size > 100 for path in report.files)
    assert report.claims
    labels = {row["label"] for row in table(report.files[0])}
    assert "wager" in labels
    assert len(labels) > 2
    assert (folder / "claims.txt").read_text(encoding="utf-8").count(name) == len(report.claims)


def test_the_claims_of_the_paper_hold_on_easy_data(folder: Path):
    reports = reproduce(SOURCE, folder, ["1", "6"], effort=Effort(seeds=1, quick=True), workers=1)
    claims = {claim.text: claim.holds for report in reports for claim in report.claims}
    assert claims["OUP proves every ε ≤ 0.3 before UP, log-Laplace"]
    assert claims["The new doubling rule is no slower for UP"]


def test_gaps_are_between_zero_and_one(folder: Path):
    reproduce(SOURCE, folder, ["5"], effort=Effort(seeds=1, quick=True), workers=1)
    rows = table(folder / "fig5.csv")
    gaps = [float(row["gap"]) for row in rows if not row["refused"]]
    assert gaps
    assert all(0 <= gap < 1 for gap in gaps)
    assert {row["panel"] for row in rows} == {"utility", "runtime"}


def test_a_handful_of_configurations_is_too_few_for_phases_but_no_reason_to_fail(tmp_path: Path):
    few = "synthetic:rows=3,columns=50,seed=1,cutoff_s=900"
    reports = reproduce(few, tmp_path, ["3", "4"], effort=Effort(seeds=1, quick=True), workers=1)
    claims = [claim for report in reports for claim in report.claims]
    assert [claim.holds for claim in claims] == [None] * 4
    assert (tmp_path / "fig3.png").is_file()


def test_unknown_figures_and_no_seeds_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no figure '8': the paper has figures 1 to 7"):
        reproduce(SOURCE, tmp_path, ["8"])
    with pytest.raises(UsageError, match="seeds must be at least 1"):
        reproduce(SOURCE, tmp_path, effort=Effort(seeds=0))
    with pytest.raises(UsageError, match="workers must be at least 1"):
        reproduce(SOURCE, tmp_path, workers=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="name another folder"):
        reproduce(SOURCE, tmp_path / "file")
    assert named_figure("3") is named_figure("fig3")


def test_times_sooner_compares_only_what_both_prove():
    quick = Outcome(points=tuple(Point(t, 0, e) for t, e in ((1.0, 0.9), (2.0, 0.29), (4.0, 0.2))))
    slow = Outcome(points=tuple(Point(t, 0, e) for t, e in ((1.0, 0.9), (10.0, 0.25))))
    ratios = times_sooner(quick, slow, 0.1)
    assert len(ratios) == 6  # 0.30, 0.29, …, 0.25
    assert ratios[0] == 5.0
    assert ratios[-1] == 2.5


def test_a_rule_that_proves_more_is_not_slower():
    """The old rule may never get to the smallest ε: then the new one, which does, is ahead."""
    there, later, never = (
        Outcome(points=tuple(Point(time_s, 0, epsilon) for time_s, epsilon in points))
        for points in (((1.0, 0.9), (3.0, 0.1)), ((1.0, 0.9), (6.0, 0.1)), ((1.0, 0.9),))
    )
    assert times_faster([later, never, there, never], [there, there, never, never], 0.1) == [2, math.inf, 0]
    assert _compared(0.1, [2.0, 1.0, 4.0]) == "2.00 times sooner (1.00 to 4.00) at ε = 0.1"
    assert _compared(0.1, [math.inf]) == "only the new rule proves ε = 0.1"
    assert _compared(0.1, [0.0]) == "only the old rule proves ε = 0.1"
    assert _compared(0.1, []) == "neither proves ε = 0.1"


def test_naive_can_prove_what_oup_cannot():
    oup = Outcome(points=(Point(1.0, 0, 0.9), Point(10.0, 0, 0.2)))
    naive = {
        "quick": Outcome(points=(Point(20.0, 0, 0.2),)),
        "exact": Outcome(points=(Point(90.0, 0, 0.1),)),
    }
    series = [Series("uniform", name, a_job(name)) for name in naive]
    outcomes = {each.job.key(): naive[each.label] for each in series}
    study = Study(None, Effort(), None, outcomes, series)
    claim = _naive_claim(study, "uniform", oup)
    assert claim.holds is False
    assert "2.00 times on average" in claim.detail
    assert "at 1 of 2 points OUP runs out of instances" in claim.detail
    assert _naive_claim(replace(study, series=series[:1]), "uniform", oup).holds


def test_points_of_equal_gaps_are_drawn_whatever_their_rounding():
    axes = panels(1, 1, "a title")[1][0]
    outcomes = [Outcome(points=(Point(1.0, seed, None),)) for seed in range(3)]
    _draw_point(axes, outcomes, lambda _: 0.019, {"color": "red", "fmt": "s", "label": "a"})
    (drawn,) = axes.containers
    assert drawn.lines[0].get_ydata() == pytest.approx([1.9])  # per cent


def test_claims_in_words():
    assert Claim("A", holds=True, detail="2 times").line() == "A: holds (2 times)"
    assert Claim("A", holds=False, detail="0.5 times").line() == "A: DOES NOT HOLD (0.5 times)"
    assert Claim("A", None, "no data").line() == "A: cannot be told (no data)"
    assert span([2.0, 8.0]) == "4.00 times on average, 2.00 to 8.00"
    assert span([]) == "nothing to compare"

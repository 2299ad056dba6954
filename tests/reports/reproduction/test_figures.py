"""Every figure on a tiny matrix: its files, its table and its claims."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from utilitune.errors import UsageError, UtilituneError
from utilitune.reports.reproduction import FIGURES, Effort, jobs, reproduce, running
from utilitune.reports.reproduction.drawing import panels
from utilitune.reports.reproduction.gaps import _draw_point
from utilitune.reports.reproduction.jobs import FigureJob, Outcome, Point
from utilitune.reports.reproduction.making import named_figure
from utilitune.reports.reproduction.phases import _figure_3_claims
from utilitune.reports.reproduction.proofs import _compared, _naive_claim, _times_to, by_seed
from utilitune.reports.reproduction.recipe import Claim, Series, Study, all_above_1, span, times_sooner

SOURCE = "synthetic:rows=12,columns=400,seed=5,spread=1.5,cutoff_s=900"


@pytest.fixture(autouse=True)
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer instances than usual: every figure takes a moment only."""
    monkeypatch.setattr(jobs, "POSITIONS", 5_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


def a_job(name: str) -> FigureJob:
    return FigureJob(SOURCE, "0123", "naive", "uniform(k0=60)", 1, {"name": name})


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


def test_data_that_cannot_be_read_leave_no_folder_behind(tmp_path: Path):
    with pytest.raises(UtilituneError):
        reproduce("no-such-data", tmp_path / "new")
    assert not (tmp_path / "new").exists()


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


def test_who_proves_what_the_other_never_does_is_ahead():
    quick = Outcome(points=tuple(Point(t, 0, e) for t, e in ((1.0, 0.9), (2.0, 0.29), (4.0, 0.2))))
    slow = Outcome(points=tuple(Point(t, 0, e) for t, e in ((1.0, 0.9), (10.0, 0.25))))
    ratios = times_sooner(_times_to(quick, slow, 0.1))
    assert len(ratios) == 11  # 0.30, 0.29, …, 0.20: smaller ones neither proves
    assert ratios[0] == 5.0
    assert ratios[5] == 2.5
    assert ratios[6:] == [math.inf] * 5
    assert all_above_1(ratios) is True
    other_way = times_sooner(_times_to(slow, quick, 0.1))
    assert other_way[-1] == 0.0
    assert all_above_1(other_way) is False
    assert all_above_1([]) is None


def test_nothing_is_proved_by_who_proves_nothing():
    assert Outcome(points=(Point(1.0, 0, None),)).time_to(0.5) == math.inf


def test_a_rule_that_proves_more_is_not_slower():
    """The old rule may never get to the smallest ε: then the new one, which does, is ahead."""
    there, later, never = (
        Outcome(points=tuple(Point(time_s, 0, epsilon) for time_s, epsilon in points))
        for points in (((1.0, 0.9), (3.0, 0.1)), ((1.0, 0.9), (6.0, 0.1)), ((1.0, 0.9),))
    )
    assert by_seed([there, there, never, never], [later, never, there, never], 0.1) == [2, math.inf, 0]
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
    assert "at 1 of 2 only Naive gets there" in claim.detail
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
    assert Claim("A", None, "no data").line() == "A: is not known (no data)"
    assert span([2.0, 8.0], "A", "B") == "4.00 times on average, 2.00 to 8.00"
    assert span([2.0, math.inf, 0.0, 0.0], "A", "B") == (
        "2.00 times on average, 2.00 to 2.00; at 1 of 4 only A gets there; at 2 of 4 only B gets there"
    )
    assert span([], "A", "B") == "nothing to compare"


def phases_of(**ends: list[float | None]) -> Study:
    """A study of Figure 3 in which procedures end their phases at these times."""
    series, outcomes = [], {}
    for label, times in ends.items():
        points = tuple(Point(time_s, 0, 0.1, 0.1, 5) for time_s in times if time_s is not None)
        if label == "oup":
            for number, time_s in enumerate(times):
                job = replace(a_job(f"oup {number}"), procedure="oup", settings={"epsilon": 0.5, "n": number})
                series.append(Series("per phase", f"oup phase {number}", job))
                outcomes[job.key()] = Outcome(points=() if time_s is None else (Point(time_s, 0, 0.1),))
        else:
            series.append(Series("per phase", label, a_job(label)))
            outcomes[a_job(label).key()] = Outcome(points=points, phases=points)
    return Study(None, Effort(), None, outcomes, series)


def test_coup_is_compared_with_the_most_that_oup_has_needed_so_far():
    study = phases_of(coup=[2.0, 20.0, 40.0], oup=[2.0, 10.0, 4.0], wager=[1.0, 2.0, 3.0])
    coup, wager = _figure_3_claims(study)
    assert coup.holds is True
    assert "1.00 to 4.00, 3 phases; OUP alone needs less than before in phase 3 (10.00 times)" in coup.detail
    assert wager.holds is True


def test_a_phase_that_only_oup_ends_is_held_against_coup():
    study = phases_of(coup=[2.0], oup=[2.0, 10.0], wager=[1.0, 2.0])
    coup, wager = _figure_3_claims(study)
    assert coup.holds is False
    assert "at 1 of 2 only OUP gets there" in coup.detail
    assert wager.holds is True


@pytest.mark.parametrize("figure", ["2", "5", "6"])
def test_a_claim_about_procedures_that_could_not_work_cannot_be_told(figure, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "run_job", lambda job: Outcome(refused=f"no {job.procedure} today"))
    (report,) = reproduce(SOURCE, tmp_path, [figure], effort=Effort(seeds=1, quick=True), workers=1)
    assert {claim.holds for claim in report.claims} == {None}
    assert all("today" in claim.detail for claim in report.claims)


def test_claims_of_other_figures_stay_if_they_are_about_the_same(tmp_path):
    effort = Effort(seeds=1, quick=True)
    reproduce(SOURCE, tmp_path, ["1", "2", "1"], effort=effort, workers=1)
    first = (tmp_path / "claims.txt").read_text(encoding="utf-8")
    assert first.startswith(f"# {SOURCE}, k0 = 60 s, 1 seeds, quick\n")
    reproduce(SOURCE, tmp_path, ["1"], effort=effort, workers=1)
    assert (tmp_path / "claims.txt").read_text(encoding="utf-8") == first
    reproduce(SOURCE, tmp_path, ["2"], effort=effort, k0_s=30.0, workers=1)
    assert "fig1" not in (tmp_path / "claims.txt").read_text(encoding="utf-8")


def test_a_figure_without_data_has_a_table_with_columns(tmp_path):
    few = "synthetic:rows=3,columns=50,seed=1,cutoff_s=900"
    reproduce(few, tmp_path, ["3"], effort=Effort(seeds=1, quick=True), workers=1)
    assert (tmp_path / "fig3.csv").read_text(encoding="utf-8").split() == [
        "label,phase,time_s,epsilon,configurations,row"
    ]

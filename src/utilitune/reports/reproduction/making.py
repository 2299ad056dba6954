"""From a data set to the files of all figures: a table, a PDF and a PNG each, and the paper's claims."""

from __future__ import annotations

import csv
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.errors import UsageError, UtilituneError
from utilitune.reports.figures import require_drawing
from utilitune.reports.reproduction.gaps import FIGURE_5, FIGURE_7
from utilitune.reports.reproduction.phases import FIGURE_3, FIGURE_4
from utilitune.reports.reproduction.proofs import FIGURE_1, FIGURE_2, FIGURE_6
from utilitune.reports.reproduction.recipe import Effort, Study
from utilitune.reports.reproduction.running import run_jobs
from utilitune.reports.reproduction.setting import Truth, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from utilitune.reports.reproduction.recipe import Claim, Recipe
    from utilitune.reports.reproduction.setting import Setting

FIGURES = {
    recipe.name: recipe for recipe in (FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7)
}
"""The figures of the paper, by name."""

CLAIMS_FILE = "claims.txt"


@dataclass(frozen=True, slots=True)
class FigureReport:
    """What came of a figure: its files and what it says about the paper's claims."""

    name: str
    title: str
    files: tuple[Path, ...]
    claims: tuple[Claim, ...]


def reproduce(
    source: str,
    folder: Path,
    figures: Sequence[str] = (),
    *,
    effort: Effort | None = None,
    k0_s: float | None = None,
    workers: int | None = None,
    on_job: Callable[[int, int], None] | None = None,
) -> list[FigureReport]:
    """Make figures of the paper on a data set.

    Args:
        source: What `utilitune.read_matrix` understands.
        folder: Where the files are written, and where results are kept for the next time.
        figures: Which ones, ``fig1`` … ``fig7``; all of them if left out.
        effort: How many seeds, and whether a first impression is enough.
        k0_s: Time after which an answer has lost half its worth; chosen by the data if left out.
        workers: Jobs at the same time; all cores if left out.
        on_job: Called with the number of jobs that are done and of all, whenever one more is.
    """
    require_drawing()
    recipes = list(dict.fromkeys(named_figure(name) for name in figures)) or list(FIGURES.values())
    wanted = effort or Effort()
    if wanted.seeds < 1:
        raise UsageError(f"the number of seeds must be at least 1, not {wanted.seeds}")
    if workers is not None and workers < 1:
        raise UsageError(f"the number of workers must be at least 1, not {workers}")
    is_new = not folder.exists()
    _make_folder(folder)
    try:
        setting, truth = _known_about(source, k0_s)
    except UtilituneError:
        if is_new:
            folder.rmdir()
        raise
    series = {recipe.name: recipe.series(setting, wanted) for recipe in recipes}
    jobs = [each.job for found in series.values() for each in found]
    outcomes = run_jobs(jobs, folder, workers or os.cpu_count() or 1, on_job)
    reports = [
        _write(recipe, Study(setting, wanted, truth, outcomes, series[recipe.name]), folder)
        for recipe in recipes
    ]
    _write_claims(folder / CLAIMS_FILE, _heading(setting, wanted), reports)
    return reports


def _make_folder(folder: Path) -> None:
    """Make the output folder, and notice at once if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}; name another folder") from None


def _heading(setting: Setting, effort: Effort) -> str:
    """What claims are about."""
    quick = ", quick" if effort.quick else ""
    return f"# {setting.source}, k0 = {setting.k0_s:g} s, {effort.seeds} seeds{quick}"


def _write_claims(path: Path, heading: str, reports: Sequence[FigureReport]) -> None:
    """Write the claims of these figures; those of others stay if they are about the same."""
    lines = {report.name: [f"{report.name}: {claim.line()}" for claim in report.claims] for report in reports}
    known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in known[1:] if known[:1] == [heading] else ():
        name = line.partition(":")[0]
        if name not in {report.name for report in reports}:
            lines.setdefault(name, []).append(line)
    ordered = [line for name in sorted(lines) for line in lines[name]]
    path.write_text("\n".join([heading, *ordered, ""]), encoding="utf-8")


def named_figure(name: str) -> Recipe:
    """A figure by its name; the number alone will do."""
    key = name if name.startswith("fig") else f"fig{name}"
    if key not in FIGURES:
        raise UsageError(f"there is no figure {name!r}: the paper has figures 1 to {len(FIGURES)}")
    return FIGURES[key]


def _known_about(source: str, k0_s: float | None) -> tuple[Setting, Truth]:
    """The setting and the truth; the matrix itself is let go, the workers have their own."""
    matrix, setting = load(source, k0_s)
    return setting, Truth.of(matrix, {setting.log_laplace, setting.capped_runtime}, (0.1, 0.2))


def _write(recipe: Recipe, study: Study, folder: Path) -> FigureReport:
    table = folder / f"{recipe.name}.csv"
    _write_table(table, list(recipe.table(study)), recipe.columns)
    figure = recipe.draw(study)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout is found: both files keep it
    pictures = [folder / f"{recipe.name}{ending}" for ending in (".pdf", ".png")]
    for path in pictures:
        figure.savefig(path)
    return FigureReport(recipe.name, recipe.title, (table, *pictures), tuple(recipe.claims(study)))


def _write_table(path: Path, rows: list[dict[str, Any]], columns: Sequence[str]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row)) or columns
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)

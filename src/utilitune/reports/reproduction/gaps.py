"""Figures 5 and 7: how far the answers of all procedures are from the best configuration of the data.

The gap of an answer is 1 − U/U_best where utility is optimised, and 1 − R_best/R where runtime is, with R
the mean runtime capped at the configuration's own (1 − δ)-quantile. Anytime procedures give curves, the
others one point per setting, both averaged over the seeds, with the smallest and the largest gap around them.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.reproduction.drawing import COLOURS, LINES, MARKERS, NAMES, legend, panels, time_axis
from utilitune.reports.reproduction.jobs import TO_THE_END
from utilitune.reports.reproduction.recipe import FIRST_SEED, Claim, Recipe, Series, job, trajectories
from utilitune.reports.reproduction.setting import POSITIONS
from utilitune.rivals import RIVALS
from utilitune.rivals.packages import PEERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from utilitune.reports.reproduction.jobs import FigureJob, Outcome
    from utilitune.reports.reproduction.recipe import Effort, Study
    from utilitune.reports.reproduction.setting import Setting

    Gap = Callable[[int], float]

UTILITY = "utility"
RUNTIME = "runtime"
DELTA = 0.05
"""δ of OUP, COUP and wager, as in the authors' published script; the paper names none here."""

_OWN = ("oup", "coup", "wager")
_GRID = 400
_SLOW_PEERS: dict[str, dict[str, Any]] = {"smac": {"trials": 400}, "irace": {}}  # slow themselves
_PLANNED_RUNS = 2000  # a usual budget of irace
_DRAWS_TIMES_GAMMA = 7.0  # about ln(13 K/ζ), what ICAR needs
_ZERO = 1e-9
_LEAST_S = 1e-9  # what is shown, on a logarithmic axis, where nothing was paid
_LINEAR_BELOW = 0.1  # per cent: below this the axis is linear, so that it can show 0


def _own(setting: Setting, utility: str, seed: int) -> Iterator[tuple[str, FigureJob]]:
    """Our anytime procedures; none has a target, they work until the instances run out."""
    captime0_s = setting.captime0_s
    yield "oup", job(setting, "oup", utility, seed, delta=DELTA, captime0_s=captime0_s)
    coup = {"delta": DELTA, "captime0_s": captime0_s, "schedule": TO_THE_END}
    yield "coup", job(setting, "coup", utility, seed, **coup)
    yield "wager", job(setting, "wager", utility, seed, delta=DELTA, configurations=setting.rows)


def _utility_rivals(setting: Setting, seed: int, *, quick: bool) -> Iterator[tuple[str, FigureJob]]:
    """Successive Halving, Hyperband and AC-Band with the settings of Appendix C."""
    utility = setting.log_laplace
    captimes_s = setting.captimes_s[1:3] if quick else setting.captimes_s
    for captime_s in captimes_s:
        for budget in _budgets(setting)[-1:] if quick else _budgets(setting):
            told = {"budget": str(budget), "captime": f"{captime_s:g}"}
            yield (
                f"budget {budget}, captime {captime_s:g} s",
                job(setting, "successive-halving", utility, seed, **told),
            )
        for eta in (3, 5) if quick else (2, 3, 4, 5, 6):
            resource_s = max(eta, min(eta**6 - 1, round(setting.longest_s)))
            told = {"eta": str(eta), "resource": f"{resource_s}", "captime": f"{captime_s:g}"}
            yield f"η {eta}, captime {captime_s:g} s", job(setting, "hyperband", utility, seed, **told)
    yield from _ac_band(setting, utility, seed, "utility", quick=quick)


def _peers(setting: Setting, seed: int, *, quick: bool) -> Iterator[tuple[str, FigureJob]]:
    """The peers that are installed, where the data describe the configurations."""
    for name, peer in PEERS.items() if setting.has_features else ():
        if not (quick and name in _SLOW_PEERS) and peer.is_installed():
            told = {"captime_s": setting.captimes_s[-1], **_SLOW_PEERS.get(name, {})}
            planned_s = _PLANNED_RUNS * setting.longest_s / max(setting.stored, POSITIONS)
            limit_s = min(planned_s, setting.patience_s) if peer.plans_ahead else setting.patience_s
            yield name, job(setting, name, setting.log_laplace, seed, max_time_s=limit_s, **told)


def _budgets(setting: Setting) -> list[int]:
    """Runs for Successive Halving: the paper's 22 000 to 186 000 for 972 rows, as many for each row."""
    rounds = math.ceil(math.log2(max(2, setting.rows)))
    return [max(rounds, factor) * setting.rows for factor in (23, 107, 191)]


def _ac_band(
    setting: Setting, utility: str, seed: int, feedback: str, *, quick: bool
) -> Iterator[tuple[str, FigureJob]]:
    for race_size in (4,) if quick else (2, 4, 8):
        for alpha in (0.05,) if quick else (0.05, 0.02, 0.01):
            told = {"race_size": str(race_size), "alpha": str(alpha), "feedback": feedback}
            yield f"k {race_size}, α {alpha}, {feedback}", job(setting, "ac-band", utility, seed, **told)


def _runtime_rivals(
    setting: Setting, seed: int, quantile: float, *, quick: bool
) -> Iterator[tuple[str, FigureJob]]:
    """AC-Band by wins, ICAR in its variants, SPC."""
    utility = setting.capped_runtime
    yield from _ac_band(setting, utility, seed, "wins", quick=quick)
    shared = {
        "epsilon": str(setting.accuracy),
        "delta": str(quantile),
        "slice": f"{setting.runtime_k0_s:g}",
    }
    gammas = _gammas(setting)
    for gamma in gammas[-1:] if quick else gammas:
        for constants in ("no",) if quick else ("no", "yes"):
            told = {**shared, "gamma": str(gamma), "original_constants": constants}
            name = f"γ {gamma}, {'original' if constants == 'yes' else 'improved'} constants"
            yield name, job(setting, "car", utility, seed, **told)
            for guess in ("no",) if quick else ("no", "yes"):
                more = {**told, "guess_best": guess}
                yield f"{name}, guess {guess}", job(setting, "icar", utility, seed, **more)
    for multiplier in (2,) if quick else (2, 3):
        told = {"multiplier": str(multiplier), "captime0": f"{setting.captime0_s:g}"}
        patience_s = setting.patience_s / (10 if quick else 1)
        yield f"multiplier {multiplier}", job(setting, "spc", utility, seed, max_time_s=patience_s, **told)


def _gammas(setting: Setting) -> list[float]:
    """The γ of CapsAndRuns and ICAR: the paper's, or the smallest that so few configurations allow."""
    enough = [gamma for gamma in (0.01, 0.02, 0.05, 0.1, 0.2) if gamma * setting.rows >= _DRAWS_TIMES_GAMMA]
    return enough[:3] or [0.3]


def _utility_series(setting: Setting, effort: Effort) -> Iterator[Series]:
    for seed in range(FIRST_SEED, FIRST_SEED + effort.seeds):
        for label, made in _own(setting, setting.log_laplace, seed):
            yield Series(UTILITY, label, made)
        quick = effort.quick
        rivals = (*_utility_rivals(setting, seed, quick=quick), *_peers(setting, seed, quick=quick))
        for label, made in rivals:
            yield Series(UTILITY, label, made)


def _runtime_series(setting: Setting, effort: Effort, quantile: float) -> Iterator[Series]:
    for seed in range(FIRST_SEED, FIRST_SEED + effort.seeds):
        for label, made in _own(setting, setting.capped_runtime, seed):
            yield Series(RUNTIME, label, made)
        for label, made in _runtime_rivals(setting, seed, quantile, quick=effort.quick):
            yield Series(RUNTIME, label, made)


def _gap(study: Study, panel: str, quantile: float, row: int) -> float:
    if panel == UTILITY:
        return study.truth.utility_gap(study.setting.log_laplace, row)
    return study.truth.runtime_gap(quantile, row)


def _table(study: Study, quantile: float) -> Iterable[dict[str, Any]]:
    for row in trajectories(study):
        yield {**row, "gap": None if row["refused"] else _gap(study, row["panel"], quantile, row["row"])}


def _grouped(study: Study, panel: str) -> dict[tuple[str, str], list[Outcome]]:
    """Outcomes by procedure and label: one per seed."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for series, outcome in study.played(panel):
        groups.setdefault((series.job.procedure, series.label), []).append(outcome)
    return groups


def _draw(study: Study, quantile: float, title: str) -> Any:  # noqa: ANN401 -- matplotlib's figure
    names = study.panels()
    figure, axes = panels(1, len(names), f"{title} — {study.setting.source}")
    for each, panel in zip(axes, names, strict=True):
        labelled: set[str] = set()
        for (procedure, _), outcomes in sorted(_grouped(study, panel).items(), key=_points_first):
            label = None if procedure in labelled else NAMES[procedure]
            labelled.add(procedure)
            style = {"color": COLOURS[procedure], "label": label}
            gap = partial(_gap, study, panel, quantile)
            if outcomes[0].anytime:
                _draw_curve(each, outcomes, gap, {**style, "linestyle": LINES[procedure]})
            else:
                _draw_point(each, outcomes, gap, {**style, "fmt": MARKERS[procedure]})
        time_axis(each)
        each.set_xlim(left=_first_change_s(study, panel) / 5)
        each.set_yscale("symlog", linthresh=_LINEAR_BELOW)
        each.set_ylim(-_LINEAR_BELOW / 10, 110)
        each.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
        each.set_ylabel("gap to the best (%)")
        what = "optimising utility" if panel == UTILITY else f"optimising runtime, quantile {quantile:g}"
        each.set_title(what, fontsize=10)
    legend(figure)
    return figure


def _first_change_s(study: Study, panel: str) -> float:
    """When the first of our procedures changes its answer."""
    times = [
        point.time_s
        for series, outcome in study.played(panel)
        if outcome.anytime and series.job.procedure not in {*RIVALS, *PEERS}
        for point in outcome.points
        if point.row != outcome.points[0].row
    ]
    return min(times, default=1.0)


def _points_first(group: tuple[tuple[str, str], list[Outcome]]) -> tuple[bool, bool]:
    """Points below curves, and ours above all."""
    (procedure, _), outcomes = group
    return outcomes[0].anytime, procedure == "wager"


def _draw_curve(axes: Any, outcomes: list[Outcome], gap: Gap, style: dict[str, Any]) -> None:  # noqa: ANN401 -- matplotlib's axes
    first = max(
        next((point.time_s for point in each.points if point.time_s > 0), _LEAST_S) for each in outcomes
    )
    grid = np.geomspace(first, max(each.final.time_s for each in outcomes), _GRID)
    gaps = []
    for each in outcomes:
        times = [point.time_s for point in each.points]
        values = np.array([100 * gap(point.row) for point in each.points])
        gaps.append(values[np.maximum(0, np.searchsorted(times, grid, side="right") - 1)])
    axes.fill_between(
        grid, np.min(gaps, axis=0), np.max(gaps, axis=0), color=style["color"], alpha=0.15, lw=0
    )
    axes.plot(grid, np.mean(gaps, axis=0), linewidth=1.8, **style)


def _draw_point(axes: Any, outcomes: list[Outcome], gap: Gap, style: dict[str, Any]) -> None:  # noqa: ANN401 -- matplotlib's axes
    gaps = [100 * gap(each.final.row) for each in outcomes]
    mean = float(np.mean(gaps))
    axes.errorbar(
        math.exp(float(np.mean([math.log(max(each.final.time_s, _LEAST_S)) for each in outcomes]))),
        mean,
        yerr=[[max(0.0, mean - min(gaps))], [max(0.0, max(gaps) - mean)]],  # equal gaps, but for rounding
        markersize=4,
        elinewidth=0.6,
        alpha=0.8,
        clip_on=False,
        **style,
    )


def _claims(study: Study, quantile: float) -> list[Claim]:
    return [_panel_claim(study, panel, quantile) for panel in study.panels()]


def _panel_claim(study: Study, panel: str, quantile: float) -> Claim:
    groups = _grouped(study, panel)
    answers = {name: [each.final.row for each in groups.get((name, name), [])] for name in _OWN}
    gaps = {name: [_gap(study, panel, quantile, row) for row in rows] for name, rows in answers.items()}
    shown = ", ".join(f"{NAMES[name]} {max(each, default=math.nan):.2%}" for name, each in gaps.items())
    detail = f"largest gap left: {shown}"
    if panel == RUNTIME:
        worst = max((_optimised_gap(study, row) for rows in answers.values() for row in rows), default=0.0)
        detail += f"; in the utility they optimise at most {worst:.2%}"
    others = [
        _gap(study, panel, quantile, each.final.row)
        for (name, _), outcomes in groups.items()
        for each in outcomes
        if name not in _OWN
    ]
    what = "in utility" if panel == UTILITY else f"in runtime (quantile {quantile:g})"
    title = f"OUP and COUP reach a gap of 0 on every seed, {what}"
    if refusal := study.refusal("oup", "coup"):
        return Claim(title, None, refusal)
    holds = all(gap <= _ZERO for name in ("oup", "coup") for gap in gaps[name])
    return Claim(title, holds, detail + _rivals_in_words(others) + _refused_in_words(study, panel))


def _refused_in_words(study: Study, panel: str) -> str:
    """How many of the rivals' runs could not be made on this data; the table says why."""
    count = sum(bool(study.outcome(series).refused) for series in study.series if series.panel == panel)
    return f"; {count} further ones are refused, see the table" if count else ""


def _optimised_gap(study: Study, row: int) -> float:
    """The gap in what OUP, COUP and wager optimise where runtime is asked for: a uniform utility."""
    return study.truth.utility_gap(study.setting.capped_runtime, row)


def _rivals_in_words(gaps: list[float]) -> str:
    if not gaps:
        return ""
    left = [gap for gap in gaps if gap > _ZERO]
    median = f", {np.median(left):.2%} in the median" if left else ""
    return f"; {len(left)} of {len(gaps)} runs of the rivals leave one{median}"


def _recipe(name: str, title: str, quantile: float, *, with_utility: bool) -> Recipe:
    def series(setting: Setting, effort: Effort) -> list[Series]:
        first = list(_utility_series(setting, effort)) if with_utility else []
        return [*first, *_runtime_series(setting, effort, quantile)]

    return Recipe(
        name,
        title,
        series,
        lambda study: _table(study, quantile),
        lambda study: _draw(study, quantile, f"Figure {name[-1]}: {title.lower()}"),
        lambda study: _claims(study, quantile),
    )


FIGURE_5 = _recipe("fig5", "Gap to the best configuration", 0.1, with_utility=True)
FIGURE_7 = _recipe("fig7", "Gap to the best configuration", 0.2, with_utility=False)

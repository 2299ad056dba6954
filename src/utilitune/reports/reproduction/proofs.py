"""Figures 1, 2 and 6: what UP, OUP and Naive prove on a fixed set, and where their time goes.

Figures 1 and 2 use the old doubling rule, as the paper does to compare with earlier work. Naive has the
captimes and targets of the authors' published script: 60, 300 and 600 s where k0 is 60 s, and six ε from .25
to .1.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.reproduction.drawing import (
    COLOURS,
    NAMES,
    epsilon_curve,
    legend,
    line_style,
    over_time,
    panels,
    sorted_times,
)
from utilitune.reports.reproduction.recipe import (
    FIRST_SEED,
    TARGET,
    Claim,
    Recipe,
    Series,
    all_above_1,
    job,
    span,
    times_sooner,
    trajectories,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.reports.reproduction.jobs import Outcome
    from utilitune.reports.reproduction.recipe import Effort, Study
    from utilitune.reports.reproduction.setting import Setting

LOG_LAPLACE = "log-Laplace"
UNIFORM = "uniform"
_REASONABLE = 0.3
_NAIVE_TARGETS = (0.25, 0.22, 0.19, 0.16, 0.13, 0.1)
_NAIVE_CAPTIMES_IN_K0 = (1.0, 5.0, 10.0)
_NAIVE_LOOKS = (("#b4b4b4", "o"), ("#8a8a8a", "s"), ("#5f5f5f", "^"))
_RULE_LINES = {
    "up old": (0, (1, 2)),
    "up new": (0, (1, 0.7)),
    "oup old": (0, (4, 3)),
    "oup new": (0, (6, 1)),
}
_TOP_SHARE = 0.1
_UNITS = ((86_400.0, "days"), (3600.0, "h"), (60.0, "min"))


def _fixed_set(setting: Setting, effort: Effort, procedure: str, utility: str, **settings: Any) -> Any:  # noqa: ANN401 -- settings of any procedure
    if procedure == "wager":
        settings["configurations"] = setting.rows
    else:
        settings["captime0_s"] = setting.captime0_s
    return job(setting, procedure, utility, delta=TARGET, epsilon=effort.target, **settings)


def _figure_1_series(setting: Setting, effort: Effort) -> list[Series]:
    found: list[Series] = []
    for panel, utility in ((LOG_LAPLACE, setting.log_laplace), (UNIFORM, setting.uniform)):
        for procedure in ("up", "oup"):
            made = _fixed_set(setting, effort, procedure, utility, doubling="old")
            found.append(Series(panel, procedure, made))
        found.append(Series(panel, "wager", _fixed_set(setting, effort, "wager", utility)))
        for captime_s in _naive_captimes_s(setting):
            for epsilon in (each for each in _NAIVE_TARGETS if each >= effort.target):
                made = job(setting, "naive", utility, delta=TARGET, epsilon=epsilon, captime_s=captime_s)
                found.append(Series(panel, f"Naive({captime_s:g} s)", made))
    return found


def _naive_captimes_s(setting: Setting) -> list[float]:
    """Captimes of Naive, none beyond the recorded cutoff."""
    return sorted({min(factor * setting.k0_s, setting.cutoff_s) for factor in _NAIVE_CAPTIMES_IN_K0})


def _draw_figure_1(study: Study) -> Any:  # noqa: ANN401 -- matplotlib's figure
    figure, axes = panels(1, 2, f"Figure 1: what is proved, and what it costs — {study.setting.source}")
    for each, panel in zip(axes, study.panels(), strict=True):
        naive: dict[str, list[tuple[float, float]]] = {}
        for series, outcome in study.played(panel):
            if series.job.procedure == "naive":
                point = (outcome.final.time_s, outcome.final.epsilon or 0.0)
                naive.setdefault(series.label, []).append(point)
            else:
                epsilon_curve(each, outcome, **line_style(series.label))
        labels = [f"Naive({captime_s:g} s)" for captime_s in _naive_captimes_s(study.setting)]
        for label, (colour, marker) in zip(labels, _NAIVE_LOOKS, strict=False):
            if points := naive.get(label):
                style = {"color": colour, "marker": marker, "markersize": 4, "lw": 0.8, "label": label}
                each.plot(*zip(*points, strict=True), **style)
        over_time(each, [outcome for _, outcome in study.played(panel)])
        each.set_title(f"{panel} utility", fontsize=10)
    legend(figure)
    return figure


def _figure_1_claims(study: Study) -> list[Claim]:
    claims = []
    for panel in study.panels():
        oup, up, wager = (study.find(panel, name) for name in ("oup", "up", "wager"))
        ratios, ours = (
            times_sooner(_times_to(first, second, study.effort.target))
            for first, second in ((oup, up), (wager, oup))
        )
        claims += [
            Claim(
                f"OUP proves every ε ≤ {_REASONABLE} before UP, {panel}",
                all_above_1(ratios),
                span(ratios, "OUP", "UP"),
            ),
            _naive_claim(study, panel, oup),
            Claim(
                f"wager proves every ε ≤ {_REASONABLE} before OUP, {panel}",
                all_above_1(ours),
                span(ours, "wager", "OUP"),
            ),
        ]
    return claims


def _naive_claim(study: Study, panel: str, oup: Outcome) -> Claim:
    """Whether OUP proves whatever Naive proves sooner, for all captimes and targets of Naive."""
    ends = [outcome.final for series, outcome in study.played(panel) if series.job.procedure == "naive"]
    ratios = times_sooner((oup.time_to(end.epsilon or 1.0), end.time_s) for end in ends)
    return Claim(f"OUP is before Naive, {panel}", all_above_1(ratios), span(ratios, "OUP", "Naive"))


def _times_to(first: Outcome, second: Outcome, target: float) -> list[tuple[float, float]]:
    """When two procedures prove ε = .3, .29, … down to the target."""
    levels = [percent / 100 for percent in range(round(100 * _REASONABLE), round(100 * target) - 1, -1)]
    return [(first.time_to(epsilon), second.time_to(epsilon)) for epsilon in levels]


def _figure_2_series(setting: Setting, effort: Effort) -> list[Series]:
    return [
        Series(LOG_LAPLACE, series.label, series.job)
        for series in _figure_1_series(setting, effort)
        if series.panel == LOG_LAPLACE and series.job.procedure != "naive"
    ]


def _times_table(study: Study) -> Iterable[dict[str, Any]]:
    """One row per procedure and configuration."""
    order = best_first(study)
    for series, outcome in study.played():
        for rank, row in enumerate(order.tolist(), start=1):
            yield {
                "label": series.label,
                "rank": rank,
                "row": row,
                "utility": float(study.truth.utility[study.setting.log_laplace][row]),
                "time_s": outcome.time_each_s[row],
            }


def best_first(study: Study) -> Any:  # noqa: ANN401 -- an array of rows
    """Rows by true mean utility, the best one first."""
    return np.argsort(-study.truth.utility[study.setting.log_laplace], kind="stable")


def _draw_figure_2(study: Study) -> Any:  # noqa: ANN401 -- matplotlib's figure
    figure, (axes,) = panels(1, 1, f"Figure 2: where the time goes — {study.setting.source}")
    for series, outcome in study.played():
        style = {**line_style(series.label), "linewidth": 1.2}
        sorted_times(axes, outcome.time_each_s, best_first(study), **style)
    _configuration_axis(axes)
    legend(figure)
    return figure


def _configuration_axis(axes: Any) -> None:  # noqa: ANN401 -- matplotlib's axes
    axes.set_yscale("log")
    axes.set_xlabel("configurations, best first")
    axes.set_ylabel("time spent on it (s)")


def _figure_2_claims(study: Study) -> list[Claim]:
    titles = (
        "OUP spends less than UP on all but the very best configurations",
        "wager spends less than OUP on them",
    )
    if refusal := study.refusal("up", "oup", "wager"):
        return [Claim(title, None, refusal) for title in titles]
    order = best_first(study)
    rest = order[max(1, round(_TOP_SHARE * len(order))) :]
    up, oup, wager = (np.array(study.find(LOG_LAPLACE, name).time_each_s) for name in ("up", "oup", "wager"))
    less = float((oup[rest] < up[rest]).mean())
    ratio = up[rest].sum() / oup[rest].sum()
    ours = oup[rest].sum() / wager[rest].sum()
    return [
        Claim(
            titles[0],
            bool(less > 0.95),
            f"on {less:.1%} of those beyond the best tenth, {ratio:.2f} times less in all",
        ),
        Claim(titles[1], bool(ours > 1), f"{ours:.2f} times less in all"),
    ]


def _figure_6_series(setting: Setting, effort: Effort) -> list[Series]:
    """Both rules on all seeds: captimes grow in leaps, so one order of instances tells little."""
    found = [
        Series(
            LOG_LAPLACE,
            f"{procedure} {rule}",
            _fixed_set(setting, effort, procedure, setting.log_laplace, doubling=rule, seed=seed),
        )
        for seed in range(FIRST_SEED, FIRST_SEED + effort.seeds)
        for procedure in ("up", "oup")
        for rule in ("old", "new")
    ]
    return [*found, Series(LOG_LAPLACE, "wager", _fixed_set(setting, effort, "wager", setting.log_laplace))]


def _draw_figure_6(study: Study) -> Any:  # noqa: ANN401 -- matplotlib's figure
    figure, (left, right) = panels(
        1, 2, f"Figure 6: old and new rule for doubling captimes — {study.setting.source}"
    )
    first = [(series, outcome) for series, outcome in study.played() if series.job.seed == FIRST_SEED]
    for series, outcome in first:
        name, _, rule = series.label.partition(" ")
        style = {
            "color": COLOURS[name],
            "linestyle": _RULE_LINES.get(series.label, "-"),
            "label": NAMES[name] + (f", {rule} rule" if rule else ""),
        }
        epsilon_curve(left, outcome, **style)
        sorted_times(right, outcome.time_each_s, best_first(study), linewidth=1.2, **style)
    over_time(left, [outcome for _, outcome in first])
    _configuration_axis(right)
    legend(figure)
    return figure


def _figure_6_claims(study: Study) -> list[Claim]:
    claims = []
    for name in ("up", "oup"):
        title = f"The new doubling rule is no slower for {NAMES[name]}"
        if refusal := study.refusal(f"{name} old", f"{name} new"):
            claims.append(Claim(title, None, refusal))
            continue
        old, new = (_all_seeds(study, f"{name} {rule}") for rule in ("old", "new"))
        ratios = {epsilon: by_seed(new, old, epsilon) for epsilon in (study.effort.target, 0.2, 0.3)}
        smallest = next((each for each in ratios.values() if each), None)
        shown = ", ".join(_compared(epsilon, each) for epsilon, each in ratios.items())
        claims.append(
            Claim(
                title,
                None if smallest is None else statistics.median(smallest) >= 1,
                f"{shown}, {len(old)} seeds; {_where_the_time_went(study, old, new)}",
            )
        )
    return claims


def _all_seeds(study: Study, label: str) -> list[Outcome]:
    return [outcome for series, outcome in study.played() if series.label == label]


def by_seed(new: Sequence[Outcome], old: Sequence[Outcome], epsilon: float) -> list[float]:
    """How many times sooner the new rule proves ε, by seed."""
    return times_sooner(
        (ours.time_to(epsilon), theirs.time_to(epsilon)) for ours, theirs in zip(new, old, strict=True)
    )


def _compared(epsilon: float, ratios: list[float]) -> str:
    """How many times sooner the new rule proves ε, or who of the two proves it at all."""
    if not ratios:
        return f"neither proves ε = {epsilon}"
    median = statistics.median(ratios)
    if median in (0.0, math.inf):
        return f"only the {'new' if median else 'old'} rule proves ε = {epsilon}"
    return f"{median:.2f} times sooner ({min(ratios):.2f} to {max(ratios):.2f}) at ε = {epsilon}"


def _where_the_time_went(study: Study, old: Sequence[Outcome], new: Sequence[Outcome]) -> str:
    """What the old and the new rule spend on good and on bad configurations: why one of them ends sooner."""
    order = best_first(study)
    top = max(1, round(_TOP_SHARE * len(order)))
    parts = {"the best tenth": order[:top], "the others": order[top:]}
    words = []
    for name, rows in parts.items():
        before, after = (
            statistics.fmean(float(np.array(each.time_each_s)[rows].sum()) for each in outcomes)
            for outcomes in (old, new)
        )
        words.append(f"{_duration(before)} then {_duration(after)} on {name}")
    return "old then new rule spend " + " and ".join(words)


def _duration(seconds: float) -> str:
    """Seconds in a unit that fits."""
    unit, name = next(((unit, name) for unit, name in _UNITS if seconds >= 2 * unit), (1.0, "s"))
    return f"{seconds / unit:.3g} {name}"


FIGURE_1 = Recipe(
    "fig1", "ε against total time", _figure_1_series, trajectories, _draw_figure_1, _figure_1_claims
)
FIGURE_2 = Recipe(
    "fig2", "Time per configuration", _figure_2_series, _times_table, _draw_figure_2, _figure_2_claims
)
FIGURE_6 = Recipe("fig6", "Doubling rules", _figure_6_series, trajectories, _draw_figure_6, _figure_6_claims)

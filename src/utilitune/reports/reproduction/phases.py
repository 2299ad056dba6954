"""Figures 3 and 4: what COUP pays for not knowing the set of configurations in advance, and its schedules."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from utilitune import named_schedule
from utilitune.reports.reproduction.drawing import (
    COLOURS,
    EPSILON,
    GAMMA,
    NAMES,
    epsilon_curve,
    legend,
    line_style,
    over_time,
    panels,
)
from utilitune.reports.reproduction.recipe import (
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
    from collections.abc import Iterable

    from utilitune.reports.reproduction.jobs import Outcome, Point
    from utilitune.reports.reproduction.recipe import Effort, Study
    from utilitune.reports.reproduction.setting import Setting

DELTA = 0.01
"""δ of Section 5.2."""

SCHEDULES = {
    "gamma-focus": ("γ focus", "#d1495b", "v"),
    "epsilon-focus": ("ε focus", "#66a182", "^"),
    "balanced": ("balanced", "#edae49", "o"),
    "gamma-then-epsilon": ("γ then ε", "#574d68", "s"),
}
"""The schedules of Figure 4: their names in the paper, a colour and a marker each."""

SMALL_FACTOR = 4.0
"""What counts as "a small factor": COUP needs no more than this many times OUP's time for a phase."""

_PER_PHASE = "per phase"
_ON_THE_SAME = "OUP on the same configurations"
_MOST_PHASES = 40


def _figure_3_series(setting: Setting, effort: Effort) -> list[Series]:
    shared: dict[str, Any] = {"delta": DELTA, "captime0_s": setting.captime0_s}
    schedule, utility = named_schedule("default"), setting.log_laplace
    most = 6 if effort.quick else _MOST_PHASES
    sized = (schedule.phase(number, DELTA) for number in range(1, most + 1))
    phases = [phase for phase in sized if phase is not None and phase.configurations <= setting.rows]
    count = len(phases)
    found = [Series(_PER_PHASE, "coup", job(setting, "coup", utility, phases=count, **shared))]
    found += [
        Series(
            _PER_PHASE,
            f"oup phase {phase.number}",
            job(
                setting, "oup", utility, epsilon=phase.epsilon, configurations=phase.configurations, **shared
            ),
        )
        for phase in phases
    ]
    ours = job(setting, "wager", utility, delta=DELTA, growth="phases", phases=count)
    return [*found, Series(_PER_PHASE, "wager", ours)]


def _phase_times(study: Study) -> dict[str, list[Point | None]]:
    """State at the end of every phase, by procedure; None where it did not get there."""
    coup, wager = study.find(_PER_PHASE, "coup"), study.find(_PER_PHASE, "wager")
    alone: list[Point | None] = []
    for series in study.series:
        if series.job.procedure == "oup":
            outcome = study.outcome(series)
            proved = math.isfinite(outcome.time_to(series.job.settings["epsilon"]))
            alone.append(outcome.final if proved else None)
    return {"coup": _padded(coup, len(alone)), "oup": alone, "wager": _padded(wager, len(alone))}


def _padded(outcome: Outcome, count: int) -> list[Point | None]:
    return [*outcome.phases[:count], *[None] * (count - len(outcome.phases))]


def _figure_3_table(study: Study) -> Iterable[dict[str, Any]]:
    for name, points in _phase_times(study).items():
        for number, point in enumerate(points, start=1):
            if point is not None:
                yield {
                    "label": name,
                    "phase": number,
                    "time_s": point.time_s,
                    "epsilon": point.epsilon,
                    "configurations": point.configurations,
                    "row": point.row,
                }


def _draw_figure_3(study: Study) -> Any:  # noqa: ANN401 -- matplotlib's figure
    figure, (left, right) = panels(
        1,
        2,
        f"Figure 3: COUP, which draws configurations, against OUP, which knows them — {study.setting.source}",
    )
    times = _phase_times(study)
    for name in ("coup", "wager"):
        epsilon_curve(left, study.find(_PER_PHASE, name), **line_style(name))
    ends = [point for point in times["oup"] if point is not None]
    left.plot(
        [point.time_s for point in ends],
        [point.epsilon for point in ends],
        "o",
        markersize=4,
        color=COLOURS["oup"],
    )
    over_time(left, [outcome for _, outcome in study.played()])
    for name, points in times.items():
        known = [(number, point.time_s) for number, point in enumerate(points, start=1) if point is not None]
        if known:
            style = line_style(name) | ({"label": _ON_THE_SAME} if name == "oup" else {})
            right.plot(*zip(*known, strict=True), marker="o", markersize=4, **style)
    right.set_yscale("log")
    right.set_xlabel("phase")
    right.set_ylabel("total time at its end (s)")
    legend(figure)
    return figure


def _figure_3_claims(study: Study) -> list[Claim]:
    ends = {
        name: [math.inf if point is None else point.time_s for point in points]
        for name, points in _phase_times(study).items()
    }
    ratios = times_sooner(zip(_most_so_far(ends["oup"]), ends["coup"], strict=True))
    ours = times_sooner(zip(ends["wager"], ends["coup"], strict=True))
    return [
        Claim(
            f"COUP needs at most a small factor ({SMALL_FACTOR:g}) more time than OUP in every phase",
            max(ratios) <= SMALL_FACTOR if ratios else None,
            f"{span(ratios, 'OUP', 'COUP')}, {len(ratios)} phases{_steps_back(ends)}",
        ),
        Claim("wager ends every phase before COUP", all_above_1(ours), span(ours, "wager", "COUP")),
    ]


def _most_so_far(ends: list[float]) -> list[float]:
    """The longest of each time and all finite ones before it."""
    finite = itertools.accumulate((0.0 if math.isinf(end) else end for end in ends), max)
    return [max(end, most) for end, most in zip(ends, finite, strict=True)]


def _steps_back(ends: dict[str, list[float]]) -> str:
    """Where OUP alone needs less than for an earlier phase, as it does once a better configuration is there.

    COUP has then kept the promises of the earlier phases without it, so it is compared with the most that OUP
    has needed so far. (The paper's Figure 3 has such a step back in phase 5 of cplex_region.)
    """
    back = [
        f"phase {number} ({coup / oup:.2f} times)"
        for number, (coup, oup, most) in enumerate(
            zip(ends["coup"], ends["oup"], _most_so_far(ends["oup"]), strict=True), start=1
        )
        if oup < most
    ]
    return f"; OUP alone needs less than before in {', '.join(back)}" if back else ""


def _figure_4_series(setting: Setting, effort: Effort) -> list[Series]:
    del effort
    utility = setting.log_laplace
    found = [
        Series(
            name,
            name,
            job(setting, "coup", utility, delta=DELTA, captime0_s=setting.captime0_s, schedule=name),
        )
        for name in SCHEDULES
    ]
    ours = job(setting, "wager", utility, delta=DELTA, growth="adaptive", max_time_s=setting.patience_s)
    return [*found, Series("wager", "wager", ours)]


def _draw_figure_4(study: Study) -> Any:  # noqa: ANN401 -- matplotlib's figure
    figure, axes = panels(
        1, 3, f"Figure 4: new configurations (γ) or better proofs (ε) first — {study.setting.source}"
    )
    for series, outcome in study.played():
        label, colour, marker = SCHEDULES.get(series.label, (NAMES["wager"], COLOURS["wager"], ""))
        style = {"color": colour, "label": label, "linewidth": 1.7, "marker": marker, "markersize": 4}
        ends = [point for point in (outcome.phases or outcome.points) if (point.gamma or 1.0) < 1]
        times = [point.time_s for point in ends]
        epsilons, gammas = [point.epsilon for point in ends], [point.gamma for point in ends]
        axes[0].plot(times, gammas, **style)
        axes[1].plot(times, epsilons, **style)
        axes[2].plot(gammas, epsilons, **style)
    for each, name in zip(axes, (GAMMA, EPSILON), strict=False):
        over_time(each, [outcome for _, outcome in study.played()], name)
    axes[2].set_ylim(0, 1.02)
    axes[2].set_ylabel(EPSILON)
    shown = [point.gamma for _, outcome in study.played() for point in outcome.points if point.gamma]
    _gamma_axis(axes[2], min(shown, default=0.1))
    legend(figure)
    return figure


def _gamma_axis(axes: Any, least: float) -> None:  # noqa: ANN401 -- matplotlib's axes
    """γ on a logarithmic axis that falls to the right."""
    axes.set_xscale("log")
    ticks = [tick for tick in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001) if tick >= least]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(1.1, min(0.5, 0.9 * least))
    axes.set_xlabel(GAMMA)


def _figure_4_claims(study: Study) -> list[Claim]:
    """A focus on γ has many configurations and weak guarantees, one on ε the reverse (Section 5.2)."""
    ends = {name: study.find(name, name).phases for name in SCHEDULES}
    enough = all(ends.values())
    least = {
        name: (min(point.gamma or 1.0 for point in points), min(point.epsilon or 0.0 for point in points))
        for name, points in ends.items()
        if points
    }
    shown = ", ".join(
        f"{SCHEDULES[name][0]} γ = {gamma:.3g} and ε = {epsilon:.3g}"
        for name, (gamma, epsilon) in least.items()
    )
    (wide, weak), (narrow, strong) = (
        least.get(name, (1.0, 1.0)) for name in ("gamma-focus", "epsilon-focus")
    )
    return [
        Claim(
            "A focus on γ covers more of the space than a focus on ε, which proves more",
            wide < narrow and strong < weak if enough else None,
            f"smallest: {shown}" if enough else "too few configurations for a first phase",
        ),
        _at_equal_price(study, ends),
    ]


def _at_equal_price(study: Study, ends: dict[str, tuple[Point, ...]]) -> Claim:
    """Whether wager, which makes ε + γ small, has less of it at the end of each of COUP's phases."""
    ours = [(point.time_s, _sum(point)) for point in study.find("wager", "wager").points]
    compared = [(point.time_s, _sum(point)) for points in ends.values() for point in points]
    better = [any(time_s <= end_s and own <= theirs for time_s, own in ours) for end_s, theirs in compared]
    return Claim(
        "wager has a smaller ε + γ at the price of each phase of every schedule",
        all(better) if better else None,
        f"at {sum(better)} of {len(better)} phases",
    )


def _sum(point: Point) -> float:
    return (1.0 if point.epsilon is None else point.epsilon) + (1.0 if point.gamma is None else point.gamma)


FIGURE_3 = Recipe(
    "fig3",
    "COUP against OUP",
    _figure_3_series,
    _figure_3_table,
    _draw_figure_3,
    _figure_3_claims,
    columns=("label", "phase", "time_s", "epsilon", "configurations", "row"),
)
FIGURE_4 = Recipe("fig4", "Schedules", _figure_4_series, trajectories, _draw_figure_4, _figure_4_claims)

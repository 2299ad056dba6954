"""``utilitune whatif``: the answer of a run under other utility functions, without a new run."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.grouping import grouped
from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import Terminal, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from utilitune.reports.whatif import FamilyAnswer, Recommendation, UtilityFamily, WhatIf


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOptions:
    """A family of utility functions, one for every time in a range."""

    family: Annotated[
        str | None,
        typer.Option(
            help="A whole family: a utility with * for the time that varies, e.g. 'log-laplace(k0=*)'."
        ),
    ] = None
    from_: Annotated[
        str, typer.Option("--from", metavar="TIME", help="The shortest time in place of the *.")
    ] = "1s"
    to: Annotated[str, typer.Option(metavar="TIME", help="The longest time in place of the *.")] = "1h"
    points: Annotated[int, typer.Option(help="Try at least this many members of the family.")] = 61

    def chosen(self) -> UtilityFamily | None:
        """The family, if one is asked for."""
        from utilitune.reports.whatif import UtilityFamily

        if self.family is None:
            return None
        return UtilityFamily(self.family, _value(self.from_), _value(self.to), self.points)


def _value(text: str) -> float:
    """A time, or a number or share in a utility of the quality."""
    from utilitune.errors.outside import number_in
    from utilitune.utility import parse_duration

    if text.strip().endswith("%"):
        with contextlib.suppress(ValueError):
            return number_in(text.strip().removesuffix("%")) / 100
    return parse_duration(text)


@grouped
def whatif(
    run: RunPlace,
    utility: Annotated[
        list[str] | None,
        typer.Option(help="Another utility function, e.g. 'uniform(k0=5m)'; may be given several times."),
    ] = None,
    *,
    ranges: FamilyOptions,
    delta: Annotated[
        float | None,
        typer.Option(
            help="The probability with which any of the lines may be wrong.  [default: that of the run]"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw ε over the family into this .png, .pdf or .svg file.")
    ] = None,
) -> None:
    """Ask what the answer of a run would be under other utility functions.

    Nothing is run. All answers are proved together, so you may ask for as many utilities as you like,
    also after having seen the results.

    For example:

    - `utilitune whatif scenario.run --utility 'uniform(k0=60)' --utility 'step(deadline=10)'`
    - `utilitune whatif scenario.run --family 'log-laplace(k0=*)' --from 1s --to 1h --plot k0.png`
    - `utilitune whatif tsp.run --family 'relative-gap(to=known, limit=*)' --from 1% --to 50%`
    """
    from utilitune.errors import UsageError
    from utilitune.reports.files import check_picture, write_picture
    from utilitune.reports.whatif import whatif_run
    from utilitune.reports.whatif_figure import epsilon_over_family
    from utilitune.utility import parse_any_utility

    members = ranges.chosen()
    if not utility and members is None:
        raise UsageError(
            "say which utility to ask for: give --utility 'uniform(k0=60)' or --family 'log-laplace(k0=*)'"
        )
    if plot is not None and members is None:
        raise UsageError("a plot shows a family of utilities: add --family 'log-laplace(k0=*)'")
    if plot is not None:
        check_picture(plot)
    asked = [parse_any_utility(text) for text in utility or ()]
    answers = whatif_run(run, delta=delta)
    single = [answers.under(each) for each in asked]
    ranged = None if members is None else answers.over(members)
    if plot is not None and ranged is not None:
        title = f"{run.name}: right for all utilities at once, δ = {answers.delta}"
        write_picture(epsilon_over_family(ranged, title), plot)
    if as_json:
        say_json(_as_plain(run, answers, single, ranged), allow_nan=False)
    else:
        _print(answers, single, ranged, plot)


def _as_plain(
    run: Path, answers: WhatIf, single: Sequence[Recommendation], ranged: FamilyAnswer | None
) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "run": str(run),
        "delta": answers.delta,
        "population": "finite" if answers.population else "infinite",
        "configurations": answers.configurations,
        "promise": answers.promise(),
        "utilities": [_plain_recommendation(answers, each) for each in single],
        "family": None,
    }
    if ranged is not None:
        unit = "_s" if ranged.family.of_time else ""
        plain["family"] = {
            "text": ranged.family.text,
            f"from{unit}": ranged.family.from_s,
            f"to{unit}": ranged.family.to_s,
            "ranges": [
                {
                    f"from{unit}": each.from_s,
                    f"to{unit}": each.to_s,
                    "best_index": each.best_index,
                    "best": dict(answers.assignments[each.best_index]),
                    "epsilon": [each.least_epsilon, each.largest_epsilon],
                }
                for each in ranged.ranges
            ],
            "points": [
                {
                    "time_s" if unit else "value": each.time_s,
                    "best_index": each.best_index,
                    "epsilon": each.epsilon,
                }
                for each in ranged.points
            ],
        }
    return plain


def _plain_recommendation(answers: WhatIf, found: Recommendation) -> dict[str, Any]:
    return {
        "utility": str(found.utility),
        "best_index": found.best_index,
        "best": dict(answers.assignments[found.best_index]),
        "epsilon": found.epsilon,
        "contenders": found.contenders,
        "bounds": [
            {"index": index, "runs": runs, "lower": float(lower), "upper": float(upper)}
            for index, (runs, lower, upper) in enumerate(
                zip(answers.run_counts, found.lower, found.upper, strict=True)
            )
        ],
    }


def _print(
    answers: WhatIf, single: Sequence[Recommendation], ranged: FamilyAnswer | None, plot: Path | None
) -> None:

    console = Terminal(highlight=False, soft_wrap=True)
    named = {each.best_index for each in single}
    if single:
        console.print(_recommendation_table(single))
    if ranged is not None:
        named |= {each.best_index for each in ranged.ranges}
        console.print(_range_table(ranged))
    console.print("[bold]Configurations[/]")
    for index in sorted(named):
        values = ", ".join(f"{name}={value}" for name, value in answers.assignments[index].items())
        console.print(f"  {index}: {values or 'no parameters'}", markup=False)
    console.print("[bold]Promise[/]")
    console.print(f"  {answers.promise()}", markup=False)
    if plot is not None:
        console.print(f"Drawn: {plot}", markup=False)


def _recommendation_table(single: Sequence[Recommendation]) -> Table:
    from rich.table import Table

    from utilitune.domain import rounded_up

    table = Table("utility", "take", "within ε", "its mean utility", "may be better", box=None)
    for each in single:
        best = each.best_index
        table.add_row(
            str(each.utility),
            f"configuration {best}",
            rounded_up(each.epsilon),
            f"{each.lower[best]:.3f} to {each.upper[best]:.3f}",
            f"{each.contenders} others",
        )
    return table


def _range_table(ranged: FamilyAnswer) -> Table:
    from rich.table import Table

    from utilitune.domain import rounded_up

    table = Table(f"* in {ranged.family.text}", "take", "within ε", box=None)
    for each in ranged.ranges:
        table.add_row(
            f"{ranged.family.shown(each.from_s)} to {ranged.family.shown(each.to_s)}",
            f"configuration {each.best_index}",
            f"{rounded_up(each.least_epsilon)} to {rounded_up(each.largest_epsilon)}",
        )
    return table

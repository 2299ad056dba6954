"""``utilitune replay``: let a procedure work on recorded runtimes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from utilitune.cli.texts import WARMING_UP, headed, paragraphs

if TYPE_CHECKING:
    from utilitune.baselines.rival import Rival
    from utilitune.data import RuntimeMatrix
    from utilitune.domain import Progress
    from utilitune.procedures.growth import Schedule
    from utilitune.replaying import Budget, ReplayResult, RivalResult
    from utilitune.specification import ProcedureSpec
    from utilitune.utility import Utility


# One line of help per option; the command below then reads as the list of its settings.
_Data = Annotated[
    str,
    typer.Argument(
        help="Recorded runtimes: an ASlib folder, a .npy, .npz or .csv file, or a name such as "
        "lookalike:minisat (see: utilitune datasets list)."
    ),
]
_Procedure = Annotated[
    str,
    typer.Option(
        help="wager, coup, oup, up or naive; or, without any promise, a rival: successive-halving, "
        "hyperband, ac-band, car, icar or spc; or, on data with features, another package: optuna-random, "
        "optuna-tpe, smac or irace."
    ),
]
_Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A rival's own setting, e.g. budget=20000; repeatable."),
]
_Utility = Annotated[
    str, typer.Option(help="What an answer after t seconds is worth, e.g. 'uniform(k0=5m)'.")
]
_Delta = Annotated[float, typer.Option(help="Probability with which the promise may fail.")]
_Epsilon = Annotated[
    float | None,
    typer.Option(
        help="Stop once the answer is proved within this of the best.  [default: 0.1; with phases none]"
    ),
]
_Doubling = Annotated[str, typer.Option(help="Captime-doubling rule: new or old.")]
_FirstCaptime = Annotated[
    str | None,
    typer.Option(help="First captime, e.g. 1 or 500ms.  [default: 1; wager: by the utility function]"),
]
_Growth = Annotated[
    str | None,
    typer.Option(
        help="wager: play with all rows (fixed), or take rows as random draws from a larger space "
        "(adaptive, or phases with coup's schedules).  [default: fixed]"
    ),
]
_GammaWeight = Annotated[
    float, typer.Option(help="wager, adaptive growth: what a smaller γ is worth, in units of ε.")
]
_Proposals = Annotated[
    float,
    typer.Option(help="wager, growing sets, data with features: the share of rows that a model proposes."),
]
_Gamma = Annotated[
    float | None,
    typer.Option(help="... and the promise covers all but this fraction of the space (growing sets)."),
]
_Population = Annotated[
    str,
    typer.Option(
        help="infinite: the instances are a sample; finite: they are all there is, taken once each in random "
        "order."
    ),
]
_Accounting = Annotated[
    str, typer.Option(help="A capped run that goes on: restart pays from zero, resume the extra seconds.")
]
_Resample = Annotated[int | None, typer.Option(help="Draw this many instances at random, with repetition.")]
_Seed = Annotated[
    int,
    typer.Option(
        help="Seed of --resample, of a random order, and of the order in which a rival draws configurations; "
        "also of the random choices of another package."
    ),
]
_Schedule = Annotated[
    str, typer.Option(help="coup: default, gamma-focus, epsilon-focus, balanced or gamma-then-epsilon.")
]
_Epsilons = Annotated[str | None, typer.Option(help="coup: your own ε per phase, e.g. 0.5,0.3,0.2.")]
_Gammas = Annotated[str | None, typer.Option(help="coup: your own γ per phase, e.g. 0.5,0.2,0.1.")]
_PhaseLimit = Annotated[int | None, typer.Option(help="coup: most phases.")]
_Captime = Annotated[str | None, typer.Option(help="naive and rivals: their one captime, e.g. 60 or 1m.")]
_TimeLimit = Annotated[
    str | None, typer.Option(help="Stop after this much total run time, e.g. 3600 or 10h.")
]
_RunLimit = Annotated[int | None, typer.Option(help="Stop after this many runs.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a summary.")]
_Out = Annotated[
    Path | None,
    typer.Option(help="Also write the result: .json, .csv (ε against time) or a picture (.png, .pdf, .svg)."),
]


def replay(
    context: typer.Context,
    data: _Data,
    procedure: _Procedure = "wager",
    utility: _Utility = "log-laplace(k0=60, alpha=1)",
    settings: _Settings = None,
    delta: _Delta = 0.1,
    epsilon: _Epsilon = None,
    gamma: _Gamma = None,
    growth: _Growth = None,
    gamma_weight: _GammaWeight = 1.0,
    proposals: _Proposals = 0.5,
    population: _Population = "infinite",
    doubling: _Doubling = "new",
    captime0: _FirstCaptime = None,
    accounting: _Accounting = "restart",
    resample: _Resample = None,
    seed: _Seed = 0,
    schedule: _Schedule = "default",
    epsilon_schedule: _Epsilons = None,
    gamma_schedule: _Gammas = None,
    phases: _PhaseLimit = None,
    captime: _Captime = None,
    max_time: _TimeLimit = None,
    max_runs: _RunLimit = None,
    as_json: _Json = False,
    out: _Out = None,
) -> None:
    """Let a procedure find the best configuration in recorded runtimes, and see what the proof costs.

    Nothing is run: a run that the procedure asks for is looked up in the data and paid for with the
    time it took then.

    For example:

    - `utilitune replay lookalike:minisat --procedure oup --epsilon 0.2`
    - `utilitune replay BNSL-2016 --utility 'uniform(k0=60)' --resample 20000 --seed 1 --json`
    - `utilitune replay lookalike:minisat --procedure hyperband --set resource=50m --set eta=5`
    """
    from utilitune.cli.options import without_meaning
    from utilitune.cli.rivals import is_rival, read_rival
    from utilitune.data import read_matrix
    from utilitune.replaying import Budget
    from utilitune.reports.files import TABLES, check_writable, write_result
    from utilitune.specification import ProcedureSpec
    from utilitune.utility import parse_duration, parse_utility

    player = (
        read_rival(context, procedure, settings or [], captime, seed)
        if is_rival(procedure, settings)
        else ProcedureSpec(
            name=procedure,
            delta=delta,
            epsilon=0.1 if epsilon is None and procedure != "coup" and growth != "phases" else epsilon,
            gamma=gamma,
            growth=growth,
            gamma_weight=gamma_weight,
            proposals=proposals,
            population=population,
            doubling=doubling,
            captime0_s=None if captime0 is None else parse_duration(captime0),
            accounting=accounting,
            schedule=_own_schedule(epsilon_schedule, gamma_schedule) or schedule,
            phases=phases,
            captime_s=None if captime is None else parse_duration(captime),
        )
    )
    worth = parse_utility(utility)
    budget = Budget(math.inf if max_time is None else parse_duration(max_time), max_runs)
    if out is not None:
        check_writable(out, *(() if isinstance(player, ProcedureSpec) else (TABLES,)))
    matrix = _ordered(read_matrix(data), resample, seed, finite=population == "finite")
    for option in without_meaning(context, procedure, growth):
        typer.echo(f"{option} means nothing to {procedure} and is left aside", err=True)
    result = _result(player, matrix, worth, budget, seed, quiet=as_json)
    if out is not None:
        write_result(result, out, title=f"{procedure} on {matrix.source}")
    _print(result, out, as_json=as_json)


def _result(
    player: ProcedureSpec | Rival,
    matrix: RuntimeMatrix,
    utility: Utility,
    budget: Budget,
    seed: int,
    *,
    quiet: bool,
) -> ReplayResult | RivalResult:
    """Let a procedure or a rival work, with a line that lives meanwhile."""
    from utilitune.cli.rivals import run_rival
    from utilitune.replaying import replay as run_replay
    from utilitune.specification import ProcedureSpec

    if not isinstance(player, ProcedureSpec):
        return run_rival(matrix, player, utility, seed, budget, quiet=quiet)
    with _LiveView(player, enabled=not quiet) as view:
        return run_replay(matrix, player, utility=utility, budget=budget, on_progress=view.show)


def _ordered(matrix: RuntimeMatrix, resample: int | None, seed: int, *, finite: bool) -> RuntimeMatrix:
    """The instances in the order in which they are taken."""
    from utilitune.errors import UsageError

    if finite and resample is not None:
        raise UsageError("--resample repeats instances, so it does not go with --population finite")
    if finite:
        return matrix.shuffle_columns(seed)
    return matrix if resample is None else matrix.resample(resample, seed)


def _own_schedule(epsilons: str | None, gammas: str | None) -> Schedule | None:
    """The user's own schedule, if there is one."""
    from utilitune.errors import UsageError
    from utilitune.procedures.growth import listed_schedule

    if epsilons is None and gammas is None:
        return None
    if epsilons is None or gammas is None:
        raise UsageError(
            "--epsilon-schedule and --gamma-schedule go together: give one value per phase to each"
        )
    return listed_schedule(_numbers("--epsilon-schedule", epsilons), _numbers("--gamma-schedule", gammas))


def _numbers(option: str, text: str) -> list[float]:
    from utilitune.errors import UsageError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} takes numbers separated by commas, not {text!r}") from None


class _LiveView:
    """A line that lives while the procedure works: ε and γ falling, time and runs rising."""

    def __init__(self, specification: ProcedureSpec, *, enabled: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._target = specification.epsilon
        self._name = specification.name
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not (enabled and console.is_terminal),
        )
        self._task = self._bar.add_task(self._name, total=1.0, state=WARMING_UP)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Show where the procedure stands."""
        span = 1.0 - (self._target or 0.0)
        gamma = "" if progress.gamma is None else f"  γ {progress.gamma:.3f}"
        self._bar.update(
            self._task,
            completed=min(1.0, max(0.0, (1.0 - progress.epsilon) / span)),
            state=f"ε {progress.epsilon:.3f}{gamma}  {progress.runs:,} runs  "
            f"{progress.total_time_s:,.0f} s paid",
        )


def _print(result: ReplayResult | RivalResult, out: Path | None, *, as_json: bool) -> None:
    from utilitune.cli.rivals import print_rival
    from utilitune.replaying import ReplayResult

    if as_json:
        typer.echo(json.dumps(result.to_dict(), allow_nan=False))
    elif isinstance(result, ReplayResult):
        _print_summary(result, out)
    else:
        print_rival(result, out)


def _print_summary(result: ReplayResult, out: Path | None) -> None:
    """What was found, in words."""
    progress = result.progress
    say = paragraphs().print
    say(headed("Best configuration:", result.best))
    say(result.promise.sentence())
    if result.last_phase:
        say(result.last_phase)
    say(
        f"It took {progress.total_time_s:,.2f} s of run time in {progress.runs:,} runs; "
        f"{progress.alive} of {progress.configurations} configurations are still in play."
    )
    for phase in result.phases:
        say(
            f"  phase {phase.phase}: {phase.configurations} configurations, ε = {phase.epsilon:.3f}, "
            f"γ = {phase.gamma:.3f}, {phase.total_time_s:,.0f} s"
        )
    say(f"Stopped ({result.stop_reason.code}): {result.stop_reason.advice}")
    if result.note and result.note not in result.stop_reason.advice:
        say(f"Note: {result.note}")
    if out is not None:
        say(f"Written: {out}")

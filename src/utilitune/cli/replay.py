"""``utilitune replay``: let a procedure work on recorded runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.grouping import grouped
from utilitune.cli.options import DrawOptions, LimitOptions, OutputOptions, ProcedureOptions, without_meaning
from utilitune.cli.terminal import say, say_json
from utilitune.cli.texts import headed, paragraphs, part_proved, proof_bar

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.data import RuntimeMatrix
    from utilitune.domain import Progress
    from utilitune.domain.stopping import Budget
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.replaying.replay import ReplayResult, RivalResult
    from utilitune.rivals.rival import Rival
    from utilitune.utility import SolutionUtility, Utility


@grouped
def replay(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="Recorded runs: an ASlib folder, a .npy, .npz or .csv file, or a name such as "
            "lookalike:minisat (see: utilitune datasets list)."
        ),
    ],
    *,
    procedure: Annotated[
        str,
        typer.Option(
            help="Ours: wager; the paper's: coup, oup, up or naive; or, without any promise, a rival: "
            "successive-halving, hyperband, ac-band, car, icar or spc; or, on data with features, another "
            "package: optuna-random, optuna-tpe, smac or irace."
        ),
    ] = "wager",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A rival's own setting, e.g. budget=20000; repeatable."
        ),
    ] = None,
    options: ProcedureOptions,
    draws: DrawOptions,
    limits: LimitOptions,
    output: OutputOptions,
) -> None:
    """Let a procedure find the best configuration in recorded runtimes, and see what the proof costs.

    Nothing is run: a run that the procedure asks for is looked up in the data and paid for with the
    time it took then. Instances and configurations are taken in random orders.

    For example:

    - `utilitune replay lookalike:minisat --procedure oup --epsilon 0.2`
    - `utilitune replay BNSL-2016 --utility 'uniform(k0=60)' --resample 20000 --seed 1 --json`
    - `utilitune replay lookalike:minisat --procedure hyperband --set resource=50m --set eta=5`
    """
    from utilitune.cli.rivals import is_rival, read_rival
    from utilitune.data import read_matrix
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.reports.files import TABLES, check_writable, write_result
    from utilitune.utility import parse_any_utility

    player: ProcedureSpec | Rival
    if is_rival(procedure, settings):
        player = read_rival(context, procedure, settings or [], options.rules.captime, draws.seed)
    else:
        player = options.specification(procedure)
    utility, budget = options.utility and parse_any_utility(options.utility), limits.budget()
    if output.out is not None:
        check_writable(output.out, *(() if isinstance(player, ProcedureSpec) else (TABLES,)))
    matrix = draws.ordered(read_matrix(data), finite=options.promise.population == "finite")
    for option in without_meaning(context, procedure, options.rules.growth):
        say(f"{option} has no meaning for {procedure} and is ignored", err=True)
    result = _result(player, matrix, utility, budget, draws.drawn_by, quiet=output.as_json)
    if output.out is not None:
        write_result(result, output.out, title=f"{procedure} on {matrix.source}")
    _print(result, output)


def _result(
    player: ProcedureSpec | Rival,
    matrix: RuntimeMatrix,
    utility: Utility | SolutionUtility | str | None,
    budget: Budget,
    seed: int | None,
    *,
    quiet: bool,
) -> ReplayResult | RivalResult:
    """Let a procedure or a rival work, with a line that lives meanwhile."""
    from utilitune.cli.rivals import run_rival
    from utilitune.live.standing.card import counted
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.replaying.replay import replay as run_replay

    if not isinstance(player, ProcedureSpec):
        return run_rival(matrix, player, utility, seed, budget, quiet=quiet)
    with proof_bar(player.name, enabled=not quiet) as show:

        def told(now: Progress) -> None:
            gamma = "" if now.gamma is None else f"  γ {now.gamma:.3f}"
            state = f"ε {now.epsilon:.3f}{gamma}  {counted(now.runs, 'run')}  {now.total_time_s:,.0f} s paid"
            show(part_proved(now.epsilon, player.epsilon), state)

        return run_replay(matrix, player, utility=utility, budget=budget, seed=seed, on_progress=told)


def _print(result: ReplayResult | RivalResult, output: OutputOptions) -> None:
    from utilitune.cli.rivals import print_rival
    from utilitune.replaying.replay import ReplayResult

    if output.as_json:
        say_json(result.to_dict(), allow_nan=False)
    elif isinstance(result, ReplayResult):
        _print_summary(result, output.out)
    else:
        print_rival(result, output.out)


def _print_summary(result: ReplayResult, out: Path | None) -> None:
    """What was found, in words."""
    from utilitune.live.standing.card import counted

    progress = result.progress
    say = paragraphs().print
    say(headed("Best configuration:", result.best))
    say(result.promise.sentence())
    if result.last_phase:
        say(result.last_phase)
    say(
        f"It took {progress.total_time_s:,.2f} s of run time in {counted(progress.runs, 'run')}; "
        + _left(progress)
    )
    for phase in result.phases:
        say(
            f"  phase {phase.phase}: {counted(phase.configurations, 'configuration')}, "
            f"ε = {phase.epsilon:.3f}, γ = {phase.gamma:.3f}, {phase.total_time_s:,.0f} s"
        )
    say(f"Stopped ({result.stop_reason.code}): {result.stop_reason.advice}")
    if result.note and result.note not in result.stop_reason.advice:
        say(f"Note: {result.note}")
    if out is not None:
        say(f"Written: {out}")


def _left(progress: Progress) -> str:
    """How many configurations may still be the best."""
    if progress.configurations == 1:
        return "there is only 1 configuration."
    verb = "is" if progress.alive == 1 else "are"
    return f"{progress.alive:,} of {progress.configurations:,} configurations {verb} not ruled out."

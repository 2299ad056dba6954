"""``utilitune simulate``: how many workers are worth having, tried on recorded runtimes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.clusters import GUESSES
from utilitune.cli.grouping import grouped
from utilitune.cli.options import DrawOptions, LimitOptions, OutputOptions, ProcedureOptions, without_meaning
from utilitune.cli.terminal import say, say_json
from utilitune.cli.texts import paragraphs, part_proved, proof_bar
from utilitune.domain import Guesses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.domain import Progress
    from utilitune.domain.stopping import Budget
    from utilitune.execution.simulated_cluster import Conditions
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.replaying.crowd import Crowd, CrowdResult
    from utilitune.replaying.recording import Recording

_CLUSTER = {"workers", "latency", "mtbf", "spot", "speed_spread", "handling", "guesses"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What the cluster is like."""

    workers: Annotated[str, typer.Option(help="How many workers to try: numbers separated by commas.")] = (
        "1,10,100,1000"
    )
    latency: Annotated[str, typer.Option(help="How long a message takes, one way, e.g. 5ms.")] = "1ms"
    mtbf: Annotated[
        str | None,
        typer.Option(
            help="Mean time until a worker fails, e.g. 6h; its run is lost and made again, and the worker is "
            "back after a minute.  [default: never]"
        ),
    ] = None
    spot: Annotated[
        str | None,
        typer.Option(
            help="Mean time until a spot worker is taken away, e.g. 2h; another one comes after ten minutes. "
            " [default: never]"
        ),
    ] = None
    speed_spread: Annotated[
        float,
        typer.Option(
            help="How much workers differ in speed: 0.2 means by about 20 % (standard deviation of the "
            "logarithm). Recorded times are taken to be scaled by each worker's calibration."
        ),
    ] = 0.0
    handling: Annotated[
        str, typer.Option(help="What the coordinator needs for each run that has ended, e.g. 300us.")
    ] = "0.3ms"
    guesses: Annotated[Guesses, typer.Option(help=GUESSES)] = Guesses.USEFUL

    def crowd(self, seed: int) -> Crowd:
        """The same as numbers."""
        from utilitune.replaying.crowd import Crowd

        return Crowd(self.counts(), self.conditions(seed), self.guesses)

    def counts(self) -> list[int]:
        """The numbers of workers."""
        from utilitune.errors import UsageError

        try:
            found = [int(part) for part in self.workers.replace(" ", "").split(",") if part]
        except ValueError:
            found = []
        if not found:
            raise UsageError(f"--workers takes whole numbers separated by commas, not {self.workers!r}")
        return list(dict.fromkeys(found))

    def conditions(self, seed: int) -> Conditions:
        """The same as numbers."""
        from utilitune.execution.simulated_cluster import Conditions
        from utilitune.utility import parse_duration

        return Conditions(
            latency_s=parse_duration(self.latency),
            mtbf_s=math.inf if self.mtbf is None else parse_duration(self.mtbf),
            spot_s=math.inf if self.spot is None else parse_duration(self.spot),
            speed_spread=self.speed_spread,
            handling_s=parse_duration(self.handling),
            seed=seed,
        )


@grouped
def simulate(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="Recorded runtimes: an ASlib folder, a .npy, .npz or .csv file, or a name such as "
            "lookalike:minisat (see: utilitune datasets list)."
        ),
    ],
    cluster: ClusterOptions,
    *,
    procedure: Annotated[
        str, typer.Option(help="Who proves: wager (ours), or coup, oup, up or naive (the paper's).")
    ] = "wager",
    options: ProcedureOptions,
    draws: DrawOptions,
    limits: LimitOptions,
    output: OutputOptions,
) -> None:
    """Try on recorded runtimes how much sooner many workers prove the same answer, and what they waste.

    No program is run: workers and clock are simulated. The answer and what is proved of it are the same for
    any number of workers. More workers need less time on the clock. But they have to guess which runs will be
    needed, and some guesses are wrong:

    - *speed-up*: how much sooner than one worker; *efficiency*: speed-up per worker;
    - *useful*: the seconds in runs that one worker needs, divided by those that all workers spent;
    - *busy*: the part of the workers' time inside runs; the rest they wait for a run that is likely to be
      needed, unless `--guesses all` gives every worker some run;
    - *coord.*: the part of the time in which the coordinator handles results; near 100 % all wait for it.

    For example:

    - `utilitune simulate lookalike:minisat --epsilon 0.2 --workers 1,10,100,1000 --latency 5ms --mtbf 6h`
    - `utilitune simulate BNSL-2016 --resample 20000 --epsilon 0.2 --speed-spread 0.2 --out workers.png`
    """
    from utilitune.cli.rivals import is_rival
    from utilitune.data import read_matrix
    from utilitune.errors import UsageError
    from utilitune.replaying.recording import Recording
    from utilitune.reports.crowd import write_crowd
    from utilitune.reports.files import check_writable

    crowd = cluster.crowd(draws.seed)
    if is_rival(procedure):
        raise UsageError(
            f"{procedure} makes one run after the other: simulate takes wager, coup, oup, up or naive"
        )
    chosen = options.specification(procedure)
    if output.out is not None:
        check_writable(output.out)
    matrix = draws.ordered(read_matrix(data), finite=options.promise.population == "finite")
    for option in without_meaning(context, procedure, options.rules.growth, _CLUSTER):
        say(f"{option} has no meaning for {procedure} and is ignored", err=True)
    recording = Recording.of(matrix, options.utility)
    results = _watched(recording, chosen, crowd, limits.budget(), draws.drawn_by, quiet=output.as_json)
    if output.out is not None:
        write_crowd(results, output.out, title=f"{procedure} on {matrix.source}")
    if output.as_json:
        say_json([result.to_dict() for result in results], allow_nan=False)
    else:
        _print(results, output)


def _watched(
    recording: Recording, chosen: ProcedureSpec, crowd: Crowd, until: Budget, seed: int | None, *, quiet: bool
) -> list[CrowdResult]:
    """What workers do, with a bar that shows how far they are."""
    from utilitune.live.standing.card import counted
    from utilitune.replaying.crowd import simulate as run_simulation

    tries = list(dict.fromkeys([1, *crowd.workers]))
    with proof_bar("simulate", len(tries), enabled=not quiet) as show:

        def show_progress(workers: int, now: Progress) -> None:
            done = tries.index(workers) + part_proved(now.epsilon, chosen.epsilon)
            show(
                done, f"{counted(workers, 'worker')}  ε {now.epsilon:.3f}  {counted(now.runs, 'run')} counted"
            )

        return run_simulation(recording, chosen, crowd, budget=until, seed=seed, on_progress=show_progress)


def _print(results: Sequence[CrowdResult], output: OutputOptions) -> None:
    """The table, and what to make of it."""
    from rich.table import Table

    from utilitune.utility import format_duration

    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("workers", "time", "speed-up", "efficiency", "useful", "busy", "ε", "coord.", "runs"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in results:
        table.add_row(
            f"{each.workers:,}",
            format_duration(each.wall_s),
            f"{each.speed_up:.1f}",
            f"{each.efficiency:.0%}",
            f"{each.useful:.0%}",
            f"{each.busy:.0%}",
            f"{each.epsilon:.3f}",
            f"{each.coordinator:.0%}",
            f"{each.runs:,}",
        )
    console = paragraphs()
    console.print(table)
    for sentence in _sentences(results):
        console.print(sentence)
    if output.out is not None:
        console.print(f"Written: {output.out}")


def _sentences(results: Sequence[CrowdResult]) -> list[str]:
    from utilitune.live.standing.card import counted
    from utilitune.utility import format_duration

    last = results[-1]
    needed = counted(last.runs_needed, "run")
    sentences = [f"The answer is {last.best} for any number of workers; its proof needs {needed}."]
    if len({each.best for each in results}) > 1:
        sentences = ["The answers differ because a limit ended some of the simulations."]
    if last.condition:
        sentences.append(last.condition)
    if any(each.losses for each in results):
        lost = ", ".join(
            f"{each.losses:,} with {counted(each.workers, 'worker')}" for each in results if each.losses
        )
        sentences.append(f"Runs lost with their workers and made again: {lost}.")
    worth = [each for each in results if each.efficiency >= 0.5 and each.workers > 1]
    if worth:
        most = max(worth, key=lambda each: each.workers)
        sentences.append(
            f"{counted(most.workers, 'worker')} are the largest number tried at which each still does at "
            f"least half as much as one alone; with them the proof takes {format_duration(most.wall_s)}."
        )
    own = max(each.own_cpu_s for each in results)
    sentences.append(f"Our own code needed up to {own * 1e3:.2f} ms of CPU time per run that ended.")
    return sentences

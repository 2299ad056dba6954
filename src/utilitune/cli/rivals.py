"""The rivals' part of ``utilitune replay``: their settings, their answer in words, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from utilitune.cli.terminal import Terminal, say
from utilitune.cli.texts import INTERRUPTED, headed, paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from utilitune.data import RuntimeMatrix
    from utilitune.domain.stopping import Budget
    from utilitune.replaying.replay import RivalResult
    from utilitune.rivals.rival import Rival, RivalStanding
    from utilitune.utility import SolutionUtility, Utility


def is_rival(name: str, settings: list[str] | None = None) -> bool:
    """Whether a procedure is a rival or a peer. Unknown names are refused; so are settings of the others."""
    from utilitune.errors import UsageError, did_you_mean
    from utilitune.procedures.naming import PROCEDURES
    from utilitune.rivals.naming import RIVALS
    from utilitune.rivals.packages import PEERS

    outside = name in RIVALS or name in PEERS
    if not outside and name not in PROCEDURES:
        raise UsageError(f"unknown procedure {name!r}; {did_you_mean(name, (*PROCEDURES, *RIVALS, *PEERS))}")
    if settings and not outside:
        raise UsageError(f"--set is for rivals such as hyperband; {name} has options of its own, see --help")
    return outside


def read_rival(
    context: typer.Context, name: str, settings: list[str], captime: str | None, seed: int
) -> Rival:
    """The rival a command line describes; options that mean nothing to it are refused."""
    from utilitune.cli.options import without_meaning
    from utilitune.errors import UsageError
    from utilitune.rivals.naming import RIVALS, rival_named, settings_of, split_settings
    from utilitune.rivals.packages import PEERS, peer_named

    kind: Callable[..., Rival] = PEERS[name] if name in PEERS else RIVALS[name]
    for option in without_meaning(context, name, None):
        raise UsageError(
            f"{option} has no meaning for {name}; its own settings, given with --set, are "
            f"{', '.join(settings_of(kind))}"
        )
    given = split_settings(settings)
    if captime is not None and "captime" in given:
        raise UsageError("the captime is given twice, by --captime and by --set: leave one of them out")
    if captime is not None:
        given["captime"] = captime
    if name in PEERS:
        return peer_named(name, {"seed": str(seed), **given})
    return rival_named(name, given)


def run_rival(
    matrix: RuntimeMatrix,
    rival: Rival,
    utility: Utility | SolutionUtility | str | None,
    seed: int | None,
    budget: Budget,
    *,
    quiet: bool,
) -> RivalResult:
    """Let a rival work, with a line that lives meanwhile."""
    from utilitune.live.standing.card import counted
    from utilitune.replaying.replay import replay_rival

    try:
        with Terminal(stderr=True, quiet=quiet).status(f"{rival.name}: starting") as status:

            def show(standing: RivalStanding) -> None:
                runs = counted(standing.runs, "run")
                status.update(f"{rival.name}: {runs}  {standing.total_time_s:,.0f} s paid")

            return replay_rival(matrix, rival, utility=utility, seed=seed, budget=budget, on_progress=show)
    except KeyboardInterrupt:
        say(f"Interrupted: {rival.name} has no answer yet.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def print_rival(result: RivalResult, out: Path | None) -> None:
    """What a rival found, in words."""
    from utilitune.live.standing.card import counted

    standing = result.standing
    console = paragraphs()
    console.print(headed("Best configuration:", result.best))
    console.print(result.to_dict()["promise"])
    console.print(
        f"It took {standing.total_time_s:,.2f} s of run time in {counted(standing.runs, 'run')} of "
        f"{counted(standing.configurations, 'configuration')}."
    )
    console.print(f"Stopped ({result.stop_reason.code}): {result.stop_reason.advice}")
    if out is not None:
        console.print(f"Written: {out}")

"""``utilitune status``: how a run stands, from any terminal, without disturbing it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import say_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from utilitune.domain import RunStatus
    from utilitune.live.result import RunResult
    from utilitune.store import RunFolderReader, SessionRecord

_REFRESH_EVERY_S = 1.0
_LATEST_EVENTS = 5


def status(
    folder: RunPlace,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on showing it until the run ends or Ctrl-C is pressed.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per look instead of words.")
    ] = False,
) -> None:
    """Show what a run has found and proved so far, and whether it is at work.

    Works while the run goes on, also from another terminal, and afterwards.

    For example:

    - `utilitune status scenario.run --watch`
    - `utilitune status scenario.run --json | jq .epsilon`
    """
    import contextlib

    from utilitune.store import read_run_folder

    with contextlib.closing(read_run_folder(folder)) as store:
        looks = _looks(store, folder, watch=watch)
        if as_json:
            _print_json(looks)
        elif watch:
            _show_live(looks)
        else:
            _print_once(next(looks))


@dataclass(frozen=True, slots=True)
class Look:
    """How a run stands at one moment.

    Attributes:
        owner: Process id of the coordinator; None if none is at work, 0 if it cannot be told.
        result: What is found and proved; None as long as there is nothing.
        counts: Runs by status.
        elapsed_s: Time on the clock over every start of the run.
        session: The latest start.
        events: Kind and text of the latest events.
        reuses: Whether runs of an earlier run count.
    """

    owner: int | None
    result: RunResult | None
    counts: Mapping[RunStatus, int]
    elapsed_s: float
    session: SessionRecord | None
    events: Sequence[tuple[str, str]]
    reuses: bool = False

    @classmethod
    def at(cls, store: RunFolderReader, folder: Path) -> Look:
        """Look at a run now."""
        from utilitune.live.result import RunResult
        from utilitune.live.reusing import uses_earlier_runs
        from utilitune.live.standing.standing import elapsed_s

        owner = store.owner()
        sessions = store.sessions()
        last = store.last_progress()
        known = last is not None and bool(store.configurations())
        return cls(
            owner=owner,
            result=RunResult.read(store, folder, with_runs=False) if known else None,
            counts=store.counts(),
            elapsed_s=elapsed_s(
                sessions,
                [point.at for point in store.trajectory()],
                now=None if owner is None else time.time(),
            ),
            session=sessions[-1] if sessions else None,
            events=[(event.kind, event.text) for event in store.events()][-_LATEST_EVENTS:],
            reuses=uses_earlier_runs(store),
        )

    def state(self) -> str:
        """Whether the run is at work, in a sentence."""
        if self.owner is not None:
            return f"At work (process {self.owner})." if self.owner else "At work."
        if self.session is None:
            return "Not started yet."
        if self.session.stop is None:
            return (
                "Not at work: it was killed before it could stop; start it again to go on, nothing is lost."
            )
        return f"Not at work: {self.session.stop.advice} ({self.session.stop.code})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "at_work": self.owner is not None,
            "process": self.owner or None,
            "state": self.state(),
            "elapsed_s": self.elapsed_s,
            "runs_by_status": {status.value: count for status, count in self.counts.items()},
            "events": [{"kind": kind, "text": text} for kind, text in self.events],
            **({} if self.result is None else self.result.to_dict()),
        }


def _looks(store: RunFolderReader, folder: Path, *, watch: bool) -> Iterator[Look]:
    """One look, or one a second until nobody is at work."""
    while True:
        look = Look.at(store, folder)
        yield look
        if not watch or look.owner is None:
            return
        time.sleep(_REFRESH_EVERY_S)


def _print_json(looks: Iterator[Look]) -> None:
    for look in looks:
        say_json(look.to_dict())


def _print_once(look: Look) -> None:
    from utilitune.cli.texts import words

    words().print(_drawn(look))


def _show_live(looks: Iterator[Look]) -> None:
    """Refresh in place; what was seen last stays on the screen."""
    import contextlib

    from rich.live import Live

    from utilitune.cli.texts import words

    with (
        contextlib.suppress(KeyboardInterrupt),
        Live(console=words(), auto_refresh=False, vertical_overflow="visible") as live,
    ):
        for look in looks:
            live.update(_drawn(look), refresh=True)


def _drawn(look: Look) -> RenderableType:
    """The look as a table of facts, the promise first."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _facts(look):
        table.add_row(name, Text(text, style="yellow" if name in {"warning", "failures"} else ""))
    return table


def _facts(look: Look) -> Iterator[tuple[str, str]]:
    from utilitune.cli.summary import epsilon_sentences, utility_sentences
    from utilitune.domain import rounded_up
    from utilitune.errors.outside import printable
    from utilitune.live.reusing import FREE_CONDITION
    from utilitune.live.standing.card import compared
    from utilitune.utility.clock import time_passed

    yield "state", look.state()
    ended = ", ".join(f"{count:,} {status.value}" for status, count in look.counts.items() if count)
    total = f"{sum(look.counts.values()):,}"
    if look.result is None:
        yield "promise", "Nothing is proved yet."
    else:
        progress = look.result.progress
        yield "utility", "; ".join(utility_sentences(look.result))
        yield "promise", look.result.promise.sentence()
        for sentence in filter(None, (*epsilon_sentences(look.result), look.result.note)):
            yield "", printable(sentence)
        if look.result.last_phase:
            yield "last phase", printable(look.result.last_phase)
        if not look.result.promise.refusal:
            yield "ε", rounded_up(progress.epsilon)
        if progress.gamma is not None:
            yield "γ", rounded_up(progress.gamma)
        yield "answer", printable(look.result.command)
        if not look.result.promise.refusal:
            yield "compared", compared(progress, look.result.standing.entered)
        use = look.result.use
        of_use = "" if use is None or use.is_early else f", {use.percent} of it useful"
        yield "time in runs", f"{time_passed(progress.total_time_s)}{of_use}"
    yield "time passed", time_passed(look.elapsed_s)
    shared = ", with those of the earlier run" if look.reuses else ""
    yield "runs", f"{total} ({ended}){shared}" if ended else total
    for failures in () if look.result is None else look.result.standing.failures:
        yield "failures", printable(failures.sentence())
    for kind, text in look.events:
        if kind != FREE_CONDITION:  # that of `utilitune whatif`
            yield kind.partition("-")[0], printable(text)

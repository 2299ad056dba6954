"""Useful runs from the first second on, while the rules of a procedure are still being compiled.

On a fresh install the rules are compiled once, which takes a minute. Nobody has to wait for that. Until then

- search goes on by itself, for it needs almost nothing compiled, until the proof would offer it something. So
  far it follows from its seed and the outcomes of runs alone, so the search of the run itself will want the
  very same runs, and finds them made;
- where nothing is searched, or search has had enough for now, the default configuration is run on the first
  instances, up to the time at which an answer has lost half its worth. Every procedure wants these.

What is made is stored like everything else. When the rules are there, the asker that decides is built and
hears all of it, as if the run had been stopped and started again: **resume is replay**. So what it decides
does not depend on how long compiling took.

Only a run that has proved nothing yet begins like this. One that is resumed waits for its rules, for it must
never know less than before, whenever it is stopped.

The rules are compiled in a process of its own, which leaves them in the cache on disk. It ends when we do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.domain import Progress, RunRequest
from utilitune.execution.machine import available_cores
from utilitune.live.asker import Again, Join, Joining, Make, Wanted, pair_of
from utilitune.live.meetings import MEETINGS_ALONE, milestone_s
from utilitune.live.supply import Drawn
from utilitune.procedures.engine import Origin
from utilitune.procedures.naming import are_compiled, warm_up
from utilitune.procedures.wager.captimes import half_life_s
from utilitune.spaces import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from utilitune.domain import PhaseRecord
    from utilitune.live.asker import Ended, Instruction, Room
    from utilitune.live.exploring import Exploring
    from utilitune.live.hunting import Hunt
    from utilitune.live.proof import Proof
    from utilitune.live.running import RunSettings
    from utilitune.live.task import Task
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.store.records import ConfigurationRecord

    Decider = Proof | Exploring

MOST_RUNS = 200
"""Runs of the default that are made ahead at most, where nothing is searched."""

BUDGET_SHARE = 0.25
"""The part of a budget of runs or of time in runs that may be spent meanwhile."""

FEWEST_CANDIDATES = 7
"""So many candidates search has without its model, which is compiled first; the model begins with more."""

_PATIENCE_S = 0.25
_CHILD = "from utilitune.live.prelude import compile_rules; compile_rules()"


def compile_rules() -> None:
    """What the compiling process does: read which procedure, compile its rules, end with its parent."""
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.search.forest import compile_trees
    from utilitune.utility import parse_utility

    plain = json.loads(sys.stdin.buffer.readline())

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    compile_trees()
    os.write(1, b"trees")
    warm_up(ProcedureSpec(**plain), parse_utility("uniform(k0=60)"))


class Compilation:
    """Rules that are being compiled in a process of their own, and then loaded here beside everything else.

    Args:
        specification: The procedure.
        load: Loads what was compiled, in a second or two; compiles what is missing.
    """

    def __init__(self, specification: ProcedureSpec, load: Callable[[], None]) -> None:
        self._loading = threading.Thread(target=load, name="loading of compiled rules", daemon=True)
        self._child = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, and we end it
        )
        self._has_trees = False
        if self._child.stdout is not None:
            os.set_blocking(self._child.stdout.fileno(), False)
        told = {"name": specification.name, "population": specification.population}
        if self._child.stdin is not None:
            self._child.stdin.write(json.dumps(told).encode() + b"\n")
            self._child.stdin.flush()

    def is_over(self, patience_s: float = 0.0) -> bool:
        """Whether all of it is there; if the process has ended badly, what is missing is compiled here.

        Args:
            patience_s: How long to wait for that.
        """
        try:
            self._child.wait(patience_s)
        except subprocess.TimeoutExpired:
            return False
        if self._loading.ident is None:
            self._loading.start()
        self._loading.join(patience_s)
        return not self._loading.is_alive()

    def has_trees(self) -> bool:
        """Whether the model of search is compiled."""
        if not self._has_trees and self._child.stdout is not None:
            self._has_trees = bool(self._child.stdout.read())
        return self._has_trees

    def close(self) -> None:
        """End it if it is at work."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()


@dataclass(frozen=True, slots=True)
class FirstRuns:
    """What is run meanwhile.

    Attributes:
        given: The configurations that are tried first in any case; the default is the first of them.
        captime_s: Where runs of the default are stopped.
        default_runs: On how many instances the default is run at most.
        runs: How many runs there may be altogether.
        time_s: How many seconds they may take together.
        delta: The probability with which the promise may fail, once there is one.
        at_once: How many runs are made at the same time: compiling has a core of its own, or the first runs
            would take longer than later ones, and the default would look worse than it is.
    """

    given: tuple[Assignment, ...]
    captime_s: float
    default_runs: int
    runs: int
    time_s: float
    delta: float
    at_once: int = 1


class Meanwhile:
    """What is run, and known, until the rules are there.

    Args:
        first: Which runs are made.
        hunt: A search like that of the asker that will decide; None if there will be none.

    Attributes:
        records: The configurations that have joined.
        runs: The runs that have ended.
        spent_s: Seconds of all of them.
    """

    def __init__(self, first: FirstRuns, hunt: Hunt | None) -> None:
        self.records: list[ConfigurationRecord] = []
        self.runs: list[Ended] = []
        self.spent_s = 0.0
        self._first = first
        self._hunt = hunt
        self._of_default: set[int] = set()

    def keep(self, record: ConfigurationRecord) -> None:
        """Take in a configuration under its number."""
        self.records.append(record)
        if self._hunt is not None:
            self._hunt.number(Assignment(record.assignment), record.index)

    def hear(self, run: Ended) -> None:
        """Take in a run that has ended."""
        self.runs.append(run)
        self.spent_s += run.outcome.runtime_s
        if run.request.configuration == 0:
            self._of_default.add(run.request.position)
        if self._hunt is not None:
            self._hunt.hear(run)

    def ask(self, room: Room, compilation: Compilation) -> Instruction:
        """What search and the default can do while rules are compiled."""
        rest = self._first.given[len(self.records) :]
        if rest:
            return Join(tuple(Joining(Drawn(each, Origin.GIVEN)) for each in rest))
        if len(self.runs) >= self._first.runs or self.spent_s >= self._first.time_s:
            return Make([], may_wait=True)
        runs: Sequence[RunRequest] = ()
        if self._hunt is not None and (len(self.records) < FEWEST_CANDIDATES or compilation.has_trees()):
            until_s = milestone_s(self._hunt.first_s, MEETINGS_ALONE)
            candidates = self._hunt.go_on(until_s)
            if candidates is None:
                return Again()
            if candidates:
                return Join(tuple(Joining(each) for each in candidates))
            if until_s == 0.0 or self._hunt.spent_s < until_s:
                runs = self._hunt.requests(room.slots)
        free = [run for run in runs or self._of_the_default() if pair_of(run) not in room.under_way]
        count = max(0, min(room.free, self._first.at_once - len(room.under_way)))
        return Make([Wanted(run, ahead=True) for run in free[:count]], may_wait=True)

    def _of_the_default(self) -> list[RunRequest]:
        """The runs of the default that are still to be made."""
        places = (at for at in range(self._first.default_runs) if at not in self._of_default)
        return [RunRequest(0, position, self._first.captime_s) for position in places]

    def progress(self) -> Progress | None:
        """Nothing is proved; None before the first configuration."""
        count = len(self.records)
        return Progress(0, 1.0, None, self._first.delta, 0.0, 0, 0, count, count) if count else None

    def close(self) -> None:
        """Nothing more will be asked."""
        if self._hunt is not None:
            self._hunt.close()
        self._hunt = None


class Prelude:
    """An asker whose rules are being compiled: until then, runs that it will need anyway.

    Args:
        decider: Makes the asker that decides; called when its rules are there.
        compilation: What it waits for.
        first: Which runs are made meanwhile.
        hunt: A search like that of the asker; None if there will be none.
    """

    def __init__(
        self,
        decider: Callable[[], Decider],
        compilation: Compilation,
        first: FirstRuns,
        hunt: Hunt | None = None,
    ) -> None:
        self._decider = decider
        self._compilation = compilation
        self._meanwhile = Meanwhile(first, hunt)
        self._asker: Decider | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the rules are there; until then no time on the clock counts."""
        return self._asker is not None

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Take over the configurations that are stored."""
        for record in configurations:
            self._meanwhile.keep(record)

    def hear(self, run: Ended) -> None:
        """Take in a run that has ended."""
        (self._asker or self._meanwhile).hear(run)

    def joined(self, number: int, drawn: Drawn) -> None:
        """Take in a configuration under its number."""
        if self._asker is not None:
            self._asker.joined(number, drawn)
        else:
            self._meanwhile.keep(drawn.record(number))

    def nominated(self, number: int, configuration: int) -> None:
        """Take in that a nomination is stored."""
        if self._asker is None:
            raise RuntimeError("nothing is decided before the rules are there")
        self._asker.nominated(number, configuration)

    def ask(self, room: Room) -> Instruction:
        """What can be done while rules are compiled, then whatever the asker says."""
        if self._asker is None and self._compilation.is_over():
            self._begin()
        if self._asker is not None:
            return self._asker.ask(room)
        step = self._meanwhile.ask(room, self._compilation)
        if isinstance(step, Make) and not step.runs and not room.under_way:
            self._compilation.is_over(_PATIENCE_S)
        return step

    def _begin(self) -> None:
        """The rules are there: the asker is built and hears all that has happened."""
        self._end_meanwhile()
        self._asker = self._decider()
        self._asker.restore(self._meanwhile.records)
        for run in self._meanwhile.runs:
            self._asker.hear(run)

    def _end_meanwhile(self) -> None:
        self._compilation.close()
        self._meanwhile.close()

    def progress(self) -> Progress | None:
        """Where it stands; nothing is proved before the rules are there."""
        return (self._asker or self._meanwhile).progress()

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases that are over."""
        return [] if self._asker is None else self._asker.phases

    @property
    def useful_s(self) -> float:
        """Seconds of runs that were of use; all that were made before it could be said."""
        return self._meanwhile.spent_s if self._asker is None else self._asker.useful_s

    def captime_note(self) -> str:
        """What the asker says of captimes; nothing before it is there."""
        return "" if self._asker is None else self._asker.captime_note()

    def close(self) -> None:
        """Nothing more will be asked."""
        if self._asker is None:
            self._end_meanwhile()
        else:
            self._asker.close()


def ready_asker(
    decider: Callable[[], Decider],
    task: Task,
    settings: RunSettings,
    last: Progress | None,
    search: Callable[[], Hunt | None],
) -> Decider | Prelude:
    """The asker itself where its rules are compiled or have to be, else one that begins without them.

    Args:
        decider: Makes the asker that decides.
        task: What is configured.
        settings: The procedure and the budget.
        last: Where an earlier start of the same run stood.
        search: Makes a search like that of the asker, where there is one.
    """
    specification, budget = settings.specification, settings.budget
    utility = task.evidence().utility

    def load() -> None:
        warm_up(specification, utility)

    knows_nothing = last is None or (last.epsilon >= 1 and last.best_index == 0)
    if not knows_nothing or are_compiled(specification):
        load()
        return decider()
    free = settings.workers if task.is_elsewhere else available_cores() - 1
    smallest_s = 1.0 if specification.captime0_s is None else specification.captime0_s
    captime_s = max(smallest_s, min(half_life_s(utility), specification.captime_limit_s))
    first = FirstRuns(
        given=task.given,
        captime_s=captime_s,
        default_runs=min(task.positions, MOST_RUNS),
        runs=max(1, int(BUDGET_SHARE * budget.run_limit)),
        time_s=BUDGET_SHARE * budget.max_time_s,
        delta=specification.delta,
        at_once=max(1, min(settings.workers, free)),
    )
    return Prelude(decider, Compilation(specification, load), first, search())

"""What happens in a run and what there is to see of it, as values handed to whoever listens.

A listener is called in the thread of the run, after what it hears of was stored; it should be quick. What it
raises ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus, StopReason
    from utilitune.domain.stopping import Budget


@dataclass(frozen=True, slots=True)
class ConfigurationJoined:
    """A configuration is in play from now on.

    Attributes:
        index: Its number.
        assignment: The values of its active parameters.
        origin: Where it came from: "given", "random", "model" or, from search, "nominee".
    """

    index: int
    assignment: Mapping[str, Any]
    origin: str


@dataclass(frozen=True, slots=True)
class RunBegun:
    """A run was started.

    Attributes:
        request: Which configuration, at which position, up to which captime.
        instance: The instance.
        seed: The seed.
        speculative: Whether it is made ahead of need.
    """

    request: RunRequest
    instance: str
    seed: int
    speculative: bool


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended and counts.

    Attributes:
        request: Which configuration, at which position, up to which captime.
        instance: The instance.
        seed: The seed.
        outcome: What came of it.
    """

    request: RunRequest
    instance: str
    seed: int
    outcome: RunOutcome


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """Another configuration is the answer now.

    Attributes:
        best: The values of its active parameters.
        progress: Where the procedure stands.
    """

    best: Mapping[str, Any]
    progress: Progress


@dataclass(frozen=True, slots=True)
class RunStopped:
    """The run is over for now.

    Attributes:
        reason: Why, with advice.
        progress: Where the procedure stands.
    """

    reason: StopReason
    progress: Progress


Event = ConfigurationJoined | RunBegun | RunEnded | LeaderChanged | RunStopped
"""Everything a listener hears of."""


@dataclass(frozen=True, slots=True)
class View:
    """What there is to show of a run at work.

    Attributes:
        progress: Where the procedure stands.
        best: The answer as it stands.
        best_command: The same as a command line.
        elapsed_s: Seconds on the clock over every start.
        runs_per_s: How many runs end in a second.
        workers_busy: How many runs are under way.
        statuses: How many runs ended in each way.
        budget: When the run ends.
        condition: What the promise rests on, where it rests on something.
        compiling: Whether the rules of the proof are still being compiled; time on the clock begins then.
    """

    progress: Progress
    best: Mapping[str, Any]
    best_command: str
    elapsed_s: float
    runs_per_s: float
    workers_busy: int
    statuses: Mapping[RunStatus, int]
    budget: Budget
    condition: str = ""
    compiling: bool = False


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears and sees what happens.

    Attributes:
        on_update: Called a few times a second with what there is to show.
        on_event: Called with everything that happens.
    """

    on_update: Callable[[View], None] | None = None
    on_event: Callable[[Event], None] | None = None

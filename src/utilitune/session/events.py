"""What happens in a run, as values handed to whoever listens.

A listener is called in the thread of the run, after what it hears of was stored; it should be quick. What it
raises ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.domain import Progress, RunOutcome, RunRequest, StopReason


@dataclass(frozen=True, slots=True)
class ConfigurationJoined:
    """A configuration is in play from now on.

    Attributes:
        index: Its number.
        assignment: The values of its active parameters.
        origin: Where it came from: "given", "random" or "model".
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

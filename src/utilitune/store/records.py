"""The frozen values a store keeps. Moments are seconds since 1970 (UTC), as `time.time` gives them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus, StopReason


class StoredOrigin(StrEnum):
    """Where a configuration came from."""

    DEFAULT = "default"
    USER = "user"
    RANDOM = "random"
    MODEL = "model"
    NOMINEE = "nominee"
    PEER = "peer"
    CANDIDATE = "candidate"

    @property
    def words(self) -> str:
        """What people read."""
        return {StoredOrigin.USER: "given", StoredOrigin.CANDIDATE: "search"}.get(self, self.value)

    @property
    def searched(self) -> bool:
        """Whether it was chosen by looking at outcomes of runs."""
        return self in {StoredOrigin.MODEL, StoredOrigin.NOMINEE, StoredOrigin.PEER, StoredOrigin.CANDIDATE}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The scenario as it was when the run began.

    Attributes:
        scenario: Everything the scenario says, as plain JSON values.
        digest: Names what must not change between two starts of one run; the scenario computes it.
    """

    scenario: Mapping[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class ConfigurationRecord:
    """One configuration, counted from 0 in the order of drawing.

    Attributes:
        index: Its number.
        assignment: Parameter values by name, active parameters only.
        origin: Who proposed it.
        first_position: The first instance position it is run on.
        drawn_at: When it was drawn.
    """

    index: int
    assignment: Mapping[str, Any]
    origin: StoredOrigin
    first_position: int = 0
    drawn_at: float = 0.0


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One finished run of the target: what was asked, what came of it.

    Attributes:
        request: Configuration, position and captime.
        outcome: What the run gave.
        seed: The seed the target received.
        started_at: When the target was started; 0 for a run that was taken over from an earlier run folder.
        ended_at: When it had ended.
        speculative: Whether it was asked ahead of need, to keep a worker busy.
        sequence: The run's number in order of storing, from 0; the store assigns it.
    """

    request: RunRequest
    outcome: RunOutcome
    seed: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    speculative: bool = False
    sequence: int = -1

    @property
    def taken_over(self) -> bool:
        """Whether an earlier run folder made it, so that it cost this one nothing."""
        return self.started_at == 0.0


class FailedRun(NamedTuple):
    """What tells why runs fail, of one that did."""

    status: RunStatus
    configuration: int
    position: int
    detail: str
    sequence: int


@dataclass(frozen=True, slots=True)
class ProgressRecord:
    """One point of the trajectory: the progress, when it was reached, after how many stored runs."""

    progress: Progress
    at: float
    sequence: int


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Something worth telling the user later, such as a warning."""

    kind: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One start of the run, with all that may differ between two starts.

    Attributes:
        started_at: When it was started.
        ended_at: When it ended; None while it goes on, and for ever if it was killed.
        settings: The procedure with its options.
        stop: Why it stopped, where it ended in good order.
        versions: Versions of what computed it.
        machine: What it ran on.
        elapsed_s: How long it lasted, by a clock that nobody sets; until its last run if it was killed. None
            where that is not known.
    """

    started_at: float
    settings: Mapping[str, Any]
    ended_at: float | None = None
    stop: StopReason | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    elapsed_s: float | None = None


def to_json(value: Mapping[str, Any]) -> str:
    """Compact JSON; numpy scalars become the Python numbers they stand for."""
    text = json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"), default=_plain)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, from a file name say: written out, it comes back as it was
        text = json.dumps(dict(value), separators=(",", ":"), default=_plain)
    return text


def _plain(value: object) -> object:
    item = getattr(value, "item", None)
    if item is None:
        raise TypeError(f"a {type(value).__name__} cannot be stored: only plain values can")
    plain: object = item()
    return plain

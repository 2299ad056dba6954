"""Everything a screen says first: how good, how sure, how much longer, what went wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from utilitune.domain import rounded_up
from utilitune.domain.stopping import INSTANCES_EXHAUSTED
from utilitune.live.standing.entered import Entered
from utilitune.live.standing.failures import Failures, failures_of
from utilitune.live.standing.outlook import Limits, Outlook, outlook_of
from utilitune.live.standing.terms import epsilon_in_quality, epsilon_in_time
from utilitune.live.standing.worths import Estimate, Sharing, estimate, fill, kind_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.domain import Progress
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.scenario import Scenario
    from utilitune.scenario.instances import InstanceSource
    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, SessionRecord

DEFAULT = 0
"""The number of the default configuration."""


class JudgedTask(Protocol):
    """What is needed of a task: its description, and a table in which runs get their worth."""

    @property
    def scenario(self) -> Scenario:
        """The description."""

    @property
    def training(self) -> InstanceSource:
        """The instances in their order."""

    def evidence(self) -> LiveEvidence:
        """A table without runs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands, in numbers.

    Attributes:
        answer: The mean utility of the answer.
        default: That of the default configuration.
        proved_gain: By how much the answer is proved to be better than the default; None where unknown.
        epsilon_means: ε in the user's own terms; empty where it means nothing yet.
        outlook: What more time would bring; None as long as nobody can tell.
        failures: Failed runs with what they have in common.
        entered: How many configurations take part in the proof, and how many were run; None if unknown.
    """

    answer: Estimate
    default: Estimate
    proved_gain: float | None
    epsilon_means: str
    outlook: Outlook | None
    failures: tuple[Failures, ...]
    entered: Entered | None = None

    def utilities(self) -> str:
        """How good the answer and the default are, in words."""
        if self.answer.configuration == self.default.configuration:
            return f"answer {self.answer.text()}, which is the default"
        return f"answer {self.answer.text()}, default {self.default.text()}"

    def gain(self) -> str:
        """The proved gain over the default in words; empty where there is nothing to say."""
        if self.proved_gain is None or self.answer.configuration == self.default.configuration:
            return ""
        apart = _rounded_down(self.answer.low - self.default.high)
        if float(apart) <= max(0.0, float(_rounded_down(self.proved_gain))):
            return gain_in_words(self.proved_gain)
        if self.proved_gain <= 0:
            return (
                f"better than the default by at least {apart}, because the two intervals do not overlap; "
                "this is not part of the promise yet"
            )
        return (
            f"{gain_in_words(self.proved_gain)}; by at least {apart}, because the two intervals are that far "
            "apart; this is not part of the promise yet"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "answer": self.answer.to_dict(),
            "default": self.default.to_dict(),
            "proved_gain": self.proved_gain,
            "epsilon_means": self.epsilon_means,
            "outlook": None if self.outlook is None else self.outlook.to_dict(),
            "failures": [each.to_dict() for each in self.failures],
            **({} if self.entered is None else self.entered._asdict()),
        }


def gain_in_words(gain: float) -> str:
    """What is promised about the gain over the default."""
    if gain <= 0:
        return "not proved better than the default yet"
    return f"proved better than the default by at least {_rounded_down(gain)}"


def _rounded_down(value: float) -> str:
    """A number that is promised to be reached, with few digits: never more than it is."""
    return f"{-float(rounded_up(-value)):g}"


def standing_of(
    store: StoreReader,
    task: JudgedTask,
    records: Sequence[ConfigurationRecord],
    progress: Progress,
    points: Sequence[Progress] = (),
) -> Standing:
    """How a stored run stands.

    Only the runs of the answer and of the default are read, and those that failed, so it is quick also where
    there are many.

    Args:
        store: The run.
        task: What is configured.
        records: Its configurations, by number.
        progress: Where the procedure stands.
        points: The trajectory up to there.
    """
    evidence = task.evidence()
    best = progress.best_index
    fill(evidence, store, (DEFAULT, best))
    sharing = Sharing.of(store)
    numbers = kind_numbers(records)
    answer, default = (
        estimate(evidence, records[index], numbers[index], sharing) for index in (best, DEFAULT)
    )
    sessions = store.sessions()
    limits = Limits(
        answer=answer,
        instances=task.training.count or 0,
        target_epsilon=_target_epsilon(sessions),
        elapsed_s=elapsed_s(sessions, [record.at for record in store.trajectory()]),
    )
    epsilon = progress.promise.epsilon
    return Standing(
        answer=answer,
        default=default,
        proved_gain=progress.gain,
        epsilon_means=epsilon_means(task, evidence, best, epsilon),
        outlook=None if _is_exhausted(sessions) else outlook_of([*points, progress], limits),
        failures=failures_of(store, records, task.training.name),
        entered=Entered.of(store, records),
    )


def epsilon_means(task: JudgedTask, evidence: LiveEvidence, answer: int, epsilon: float) -> str:
    """ε in the user's terms, at the median of the answer's finished runs."""
    if task.scenario.quality is not None:
        return epsilon_in_quality(epsilon)
    arrays = evidence.arrays
    start = int(arrays.base[answer])
    runtimes_s = arrays.runtime_s[start : start + int(arrays.room[answer])]
    finished = runtimes_s[np.isfinite(runtimes_s)]
    if not finished.size:
        return ""
    return epsilon_in_time(epsilon, evidence.utility, float(np.median(finished)))


def _is_exhausted(sessions: Sequence[SessionRecord]) -> bool:
    """Whether more time would bring nothing, as its last session said."""
    stop = sessions[-1].stop if sessions else None
    return stop is not None and stop.code == INSTANCES_EXHAUSTED


def _target_epsilon(sessions: Sequence[SessionRecord]) -> float | None:
    procedure = sessions[-1].settings.get("procedure", {}) if sessions else {}
    wanted = procedure.get("epsilon")
    return float(wanted) if isinstance(wanted, int | float) else None


def elapsed_s(sessions: Sequence[SessionRecord], signs: Sequence[float], now: float | None = None) -> float:
    """Time on the clock over all starts; of one that was killed, until its last sign of life.

    Args:
        sessions: The starts, oldest first.
        signs: Moments at which something was stored.
        now: The present moment, where the last start is known to be at work.
    """
    total_s = 0.0
    for number, session in enumerate(sessions):
        latest = number == len(sessions) - 1
        if session.elapsed_s is not None:
            total_s += session.elapsed_s
            continue
        if session.ended_at is not None:
            end = session.ended_at
        elif latest and now is not None:
            end = now
        else:
            until = math.inf if latest else sessions[number + 1].started_at
            end = max((at for at in signs if session.started_at <= at <= until), default=session.started_at)
        total_s += max(0.0, end - session.started_at)
    return total_s

"""What the runs of one pair tell of its runtime: the one rule, wherever several runs of a pair meet.

The runtime of a configuration on an instance with a seed is one number T. Measured again it differs by noise,
so a rule has to say what T is:

- the first run that finishes settles T. No later run changes it, so nothing that was proved is taken back;
- a run that was stopped at its captime, or that failed, before that settles only that T is at least as large:
  one that finishes sooner than the pair was once seen to last counts as lasting that long;
- a run that failed would never have finished: T is infinite from then on.

Evidence, other utilities (`utilitune.reports.whatif`), grids and runs taken over from an earlier folder all
use this rule, each on the runs in the order of storing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from utilitune.domain import RunStatus

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome, RunRequest


class PairRuntime(NamedTuple):
    """What is known of the runtime of a pair.

    Attributes:
        runtime_s: The runtime; infinite if it is not known to finish.
        watched_s: How long it was seen to last; infinite if it is certain never to finish.
        failed_s: After how long it failed; infinite if it did not, or if nobody knows when.
    """

    runtime_s: float = math.inf
    watched_s: float = 0.0
    failed_s: float = math.inf

    @classmethod
    def of(cls, request: RunRequest, outcome: RunOutcome) -> PairRuntime:
        """What a single run tells."""
        if outcome.status is RunStatus.FINISHED:
            return cls(outcome.runtime_s, outcome.runtime_s)
        if outcome.status is RunStatus.TIMEOUT:
            return cls(watched_s=request.captime_s)
        return cls(watched_s=math.inf, failed_s=outcome.runtime_s)

    def then(self, later: PairRuntime) -> PairRuntime:
        """What is known after a later run."""
        if math.isfinite(self.runtime_s):
            return self
        failed_s = self.failed_s
        if math.isinf(failed_s) and math.isfinite(later.failed_s):
            failed_s = max(later.failed_s, self.watched_s)
        runtime_s = max(later.runtime_s, self.watched_s)
        return PairRuntime(runtime_s, max(self.watched_s, later.watched_s), failed_s)


NOTHING_SEEN = PairRuntime()
"""What is known of a pair before its first run."""

"""A run that takes down whoever makes it: when it is not begun again, and what it counts as.

A supervisor or a worker that is lost is no fault of its run at first: somebody may have killed it, or its
machine may have failed. So the run is begun again elsewhere. But some programs kill whatever is around them,
or take so much memory that the system ends more than the program. A run that has lost whoever made it several
times is put down as such a one: it comes out as a program that was killed, and everything else goes on.
"""

from __future__ import annotations

import math
import signal

from utilitune.targets.base import Ending, RawResult

LAUNCHES = 4
"""How often a run is begun before the loss of those who made it is put down to it."""


def killed(whom: str, wall_s: float, captime_s: float | None, watched: int) -> RawResult:
    """What comes of a run that has lost all who made it.

    Args:
        whom: Who was lost each time, in words.
        wall_s: For how long it was running the last time, as far as is known.
        captime_s: Its captime; it was not stopped there, so it has not lasted longer.
        watched: How many patterns are looked for in its output.
    """
    return RawResult(
        Ending.EXITED,
        wall_s=min(wall_s, math.inf if captime_s is None else captime_s),
        exit_code=-signal.SIGKILL,
        output_tail=f"{whom} was killed {LAUNCHES} times, by the program itself or by the system for lack of "
        "memory. What the program wrote is not known.",
        matches=(None,) * watched,
    )

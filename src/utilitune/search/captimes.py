"""How long a run may last before it has told enough.

Captimes follow from worths: a candidate whose worth on an instance has fallen far below the incumbent's has
told what matters. The way from a worth to a time goes through a table, because races ask for it on every run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from utilitune.search.base import SearchTask
    from utilitune.search.settings import SearchSettings

_POINTS = 400
_WORTHLESS = 1e-3


class Captimes:
    """Captimes of one search.

    Args:
        task: What is searched.
        settings: The numbers of the rules.

    Attributes:
        full_s: The captime at which runs are compared in the end.
    """

    def __init__(self, task: SearchTask, settings: SearchSettings) -> None:
        self._by_time = task.by_time
        self._factor = settings.stopped_factor
        self._utility = task.utility
        if not task.by_time:
            self.full_s = self._least_s = task.largest_captime_s
            return
        scale_s = _time_scale_s(task)
        worthless_s = task.utility.time_to_fall_to(task.utility.infimum + _WORTHLESS) or math.inf
        self.full_s = min(settings.largest_captime * scale_s, worthless_s, task.largest_captime_s)
        self._least_s = min(settings.least_captime * scale_s, self.full_s)
        self._times_s = np.geomspace(self._least_s, self.full_s, _POINTS)
        self._rising = -task.utility(self._times_s)

    def at_worth(self, level: float) -> float:
        """The first captime of the table at which the worth is at most `level`."""
        if not self._by_time:
            return self.full_s
        place = int(np.searchsorted(self._rising, -level, side="left"))
        return self.full_s if place >= _POINTS else float(self._times_s[place])

    def stopped_time_s(self, captime_s: float) -> float:
        """The time a run counts as having taken that was stopped at a captime."""
        return self._factor * captime_s

    def stopped_worth(self, captime_s: float) -> float:
        """What such a run counts as being worth."""
        return float(self._utility(self.stopped_time_s(captime_s)))


def _time_scale_s(task: SearchTask) -> float:
    """When an answer has lost half of what waiting can cost."""
    utility = task.utility
    middle = (float(utility(0.0)) + utility.infimum) / 2.0
    scale_s = utility.time_to_fall_to(middle)
    if not 0 < scale_s < math.inf:
        scale_s = utility.time_to_fall_to(utility.infimum + _WORTHLESS)
    return scale_s if 0 < scale_s < math.inf else task.largest_captime_s

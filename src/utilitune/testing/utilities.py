"""What every utility function keeps: worths in [0, 1] that never rise, whatever the shape of the input."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import UtilityError
from utilitune.testing.base import Suite, expect, expect_error
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.utility import Utility

_LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


class UtilitySuite(Suite):
    """The contract of `Utility`.

    Attributes:
        reads_back: Whether `parse_utility` understands ``str(utility)``; no for a function without a name.
    """

    reads_back = True

    @abstractmethod
    def make(self) -> Utility:
        """The utility to check."""

    def test_worths_lie_between_0_and_1_and_never_rise(self) -> None:
        """From no time at all up to never."""
        worths = self.make()(_times())
        expect(worths.min() >= 0.0 and worths.max() <= 1.0, "a worth lies outside [0, 1]")
        expect((np.diff(worths) <= 0.0).all(), "a later answer is worth more than a sooner one")

    def test_one_time_and_many_give_the_same_worths_in_the_same_shape(self) -> None:
        """The formula sees blocks; callers do not notice."""
        utility, times = self.make(), _times()[:12]
        table = utility(times.reshape(3, 4))
        expect(table.shape == (3, 4), f"a table of 3 × 4 times gave worths of shape {table.shape}")
        single = [float(utility(float(time_s))) for time_s in times]
        expect(table.reshape(-1).tolist() == single, "a time alone is worth something else than in an array")
        expect(utility(np.zeros(0)).shape == (0,), "no times must give no worths")

    def test_the_times_given_stay_as_they_are(self) -> None:
        """A formula works on a block in place at its own risk."""
        times = _times()
        before = times.copy()
        self.make()(times)
        expect(np.array_equal(times, before), "the array of times was changed")

    def test_the_infimum_is_the_worth_of_never(self) -> None:
        """What a run that never ends counts for."""
        utility = self.make()
        expect(utility.infimum == float(utility(math.inf)), "`infimum` is not the worth of an infinite time")

    def test_times_that_are_none_are_refused(self) -> None:
        """Below zero, or not a number."""
        utility = self.make()
        for time_s in (-1.0, math.nan):
            with expect_error(UtilityError, f"the time {time_s} must be refused with a UtilityError"):
                utility(time_s)

    def test_the_time_to_fall_to_a_level_is_the_first_one(self) -> None:
        """Just before it, the worth is above the level."""
        utility = self.make()
        for level in _LEVELS:
            time_s = utility.time_to_fall_to(level)
            if math.isfinite(time_s):
                expect(float(utility(time_s)) <= level, f"at {time_s} s the worth is still above {level}")
            elif utility.infimum <= level:
                continue
            before = math.nextafter(time_s, 0.0)
            expect(
                time_s == 0.0 or float(utility(before)) > level,
                f"the worth had fallen to {level} before {time_s} s",
            )

    def test_it_describes_itself_in_a_line(self) -> None:
        """And its text is the same utility again."""
        utility = self.make()
        expect(utility.describe().strip() and "\n" not in utility.describe(), "`describe` is not one line")
        if self.reads_back:
            again = parse_utility(str(utility))
            expect(again == utility, f"the text {str(utility)!r} reads back as another utility")


def _times() -> NDArray[np.float64]:
    """Sorted times from 0 to never, dense where utilities bend."""
    return np.concatenate([[0.0, 5e-324], np.geomspace(1e-6, 1e9, 500), [1e300, math.inf]])

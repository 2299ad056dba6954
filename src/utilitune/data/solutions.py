"""What recorded runs have found: the solutions of every run of a matrix, and what they are measured against.

A run has any number of points, each a moment with the quality of a solution, a bound on the best quality, or
both. Where only the end of a run counts it has one. All points lie in flat arrays, those of a run together
and in the order of time, so that rows and instances can be taken in any order without a copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

_TEXTS = ("objective", "better", "utility")
_OF_RUNS = ("first", "count", "failed")
_OF_POINTS = ("time_s", "quality", "bound")
_OF_INSTANCES = ("known", "default", "limit")


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSolutions:
    """The solutions of n × M runs.

    Attributes:
        objective: Whether the end of a run counts ("quality") or how it improves ("anytime").
        better: Which qualities are better: "smaller" or "larger".
        utility: What a solution is worth where nobody says otherwise, as text.
        first: n × M: where the points of each run begin.
        count: n × M: how many it has.
        failed: n × M: whether it failed by itself.
        time_s: When each point was there.
        quality: The quality of its solution; NaN where there is none.
        bound: The bound it reports; NaN where there is none.
        known: What is known of each instance beforehand; NaN where nothing is.
        default: What the default configuration reached on it; NaN where it found nothing.
        limit: A quality that no solution of it surpasses; NaN where none is known.
    """

    objective: str
    better: str
    utility: str
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    failed: NDArray[np.bool_]
    time_s: NDArray[np.float64]
    quality: NDArray[np.float64]
    bound: NDArray[np.float64]
    known: NDArray[np.float64]
    default: NDArray[np.float64]
    limit: NDArray[np.float64]

    def check(self, shape: tuple[int, int], source: str) -> None:
        """Raise a `DataError` where the parts do not belong together."""
        sizes = dict.fromkeys(_OF_RUNS, shape) | dict.fromkeys(_OF_INSTANCES, (shape[1],))
        sizes |= dict.fromkeys(_OF_POINTS, (self.time_s.size,))
        for name, size in sizes.items():
            if getattr(self, name).shape != size:
                raise DataError(
                    f"{name} of the solutions has the shape {getattr(self, name).shape}, not {size}",
                    path=source,
                )
        last = self.first + self.count
        if self.first.min() < 0 or self.count.min() < 0 or last.max() > self.time_s.size:
            raise DataError("a run names solutions that the data do not hold", path=source)
        if self.time_s.size and not (self.time_s.min() >= 0 and self.time_s.max() < math.inf):
            raise DataError("a solution was found at a time that is no time", path=source)

    def take_rows(self, rows: NDArray[np.int64]) -> RecordedSolutions:
        """Only the runs of these configurations, in this order."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _OF_RUNS})

    def of_run(self, row: int, column: int) -> slice:
        """Where the points of a run lie."""
        first = int(self.first[row, column])
        return slice(first, first + int(self.count[row, column]))

    def of_row(self, row: int) -> Iterator[NDArray[Any]]:
        """What the runs of one configuration have found, wherever their points lie."""
        first, count = self.first[row], self.count[row]
        yield count
        yield self.failed[row]
        points = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        for name in _OF_POINTS:
            yield getattr(self, name)[points]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Plain arrays to be written down, from which `from_arrays` restores it."""
        return {f"{PREFIX}{each.name}": np.asarray(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_arrays(cls, parts: Mapping[str, NDArray[Any]], source: str) -> RecordedSolutions:
        """From plain arrays, none of which is trusted."""
        found: dict[str, Any] = {}
        for name in (each.name for each in fields(cls)):
            array = parts.get(f"{PREFIX}{name}")
            kinds = "U" if name in _TEXTS else "iub" if name in _OF_RUNS else "fiu"
            if array is None or array.dtype.kind not in kinds:
                raise DataError(f"the solutions have no usable {PREFIX}{name}", path=source)
            if name in _TEXTS:
                found[name] = str(array.reshape(-1)[0]) if array.size == 1 else ""
            else:
                wanted = np.bool_ if name == "failed" else np.int64 if name in _OF_RUNS else np.float64
                found[name] = np.ascontiguousarray(array, dtype=wanted)
        return cls(**found)


PREFIX = "solution_"
"""Begins the names of the arrays in a file."""

KEYS = tuple(f"{PREFIX}{each.name}" for each in fields(RecordedSolutions))
"""All names of arrays in a file."""

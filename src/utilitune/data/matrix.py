"""The one type of recorded data: a matrix of runtimes, one row per configuration.

A row is a configuration, a stored column is an instance, and an entry is the runtime in seconds, or +∞
for "did not finish within the cutoff". Procedures do not walk the stored columns directly: they take
*positions* 0, 1, 2, … of a fixed instance order, and `columns` says which stored column each position
shows. Resampling is therefore an array of indices, never a copy of the runtimes.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from utilitune.data.solutions import RecordedSolutions


_ROW_STREAM = 1


@dataclass(frozen=True, slots=True, eq=False)
class RuntimeMatrix:
    """Recorded runtimes of n configurations on M instances.

    A run counts as finished when its runtime is strictly below the cutoff; a recorded time at or past it
    becomes +∞. With an infinite cutoff (the recording knows no limit) an infinite entry never finishes.

    Attributes:
        runtimes_s: n × M seconds, float32 or float64, C-contiguous; +∞ is "not finished within the cutoff".
        cutoff_s: The limit the runs were recorded with; ∞ when there was none.
        configurations: One distinct name per row.
        instances: One distinct name per stored column.
        columns: The stored column behind every position of the instance order.
        source: Where the data came from, for messages and reports.
        features: n × d numbers that describe the configurations (NaN where a parameter is inactive), or None.
        feature_names: One name per feature.
        random_columns: Whether the instance order is known to be random, because it was drawn here.
        random_rows: Whether the order of the configurations is, likewise.
        solutions: What the runs have found, where the quality of solutions counts; a run that failed then has
            the time after which it did.

    Example:
        >>> matrix = RuntimeMatrix.from_array([[1.0, 7.0], [2.0, 3.0]], cutoff_s=5)
        >>> matrix.runtimes_s.tolist()
        [[1.0, inf], [2.0, 3.0]]
        >>> matrix.resample(4, seed=1).columns.tolist()
        [0, 1, 1, 1]
    """

    runtimes_s: NDArray[np.floating[Any]]
    cutoff_s: float
    configurations: tuple[str, ...]
    instances: tuple[str, ...]
    columns: NDArray[np.int64]
    source: str = "array"
    features: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] = ()
    random_columns: bool = False
    random_rows: bool = False
    solutions: RecordedSolutions | None = None

    def __post_init__(self) -> None:
        cutoff_s = _checked_cutoff(self.cutoff_s, self.source)
        runtimes_s = _as_runtimes(self.runtimes_s, self.source)
        rows, width = runtimes_s.shape
        _check_names("configuration", self.configurations, rows, self.source)
        _check_names("instance", self.instances, width, self.source)
        self._refuse_impossible(runtimes_s)
        object.__setattr__(self, "cutoff_s", cutoff_s)
        object.__setattr__(self, "runtimes_s", _censored(runtimes_s, cutoff_s))
        object.__setattr__(self, "columns", _checked_columns(self.columns, width))
        if self.features is not None:
            features = np.ascontiguousarray(self.features, dtype=np.float64)
            if features.shape != (rows, len(self.feature_names)):
                raise DataError(
                    f"features have shape {features.shape}, but {rows} configurations with"
                    f" {len(self.feature_names)} named features need {(rows, len(self.feature_names))}",
                    path=self.source,
                )
            object.__setattr__(self, "features", features)
        if self.solutions is not None:
            self.solutions.check((rows, width), self.source)

    @classmethod
    def from_array(
        cls,
        runtimes_s: ArrayLike,
        cutoff_s: float = math.inf,
        *,
        configurations: Sequence[str] | None = None,
        instances: Sequence[str] | None = None,
        source: str = "array",
    ) -> RuntimeMatrix:
        """A matrix from anything two-dimensional; rows and columns without names are called c0, i0, …."""
        array = _as_runtimes(runtimes_s, source)
        rows, width = array.shape
        return cls(
            runtimes_s=array,
            cutoff_s=cutoff_s,
            configurations=_names("c", rows) if configurations is None else tuple(configurations),
            instances=_names("i", width) if instances is None else tuple(instances),
            columns=np.arange(width, dtype=np.int64),
            source=source,
        )

    @property
    def rows(self) -> int:
        """Number of configurations n."""
        return int(self.runtimes_s.shape[0])

    @property
    def positions(self) -> int:
        """Length of the instance order (M, or what was asked of `resample`)."""
        return int(self.columns.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Configurations × stored instances."""
        return self.rows, len(self.instances)

    @property
    def finished_share(self) -> float:
        """Share of stored runs that finished within the cutoff."""
        return float(np.count_nonzero(np.isfinite(self.runtimes_s)) / self.runtimes_s.size)

    def same_as(self) -> NDArray[np.int64]:
        """For every row the first one that is the same configuration: the same features and the same runs.

        Rows without features are told apart by their names alone. So are rows of which only the features are
        the same, as these need not say everything of a configuration.
        """
        first = np.arange(self.rows)
        if self.features is None:
            return first
        features = np.where(np.isnan(self.features), np.nan, self.features + 0.0)  # one NaN, and one zero
        groups: defaultdict[bytes, list[int]] = defaultdict(list)
        for row in range(self.rows):
            groups[features[row].tobytes()].append(row)
        for group in groups.values():
            known: dict[bytes, int] = {}
            for row in group if len(group) > 1 else ():
                first[row] = known.setdefault(self._runs_digest(row), row)
        return first

    def _runs_digest(self, row: int) -> bytes:
        """What is recorded of the runs of a configuration, as a short value."""
        digest = hashlib.sha256(self.runtimes_s[row].tobytes())
        for part in () if self.solutions is None else self.solutions.of_row(row):
            digest.update(part.tobytes())
        return digest.digest()

    def resample(self, count: int, seed: int) -> RuntimeMatrix:
        """The same runs with an instance order of `count` draws with replacement.

        The draws are ``numpy.random.default_rng(seed).integers(0, M, count)``.
        """
        if count < 1:
            raise UsageError(f"the number of resampled instances must be at least 1, not {count}")
        try:
            draws = _generator(seed).integers(0, self.positions, count)
            return replace(self, columns=self.columns[draws], random_columns=True)
        except MemoryError:
            raise UsageError(f"{count} resampled instances do not fit into memory; draw fewer") from None

    def shuffle_rows(self, seed: int) -> RuntimeMatrix:
        """The same configurations in a random order, by `random_order`."""
        return replace(self.take_rows(random_order(seed, self.rows)), random_rows=True)

    def shuffle_columns(self, seed: int) -> RuntimeMatrix:
        """The same instances in a random order, by ``numpy.random.default_rng(seed).permutation(M)``."""
        order = self.columns[_generator(seed).permutation(self.positions)]
        return replace(self, columns=order, random_columns=True)

    def take_rows(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> RuntimeMatrix:
        """Only these configurations, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < self.rows):
            raise UsageError(f"rows must lie between 0 and {self.rows - 1}")
        return replace(
            self,
            runtimes_s=self.runtimes_s[chosen],
            configurations=tuple(self.configurations[row] for row in chosen),
            features=None if self.features is None else self.features[chosen],
            random_rows=False,
            solutions=None if self.solutions is None else self.solutions.take_rows(chosen),
        )

    def _refuse_impossible(self, runtimes_s: NDArray[np.floating[Any]]) -> None:
        """Refuse NaN and negative runtimes, naming the first run that has one."""
        if runtimes_s.min() >= 0:  # the minimum is NaN when any entry is
            return
        row, column = np.unravel_index(np.argmin(runtimes_s >= 0), runtimes_s.shape)
        value = runtimes_s[row, column]
        what = "not a number" if np.isnan(value) else f"negative ({value:g} s)"
        raise DataError(
            f"the runtime of configuration {self.configurations[row]!r} on instance"
            f" {self.instances[column]!r} is {what}; use infinity for a run that did not finish",
            path=self.source,
        )


def random_order(seed: int, rows: int) -> NDArray[np.int64]:
    """A random order of configurations, by ``numpy.random.default_rng([seed, 1]).permutation(rows)``.

    The order of the instances follows from the seed alone. From one stream for both, a square matrix would
    get the same order for rows and columns, and a promise needs them to be independent.
    """
    _generator(seed)
    return np.random.default_rng([seed, _ROW_STREAM]).permutation(rows)


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise UsageError(f"a seed must be a whole number of at least 0, not {seed}")
    return np.random.default_rng(seed)


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(count))


def _as_runtimes(values: ArrayLike, source: str) -> NDArray[np.floating[Any]]:
    """The values as a C-contiguous float array of two dimensions, copied only where that is needed."""
    try:
        array = np.asarray(values)
        if array.dtype not in (np.float32, np.float64):
            if array.dtype.kind not in "fiu":
                raise DataError("runtimes must be numbers", path=source)
            array = array.astype(np.float64)
    except ValueError as error:
        raise DataError("the rows of the matrix differ in length", path=source) from error
    if array.ndim != 2:
        raise DataError(
            f"runtimes must be a table (configurations × instances), not an array of {array.ndim} dimensions",
            path=source,
        )
    if array.size == 0:
        raise DataError(f"the matrix is empty ({array.shape[0]} × {array.shape[1]})", path=source)
    return np.ascontiguousarray(array)


def _censored(runtimes_s: NDArray[np.floating[Any]], cutoff_s: float) -> NDArray[np.floating[Any]]:
    """Runtimes with every time at or past the cutoff replaced by ∞; the given array is left as it is."""
    if math.isinf(cutoff_s):
        return runtimes_s
    late = runtimes_s >= cutoff_s
    if np.isinf(runtimes_s[late]).all():
        return runtimes_s
    return np.where(late, runtimes_s.dtype.type(np.inf), runtimes_s)


def _checked_cutoff(cutoff_s: float, source: str) -> float:
    if not cutoff_s > 0:
        raise DataError(f"the cutoff must be a positive number of seconds, not {cutoff_s}", path=source)
    return float(cutoff_s)


def _check_names(kind: str, names: tuple[str, ...], count: int, source: str) -> None:
    if len(names) != count:
        raise DataError(f"{len(names)} {kind} names were given for {count} {kind}s", path=source)
    if len(set(names)) != count:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"the {kind} name {twice!r} occurs more than once; names must differ", path=source)


def _checked_columns(columns: ArrayLike, width: int) -> NDArray[np.int64]:
    order = np.ascontiguousarray(columns, dtype=np.int64)
    if order.ndim != 1 or order.size == 0 or order.min() < 0 or order.max() >= width:
        raise UsageError(f"an instance order must be a list of columns between 0 and {width - 1}")
    return order

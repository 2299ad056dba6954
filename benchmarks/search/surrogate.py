"""Runtimes fitted to a recording of a real solver.

The logarithm of a runtime is taken as the instance's own level, plus a few products of what a configuration
does (f) and how much an instance minds it (g), plus chance:

    ln t(c, i) = level_i + Σ_k f_k(c) · g_ik + noise,      f, g by a singular value decomposition.

Every f_k is fitted over the parameters by boosted trees; the trees are kept with the recording, so that a
surrogate is the same whatever version of a library fitted it. Instances of a task are made by mixing recorded
ones: near a recorded instance, never equal to it. The noise is as large as what the fit leaves unexplained,
and two fifths of it stand for repeated runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECORDINGS = Path(__file__).parent / "recordings"
COMPONENTS = 4
TREES = 150
DEPTH = 4
RATE = 0.06
STOPPED_COUNTS_AS = 1.5
"""A run that was stopped is taken as one of so many captimes."""


@dataclass(frozen=True)
class Trees:
    """Boosted trees in arrays: leaves have the feature −1.

    Attributes:
        base: What is added to all.
        feature: Per tree and node, the parameter asked.
        threshold: Go left up to this value.
        left: The node to the left; the one to the right follows it.
        right: The node to the right.
        value: What a leaf adds.
    """

    base: float
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]

    def __call__(self, units: NDArray[np.float64]) -> float:
        """The sum over all trees."""
        rows = np.arange(len(self.feature))
        node = np.zeros(len(rows), dtype=np.int64)
        for _ in range(DEPTH):
            feature = self.feature[rows, node]
            goes_left = units[np.maximum(feature, 0)] <= self.threshold[rows, node]
            step = np.where(goes_left, self.left[rows, node], self.right[rows, node])
            node = np.where(feature < 0, node, step)
        return self.base + float(self.value[rows, node].sum(dtype=np.float64))

    @classmethod
    def fit(cls, units: NDArray[np.float64], target: NDArray[np.float64], seed: int) -> Trees:
        """Boost trees on a target."""
        from sklearn.ensemble import GradientBoostingRegressor

        model = GradientBoostingRegressor(
            n_estimators=TREES,
            max_depth=DEPTH,
            learning_rate=RATE,
            subsample=0.7,
            max_features=0.4,
            min_samples_leaf=3,
            random_state=seed,
        ).fit(units.astype(np.float32), target)
        trees = [each[0].tree_ for each in model.estimators_]
        most = max(each.node_count for each in trees)

        def table(name: str, dtype: type, empty: float) -> NDArray:
            rows = np.full((len(trees), most), empty, dtype=dtype)
            for row, tree in zip(rows, trees, strict=True):
                row[: tree.node_count] = getattr(tree, name).reshape(tree.node_count)
            return rows

        feature = table("feature", np.int16, -1)
        return cls(
            float(model.init_.constant_.ravel()[0]),
            np.where(feature < 0, np.int16(-1), feature),
            table("threshold", np.float32, 0.0),
            table("children_left", np.int16, 0),
            table("children_right", np.int16, 0),
            (table("value", np.float64, 0.0) * RATE).astype(np.float32),
        )


@dataclass(frozen=True)
class Recording:
    """Recorded runs of a solver, and the trees fitted to them.

    Attributes:
        units: One row per configuration, parameters scaled to [0, 1], −1 where inactive.
        times_s: Seconds, one row per configuration, one column per instance; ∞ where a run was stopped.
        captime_s: Where runs were stopped.
        trees: One fit per component.
    """

    units: NDArray[np.float64]
    times_s: NDArray[np.float64]
    captime_s: float
    trees: tuple[Trees, ...] = field(default=())

    def _parts(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Levels of instances, f of configurations, g of instances, what is left over."""
        logs = np.log(np.where(np.isfinite(self.times_s), self.times_s, STOPPED_COUNTS_AS * self.captime_s))
        level = logs.mean(axis=0)
        left, size, right = np.linalg.svd(logs - level, full_matrices=False)
        f, g = left[:, :COMPONENTS] * size[:COMPONENTS], right[:COMPONENTS].T
        return level, f, g, logs - level - f @ g.T

    def fitted(self) -> Recording:
        """The same recording with trees."""
        _, f, _, _ = self._parts()
        trees = tuple(Trees.fit(self.units, column, seed) for seed, column in enumerate(f.T))
        return Recording(self.units, self.times_s, self.captime_s, trees)

    def write(self, path: Path) -> None:
        """Keep it in a file."""
        path.parent.mkdir(exist_ok=True)
        arrays = {
            f"{name}{number}": getattr(each, name)
            for number, each in enumerate(self.trees)
            for name in ("base", "feature", "threshold", "left", "right", "value")
        }
        np.savez_compressed(
            path,
            units=self.units.astype(np.float32),
            times_s=self.times_s.astype(np.float32),
            captime_s=self.captime_s,
            **arrays,
        )

    @classmethod
    def read(cls, path: Path) -> Recording:
        """Read it back."""
        with np.load(path) as file:
            trees = tuple(
                Trees(
                    float(file[f"base{number}"]),
                    *(file[f"{name}{number}"] for name in ("feature", "threshold", "left", "right", "value")),
                )
                for number in range(COMPONENTS)
            )
            return cls(
                file["units"].astype(np.float64),
                file["times_s"].astype(np.float64),
                float(file["captime_s"]),
                trees,
            )

    def law(self, instances: int, seed: int) -> SurrogateLaw:
        """Runtimes on instances like the recorded ones."""
        level, f, g, rest = self._parts()
        generator = np.random.default_rng(seed)
        first, second = generator.integers(0, len(level), size=(2, instances))
        share = generator.uniform(0.6, 1.0, size=instances)
        predicted = np.array([[tree(row) for tree in self.trees] for row in self.units])
        unexplained = np.concatenate([rest.ravel(), ((f - predicted) @ g.T).ravel()])
        return SurrogateLaw(
            self.trees,
            share * level[first] + (1 - share) * level[second] + generator.normal(0, 0.15, instances),
            share[:, None] * g[first] + (1 - share[:, None]) * g[second],
            float(np.sqrt(0.4 * 2 * np.mean(unexplained**2))),
        )


@dataclass(frozen=True)
class SurrogateLaw:
    """The fitted law on made instances."""

    trees: tuple[Trees, ...]
    level: NDArray[np.float64]
    g: NDArray[np.float64]
    noise: float

    def log_times(self, units: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Natural logarithms of a configuration's runtimes."""
        f = np.array([tree(units) for tree in self.trees])
        return self.level + self.g @ f + generator.normal(0, self.noise, len(self.level))

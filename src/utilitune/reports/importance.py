"""Which parameters matter: permutation importance in a forest that predicts mean utility.

The forest learns the mean utility of configurations from their parameters, each weighted by its runs. A
parameter's importance is by how much the prediction of configurations the trees have *not* seen gets worse
when its values are shuffled among them, as a share of the variance: 0 means that it tells nothing, and with
interactions the shares may sum to more than 1. The interval is that of the folds and shuffles (5 × 4), so it
shows how sure the figure is. A forest that predicts no better than the mean says so, and has no importances.

It is an observation about the configurations tried, which were not drawn for this purpose; it proves nothing.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.spaces import ParameterSpace

FEWEST = 20
"""Configurations with runs below which no forest is fitted."""

MOST = 2_000
"""Configurations a forest is fitted on at most: those with the most runs."""

_FOLDS = 5
_SHUFFLES = 4
_TREES = 32
_LEAF = 2
_SEED = 20_240
_LEAST_SKILL = 0.05


@dataclass(frozen=True, slots=True)
class Importance:
    """How much each parameter matters.

    Attributes:
        rows: Name, share of the variance that hangs on it, and both ends of its interval; largest first.
        skill: The share of the variance that the forest explains on configurations it has not seen.
        note: Why there are no rows, in a sentence; empty where there are.
    """

    rows: tuple[tuple[str, float, float, float], ...]
    skill: float
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rows": [
                {"name": name, "share": share, "low": low, "high": high}
                for name, share, low, high in self.rows
            ],
            "skill": self.skill,
            "note": self.note,
        }


def importance_of(
    space: ParameterSpace,
    assignments: Sequence[Mapping[str, Any]],
    means: NDArray[np.float64],
    runs: NDArray[np.int64],
) -> Importance:
    """How much each parameter matters for mean utility.

    Args:
        space: The parameters.
        assignments: Their values in every configuration that was run.
        means: Its mean utility.
        runs: How many runs that is the mean of.
    """
    if importlib.util.find_spec("sklearn") is None:
        return Importance(
            (), 0.0, "This needs scikit-learn, which is not installed: pip install scikit-learn."
        )
    if len(assignments) < FEWEST:
        return Importance(
            (), 0.0, f"{len(assignments)} configurations are too few to tell; {FEWEST} are needed."
        )
    if float(np.ptp(means)) <= 1e-9:
        return Importance(
            (), 0.0, "All configurations that were run are equally good, so no parameter matters."
        )
    kept = np.argsort(-runs, kind="stable")[:MOST]
    codes = space.codes([assignments[index] for index in kept]).T
    features = _filled(codes)
    losses, skill = _losses(features, means[kept], np.sqrt(runs[kept].astype(np.float64)))
    if skill < _LEAST_SKILL:
        return Importance(
            (),
            skill,
            "A model cannot predict mean utility from the parameters yet: more runs or configurations are "
            "needed, or no parameter matters.",
        )
    return Importance(tuple(_rows(space.names, losses)), skill, "")


def _filled(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Codes with the usual value where a parameter is not active, for that tells of another parameter."""
    active = np.isfinite(codes)
    usual = [
        float(np.median(column[there])) if there.any() else 0.0
        for column, there in zip(codes.T, active.T, strict=True)
    ]
    return np.where(active, codes, usual)


def _rows(names: Sequence[str], losses: NDArray[np.float64]) -> list[tuple[str, float, float, float]]:
    low, high = np.quantile(losses, [0.05, 0.95], axis=0)
    rows = [
        (name, max(0.0, float(share)), max(0.0, float(least)), max(0.0, float(most)))
        for name, share, least, most in zip(names, losses.mean(axis=0), low, high, strict=True)
    ]
    return sorted(rows, key=lambda row: -row[1])


def _losses(
    features: NDArray[np.float64], target: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """What shuffling each column costs, one line per fold and shuffle, and the forest's skill."""
    from sklearn.ensemble import RandomForestRegressor

    generator = np.random.default_rng(_SEED)
    fold = generator.permutation(len(target)) % _FOLDS
    variance = float(np.cov(target, aweights=weight))
    losses: list[NDArray[np.float64]] = []
    errors = total = 0.0
    for number in range(_FOLDS):
        out = fold == number
        forest = RandomForestRegressor(_TREES, min_samples_leaf=_LEAF, random_state=_SEED, n_jobs=1)
        forest.fit(features[~out], target[~out], weight[~out])
        tables = _shuffled(features[out], generator)
        predicted = forest.predict(tables.reshape(-1, features.shape[1])).reshape(len(tables), -1)
        found = np.average((predicted - target[out]) ** 2, axis=1, weights=weight[out])
        losses.append(found[1:].reshape(_SHUFFLES, -1) - found[0])
        errors += float(found[0] * weight[out].sum())
        total += float(weight[out].sum())
    return np.concatenate(losses) / max(variance, 1e-12), 1.0 - errors / max(total * variance, 1e-12)


def _shuffled(features: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """The table as it is, and then with one column after the other shuffled, as often as is asked for."""
    columns = features.shape[1]
    tables = np.repeat(features[None], 1 + _SHUFFLES * columns, axis=0)
    for number in range(_SHUFFLES * columns):
        column = number % columns
        tables[1 + number, :, column] = generator.permutation(features[:, column])
    return tables

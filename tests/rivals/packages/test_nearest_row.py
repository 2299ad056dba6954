from __future__ import annotations

import numpy as np
import pytest

from utilitune.errors import UsageError
from utilitune.rivals.packages.nearest import NearestRow


def test_every_row_is_nearest_to_itself():
    features = np.random.default_rng(1).random((30, 4)) * [1, 10, 100, 0] + [0, -5, 7, 3]
    nearest = NearestRow(features)
    low, high = features.min(axis=0), features.max(axis=0)
    width = np.where(high > low, high - low, 1)
    assert nearest.dimensions == 4
    assert [nearest.row(point) for point in (features - low) / width] == list(range(30))


def test_what_a_row_leaves_inactive_does_not_matter():
    nearest = NearestRow(np.array([[0.0, np.nan], [1.0, 0.0], [1.0, 1.0]]))
    assert nearest.row([0.1, 0.9]) == 0
    assert nearest.row([0.1, 0.0]) == 0
    assert nearest.row([0.9, 0.1]) == 1
    assert nearest.row([0.9, 0.8]) == 2


def test_data_without_features_are_refused():
    with pytest.raises(UsageError, match="utilitune collect"):
        NearestRow(np.empty((3, 0)))

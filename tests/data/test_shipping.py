"""The data that come with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from utilitune import read_matrix
from utilitune.data import shipping
from utilitune.data.shipping import SHIPPED
from utilitune.errors import DataError


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_data_are_read_by_name_and_described(name: str):
    matrix = read_matrix(f"shipped:{name}")
    assert matrix.source == f"shipped:{name}"
    assert matrix.features is not None
    rows, columns = matrix.shape
    description = Path(shipping.__file__).parent / "shipped" / f"{SHIPPED[name].stem}.md"
    assert f"{rows} configurations × {columns} instances" in description.read_text(encoding="utf-8")


def test_kissat_is_as_large_and_as_real_as_it_says():
    matrix = read_matrix("shipped:kissat")
    assert matrix.shape == (100, 300)
    assert matrix.cutoff_s == 5
    assert matrix.configurations[0] == "default"
    assert np.isfinite(matrix.runtimes_s).sum() == 29_994
    assert np.median(matrix.runtimes_s) < 0.004
    assert matrix.features.shape == (100, 15)


def test_unknown_shipped_data_and_options_they_do_not_have_are_refused():
    with pytest.raises(DataError, match="there is no shipped data set 'kissatt'; did you mean 'kissat'"):
        read_matrix("shipped:kissatt")
    with pytest.raises(DataError, match="has no seed to choose"):
        read_matrix("shipped:kissat?seed=2")
    assert read_matrix("shipped:kissat?cutoff=10ms").cutoff_s == 0.01

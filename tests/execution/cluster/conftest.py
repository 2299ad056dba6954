from __future__ import annotations

import sys

import pytest

from execution.cluster.on_loopback import DaskOnLoopback


@pytest.fixture(scope="session")
def needs_dask():
    """Skips where there is no Dask, or no /proc to look into."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")


@pytest.fixture(scope="module")
def dask(needs_dask):
    """Two workers, for a whole module."""
    cluster = DaskOnLoopback(workers=2)
    yield cluster
    cluster.close()

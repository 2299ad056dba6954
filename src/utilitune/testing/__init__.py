"""Suites that say what an implementation of a seam must keep, for ours and for yours.

Write a subclass whose name begins with ``Test``, say in `make` how yours is made, and let pytest collect it::

    from utilitune.testing import UtilitySuite

    class TestMyUtility(UtilitySuite):
        def make(self):
            return MyUtility()

Nothing here needs pytest: ``TestMyUtility().check_all()`` does the same. A sentence says what is broken.
"""

from __future__ import annotations

from utilitune.testing.backends import BackendSuite
from utilitune.testing.base import ContractError, Suite, expect
from utilitune.testing.bounds import BoundSuite
from utilitune.testing.engines import EngineSuite
from utilitune.testing.proposers import DrawsSuite, ProposerSuite
from utilitune.testing.searchers import SearcherSuite
from utilitune.testing.stores import StoreSuite
from utilitune.testing.targets import TargetSuite
from utilitune.testing.utilities import UtilitySuite

__all__ = [
    "BackendSuite",
    "BoundSuite",
    "ContractError",
    "DrawsSuite",
    "EngineSuite",
    "ProposerSuite",
    "SearcherSuite",
    "StoreSuite",
    "Suite",
    "TargetSuite",
    "UtilitySuite",
    "expect",
]

"""The names of search methods: those that are known, and what is said of others."""

from __future__ import annotations

import pytest

from utilitune.errors import ScenarioError
from utilitune.live.hunting import OWN_METHODS
from utilitune.search.naming import OWN, PEERS, require_known


def is_known(method: str) -> bool:
    """Whether a method of this name may search."""
    try:
        require_known(method)
    except ScenarioError:
        return False
    return True


@pytest.mark.parametrize("method", [*OWN, *PEERS, "module:Class"])
def test_what_may_search(method):
    assert is_known(method)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("smca", "did you mean 'smac'\\? \\(a class of your own is named as \"module:Class\"\\)$"),
        ("zzz", "known: irace, optuna-tpe, random, smac, utilitune \\(a class"),
    ],
)
def test_what_is_said_of_others(method, says):
    with pytest.raises(ScenarioError, match=f"there is no search method '{method}'; {says}"):
        require_known(method)


def test_everything_of_ours_that_has_a_name_can_be_made():
    assert tuple(OWN_METHODS) == OWN

"""The names of search methods that users write.

Who searches under a name is made in `utilitune.live.hunting`. The names stand here, so that a scenario file
is checked when it is read, long before anybody searches.
"""

from __future__ import annotations

from utilitune.errors import ScenarioError, did_you_mean

OWN = ("utilitune", "random")
"""Searches that follow from the outcomes of runs alone."""

PEERS = {"smac": "smac", "irace": "irace", "optuna-tpe": "optuna_tpe"}
"""Other packages that search, and what makes each of them; they lie above this room and come by name."""


def is_reference(method: str) -> bool:
    """Whether a method is a class of the user, "module:Class"."""
    return ":" in method


def require_known(method: str) -> None:
    """Refuse what is neither the name of a search method nor a class of the user.

    Raises:
        ScenarioError: There is no such method.
    """
    if not is_reference(method) and method not in (*OWN, *PEERS):
        raise ScenarioError(
            f"there is no search method {method!r}; {did_you_mean(method, [*OWN, *PEERS])} "
            '(a class of your own is named as "module:Class")'
        )

"""Suggesters that somebody else has written: what they name is checked before it is raced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utilitune.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np

    from utilitune.search.pool import Pool
    from utilitune.spaces import Assignment

PATIENCE = 100
"""After so many candidates in a row that were raced before, nothing new is left: search would go on for ever
without a run."""


class CheckedSuggester:
    """A suggester of one's own; everything else it can do, such as `belief`, is left as it is.

    Args:
        own: The suggester.
        reference: What the scenario calls it.
    """

    def __init__(self, own: Any, reference: str) -> None:  # noqa: ANN401 -- a user's object
        self._own = own
        self._reference = reference

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:
        """The next configuration that is no candidate yet; None if there seems to be none."""
        for _ in range(PATIENCE):
            found = self._own.suggest(pool, incumbent, generator)
            if found is None:
                return None
            candidate = self._checked(pool, found)
            if candidate not in pool.numbers:
                return candidate
        return None

    def _checked(self, pool: Pool, found: object) -> Assignment:
        if not isinstance(found, Mapping):
            raise ScenarioError(
                f"the search method {self._reference!r} must suggest values of the parameters by name, or "
                f"None, not {found!r}"
            )
        try:
            return pool.space.validate(found)
        except ScenarioError as error:
            raise ScenarioError(f"the search method {self._reference!r} suggested this: {error}") from None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the user's object has
        return getattr(self._own, name)

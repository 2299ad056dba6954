"""The error of this room: a space that makes no sense, with the key that is to blame."""

from __future__ import annotations

from utilitune.errors import ScenarioError


class SpaceError(ScenarioError):
    """A parameter, condition or clause is wrong.

    Attributes:
        reason: The sentence alone, for a reader that adds file and line.
        where: The key path to blame in the table form of a space, such as
            ``("parameters", "restarts", "default")`` or ``("forbidden", 0, "clause")``.
    """

    def __init__(self, reason: str, where: tuple[str | int, ...] = ()) -> None:
        self.reason = reason
        self.where = where
        super().__init__(reason)

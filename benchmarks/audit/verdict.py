"""What one search of the audit tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a search promised too much, and whether it could have been found out; true if it did.

    Attributes:
        failed: Whether a promise was false at any moment.
        caught: Whether the worst configuration in play, given as the answer with the claimed ε, would ever
            have been wrong; None where nobody looked.
    """

    failed: bool
    caught: bool | None = None

    def __bool__(self) -> bool:
        return self.failed

    def __or__(self, other: Verdict) -> Verdict:
        """What two looks at one search tell together."""
        looked = [each for each in (self.caught, other.caught) if each is not None]
        return Verdict(self.failed or other.failed, any(looked) if looked else None)


NOTHING_SEEN = Verdict(failed=False)

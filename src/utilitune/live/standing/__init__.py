"""Where a run stands, in numbers a user can act on: pure functions of stored facts.

How good the answer and the default are (`worths`), what ε means in the user's own terms (`terms`), why it
falls or does not and what more of it costs (`outlook`), and what failed runs have in common (`failures`).
`standing` puts them together; every screen, file and result shows the same numbers because all ask it.
"""

from __future__ import annotations

from utilitune.live.standing.standing import Standing, standing_of

__all__ = ["Standing", "standing_of"]

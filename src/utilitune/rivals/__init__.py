"""Rival procedures, on the same runs and the same accounting as our own.

A rival is a value, its settings: make one by its class, or by the name and the words users write
(`rival_named`), and let it work with `utilitune.replay_rival`.
"""

from __future__ import annotations

from utilitune.rivals.naming import RIVALS, rival_named
from utilitune.rivals.rival import RankedBy, Rival, RivalStanding

__all__ = ["RIVALS", "RankedBy", "Rival", "RivalStanding", "rival_named"]

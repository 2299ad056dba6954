"""Fresh orders of a list of instances, one for every nominee.

A configuration that was chosen because of outcomes must not be judged on an order that shaped the choice. On
a list the remedy is an order of its own, drawn at random and revealed only after the nominee is stored: given
everything that shaped the nominee, the order is still uniformly random (docs/theory.md, section 7).

Orders follow from a run's *entropy* and the nominee's number alone, so a run that is resumed finds them
again. The entropy is drawn when the run folder is made. It must not follow from the scenario's seed: a second
run with the same seed that is given the first run's answer would judge it on the order that made it the
answer.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def new_entropy() -> str:
    """Entropy that nobody could have known: 32 random hexadecimal digits."""
    return secrets.token_hex(16)


def fresh_order(entropy: str, number: int, positions: int) -> NDArray[np.int32]:
    """The order of nominee `number` (from 1): all positions of the stored order, each once.

    Every position is ranked by a hash of entropy, number and position, so that the order is the same on every
    machine and in every version.

    Args:
        entropy: That of the run.
        number: The nominee's number among the nominees of the run, from 1.
        positions: How many instance–seed pairs the list has.

    Example:
        >>> [int(position) for position in fresh_order("example", 1, 5)]
        [2, 3, 0, 4, 1]
    """
    ranks = [
        hashlib.blake2b(f"{entropy}/{number}/{position}".encode(), digest_size=16).digest()
        for position in range(positions)
    ]
    return np.array(sorted(range(positions), key=ranks.__getitem__), dtype=np.int32)

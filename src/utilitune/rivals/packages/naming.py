"""Peers by the names users write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.errors import UsageError, did_you_mean
from utilitune.rivals.naming import with_settings
from utilitune.rivals.packages.irace_peer import Irace
from utilitune.rivals.packages.optuna_peer import OptunaRandom, OptunaTpe
from utilitune.rivals.packages.smac_peer import Smac

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.rivals.packages.peer import Peer

PEERS: dict[str, type[Peer]] = {peer.name: peer for peer in (OptunaRandom, OptunaTpe, Smac, Irace)}
"""Every peer, by the name users write."""


def peer_named(name: str, settings: Mapping[str, str] | None = None) -> Peer:
    """The peer of that name with these settings; what is left out keeps its default.

    Example:
        >>> peer_named("optuna-tpe", {"instances": "16", "captime": "1m"}).captime_s
        60.0
    """
    if name not in PEERS:
        raise UsageError(f"there is no peer {name!r}; {did_you_mean(name, PEERS)}")
    return with_settings(PEERS[name], name, settings or {})

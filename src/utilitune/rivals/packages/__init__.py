"""Heuristic configurators as real packages, on the same runs and the same account of time as everyone else.

A peer proposes configurations; everything else is ours. It plays on an `Arena`, which makes the runs, charges
each of them to one budget of run time, and tells the peer what came of it. Behind an arena there is a ground:

- `recorded`: a matrix with features of its configurations; the nearest recorded one is run in place of a
  proposal (`nearest`);
- `live`: a scenario's program, metered and stopped by us, every run kept in a run folder.

Peers promise nothing and are never needed; their packages are loaded when one plays.

- `arena`: runs, budget, and where a peer stands;
- `peer`: what all peers share;
- `optuna_peer`, `smac_peer`, `irace_peer`: one adapter per package (`irace_files` is what irace reads);
- `naming`: peers by the names users write.
"""

from __future__ import annotations

from utilitune.rivals.packages.irace_peer import Irace
from utilitune.rivals.packages.live import play_live
from utilitune.rivals.packages.naming import PEERS, peer_named
from utilitune.rivals.packages.optuna_peer import OptunaRandom, OptunaTpe
from utilitune.rivals.packages.peer import Peer
from utilitune.rivals.packages.smac_peer import Smac

__all__ = ["PEERS", "Irace", "OptunaRandom", "OptunaTpe", "Peer", "Smac", "peer_named", "play_live"]

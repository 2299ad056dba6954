"""Heuristic optimisers as real packages, playing on recorded runtimes under the same account of time.

A peer is a rival (see `utilitune.baselines.rival`) that proposes points of the space of configuration
features; the nearest recorded configuration is run in its place. Peers promise nothing and are never needed:
they come with the extra ``peers``.

- `nearest`: from a proposed point to a recorded row;
- `optuna_peer`: Optuna with its random or TPE sampler and its median pruner.
"""

from __future__ import annotations

from utilitune.peers.optuna_peer import OptunaPeer, Sampler, optuna_is_installed

__all__ = ["OptunaPeer", "Sampler", "optuna_is_installed"]

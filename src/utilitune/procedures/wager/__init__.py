"""The procedure `wager`: the paper's promise for a small part of its cost.

It bets on censored observations (`procedures.bounds.betting`), compares configurations on the same instances
(`procedures.bounds.paired`) and shares δ so that only what can go wrong pays (`shares`). The modules:

- `shares`: how δ is shared, and why that suffices.
- `captimes`: the captime grid and the Kaplan–Meier estimate of runtimes.
- `state`: what is known of each configuration.
- `observation`: what a run tells when it is looked at up to a captime.
- `capital`: the three bounds computed from observations.
- `leader`: leader, challenger, and the ε that follows.
- `planning`: captimes by growth per second.
- `strategy`: how much the leader's own bound is worth, against the challengers'.
- `rounds`: the compiled loop.
- `intervals`: what longer looks are likely to show, where a run is worth something before its end.
- `foresight`, `ahead`: which runs are likely to be needed soon.
- `roster`: who is in play, and as what.
- `growth`, `beginning`, `engine`: stages, the state before the first run, and books around it.
- `claims`: what is proved, said whenever somebody asks; `gains`: about two configurations, from all that is
  known of both; `beside`: from what search has looked at, too; `seen`: all runs that it has consumed.
- `settings`: what a user can set; `tuning`: all other numbers, with their units and effects.
"""

from utilitune.procedures.wager.engine import WagerEngine
from utilitune.procedures.wager.growth import Adaptive, is_worth_listing
from utilitune.procedures.wager.settings import WagerSettings

__all__ = ["Adaptive", "WagerEngine", "WagerSettings", "is_worth_listing"]

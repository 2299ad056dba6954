"""UP, OUP and COUP of the paper: each picks a selection and a growth rule, and all share one loop.

- `engine`: the three procedures as compositions, and the engine that drives the loop;
- `loop`: Algorithms 1 and 2 of the paper, one round at a time, compiled;
- `arms`: what the loop keeps of each configuration.
"""

from utilitune.procedures.paper.engine import PaperEngine, PaperSettings, coup, oup, up

__all__ = ["PaperEngine", "PaperSettings", "coup", "oup", "up"]

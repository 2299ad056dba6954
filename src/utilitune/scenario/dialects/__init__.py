"""Scenario files of other tools, read as they are.

- `understanding`: a scenario, and what was understood of the file it came from;
- `detect`: which tool a file was written for;
- `r_literals`, `r_tables`: the part of R that irace scenarios and tables of configurations are written in;
- `irace` and `smac`: one reader per tool;
- `instance_lists`, `configurations`: the files beside a scenario that both have;
- `reading`: the two functions everyone else uses.

Whatever a file says becomes part of the scenario, or is listed as having no meaning here, or is refused with
its line.
"""

from __future__ import annotations

from utilitune.scenario.dialects.reading import read_scenario, understand
from utilitune.scenario.dialects.understanding import Dialect, Understanding

__all__ = ["Dialect", "Understanding", "read_scenario", "understand"]

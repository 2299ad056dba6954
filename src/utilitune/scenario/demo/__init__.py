"""A real configuration task that can be tried at once: kissat on ordering-principle formulas.

- `ordering`: the formulas, made from a seed;
- `task`: where kissat lies, and a folder with instances and scenario.
"""

from __future__ import annotations

from utilitune.scenario.demo.task import prepare, solver_path

__all__ = ["prepare", "solver_path"]

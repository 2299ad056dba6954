"""The seven figures of the paper, on any recorded data.

::

    setting     what the paper's experiments mean on a data set, and how good its configurations truly are
    jobs        one procedure on one data set with one seed, and what came of it
    running     many jobs on several cores, each result kept by a fingerprint of what it depends on
    recipe      what a figure is made of: series of jobs, a table, a picture, claims
    proofs      Figures 1, 2 and 6
    phases      Figures 3 and 4
    gaps        Figures 5 and 7
    drawing     panels and curves
    making      from a data set to the files of all figures

Everything is made with the public parts of the package: what stands here could be written by a user.
"""

from __future__ import annotations

from utilitune.reports.reproduction.making import FIGURES, FigureReport, reproduce
from utilitune.reports.reproduction.recipe import Claim, Effort

__all__ = ["FIGURES", "Claim", "Effort", "FigureReport", "reproduce"]

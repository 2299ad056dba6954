"""What an answer is worth after a given time.

A `Utility` maps runtimes to [0, 1] and never rises. ``base`` says what all share, ``parameters`` and
``families`` hold the ones with a formula, ``piecewise`` the one from points, ``functions`` a user's own
Python function, ``text`` the way from text to any of them, and ``durations`` times with units.
"""

from utilitune.utility.base import Family, Utility
from utilitune.utility.durations import format_duration, parse_duration
from utilitune.utility.families import (
    CostPerHour,
    Exponential,
    GeneralisedLogLaplace,
    LogLaplace,
    Pareto,
    Plateau,
    Polynomial,
    Step,
    Uniform,
)
from utilitune.utility.functions import FunctionUtility, utility_from_callable
from utilitune.utility.piecewise import PiecewiseLinear
from utilitune.utility.text import FAMILIES, as_utility, parse_utility

__all__ = [
    "FAMILIES",
    "CostPerHour",
    "Exponential",
    "Family",
    "FunctionUtility",
    "GeneralisedLogLaplace",
    "LogLaplace",
    "Pareto",
    "PiecewiseLinear",
    "Plateau",
    "Polynomial",
    "Step",
    "Uniform",
    "Utility",
    "as_utility",
    "format_duration",
    "parse_duration",
    "parse_utility",
    "utility_from_callable",
]

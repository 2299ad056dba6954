"""What an answer is worth: after a given time, and by the quality of its solution.

A `Utility` maps runtimes to [0, 1] and never rises. ``base`` says what all share, ``parameters`` and
``families`` hold the ones with a formula, ``piecewise`` the one from points, ``functions`` a user's own
Python function (``carried`` to where other processes find it), and ``combining`` the product and the minimum
of several. A `SolutionUtility`, in ``solutions``, also judges the quality of a solution. ``text`` holds the
way from text to any of them, ``picture`` draws them for a terminal, ``designing`` finds somebody's own, and
``durations`` reads times with units.
"""

from utilitune.utility.base import Family, Utility
from utilitune.utility.combining import Minimum, Product
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
from utilitune.utility.solutions import (
    Compared,
    Gap,
    Goal,
    Reached,
    RelativeGap,
    SolutionUtility,
    Standard,
)
from utilitune.utility.text import (
    FAMILIES,
    QUALITY_FAMILIES,
    as_utility,
    parse_any_utility,
    parse_solution_utility,
    parse_utility,
)

__all__ = [
    "FAMILIES",
    "QUALITY_FAMILIES",
    "Compared",
    "CostPerHour",
    "Exponential",
    "Family",
    "FunctionUtility",
    "Gap",
    "GeneralisedLogLaplace",
    "Goal",
    "LogLaplace",
    "Minimum",
    "Pareto",
    "PiecewiseLinear",
    "Plateau",
    "Polynomial",
    "Product",
    "Reached",
    "RelativeGap",
    "SolutionUtility",
    "Standard",
    "Step",
    "Uniform",
    "Utility",
    "as_utility",
    "format_duration",
    "parse_any_utility",
    "parse_duration",
    "parse_solution_utility",
    "parse_utility",
    "utility_from_callable",
]

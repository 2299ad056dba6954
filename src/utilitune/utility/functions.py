"""A user's own Python function as a utility, checked before it is trusted.

The guarantees rest on u being non-increasing inside [0, 1], so a function is tried on a dense grid
of times first, and the error names where it fails. Past the horizon of that grid the function is
not asked again: the worth stays what it is there, so that nothing unchecked is ever used.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import UsageError, UtilityError, did_you_mean
from utilitune.utility.base import Utility, exact_text
from utilitune.utility.carried import PREFIX as CARRIED
from utilitune.utility.carried import imported, place_of
from utilitune.utility.durations import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

PREFIX = "python:"
DEFAULT_HORIZON_S = 1e7

_TOLERANCE = 1e-9  # rounding inside a formula is no violation
_SHORTEST_S = 1e-6
_POINTS_PER_DECADE = 1000
_REFERENCE = re.compile(
    r"python:\s*(?P<module>\w+(?:\.\w+)*)\s*:\s*(?P<function>\w+(?:\.\w+)*)\s*"
    r"(?:\(\s*horizon\s*=(?P<horizon>[^()]*)\))?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FunctionUtility(Utility):
    """A checked Python function; build it with `utility_from_callable` or `load_function`.

    Attributes:
        function: From seconds to worth.
        reference: ``module:function``, where it can be imported from.
        horizon_s: Time up to which it was checked; later times count as this one.
        takes_arrays: Whether the function gives the same worths for an array at once.
    """

    function: Callable[[Any], Any]
    reference: str
    horizon_s: float = DEFAULT_HORIZON_S
    takes_arrays: bool = field(default=False, compare=False)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        times = np.minimum(time_s, self.horizon_s)
        worth = _call_once(self.function, times) if self.takes_arrays else None
        if worth is None:
            worth = _call_each(self.function, times, self.reference)
        _require_inside(worth, times, self.reference)
        return np.clip(worth, 0.0, 1.0)

    def __str__(self) -> str:
        horizon = "" if self.horizon_s == DEFAULT_HORIZON_S else f"(horizon={exact_text(self.horizon_s)})"
        return f"{PREFIX}{self.reference}{horizon}"

    def describe(self) -> str:
        """The utility in one line of plain words."""
        half_s = self.time_to_fall_to(0.5)
        half = (
            f"falls to 1/2 at {format_duration(half_s)}" if half_s <= self.horizon_s else "never falls to 1/2"
        )
        module, _, name = self.reference.partition(":")
        called = f"{name} of a script or notebook" if module.startswith(CARRIED) else self.reference
        return f"the Python function {called}: worth {self(0.0):.3g} at once, {half}"


def utility_from_callable(
    function: Callable[[Any], Any], *, horizon_s: float = DEFAULT_HORIZON_S
) -> FunctionUtility:
    """Check a function from seconds to worth and make it a utility.

    It may take one float at a time or a whole array (much faster on large data). It is tried at 0, on
    1000 times per decade from a microsecond on, and at the horizon.

    Args:
        function: Non-increasing, with values in [0, 1].
        horizon_s: Seconds after which the worth is taken to stay the same.

    Raises:
        UtilityError: The function fails, leaves [0, 1], or rises; the text names the times.
    """
    checked = _checked(function, getattr(function, "__qualname__", type(function).__qualname__), horizon_s)
    return replace(checked, reference=":".join(place_of(function)))


def load_function(text: str) -> FunctionUtility:
    """Import and check the function that ``python:package.module:function`` names.

    The current directory is importable meanwhile. A horizon other than the default follows the name
    in parentheses: ``python:package.module:function(horizon=1e9)``.
    """
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        raise UtilityError(f"{text!r} does not name a Python function: write python:package.module:function")
    try:
        horizon_s = DEFAULT_HORIZON_S if match["horizon"] is None else parse_duration(match["horizon"])
    except UsageError as error:
        raise UtilityError(f"the horizon in {text!r} cannot be read: {error}") from None
    function = _imported(match["module"], match["function"])
    return _checked(function, f"{match['module']}:{match['function']}", horizon_s)


def shown_name(text: str) -> str:
    """A utility as its user knows it: a function of a script or notebook by its own name.

    >>> shown_name("python:utilitune_carried_worth:worth"), shown_name("uniform(k0=60)")
    ('worth (Python)', 'uniform(k0=60)')
    """
    return re.sub(rf"{PREFIX}{CARRIED}\w+:(\w+)", r"\1 (Python)", text)


def _imported(module_name: str, function_name: str) -> Callable[[Any], Any]:
    with _current_directory_importable():
        try:
            found: Any = imported(module_name)
        except ModuleNotFoundError as error:
            if module_name.startswith(CARRIED):
                raise UtilityError(
                    f"the utility {function_name!r} lives in a script or notebook: open this run from there"
                ) from None
            raise UtilityError(
                f"there is no Python module {error.name!r} for the utility {module_name}:{function_name}:"
                " install it, put it beside the scenario, or start from the folder that holds it"
            ) from None
        except ImportError as error:
            raise UtilityError(
                f"the module {module_name!r} of the utility cannot be imported: {error}"
            ) from error
    for part in function_name.split("."):
        if not hasattr(found, part):
            public = [
                name for name, value in vars(found).items() if callable(value) and not name.startswith("_")
            ]
            raise UtilityError(f"{module_name!r} has no function {part!r}: {did_you_mean(part, public)}")
        found = getattr(found, part)
    if not callable(found):
        raise UtilityError(f"{module_name}:{function_name} is not a function but {found!r}: name a function")
    function: Callable[[Any], Any] = found
    return function


@contextmanager
def _current_directory_importable() -> Iterator[None]:
    here = os.getcwd()  # noqa: PTH109 - sys.path holds texts
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(here)


def _checked(function: Callable[[Any], Any], reference: str, horizon_s: float) -> FunctionUtility:
    if not (np.isfinite(horizon_s) and horizon_s > _SHORTEST_S):
        raise UtilityError(f"the horizon of {reference} must be a time above 1 µs, not {horizon_s}")
    times = _grid(horizon_s)
    worth = _call_once(function, times)
    takes_arrays = worth is not None and _same_for_a_part(function, times, worth)
    if worth is None or not takes_arrays:
        worth = _call_each(function, times, reference)
    _require_inside(worth, times, reference)
    _require_non_increasing(worth, times, reference)
    return FunctionUtility(function, reference, float(horizon_s), takes_arrays)


def _grid(horizon_s: float) -> NDArray[np.float64]:
    points = 2 + int(_POINTS_PER_DECADE * np.log10(horizon_s / _SHORTEST_S))
    return np.concatenate([[0.0], np.geomspace(_SHORTEST_S, horizon_s, points)])


def _call_once(function: Callable[[Any], Any], times: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The worths from one call with an array, or None where the function cannot do that."""
    try:
        with np.errstate(all="ignore"):
            worth = np.asarray(function(times.copy()), dtype=np.float64)
    except Exception:  # noqa: BLE001 - any failure means "not with arrays"; single calls then tell why
        return None
    return worth if worth.shape == times.shape else None


def _same_for_a_part(
    function: Callable[[Any], Any], times: NDArray[np.float64], worth: NDArray[np.float64]
) -> bool:
    """Whether the worth of a time does not depend on which other times are asked for with it."""
    middle = slice(times.size // 2, times.size * 9 // 10)
    part = _call_once(function, times[middle])
    return part is not None and np.allclose(part, worth[middle], rtol=0, atol=_TOLERANCE, equal_nan=True)


def _call_each(
    function: Callable[[Any], Any], times: NDArray[np.float64], reference: str
) -> NDArray[np.float64]:
    worth = np.empty_like(times)
    for index, time_s in enumerate(times.tolist()):
        try:
            worth[index] = function(time_s)
        except Exception as error:
            raise UtilityError(
                f"the utility {reference} failed at {time_s!r} s with {type(error).__name__}: {error}"
            ) from error
    return worth


def _require_inside(worth: NDArray[np.float64], times: NDArray[np.float64], reference: str) -> None:
    inside = (worth >= -_TOLERANCE) & (worth <= 1 + _TOLERANCE)
    if not inside.all():
        wrong = int(np.argmin(inside))
        raise UtilityError(
            f"the utility {reference} is worth {float(worth[wrong])!r} at {float(times[wrong])!r} s:"
            " scale it to stay between 0 and 1"
        )


def _require_non_increasing(worth: NDArray[np.float64], times: NDArray[np.float64], reference: str) -> None:
    lowest = np.minimum.accumulate(worth)
    rises = worth > lowest + _TOLERANCE
    if rises.any():
        late = int(np.argmax(rises))
        early = int(np.flatnonzero(worth[:late] == lowest[late])[-1])
        raise UtilityError(
            f"the utility {reference} rises from {float(worth[early])!r} at {float(times[early])!r} s"
            f" to {float(worth[late])!r} at {float(times[late])!r} s: a later answer must never be worth more"
        )

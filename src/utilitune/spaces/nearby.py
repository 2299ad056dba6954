"""Values near a value of one parameter, for searches that improve a configuration step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.spaces.parameters import ChoiceParameter, NumberParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.spaces.parameters import Parameter

_STEP = 0.2


def nearby(
    parameter: Parameter, codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Codes near these ones, none of them NaN.

    A number takes a normal step, a fifth of the range wide on the parameter's own scale; an ordered choice
    goes one up or down; any other choice becomes any other value.
    """
    if isinstance(parameter, NumberParameter):
        return _stepped(parameter, codes, generator)
    return _switched(parameter, codes, generator)


def _stepped(
    parameter: NumberParameter, codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    low, high = parameter.low, parameter.high
    steps = generator.normal(0.0, _STEP, codes.shape)
    unit = np.clip(parameter.to_unit(codes) + steps, 0.0, 1.0)
    moved = low * (high / low) ** unit if parameter.log else low + unit * (high - low)
    if parameter.integer:
        change = np.round(moved - codes)
        moved = codes + np.where(change == 0.0, np.sign(steps), change)
    elif parameter.digits is not None:
        moved = np.round(moved, parameter.digits)
    return np.asarray(np.clip(moved, low, high))


def _switched(
    parameter: ChoiceParameter, codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    last = len(parameter.choices) - 1
    if parameter.ordered:
        return np.asarray(np.clip(codes + generator.choice([-1.0, 1.0], codes.shape), 0.0, last))
    if last == 0:
        return codes
    return (codes + generator.integers(1, last, codes.shape, endpoint=True)) % (last + 1)

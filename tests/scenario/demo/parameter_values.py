"""Values at which a parameter is most likely to be refused."""

from __future__ import annotations

from utilitune.spaces import ChoiceParameter, NumberParameter


def extreme_values(parameter: ChoiceParameter | NumberParameter) -> list[object]:
    """All choices, or both ends of a range."""
    if isinstance(parameter, ChoiceParameter):
        return list(parameter.choices)
    return [parameter.low, parameter.high]

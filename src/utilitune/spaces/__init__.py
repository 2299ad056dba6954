"""Parameter spaces: what may be set, when it applies, what may not go together.

- `parameters`: one number or one choice, with its domain, default and scale;
- `terms`: calculations with the numbers of a configuration;
- `dependent`: ranges that depend on other parameters;
- `expressions`, `grammar` and `parser`: conditions and forbidden clauses, read by a small safe grammar;
- `satisfiability`: whether a condition can ever hold;
- `assignment`: one point of a space, frozen and hashable;
- `space`: the space itself: default, uniform draws, encoding for models;
- `nearby`: values near a value, for searches that go step by step;
- `tables`: the plain form that scenario files and snapshots hold;
- `configspace`: the same space as a ConfigSpace object or its JSON file;
- `dialects`: the parameter files of other tools, read and written.

ConfigSpace is what people exchange spaces in, and the adapter speaks it in both directions. Draws,
conditions and clauses are evaluated here, on whole columns: a hundred thousand configurations take
seconds, and every reader gets the same exact meaning.
"""

from __future__ import annotations

from utilitune.spaces.assignment import Assignment
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.space import INACTIVE, ParameterSpace

__all__ = [
    "INACTIVE",
    "Assignment",
    "ChoiceParameter",
    "NumberParameter",
    "Parameter",
    "ParameterSpace",
    "SpaceError",
    "Value",
]

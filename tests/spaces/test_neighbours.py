from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spaces.random_spaces import random_space
from utilitune.spaces import ParameterSpace


@given(seed=st.integers(0, 2**16))
def test_neighbours_are_valid_points_of_the_space(seed):
    space = random_space(seed)
    generator = np.random.default_rng(seed)
    bases = space.sample_codes(generator, 3)
    for neighbour in space.assignments(space.neighbour_codes(bases, generator, 8)):
        assert space.validate(neighbour) == neighbour


def test_a_neighbour_changes_one_parameter_and_what_that_switches_on():
    space = ParameterSpace.from_tables(
        {
            "solver": {"type": "categorical", "values": ["quick", "deep", "both"]},
            "depth": {"type": "integer", "range": [1, 9], "when": "solver == 'deep'"},
            "rate": {"type": "float", "range": [0.001, 1.0], "log": True},
        }
    )
    generator = np.random.default_rng(3)
    base = space.validate({"solver": "quick", "rate": 0.1})
    found = space.assignments(space.neighbour_codes(space.codes([base]), generator, 200))
    changes = {
        frozenset(name for name in {*base, *other} if base.get(name) != other.get(name)) for other in found
    }
    assert changes == {frozenset({"rate"}), frozenset({"solver"}), frozenset({"solver", "depth"})}
    depths = {other["depth"] for other in found if "depth" in other}
    assert len(depths) > 5

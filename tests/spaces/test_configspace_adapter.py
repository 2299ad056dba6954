from __future__ import annotations

import json
from typing import TYPE_CHECKING

import ConfigSpace
import numpy as np
import pytest
from ConfigSpace.types import NotSet
from hypothesis import given, settings
from hypothesis import strategies as st

from spaces.random_spaces import random_space
from utilitune.errors import ScenarioError
from utilitune.spaces import Assignment, ParameterSpace, SpaceError
from utilitune.spaces.configspace import from_configspace, from_json, to_configspace, to_json
from utilitune.spaces.dialects import read_parameter_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_json_gives_the_same_draws(seed: int):
    space = random_space(seed)
    again = from_json(to_json(space))
    assert again.names == space.names
    assert again.default() == space.default()
    assert drawn(again, 5) == drawn(space, 5)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_configspace_judges_our_draws_as_we_do(seed: int):
    space = random_space(seed)
    try:
        theirs = to_configspace(space)
    except SpaceError as error:
        assert "ConfigSpace refuses" in str(error)  # noqa: PT017
        return
    conditions = {condition.child.name: condition for condition in theirs.conditions}
    for draw in drawn(space, 5):
        values = {name: draw.get(name, NotSet) for name in space.names}
        for name in space.names:
            assert (name in draw) == (name not in conditions or conditions[name].satisfied_by_value(values))
        assert not any(clause.is_forbidden_value(dict(draw)) for clause in theirs.forbidden_clauses)


def drawn(space: ParameterSpace, count: int) -> list[Assignment]:
    try:
        return space.sample(np.random.default_rng(1), count)
    except SpaceError as error:
        assert "exclude nearly everything" in str(error)  # noqa: PT017
        return []


def test_every_kind_configspace_has_is_read():
    theirs = ConfigSpace.ConfigurationSpace()
    theirs.add(
        ConfigSpace.Float("x", (0.1, 10.0), log=True, default=1.0),
        ConfigSpace.Integer("n", (1, 9), default=3),
        ConfigSpace.Categorical("c", ["a", "b"], weights=[3, 1], default="b"),
        ConfigSpace.OrdinalHyperparameter("o", ["s", "m", "l"]),
        ConfigSpace.Constant("k", "fixed"),
    )
    theirs.add(
        ConfigSpace.AndConjunction(
            ConfigSpace.NotEqualsCondition(theirs["x"], theirs["c"], "a"),
            ConfigSpace.GreaterThanCondition(theirs["x"], theirs["o"], "s"),
        ),
        ConfigSpace.ForbiddenGreaterThanEqualsClause(theirs["n"], 8),
    )
    ours = from_configspace(theirs)
    assert set(ours.names) == {"x", "n", "c", "o", "k"}
    assert ours.default() == {"n": 3, "c": "b", "o": "s", "k": "fixed"}
    tables = ours.to_tables()
    assert tables["parameters"]["x"]["when"] == "c != 'a' and o > 's'"
    assert tables["forbidden"] == [{"clause": "n >= 8"}]
    assert tables["parameters"]["c"]["weights"] == [3.0, 1.0]


def test_distributions_that_are_not_uniform_are_refused():
    theirs = ConfigSpace.ConfigurationSpace(
        {"x": ConfigSpace.Float("x", (0, 1), distribution=ConfigSpace.Normal(0.5, 1))}
    )
    with pytest.raises(SpaceError, match="only uniform draws"):
        from_configspace(theirs)


def test_a_relation_in_a_condition_cannot_be_exported():
    tables = {name: {"type": "integer", "range": [0, 5]} for name in "ab"}
    tables["c"] = {"type": "bool", "when": "a < b"}
    with pytest.raises(SpaceError, match="cannot say that 'c' depends on a < b"):
        to_json(ParameterSpace.from_tables(tables))


def test_files_that_are_not_spaces_are_refused_with_their_name(tmp_path: Path):
    path = tmp_path / "space.json"
    with pytest.raises(ScenarioError, match=r"space\.json: the parameter file cannot be read"):
        read_parameter_file(path)
    path.write_text('{\n "hyperparameters": [,]}')
    with pytest.raises(ScenarioError, match=r"space\.json:2:22: this is not JSON"):
        read_parameter_file(path)
    path.write_text("[]")
    with pytest.raises(ScenarioError, match="no ConfigSpace JSON"):
        read_parameter_file(path)
    path.write_text(json.dumps({"hyperparameters": [{"type": "odd", "name": "x"}]}))
    with pytest.raises(ScenarioError, match="of type 'odd'"):
        read_parameter_file(path)
    path.write_text(json.dumps({"hyperparameters": [{"type": "uniform_int", "name": "x", "lower": 1}]}))
    with pytest.raises(ScenarioError, match="lacks or misuses 'upper'"):
        read_parameter_file(path)


def test_trivial_and_fractional_comparisons_are_written_inside_the_domain():
    tables = {"n": {"type": "integer", "range": [0, 10], "default": 1}}
    for text in ("n < 99", "n > 2.5", "n <= 2.5", "n >= -4", "n not in [3, 4]", "n not in []", "n != 3"):
        when = {**tables, "c": {"type": "bool", "when": text}}
        space = ParameterSpace.from_tables(when)
        assert from_json(to_json(space)).sample(np.random.default_rng(2), 50) == space.sample(
            np.random.default_rng(2), 50
        ), text

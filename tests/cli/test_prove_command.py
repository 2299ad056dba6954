"""``utilitune prove``: which files hold a configuration, and what is said of those that do not."""

from __future__ import annotations

import json

import pytest

from utilitune.cli.prove import read_configuration
from utilitune.errors import UsageError
from utilitune.spaces import ParameterSpace

SPACE = ParameterSpace.from_tables(
    {
        "level": {"type": "integer", "range": [1, 9], "default": 5},
        "way": {"type": "categorical", "values": ["a", "b"], "default": "a"},
    }
)


def written(tmp_path, text: str):
    path = tmp_path / "found.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("values", [{"level": 3}, {"best": {"level": 3, "way": "a"}, "epsilon": 0.1}])
def test_values_are_read_and_completed_with_defaults(tmp_path, values):
    assert read_configuration(written(tmp_path, json.dumps(values)), SPACE) == {"level": 3, "way": "a"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read as JSON"),
        ("[3]", "must hold one JSON object"),
        ('{"levels": 3}', "did you mean"),
        ('{"level": 30}', "no configuration of this scenario"),
        ('{"level": 5}', "holds the default"),
        ("[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_what_is_no_configuration_is_refused_in_a_sentence(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        read_configuration(written(tmp_path, text), SPACE)


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_configuration(tmp_path / "nowhere.json", SPACE)

"""What is written is read back as the same space, and draws stand up to a second opinion."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spaces.dialects.naive_evaluator import Naive
from spaces.dialects.random_files import EVERYTHING, FEATURES, Maker
from utilitune.spaces import ParameterSpace, SpaceError
from utilitune.spaces.dialects import read_parameter_file, write_parameter_file
from utilitune.spaces.dialects.detect import detect
from utilitune.spaces.dialects.source import SourceText
from utilitune.spaces.parameters import with_default

ENDINGS = {"pcs-old": "pcs", "pcs-new": "pcs", "irace": "txt", "ranges": "txt", "configspace": "json"}


def drawn(space: ParameterSpace, count: int = 40) -> list:
    try:
        return space.sample(np.random.default_rng(1), count)
    except SpaceError as error:
        assert "nearly everything" in str(error)  # noqa: PT017
        return []


def check_round_trip(dialect: str, seed: int, folder: Path) -> None:
    space = Maker(seed, FEATURES[dialect]).space()
    text = write_parameter_file(space, dialect)
    path = folder / f"space.{ENDINGS[dialect]}"
    path.write_text(text, encoding="utf-8")
    assert detect(SourceText.read(path)) == dialect.partition("-")[0], text
    again = read_parameter_file(path).space
    assert again.names == space.names
    assert again.ranges == space.ranges
    if dialect == "irace":  # it has no defaults
        same = [with_default(p, space.parameters[n].default) for n, p in again.parameters.items()]
        assert same == list(space.parameters.values())
    else:
        assert again.parameters == space.parameters
        assert again.default() == space.default()
    assert drawn(again) == drawn(space), text
    second = write_parameter_file(again, dialect)
    path.write_text(second, encoding="utf-8")
    assert write_parameter_file(read_parameter_file(path).space, dialect) == second


def check_draws(seed: int) -> int:
    tables = (maker := Maker(seed, EVERYTHING)).tables
    naive = Naive({"parameters": tables, "forbidden": maker.clauses})
    space = maker.space()
    draws = drawn(space, 25)
    for draw in [space.default(), *draws]:
        assert naive.complaint(dict(draw)) is None, (seed, draw)
        assert space.validate(draw) == draw
    return len(draws)


@pytest.mark.long
@pytest.mark.parametrize("dialect", FEATURES)
def test_reading_what_was_written_gives_the_same_space(dialect: str, tmp_path: Path):
    for seed in range(60):
        check_round_trip(dialect, seed, tmp_path)


@pytest.mark.long
def test_draws_satisfy_every_condition_clause_and_range_by_a_second_opinion():
    assert sum(check_draws(seed) for seed in range(150)) > 3000


@pytest.mark.long
def test_the_second_opinion_refuses_what_the_space_refuses():
    refused = 0
    for seed in range(60):
        maker = Maker(seed, EVERYTHING)
        space, naive = maker.space(), Naive({"parameters": maker.tables, "forbidden": maker.clauses})
        draws = drawn(space, 12)
        for one, other in pairwise(draws):
            name = space.names[seed % len(space.names)]
            mixed = {key: value for key, value in one.items() if key != name}
            if name in other:
                mixed[name] = other[name]
            complaint = naive.complaint(mixed)
            try:
                space.validate(mixed)
            except SpaceError:
                refused += 1
                assert complaint is not None, (seed, mixed)
            else:
                assert complaint is None, (seed, mixed)
    assert refused > 50


@pytest.mark.audit
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dialect", FEATURES)
def test_ten_thousand_round_trips(dialect: str, tmp_path: Path):
    for seed in range(1000, 3000):
        check_round_trip(dialect, seed, tmp_path)


@pytest.mark.audit
@pytest.mark.timeout(3600)
def test_draws_of_ten_thousand_spaces_by_a_second_opinion():
    for seed in range(1000, 11_000):
        check_draws(seed)

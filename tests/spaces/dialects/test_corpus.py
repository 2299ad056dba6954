"""Every file of the corpus is read as `expected.json` says, or refused with that sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from spaces.dialects.naive_evaluator import Naive
from utilitune.errors import ScenarioError
from utilitune.spaces.dialects import read_parameter_file, write_parameter_file

CORPUS = Path(__file__).parent / "corpus"
EXPECTED = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
READ = [name for name, entry in EXPECTED.items() if "error" not in entry]
REFUSED = [name for name, entry in EXPECTED.items() if "error" in entry]


def test_the_corpus_is_complete_and_large():
    files = {path.name for path in CORPUS.iterdir() if not path.name.startswith(".")}
    assert files - {"expected.json"} == set(EXPECTED)
    assert len(EXPECTED) >= 100
    assert {EXPECTED[name]["dialect"] for name in READ} == {
        "pcs-old",
        "pcs-new",
        "irace",
        "ranges",
        "configspace",
    }


@pytest.mark.parametrize("name", READ)
def test_a_good_file_is_read_as_documented(name: str):
    expected = EXPECTED[name]
    read = read_parameter_file(CORPUS / name)
    tables = read.space.to_tables()
    assert read.dialect == expected["dialect"]
    assert tables["parameters"] == expected["parameters"]
    assert list(tables["parameters"]) == list(expected["parameters"])
    assert [entry["clause"] for entry in tables["forbidden"]] == expected["forbidden"]
    assert dict(read.switches) == expected.get("switches", {})
    assert read.digits == expected.get("digits")
    notes = [note.removeprefix(f"{CORPUS}/") for note in read.notes]
    assert [note for note in notes if not note.startswith("irace files hold no")] == expected.get("notes", [])


@pytest.mark.parametrize("name", REFUSED)
def test_every_mistake_of_a_bad_file_is_one_sentence_with_line_and_column(name: str):
    with pytest.raises(ScenarioError) as caught:
        read_parameter_file(CORPUS / name)
    error = caught.value
    told = EXPECTED[name]["error"].split("\n")
    assert str(error).split("\n") == [f"{CORPUS}/{line}" for line in told]
    assert error.line is not None
    assert error.column is not None
    lines = (CORPUS / name).read_bytes().decode("utf-8", errors="replace").split("\n")
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@pytest.mark.parametrize("name", READ)
def test_draws_from_a_good_file_stand_up_to_a_second_opinion(name: str):
    expected = EXPECTED[name]
    clauses = [{"clause": clause} for clause in expected["forbidden"]]
    naive = Naive({"parameters": expected["parameters"], "forbidden": clauses})
    space = read_parameter_file(CORPUS / name).space
    for draw in [space.default(), *space.sample(np.random.default_rng(7), 150)]:
        assert naive.complaint(dict(draw)) is None


@pytest.mark.parametrize("name", READ)
def test_a_good_file_survives_being_written_and_read_again(name: str, tmp_path: Path):
    read = read_parameter_file(CORPUS / name)
    path = tmp_path / name
    path.write_text(write_parameter_file(read.space, read.dialect, switches=read.switches), encoding="utf-8")
    again = read_parameter_file(path)
    assert again.switches == read.switches
    assert again.space.parameters == read.space.parameters
    draws = [space.sample(np.random.default_rng(3), 100) for space in (again.space, read.space)]
    assert draws[0] == draws[1]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_damaged_file_is_read_or_refused_with_its_place(name: str, tmp_path: Path):
    chance = random.Random(name)
    content = (CORPUS / name).read_bytes()
    path = tmp_path / name
    for _ in range(15):
        path.write_bytes(damaged(content, chance))
        error = None
        try:
            read_parameter_file(path)
        except ScenarioError as refusal:
            error = refusal
        assert error is None or (error.line and error.column), path.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 3)):
        position = chance.randint(0, len(content))
        length = chance.choice([0, 0, 1, 1, 4])
        piece = chance.choice(
            [b"", b"(", b")", b"{", b"]", b'"', b"|", b"1", b"-", b" ", b"\n", b"x", b"==", b"\xff", b"%"]
        )
        content = content[:position] + piece + content[position + length :]
    return content

"""``utilitune replay`` with a rival: the same output as for every procedure, and what it refuses."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {
    "successive-halving": ["--set", "budget=2000"],
    "hyperband": ["--set", "resource=2m", "--set", "eta=4"],
    "ac-band": ["--set", "race-size=2", "--set", "alpha=0.2"],
    "car": ["--set", "delta=0.5", "--set", "epsilon=0.5"],
    "icar": ["--set", "gamma=0.3", "--set", "delta=0.5", "--set", "zeta=0.5"],
    "spc": ["--max-time", "1h"],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten configurations on 2000 instances; the sixth is clearly the best."""
    path = tmp_path / "runs.npy"
    means = np.array([8, 9, 8, 9, 8, 0.5, 9, 8, 9, 8])[:, None]
    np.save(path, np.random.default_rng(0).exponential(1.0, (10, 2000)) * means)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("name", SETTINGS)
def test_every_rival_answers_under_the_same_names(name: str, data: Path, capsys: pytest.CaptureFixture[str]):
    _, proved, _ = run(capsys, "replay", data, "--epsilon", "0.5", "--json")
    code, out, _ = run(capsys, "replay", data, "--procedure", name, *SETTINGS[name], "--json")
    values = json.loads(out)
    assert code == 0
    assert set(values) == set(json.loads(proved))
    assert set(values["trajectory"][0]) == set(json.loads(proved)["trajectory"][0])
    assert (values["procedure"], values["best_index"]) == (name, 5)
    assert values["epsilon"] is values["gamma"] is values["delta"] is None


def test_interrupted_before_there_is_an_answer(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("utilitune.replaying.replay.replay_rival", interrupt)
    code, out, err = run(
        capsys, "replay", data, "--procedure", "hyperband", "--set", "resource=100", "--json"
    )
    assert (code, out, err) == (130, "", "Interrupted: hyperband has no answer yet.\n")


def test_a_rival_in_words_says_that_nothing_is_proved(data: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = run(capsys, "replay", data, "--procedure", "hyperband", "--set", "resource=100")
    assert code == 0
    assert "No promise: hyperband proves nothing" in out
    assert "Stopped (finished)" in out


def test_a_captime_is_given_like_that_of_naive(data: Path, capsys: pytest.CaptureFixture[str]):
    halving = ("replay", data, "--procedure", "successive-halving", "--set", "budget=400", "--json")
    _, short, _ = run(capsys, *halving, "--captime", "500ms")
    _, also_short, _ = run(capsys, *halving, "--set", "captime=0.5")
    assert json.loads(short)["total_time_s"] == json.loads(also_short)["total_time_s"] <= 400 * 0.5


def test_a_captime_given_in_both_ways_is_refused(data: Path, capsys: pytest.CaptureFixture[str]):
    halving = ("replay", data, "--procedure", "successive-halving", "--set", "budget=400")
    code, _, error = run(capsys, *halving, "--captime", "1", "--set", "captime=2")
    assert code == 2
    assert "given twice, by --captime and by --set" in error


def test_a_table_is_written_and_a_picture_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    table = tmp_path / "halving.csv"
    rival = ("replay", data, "--procedure", "successive-halving", "--set", "budget=2000", "--out")
    assert run(capsys, *rival, table)[0] == 0
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert rows[-1]["best_index"] == "5"
    assert rows[-1]["epsilon"] == ""
    code, _, error = run(capsys, *rival, tmp_path / "halving.png")
    assert code == 2
    assert "must end in .json, .csv" in error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--procedure", "hyperbant"], "did you mean 'hyperband'?"),
        (["--procedure", "hyperband"], "hyperband needs a resource"),
        (["--procedure", "hyperband", "--set", "resource=2"], "must be at least eta (3)"),
        (["--procedure", "hyperband", "--delta", "0.1"], "--delta has no meaning for hyperband"),
        (["--procedure", "successive-halving", "--set", "budget=3"], "needs at least 40"),
        (["--procedure", "ac-band", "--set", "race_size=11"], "a race of 11 configurations"),
        (["--procedure", "car", "--set", "delta=0"], "delta must lie strictly between 0 and 1"),
        (["--procedure", "oup", "--set", "eta=3"], "--set is for rivals"),
    ],
)
def test_mistakes_get_one_sentence(
    arguments: list[str], sentence: str, data: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, error = run(capsys, "replay", data, *arguments)
    assert (code, out) == (2, "")
    assert sentence in error
    assert error.count("\n") == 1

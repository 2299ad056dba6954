from __future__ import annotations

import json

import pytest

from utilitune.cli import main

DATA = "synthetic:rows=12,columns=300,seed=4,cutoff_s=600"


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", *arguments])
    shown = capsys.readouterr()
    return ended.value.code or 0, shown.out, shown.err


def test_a_table_and_what_to_make_of_it(capsys):
    code, out, _ = run(
        capsys, DATA, "--epsilon", "0.3", "--workers", "1,4", "--latency", "5ms", "--mtbf", "6h"
    )
    assert code == 0
    assert "speed-up" in out
    assert "for any number of workers" in " ".join(out.split())
    assert "100%" in out


def test_every_worker_can_be_kept_busy(capsys):
    busy = []
    for guesses in ("useful", "all"):
        code, out, _ = run(
            capsys, DATA, "--epsilon", "0.3", "--workers", "100", "--guesses", guesses, "--json"
        )
        assert code == 0
        busy.append(json.loads(out)[0]["busy"])
    assert busy[0] < 0.9 < busy[1]


def test_json_and_files(capsys, tmp_path):
    target = tmp_path / "workers.csv"
    code, out, _ = run(capsys, DATA, "--epsilon", "0.3", "--workers", "1,4", "--json", "--out", str(target))
    assert code == 0
    found = json.loads(out)
    assert [each["workers"] for each in found] == [1, 4]
    assert found[0]["best"] == found[1]["best"]
    assert found[1]["promise"][-1]["epsilon"] <= 0.3
    assert len(target.read_text().splitlines()) == 3


def test_a_picture(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "workers.png"
    code, out, _ = run(capsys, DATA, "--epsilon", "0.4", "--workers", "1,4", "--out", str(target))
    assert code == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert "Written" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--workers", "many"], "--workers takes whole numbers"),
        (["--workers", "0"], "number of workers must lie between"),
        (["--mtbf", "soon"], "soon"),
        (["--speed-spread", "-1"], "speed_spread"),
        (["--speed-spread", "1e9"], "speed_spread"),
        (["--resample", "99999999999999999999"], "--resample takes a whole number of at most"),
        (["--procedure", "hyperband"], "makes one run after the other"),
        (["--out", "workers.txt"], "must end in"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, says):
    code, out, err = run(capsys, DATA, *arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert len(err.strip().splitlines()) == 1

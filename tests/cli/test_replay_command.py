"""``utilitune replay`` in this process: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, str, str]]

TYPES = {
    "best": str,
    "best_index": int,
    "epsilon": float,
    "gamma": (float, type(None)),
    "delta": float,
    "total_time_s": float,
    "runs": int,
    "rounds": int,
    "stop_reason": str,
    "alive": int,
    "phases": list,
    "wall_s": float,
}
PHASE_TYPES = {
    "phase": int,
    "configurations": int,
    "best_index": int,
    "epsilon": float,
    "gamma": float,
    "total_time_s": float,
    "runs": int,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six configurations on four instances, good enough for every procedure."""
    path = tmp_path / "runs.csv"
    rows = ["configuration,i1,i2,i3,i4"]
    rows += [f"solver{row},{row + 1},{row + 2},{3 * row},{20 if row % 2 else 5}" for row in range(6)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line; gives its exit code, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["replay", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def strict_json(text: str) -> dict[str, object]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    result: dict[str, object] = json.loads(text, parse_constant=refuse)
    return result


def has_types(values: dict[str, object], types: dict[str, object]) -> bool:
    return all(isinstance(values[key], kind) and values[key] is not True for key, kind in types.items())


@pytest.mark.parametrize(
    "options",
    [
        ["--procedure", "oup", "--epsilon", "0.3"],
        ["--procedure", "up", "--epsilon", "0.3", "--doubling", "old", "--accounting", "resume"],
        ["--procedure", "naive", "--epsilon", "0.5", "--captime", "1m"],
        ["--procedure", "coup", "--delta", "0.4", "--phases", "2"],
        [
            "--procedure",
            "coup",
            "--delta",
            "0.4",
            "--epsilon-schedule",
            "0.5,0.4",
            "--gamma-schedule",
            "0.9,0.8",
        ],
        ["--procedure", "oup", "--max-time", "2m"],
        ["--procedure", "oup", "--max-runs", "3"],
    ],
)
def test_json_is_one_strict_object_with_every_key(data: Path, command: Command, options: list[str]):
    code, out, err = command(
        data, "--utility", "uniform(k0=30)", "--resample", "4000", "--seed", "1", *options, "--json"
    )
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    result = strict_json(out)
    assert has_types(result, TYPES)
    assert all(has_types(phase, PHASE_TYPES) for phase in result["phases"])
    assert result["best"] == f"solver{result['best_index']}"
    assert ("coup" in options) == bool(result["phases"])


def test_resampling_is_numpys(data: Path, command: Command):
    one_run = ["--max-runs", "1", "--captime0", "9", "--stored-order", "--json"]
    _, out, _ = command(data, "--resample", "50", "--seed", "9", *one_run)
    first = int(np.random.default_rng(9).integers(0, 4, 50)[0])
    assert strict_json(out)["total_time_s"] == [1.0, 2.0, 0.0, 5.0][first]


def test_the_check_figure_comes_out_of_the_command(aslib_scenario: Callable[[str], Path], command: Command):
    _, out, _ = command(
        *(aslib_scenario("BNSL-2016"), "--procedure", "oup", "--utility", "log-laplace(k0=1m, alpha=1)"),
        *("--delta", "0.1", "--epsilon", "0.1", "--resample", "20000", "--seed", "1", "--stored-order"),
        "--json",
    )
    result = strict_json(out)
    assert (result["best_index"], result["runs"], result["rounds"]) == (6, 31_931, 26_859)
    assert result["total_time_s"] == pytest.approx(3_241_919.41, rel=1e-6)


def test_data_are_shuffled_and_the_stored_order_is_named_in_the_promise(data: Path, command: Command):
    options = [data, "--procedure", "oup", "--epsilon", "0.3", "--utility", "uniform(k0=30)", "--json"]
    drawn, again, other = (strict_json(command(*options, "--seed", seed)[1]) for seed in (1, 1, 2))
    stored = strict_json(command(*options, "--stored-order")[1])
    assert drawn["trajectory"] == again["trajectory"]
    assert drawn["trajectory"] != other["trajectory"]
    assert "only if" not in drawn["promise"]
    assert stored["population"] == "infinite"
    finite = [*options[:-1], "--population", "finite", "--stored-order", "--max-runs", 20, "--json"]
    assert stored["condition"] == strict_json(command(*finite)[1])["condition"]
    assert stored["condition"] == "This holds only if the data hold their instances in random order."


def test_the_summary_says_what_was_found_and_why_it_stopped(data: Path, command: Command):
    code, out, _ = command(
        data, "--procedure", "oup", "--utility", "uniform(k0=30)", "--resample", "4000", "--epsilon", "0.3"
    )
    text = " ".join(out.split())
    assert code == 0
    assert "Best configuration: solver0" in text
    assert "With probability 95 % this configuration is within ε = 0.3" in text
    assert "Stopped (epsilon-reached): The target ε = 0.3 is proved" in text


def test_one_of_a_kind_is_not_told_of_in_the_plural(data: Path, command: Command):
    _, out, _ = command(data, "--max-runs", "1", "--utility", "uniform(k0=30)")
    assert "of run time in 1 run; 6 of 6 configurations are not ruled out." in " ".join(out.split())
    decided = ["--epsilon", "0.01", "--resample", "9000", "--utility", "uniform(k0=30)"]
    _, out, _ = command(data, "--procedure", "up", *decided)
    assert "1 of 6 configurations is not ruled out." in " ".join(out.split())


def test_a_set_of_one(tmp_path: Path, command: Command):
    data = tmp_path / "one.csv"
    data.write_text("configuration,a,b\nonly,1,2\n")
    _, out, _ = command(data, "--max-runs", "1", "--utility", "uniform(k0=30)")
    text = " ".join(out.split())
    assert "of run time in 0 runs; there is only 1 configuration." in text
    rival = ["--procedure", "successive-halving", "--set", "budget=1"]
    _, out, _ = command(data, *rival, "--utility", "uniform(k0=30)")
    assert "of run time in 0 runs of 1 configuration." in " ".join(out.split())


def test_brackets_and_control_signs_in_names_are_shown_as_they_are(data: Path, command: Command):
    data.write_text(data.read_text().replace("solver0", "[/]a[bold]b\x1b[2J"))
    for procedure in (["oup"], ["successive-halving", "--set", "budget=48"]):
        options = ["--utility", "uniform(k0=30)", "--resample", 40, "--stored-order"]
        code, out, _ = command(data, "--procedure", *procedure, *options)
        assert code == 0
        assert "Best configuration: [/]a[bold]b\\x1b[2J" in out


@pytest.mark.parametrize(
    ("procedure", "option", "value"),
    [
        ("oup", "--phases", "3"),
        ("up", "--captime", "5"),
        ("up", "--schedule", "balanced"),
        ("naive", "--doubling", "old"),
        ("wager", "--doubling", "old"),
        ("wager", "--phases", "2"),
        ("coup", "--growth", "adaptive"),
    ],
)
def test_an_option_of_other_procedures_is_left_aside_and_said_so(
    data: Path, command: Command, procedure: str, option: str, value: str
):
    needed = ["--captime", "60", "--epsilon", "0.5"] if procedure == "naive" else []
    asked = [data, "--procedure", procedure, *needed, "--delta", "0.4", "--utility", "uniform(k0=30)"]
    asked += ["--resample", "400", "--max-runs", "50", "--json"]
    _, plain, quiet = command(*asked)
    code, out, err = command(*asked, option, value)
    assert (code, quiet) == (0, "")
    assert err == f"{option} has no meaning for {procedure} and is ignored\n"
    timeless = [{**strict_json(text), "wall_s": 0} for text in (plain, out)]
    assert timeless[0] == timeless[1]


def test_options_of_phases_belong_to_growth_in_phases(data: Path, command: Command):
    options = ["--resample", "400", "--delta", "0.4", "--growth", "phases", "--phases", "1", "--json"]
    assert command(data, "--procedure", "wager", "--utility", "uniform(k0=30)", *options)[2] == ""


def test_the_summary_of_coup_lists_its_phases(data: Path, command: Command):
    options = ["--resample", "4000", "--procedure", "coup", "--delta", "0.4", "--phases", "1"]
    _, out, _ = command(data, "--utility", "uniform(k0=30)", *options)
    assert "phase 1: 3 configurations" in out


def test_out_writes_the_same_json(data: Path, command: Command, tmp_path: Path):
    target = tmp_path / "result.json"
    _, out, _ = command(data, "--resample", "2000", "--epsilon", "0.5", "--json", "--out", target)
    assert strict_json(target.read_text()) == strict_json(out)


def test_out_writes_the_trajectory_as_csv(data: Path, command: Command, tmp_path: Path):
    target = tmp_path / "curve.csv"
    _, out, _ = command(data, "--resample", "2000", "--epsilon", "0.5", "--json", "--out", target)
    with target.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(strict_json(out)["trajectory"])
    assert float(rows[-1]["epsilon"]) == strict_json(out)["epsilon"]


def test_out_draws_a_picture(data: Path, command: Command, tmp_path: Path):
    target = tmp_path / "curve.png"
    code, out, _ = command(data, "--resample", "2000", "--epsilon", "0.5", "--out", target)
    assert code == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert f"Written: {target.name}" in out.replace("\n", "").replace(str(tmp_path) + "/", "")


REFUSED = [
    (["--delta", "0"], "delta must lie strictly between 0 and 1, not 0.0"),
    (["--delta", "1"], "delta must lie strictly between 0 and 1, not 1.0"),
    (["--delta", "nan"], "delta must lie strictly between 0 and 1, not nan"),
    (["--epsilon", "-0.1"], "epsilon must lie strictly between 0 and 1, not -0.1"),
    (["--epsilon", "1"], "epsilon must lie strictly between 0 and 1, not 1.0"),
    (["--procedure", "opu"], "unknown procedure 'opu'; did you mean 'oup'?"),
    (["--utility", "unifrom(k0=60)"], "there is no utility 'unifrom': did you mean 'uniform'?"),
    (["--utility", "uniform(k0=-1)"], "k0 of uniform must be a positive time"),
    (["--doubling", "nwe"], "unknown doubling rule 'nwe'; did you mean 'new'?"),
    (["--accounting", "x"], "unknown accounting 'x'; known: restart, resume"),
    (
        ["--procedure", "coup", "--schedule", "blanced"],
        "unknown schedule 'blanced'; did you mean 'balanced'?",
    ),
    (
        ["--procedure", "coup", "--epsilon-schedule", "0.5,0.4", "--gamma-schedule", "0.5,0.5"],
        "γ must decrease from phase to phase, but phase 2 has 0.5 after 0.5",
    ),
    (
        ["--procedure", "coup", "--gamma-schedule", "0.5"],
        "--epsilon-schedule and --gamma-schedule go together",
    ),
    (
        ["--procedure", "coup", "--epsilon-schedule", "0.5", "--gamma-schedule", "half"],
        "--gamma-schedule takes numbers separated by commas, not 'half'",
    ),
    (["--procedure", "coup", "--delta", "0.001"], "phase 1 needs 12 configurations, but there are only 6"),
    (["--phases", "0"], "the number of phases must be at least 1, not 0"),
    (["--procedure", "naive"], "Naive needs a captime (--captime"),
    (["--procedure", "naive", "--captime", "10"], "Naive needs a captime with u(captime) < epsilon"),
    (
        ["--procedure", "naive", "--captime", "60", "--utility", "uniform(k0=60)"],
        "Naive needs 1097 instances for epsilon = 0.1, but there are only 4",
    ),
    (["--resample", "0"], "the number of resampled instances must be at least 1, not 0"),
    (["--resample", "-5"], "the number of resampled instances must be at least 1, not -5"),
    (["--resample", "5", "--seed", "-1"], "a seed must be a whole number of at least 0, not -1"),
    (["--captime0", "soon"], "'soon' is not a duration"),
    (["--captime0", "-1"], "'-1' is not a duration"),
    (["--captime0", "0"], "the first captime must be a positive number, not 0.0"),
    (["--captime", "nan"], "'nan' is not a duration"),
    (["--max-time", "0"], "the time budget must be a positive number, not 0.0"),
    (["--max-runs", "0"], "the run budget must be a whole number of at least 1, not 0"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_a_mistake_gets_one_sentence_and_leaves_nothing(
    data: Path, command: Command, options: list[str], sentence: str
):
    before = sorted(data.parent.iterdir())
    code, out, err = command(data, *options, "--out", data.parent / "result.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"utilitune: {sentence}")
    assert err.count("\n") == 1
    assert sorted(data.parent.iterdir()) == before


def test_a_first_captime_past_the_cutoff_is_refused(data: Path, command: Command):
    code, _, err = command(f"{data}?cutoff=3", "--captime0", "10")
    assert code == 2
    assert "the first captime (10 s) is above the largest captime (3 s): choose a smaller one with" in err
    code, _, err = command(f"{data}?cutoff=0.3", "--procedure", "oup")
    assert code == 2
    assert "the first captime (1 s) is above the largest captime (0.3 s): " in err
    assert "choose a smaller one with --captime0" in err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("result.txt", "its name must end in .json, .csv, .png, .pdf, .svg"),
        ("missing/result.json", "does not exist"),
        ("folder.json", "it is a folder, or its folder is not writable"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    command: Command, tmp_path: Path, name: str, sentence: str
):
    (tmp_path / "folder.json").mkdir()
    code, out, err = command("no-such-data.csv", "--out", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.startswith(f"utilitune: cannot write {tmp_path / name}")
    assert sentence in err


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.csv", "", "empty.csv: the file has no runtimes"),
        ("nan.csv", "c,i\nx,nan\n", "nan.csv:2: 'nan' is not a runtime"),
        ("negative.csv", "c,i\nx,1\ny,-3\n", "negative.csv:3: '-3' is not a runtime"),
        ("ragged.csv", "c,i,j\nx,1,2\ny,3\n", "ragged.csv:3: the row has 2 cells"),
        ("empty.npy", "", "empty.npy: this is not a NumPy file"),
        ("runs.xls", "x", "runs.xls: files of this kind are not known"),
    ],
)
def test_bad_data_is_refused_with_its_place(
    command: Command, tmp_path: Path, name: str, content: str, sentence: str
):
    path = tmp_path / name
    path.write_text(content)
    code, out, err = command(path, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"utilitune: {tmp_path}/{sentence}")
    assert err.count("\n") == 1


def test_data_that_is_not_there_is_refused_with_what_lies_near(data: Path, command: Command):
    code, _, err = command(data.parent / "rnus.csv")
    assert code == 2
    assert f"did you mean '{data}'?" in err


@pytest.mark.parametrize("delta", ["1e-28", "1e-100", "0.9999999999999999"])
@pytest.mark.parametrize("procedure", ["wager", "up", "oup"])
def test_an_extreme_delta_is_shown_as_it_is(data: Path, command: Command, procedure: str, delta: str):
    options = ["--resample", "400", "--procedure", procedure, "--max-time", "2m", "--delta", delta]
    code, out, err = command(data, "--utility", "uniform(k0=30)", *options)
    assert (code, err) == (0, "")
    assert "100 %" not in out


@pytest.mark.parametrize("delta", ["1e-101", "1e-300", "5e-324"])
def test_a_delta_too_small_to_be_split_is_refused(data: Path, command: Command, delta: str):
    code, out, err = command(data, "--utility", "uniform(k0=30)", "--resample", "400", "--delta", delta)
    assert (code, out) == (2, "")
    assert err == f"utilitune: delta must be at least 1e-100, not {delta}: less cannot be computed with\n"

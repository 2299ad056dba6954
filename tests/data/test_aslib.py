"""ASlib scenarios and the ARFF tables they are made of."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.data import read_matrix
from utilitune.data.arff import read_arff
from utilitune.errors import DataError

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"

DESCRIPTION = """\
scenario_id: TOY
performance_measures: [runtime, quality]
performance_type: [runtime, solution_quality]
maximize: [false, true]
algorithm_cutoff_time: 100
"""
HEADER = """\
% a comment
@relation 'toy runs'
@Attribute runstatus {ok, timeout, memout, not_applicable, crash, other}
@ATTRIBUTE 'instance_id' STRING
@ATTRIBUTE\trepetition NUMERIC
@ATTRIBUTE algorithm {a,b}
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE quality NUMERIC

@data
"""
RUNS = """\
ok, x, 1, b, 1.5, 9
timeout,x,1,a,100,?
% between the runs
ok,'y, the \\'second\\'',1,a,2,9

memout,"y, the 'second'",1,b,?,9
"""


def scenario(folder: Path, runs: str = RUNS, *, header: str = HEADER, description: str = DESCRIPTION):
    (folder / "description.txt").write_text(description)
    (folder / "algorithm_runs.arff").write_bytes((header + runs).encode())
    return folder


@pytest.mark.parametrize(
    ("name", "shape", "cutoff_s", "finished"),
    [
        ("BNSL-2016", (8, 1179), 7200, 6786),
        ("ASP-POTASSCO", (11, 1294), 600, 11369),
        ("SAT12-INDU", (31, 1167), 1200, 17934),
    ],
)
def test_published_scenarios(name: str, shape: tuple[int, int], cutoff_s: float, finished: int):
    if not (SHARED / name).exists():
        pytest.skip("the ASlib scenarios are not on this machine")
    matrix = read_matrix(SHARED / name)
    assert matrix.shape == shape
    assert matrix.cutoff_s == cutoff_s
    assert list(matrix.configurations) == sorted(matrix.configurations)
    assert list(matrix.instances) == sorted(matrix.instances)
    assert finished - np.isfinite(matrix.runtimes_s).sum() in range(3)  # ok at exactly the cutoff


def test_order_quotes_comments_spaces_and_statuses(tmp_path: Path):
    matrix = read_matrix(scenario(tmp_path))
    assert matrix.configurations == ("a", "b")
    assert matrix.instances == ("x", "y, the 'second'")
    assert matrix.runtimes_s.tolist() == [[math.inf, 2.0], [1.5, math.inf]]
    assert matrix.cutoff_s == 100


def test_windows_line_ends_and_the_file_itself(tmp_path: Path):
    scenario(tmp_path, RUNS.replace("\n", "\r\n"), header=HEADER.replace("\n", "\r\n"))
    assert read_matrix(tmp_path / "algorithm_runs.arff").shape == (2, 2)


@pytest.mark.parametrize("status", ["timeout", "memout", "not_applicable", "crash", "other", "TIMEOUT"])
def test_only_ok_finished(tmp_path: Path, status: str):
    matrix = read_matrix(scenario(tmp_path, f"{status},x,1,a,1,1\nok,x,1,b,1,1\n"))
    assert matrix.runtimes_s.tolist() == [[math.inf], [1.0]]


def test_the_lowest_repetition_counts(tmp_path: Path):
    matrix = read_matrix(scenario(tmp_path, "ok,x,2,a,5,1\nok,x,1,a,3,1\nok,x,10,a,4,1\n"))
    assert matrix.runtimes_s.tolist() == [[3.0]]


@pytest.mark.parametrize("cutoff", ["algorithm_cutoff_time: '?'", "algorithm_cutoff_time: ?", ""])
def test_an_unknown_cutoff_is_infinite(tmp_path: Path, cutoff: str):
    text = DESCRIPTION.replace("algorithm_cutoff_time: 100", cutoff)
    matrix = read_matrix(scenario(tmp_path, description=text))
    assert matrix.cutoff_s == math.inf
    assert matrix.runtimes_s[0, 0] == math.inf


def test_a_second_measure_by_name(tmp_path: Path):
    text = DESCRIPTION.replace("solution_quality", "runtime").replace("true", "false")
    matrix = read_matrix(scenario(tmp_path, "ok,x,1,a,3,8\n", description=text), measure="quality")
    assert matrix.runtimes_s.tolist() == [[8.0]]


@pytest.mark.parametrize(
    ("measure", "text"), [("quality", "not a runtime"), ("runtim", "did you mean 'runtime'")]
)
def test_measures_that_cannot_be_read(tmp_path: Path, measure: str, text: str):
    with pytest.raises(DataError, match=text):
        read_matrix(scenario(tmp_path), measure=measure)


@pytest.mark.parametrize(
    ("runs", "line", "text"),
    [
        ("ok,x,1,a,3\n", 11, "5 values, but 6 attributes"),
        ("ok,x,1,a,fast,1\n", 11, "runtime of at least 0 seconds, but it is 'fast'"),
        ("ok,x,1,a,?,1\n", 11, "but it is missing"),
        ("ok,x,1,a,-1,1\n", 11, "but it is '-1'"),
        ("ok,x,1,a,nan,1\n", 11, "but it is 'nan'"),
        ("okay,x,1,a,1,1\n", 11, "did you mean 'ok'"),
        ("?,x,1,a,1,1\n", 11, "the value of runstatus is missing"),
        ("ok,x,one,a,1,1\n", 11, "repetition must be a number"),
        ("ok,'x,1,a,1,1\n", 11, "not closed"),
        ("ok,'x'y,1,a,1,1\n", 11, "comma is missing"),
        ("{0 ok, 1 x}\n", 11, "sparse"),
        ("ok,x,1,a,1,1\nok,x,1,a,2,1\n", 12, "before on line 11"),
        ("", 10, "no runs"),
    ],
)
def test_mistakes_name_file_and_line(tmp_path: Path, runs: str, line: int | None, text: str):
    with pytest.raises(DataError, match=text) as caught:
        read_matrix(scenario(tmp_path, runs))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'algorithm_runs.arff'}:{line}: ")


def test_a_missing_pair_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"'b' has no run on instance 'y' \(1 such gaps\)"):
        read_matrix(scenario(tmp_path, "ok,x,1,a,1,1\nok,y,1,a,1,1\nok,x,1,b,1,1\n"))


@pytest.mark.parametrize("name", ["runstatus", "instance_id", "repetition", "algorithm", "runtime"])
def test_a_missing_column_is_named(tmp_path: Path, name: str):
    header = "\n".join(line for line in HEADER.split("\n") if name not in line)
    with pytest.raises(DataError, match=f"no column '{name}'") as caught:
        read_matrix(scenario(tmp_path, "1,1,1,1,1\n", header=header))
    assert caught.value.line == 9


@pytest.mark.parametrize(
    ("header", "line", "text"),
    [
        ("@relation x\n", 2, "no @DATA"),
        ("@data\n", 1, "no @ATTRIBUTE"),
        ("@attribute x\n@data\n", 1, "name and a type"),
        ("hello\n", 1, "expected @RELATION"),
    ],
)
def test_broken_headers(tmp_path: Path, header: str, line: int | None, text: str):
    with pytest.raises(DataError, match=text) as caught:
        read_matrix(scenario(tmp_path, "", header=header))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("a: [", "not valid YAML"),
        ("just text", "name: value"),
        (
            "algorithm_cutoff_time: -3\nperformance_measures: runtime\nperformance_type: runtime",
            "positive number",
        ),
        ("scenario_id: x", "performance_measures is missing"),
        ("performance_measures: [a, b]\nperformance_type: [runtime]", "2 performance_measures"),
        ("performance_measures: q\nperformance_type: solution_quality", "measures no runtime"),
    ],
)
def test_broken_descriptions(tmp_path: Path, description: str, text: str):
    with pytest.raises(DataError, match=text):
        read_matrix(scenario(tmp_path, description=description))


def test_a_scenario_without_description(tmp_path: Path):
    scenario(tmp_path)
    (tmp_path / "description.txt").unlink()
    with pytest.raises(DataError, match=r"description\.txt: cannot be read"):
        read_matrix(tmp_path)


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), min_size=2, max_size=2)
    )
)
def test_quoted_values_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]):
    def quote(value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    path = tmp_path_factory.mktemp("arff") / "table.arff"
    body = "".join(", ".join(quote(value) for value in row) + "\n" for row in rows)
    path.write_bytes(("@attribute a string\n@attribute b string\n@data\n" + body).encode())
    assert read_arff(path).rows == rows

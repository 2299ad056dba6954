"""What readers and writers do beyond the corpus: options, refusals, detection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from utilitune.errors import ScenarioError, UsageError
from utilitune.spaces import ParameterSpace, SpaceError
from utilitune.spaces.dialects import read_parameter_file, write_parameter_file


def space_of(forbidden: str | None = None, **tables: dict) -> ParameterSpace:
    return ParameterSpace.from_tables(tables, [{"clause": forbidden}] if forbidden else [])


A = {"type": "integer", "range": [0, 9], "default": 3}
B = {"type": "integer", "range": [0, 9], "default": 4}
C = {"type": "categorical", "values": ["u", "v", "w"], "default": "u"}
X = {"type": "float", "range": [0.0, 1.0], "default": 0.5}


@pytest.mark.parametrize(
    ("dialect", "space", "fragment"),
    [
        ("pcs-old", space_of(o={**C, "type": "ordinal"}), "cannot say that the values of 'o' are ordered"),
        ("pcs-old", space_of(a=A, c={**C, "when": "a > 3"}), "cannot say that 'c' needs a > 3"),
        ("pcs-old", space_of("a > 3 and c == 'v'", a=A, c=C), "can only forbid values that come together"),
        ("pcs-new", space_of(a=A, b=B, c={**C, "when": "a > b"}), "cannot say that 'c' depends on a > b"),
        ("pcs-new", space_of(x={**X, "digits": 2}), "cannot say that 'x' has 2 decimal places"),
        (
            "pcs-new",
            space_of(a=A, b={**B, "range": [0, "a + 4"]}),
            "the range of 'b' depends on other parameters",
        ),
        ("pcs-new", space_of(c={**C, "weights": [1, 2, 3]}), "how often each value of 'c' is drawn"),
        ("pcs-new", space_of(c={**C, "values": ["u", "a b"]}), "cannot hold the value 'a b'"),
        ("pcs-new", space_of(**{"a b": A}), "cannot hold the name 'a b'"),
        ("pcs-new", space_of(**{"12": A}), "cannot hold the name '12'"),
        ("pcs-new", space_of("min(a, b) > 7", a=A, b=B), "cannot calculate min"),
        (
            "pcs-new",
            space_of("not active(a) and b > 7", a={**A, "when": "b > 2"}, b=B),
            "cannot say not active(a)",
        ),
        ("irace", space_of(x=X), "irace rounds real numbers, and 'x' is exact; choose digits"),
        ("irace", space_of(x={**X, "digits": 2}, y={**X, "digits": 3}), "'x' and 'y' differ"),
        ("irace", space_of(**{"a-b": A}), "cannot hold the name 'a-b'"),
        ("irace", space_of(c={**C, "weights": [1, 2, 3]}), "how often each value of 'c' is drawn"),
        ("irace", space_of(c={**C, "values": ["u", "a\"b'c"]}), "both kinds of quotes"),
        ("ranges", space_of(a=A, c={**C, "when": "a > 3"}), "cannot say conditions"),
        ("ranges", space_of(c=C), "cannot say the values of 'c'"),
        ("ranges", space_of(x={**X, "range": [0.1, 1], "log": True}), "the log scale"),
        ("ranges", space_of(**{"a b": A}), "cannot hold the name 'a b'"),
        ("configspace", space_of(a=A, b={**B, "range": [0, "a + 4"]}), "the range of 'b' depends"),
        ("configspace", space_of(x={**X, "digits": 2}), "'x' has 2 digits"),
        ("configspace", space_of("a + b > 15", a=A, b=B), "cannot say a + b > 15"),
    ],
)
def test_a_writer_names_what_its_format_cannot_say(dialect: str, space: ParameterSpace, fragment: str):
    with pytest.raises(SpaceError) as caught:
        write_parameter_file(space, dialect)
    assert fragment in str(caught.value)


def test_numbers_and_truth_values_become_texts_as_on_a_command_line(tmp_path: Path):
    space = space_of(
        flag={"type": "bool"}, size={"type": "ordinal", "values": [1, 2, 4]}, a={**A, "when": "size > 1"}
    )
    for dialect, ending in (("pcs-new", "pcs"), ("irace", "txt")):
        path = tmp_path / f"space.{ending}"
        path.write_text(write_parameter_file(space, dialect))
        again = read_parameter_file(path).space
        assert again.parameters["flag"].choices == ("false", "true")
        assert again.parameters["size"].choices == ("1", "2", "4")
        texts = [{"flag": str(d["flag"]).lower(), "size": str(d["size"])} for d in space.sample(rng(), 20)]
        assert [{k: d[k] for k in ("flag", "size")} for d in again.sample(rng(), 20)] == texts


def rng() -> np.random.Generator:
    return np.random.default_rng(2)


def test_long_conditions_are_written_without_parentheses_or_refused(tmp_path: Path):
    names = {f"p{number}": A for number in range(12)}
    text = " and ".join(f"(p{k} < 3 or p{k + 1} >= 7)" for k in range(0, 4, 2))
    space = space_of(**names, c={**C, "when": text})
    path = tmp_path / "space.pcs"
    path.write_text(written := write_parameter_file(space, "pcs-new"))
    assert "c | p0 < 3 && p2 < 3 || p0 < 3 && p3 > 6 || p1 > 6 && p2 < 3 || p1 > 6 && p3 > 6" in written
    assert read_parameter_file(path).space.sample(rng(), 99) == space.sample(rng(), 99)
    text = " and ".join(f"(p{k} < 3 or p{k} >= 7)" for k in range(12))
    with pytest.raises(SpaceError, match="too long without parentheses"):
        write_parameter_file(space_of(**names, c={**C, "when": text}), "pcs-new")


def test_irace_options(tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text('x "-x " r (0, 1)\ny "-y " r,log (0.00001, 1)\n')
    with pytest.raises(
        ScenarioError, match=r"has 5 decimal places, but values are rounded to 4: set digits = 5"
    ):
        read_parameter_file(path)
    assert read_parameter_file(path, digits=6).digits == 6
    forbidden = tmp_path / "forbidden.txt"
    forbidden.write_text("# old style\n(x > 0.5) & (y > 0.5)\n")
    read = read_parameter_file(path, digits=6, forbidden_file=forbidden)
    assert read.space.to_tables()["forbidden"] == [{"clause": "x > 0.5 and y > 0.5"}]
    forbidden.write_text("\nx > z\n")
    with pytest.raises(ScenarioError, match=r"forbidden\.txt:2:5: the forbidden expression is wrong"):
        read_parameter_file(path, digits=6, forbidden_file=forbidden)
    path.write_text('x "-x " r (0, 1)\n[global]\ndigits = 2\n')
    assert read_parameter_file(path, digits=6).digits == 2


def test_irace_says_where_its_defaults_come_from(tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text('c "" c (a, b)\no "" o (s, m, l, xl)\nn "" i,log (1, 100)\nx "" r (0, 1)\n')
    read = read_parameter_file(path)
    assert read.space.default() == {"c": "a", "o": "m", "n": 10, "x": 0.5}
    assert any("hold no defaults" in note for note in read.notes)
    text = write_parameter_file(read.space, "irace", switches={"c": "--c="})
    assert '# "a" "m" "10" "0.5"' in text
    assert 'c "--c=" c ("a", "b")' in text
    assert 'n "--n " i,log (1, 100)' in text


def test_a_file_is_described_in_one_sentence(tmp_path: Path):
    path = tmp_path / "space.pcs"
    path.write_text("x [1,9][3]i\nc {a,b}[a]\nx | c in {a}\n{x=9, c=a}\n")
    assert read_parameter_file(path).describe() == (
        f"{path} was read as a PCS file in the form of ParamILS and SMAC 1: 2 parameters, "
        "1 with a condition, 1 forbidden clause"
    )


@pytest.mark.parametrize(
    ("name", "text", "dialect"),
    [
        ("a.txt", "x [1,9][3]i\n", "pcs-old"),
        ("a.params", "# c\n\nx integer [1,9] [3]\n", "pcs-new"),
        ("a.pcs", 'x "-x " i (1, 9)\n', "irace"),
        ("a", "x 1 2 3\n", "ranges"),
        ("a.txt", '{"hyperparameters": [{"type": "constant", "name": "k", "value": 1}]}', "configspace"),
    ],
)
def test_the_content_decides_the_format(name: str, text: str, dialect: str, tmp_path: Path):
    (tmp_path / name).write_text(text)
    assert read_parameter_file(tmp_path / name).dialect == dialect


def test_a_format_can_be_asked_for(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("x 1 2 3\n")
    with pytest.raises(ScenarioError, match=r"a\.txt:1:5: .*\[range\] where '2 3' stands|a\.txt:1:3"):
        read_parameter_file(path, "pcs")
    with pytest.raises(UsageError, match="no parameter file format 'pcs-odl'; did you mean 'pcs-old'"):
        read_parameter_file(path, "pcs-odl")
    with pytest.raises(UsageError, match="no parameter file format 'xml'"):
        write_parameter_file(space_of(a=A), "xml")
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        read_parameter_file(tmp_path / "missing.pcs")


@pytest.mark.parametrize(
    ("condition", "when"),
    [
        ("a == 3", "a == 3"),
        ("3 > a", "a < 3"),
        ('c != "u"', "c != 'u'"),
        ("c == `d`", "c == 'u' and d == 'u' or c == 'v' and d == 'v'"),
        ("c != d", "c == 'u' and d != 'u' or c == 'v' and d != 'v' or c == 'w' and active(d)"),
        ("a %in% c(1, 2:4, 7)", "a in [1, 2, 3, 4, 7]"),
        ('c %in% "u"', "c in ['u']"),
        ("!(a > 3 | b > 3)", "a <= 3 and b <= 3"),
        ("! a == 3 & b == 2", "a != 3 and b == 2"),
        ("a > 2 || b < 1 && a < 1", "a > 2 or b < 1 and a < 1"),
        ("e > 2", "e == '4'"),
        ("e >= 1 & TRUE", "e == '1' or e == '2' or e == '4'"),
        ("a + b * 2 %% 3 > 5L", "a + (b * (2 % 3)) > 5"),
        ("is.na(a) | !is.na(b)", "not active(a) or active(b)"),
        ("e == 1.0", "e == '1'"),
    ],
)
def test_r_conditions(condition: str, when: str, tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text(
        f'a "" i (0, 9)\nb "" i (0, 9)\nc "" c (u, v, w)\nd "" c (u, v) | b > 1\ne "" o (1, 2, 4)\n'
        f'z "" c (0, 1) | {condition}\n'
    )
    found = read_parameter_file(path).space.to_tables()["parameters"]["z"]["when"]
    assert found == when


@pytest.mark.parametrize(
    ("condition", "fragment"),
    [
        ("a", ":18: the condition of 'z' needs one of"),
        ("a == 3 b", ":24: the condition of 'z' needs '&', '|' or the end where 'b' stands"),
        ("a = 3", ":19: the condition of 'z' has an unexpected '='; write == to compare"),
        ("c + 1 > 2", ":17: the condition of 'z' is wrong: 'c' is not a number"),
        ("c == a", ":17: the condition of 'z' is wrong: 'c' is not a number"),
        ("a == c", ":22: the condition of 'z' is wrong: 'c' is not a number"),
        ('a + "x" > 3', ":21: the condition of 'z' calculates with something that is not a number"),
        ("a %in% c(1, 20)", "parameter 'a': 20 is outside its range [0, 9]"),
        ('a %in% c("1")', "'a' is a number; compare it with one, without quotes"),
        ("a %in% 5:1", "a sequence goes from a whole number up to another"),
        ("a %in% c(1", "needs ',' or ')'"),
        ("1 %in% a", "needs a parameter name before the list"),
        ("is.na(q)", "there is no parameter 'q'"),
        ("c < d", "'c' and 'd' can only be compared by == and !="),
        ("(a > 1) > 2", "compares something that is already a comparison"),
        ("1 + 1 > 1", "needs a parameter name in the comparison"),
        ("(" * 50 + "a > 1" + ")" * 50, "nested more than 40 levels"),
    ],
)
def test_r_that_is_refused(condition: str, fragment: str, tmp_path: Path):
    path = tmp_path / "parameters.txt"
    path.write_text(f'a "" i (0, 9)\nc "" c (u, v, w)\nd "" c (u, v)\nz "" c (0, 1) | {condition}\n')
    with pytest.raises(ScenarioError) as caught:
        read_parameter_file(path)
    assert fragment in str(caught.value)
    assert caught.value.line == 4

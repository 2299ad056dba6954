"""Scenarios of SMAC, ParamILS and AClib: what they say becomes a scenario of ours, with the same call."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario.dialects.foreign_files import PCS, SMAC, files, program, smac
from utilitune.errors import ScenarioError
from utilitune.scenario import StopRules, build_target, read_scenario, understand
from utilitune.scenario.model import QualityRules
from utilitune.targets.base import Invocation
from utilitune.utility import parse_utility


def words(scenario, instance: str, captime_s: float = 2.5, **values: object):
    configuration = scenario.space.completed(values)
    return build_target(scenario).prepare(Invocation(configuration, instance, 7, captime_s)).argv


def test_the_old_call_word_by_word(tmp_path: Path):
    scenario = read_scenario(smac(tmp_path))
    assert words(scenario, "a.cnf", alpha=0.25, mode="safe", depth=4) == (
        str(tmp_path / "wrapper"),
        "--fixed=a = b",
        "a.cnf",
        "SAT",
        "3",
        "2147483647",
        "7",
        "-alpha",
        "0.25",
        "-mode",
        "safe",
        "-depth",
        "4",
    )
    assert words(scenario, "b.cnf")[3] == "0"
    assert words(scenario, "unheard of")[2:4] == ("unheard of", "0")


def test_the_rest_of_the_scenario(tmp_path: Path):
    more = (
        "tuner_timeout = 500\nwallclock_limit = 600\nruncount_limit = 70\nmemory_limit = 100\n"
        "test-instance-file = test.txt\nfeature_file = features.csv\nexecdir = .\ndeterministic = 1\n"
        "cutoff_length = 99\n"
    )
    path = smac(tmp_path, more)
    files(tmp_path, test__txt="c.cnf\n", features__csv="instance,size\na.cnf,1\nb.cnf,2\n")
    scenario = read_scenario(path)
    assert scenario.training.names == ("a.cnf", "b.cnf")
    assert scenario.test.names == ("c.cnf",)
    stop = scenario.stop
    assert (stop.cpu_time_s, stop.wall_time_s, stop.runs) == (500, 600, 70)
    assert scenario.memory_bytes == 100 * 1024 * 1024
    assert scenario.features == "features.csv"
    assert scenario.max_captime_s == 20
    assert words(scenario, "a.cnf")[4:7] == ("3", "99", "0")


@pytest.mark.parametrize(
    ("objective", "worth_at_ten"),
    [("PAR10", 0.95), ("MEAN10", 0.95), ("mean", 0.5), ("MEAN1000", 0.9995), ("", 0.95)],
)
def test_the_utility_is_the_penalised_runtime(tmp_path: Path, objective: str, worth_at_ten: float):
    line = f"overall_obj = {objective}" if objective else ""
    path = smac(tmp_path, scenario=SMAC.replace("overall_obj = PAR10", line))
    utility = parse_utility(read_scenario(path).utility)
    assert float(utility(10)) == pytest.approx(worth_at_ten)
    assert float(utility(20)) == 0


def test_paths_may_start_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    library = tmp_path / "library"
    (library / "scenarios" / "one").mkdir(parents=True)
    (library / "run").mkdir()
    text = (
        "algo = python3 ./wrapper.py\nexecdir = ./run\nparamfile = ./algorithms/p.pcs\ncutoff_time = 3\n"
        "instance_file = ./lists/train.txt\n"
    )
    path = library / "scenarios" / "one" / "scenario.txt"
    path.write_text(text)
    files(library, algorithms_in_p__pcs=PCS, lists_in_train__txt="data/a.cnf\n", data_in_a__cnf="1")
    monkeypatch.chdir(library)
    scenario = read_scenario(path)
    assert scenario.directory == library / "run"
    assert scenario.training.names == ("../data/a.cnf",)
    assert scenario.name == "one"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"scenario.txt:3: .*neither from the scenario's folder nor from"):
        read_scenario(path)


def test_instances_need_not_be_files(tmp_path: Path):
    path = smac(tmp_path)
    files(tmp_path, train__txt="1000 large\n'two words' small\n")
    understanding = understand(path)
    scenario = understanding.scenario
    assert (scenario.training.names, scenario.training.files) == (("1000", "two words"), False)
    assert words(scenario, "two words")[2:4] == ("two words", "small")
    assert any("passed as written: no files" in line for line in understanding.understood)


@pytest.mark.parametrize(
    "sign", ["--config", "from genericWrapper4AC.generic_wrapper import AbstractWrapper"]
)
def test_a_wrapper_that_speaks_aclib2_is_called_so(tmp_path: Path, sign: str):
    path = smac(tmp_path)
    program(tmp_path / "wrapper", f"#!/usr/bin/env python3\n# {sign}\n")
    understanding = understand(path)
    assert words(understanding.scenario, "a.cnf", alpha=0.25, mode="fast")[2:] == (
        "--instance",
        "a.cnf",
        "--cutoff",
        "2.5",
        "--seed",
        "7",
        "--config",
        "-alpha",
        "0.25",
        "-mode",
        "fast",
    )
    assert understanding.scenario.target.rules.contract == "aclib2"
    assert any("called as AClib2 wrappers are" in line for line in understanding.understood)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DEFAULT", []),
        ("RANDOM", []),
        (
            "-mode 'safe' -depth '7' -alpha '0.125'",
            [{"alpha": 0.125, "mode": "safe", "depth": 7}],
        ),
        ("-mode fast -depth 7", [{"alpha": 0.5, "mode": "fast"}]),
    ],
)
def test_an_initial_incumbent_is_tried_first(tmp_path: Path, text: str, expected: list[dict]):
    scenario = read_scenario(smac(tmp_path, f"initial_incumbent = {text}\n"))
    assert [dict(each) for each in scenario.initial] == expected


def test_what_was_understood_and_what_has_no_meaning_is_listed(tmp_path: Path):
    understanding = understand(smac(tmp_path, "output_dir = out\nintensification_percentage = 0.5 # note\n"))
    assert "cutoff_time = 20 → largest captime 20 s" in understanding.understood
    assert "instance_file = train.txt → 2 training instances, 1 with specifics" in understanding.understood
    assert understanding.without_meaning == ("output_dir", "intensification_percentage")


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("cutof_time = 5\n", "8: there is no option 'cutof_time'; did you mean 'cutoff_time'?"),
        ("run_obj = SPEEDUP\n", "8: run_obj is SPEEDUP, which is unknown; write RUNTIME or QUALITY"),
        ("cutoff_time = soon\n", "8: cutoff_time must be a number above 0, not 'soon'"),
        ("deterministic = perhaps\n", "8: deterministic must be true or false, not 'perhaps'"),
        ("instance_file = none.txt\n", "8: the file 'none.txt' does not exist"),
        ("algo = ./nobody\n", "8: the program './nobody' is neither an executable file"),
        ("algo = './wrapper\n", "8: algo has a quotation mark that is not closed"),
        ("execdir = nowhere\n", "8: the folder 'nowhere' does not exist"),
        ("just words\n", "8: a line of a SMAC scenario is key = value"),
        ("initial_incumbent = -mode fast -depth\n", "8: initial_incumbent must be DEFAULT or options"),
        ("initial_incumbent = -speed 3\n", "8: there is no parameter 'speed'"),
        ("initial_incumbent = -mode slow\n", "8: this is no configuration of the program"),
        ("initial_incumbent = -mode fast -mode safe\n", "8: the parameter 'mode' stands there twice"),
        ("cutoff_time = 1e-9\n", "8: cutoff_time = 1e-09 is too short for any run; it is in seconds"),
        ("overall_obj = PAR0\n", "8: overall_obj is PAR0, but its factor must be 1 or more"),
        ("runcount_limit = 0.5\n", "8: runcount_limit must be a whole number, not '0.5'"),
        ("algo-cutoff-time = 30\n", "8: cutoff_time is '30' here but '20' in line 7"),
        ("memory_limit = 100\nmemory-limit = 200\n", "9: memory_limit is '200' here but '100' in line 8"),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path: Path, more: str, complaint: str):
    path = smac(tmp_path, more)
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    assert f"{path}:{complaint}" in str(refused.value)


@pytest.mark.parametrize("key", ["algo", "paramfile", "instance_file"])
def test_what_is_missing_is_named(tmp_path: Path, key: str):
    lines = [line for line in SMAC.splitlines() if not line.startswith(key)]
    with pytest.raises(ScenarioError, match=f"{key} is missing"):
        read_scenario(smac(tmp_path, scenario="\n".join(lines)))


def test_instances_may_be_a_folder(tmp_path: Path):
    path = smac(tmp_path, "instance_file = data\n")
    files(tmp_path, data_in_a__cnf="1", data_in_deep_in_b__cnf="2")
    assert read_scenario(path).training.names == ("data/a.cnf", "data/deep/b.cnf")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ScenarioError, match="the folder 'empty' holds no instances"):
        read_scenario(smac(tmp_path, "instance_file = empty\n"))


def test_repeated_instances_count_once_and_that_is_told(tmp_path: Path):
    path = smac(tmp_path)
    files(tmp_path, train__txt="a.cnf SAT\nb.cnf\na.cnf SAT\n")
    understanding = understand(path)
    assert understanding.scenario.training.names == ("a.cnf", "b.cnf")
    told = "1 entry that repeats another in instance_file (every instance counts once)"
    assert told in understanding.without_meaning
    files(tmp_path, train__txt="a.cnf SAT\na.cnf UNSAT\n")
    with pytest.raises(ScenarioError, match=r"train\.txt:2: .* is listed in line 1 with other arguments"):
        read_scenario(path)


def test_one_file_in_other_words_counts_once_but_a_link_is_a_file_of_its_own(tmp_path: Path):
    path = smac(tmp_path)
    files(tmp_path, far_in_deep_in_a__cnf="")
    (tmp_path / "link").symlink_to("far/deep")
    (tmp_path / "linked.cnf").symlink_to("a.cnf")
    words = ["./a.cnf SAT", "b.cnf", "a.cnf SAT", "far/../b.cnf", f"{tmp_path}/b.cnf", "linked.cnf"]
    files(tmp_path, train__txt="\n".join([*words, "far/a.cnf", "link/../a.cnf"]), far_in_a__cnf="")
    understanding = understand(path)
    assert understanding.scenario.training.names == (
        *("./a.cnf", "b.cnf", "linked.cnf", "far/a.cnf"),
        "link/../a.cnf",  # a step up behind a link is left as it is
    )
    told = "3 entries that repeat another in instance_file (every instance counts once)"
    assert told in understanding.without_meaning
    files(tmp_path, train__txt="a.cnf SAT\n./a.cnf UNSAT\n")
    complaint = r"train\.txt:2: the instance '\./a\.cnf' is listed in line 1 as 'a\.cnf' with other"
    with pytest.raises(ScenarioError, match=complaint):
        read_scenario(path)


def test_a_key_may_be_said_twice_if_it_says_the_same(tmp_path: Path):
    understanding = understand(smac(tmp_path, "algo-cutoff-time = 20\n"))
    assert understanding.scenario.max_captime_s == 20
    assert sum("cutoff_time" in line for line in understanding.understood) == 1


def test_what_an_aclib2_wrapper_is_not_told_is_listed(tmp_path: Path):
    path = smac(tmp_path, "cutoff_length = 5\n")
    program(tmp_path / "wrapper", "#!/bin/sh\n# --config\n")
    listed = understand(path).without_meaning
    assert "what follows instances in their list (AClib2 wrappers do not get it)" in listed
    assert "cutoff_length (AClib2 wrappers do not get it)" in listed


def test_values_of_an_incumbent_that_do_not_apply_are_listed(tmp_path: Path):
    understanding = understand(smac(tmp_path, "initial_incumbent = -mode fast -depth 7\n"))
    assert "depth in line 8 of scenario.txt (does not apply there)" in understanding.without_meaning


def test_limits_without_a_value_are_listed(tmp_path: Path):
    understanding = understand(smac(tmp_path, "wallclock_limit =\ntuner_timeout = inf\n"))
    assert understanding.scenario.stop == StopRules()
    assert set(understanding.without_meaning) == {
        "wallclock_limit (it has no value)",
        "tuner_timeout = inf (no limit)",
    }


def test_specifics_follow_any_blanks(tmp_path: Path):
    path = smac(tmp_path, "instance_file = list.txt\n")
    files(tmp_path, list__txt='a.cnf\t\tone two\nb.cnf   "x y"\n')
    specifics = read_scenario(path).target.specifics
    assert (specifics["a.cnf"], specifics["b.cnf"]) == (("one two",), ("x y",))


def test_files_with_blanks_in_their_names_are_instances(tmp_path: Path):
    """The first word was taken for the instance, and the message spoke of arguments that nobody had given."""
    path = smac(tmp_path, "instance_file = list.txt\n")
    (tmp_path / "my files").mkdir()
    for name in ("a.cnf", "b c.cnf"):
        (tmp_path / "my files" / name).touch()
    files(tmp_path, list__txt="my files/a.cnf\nmy files/b c.cnf\n")
    scenario = read_scenario(path)
    assert set(scenario.training.names) == {"my files/a.cnf", "my files/b c.cnf"}
    assert not {name for name in scenario.target.specifics if name}


@pytest.mark.parametrize("word", ["QUALITY", "qual"])
def test_quality_runs_unchanged(tmp_path: Path, word: str):
    understanding = understand(smac(tmp_path, f"run_obj = {word}\n"))
    scenario = understanding.scenario
    assert scenario.quality == QualityRules()
    assert (scenario.utility, scenario.limit_s) == ("compared(to=default, alpha=5)", 20)
    assert build_target(scenario).reports_quality
    assert understanding.guess == ""
    assert f"run_obj = {word} → the quality in its answer counts" in understanding.understood
    assert "overall_obj = PAR10 (the mean worth counts)" in understanding.without_meaning


def test_a_scenario_that_does_not_say_what_counts_is_guessed_aloud(tmp_path: Path):
    scenario = "\n".join(line for line in SMAC.splitlines() if "run_obj" not in line)
    understanding = understand(smac(tmp_path, scenario=scenario + "\n"))
    assert understanding.scenario.quality is None
    assert understanding.guess.startswith("There is no run_obj, so the time of a run counts")


def test_names_of_smac_2_are_understood(tmp_path: Path):
    more = (
        "cutoffTime = 7\ninstanceFeatureFile = features.csv\ninter-instance-obj = MEAN\n"
        "intraInstanceObj = MEAN10\nruntimeLimit = 90\n"
    )
    lines = [line for line in SMAC.splitlines() if not line.startswith(("cutoff_time", "overall_obj"))]
    path = smac(tmp_path, more, scenario="\n".join(lines) + "\n")
    (tmp_path / "features.csv").write_text("instance,size\na.cnf,1\nb.cnf,2\n")
    understanding = understand(path)
    scenario = understanding.scenario
    assert (scenario.max_captime_s, scenario.stop.wall_time_s) == (7, 90)
    assert scenario.features == "features.csv"
    assert float(parse_utility(scenario.utility)(3.5)) == pytest.approx(1 - 3.5 / 70)
    assert "inter_instance_obj = MEAN (the mean over instances counts)" in understanding.without_meaning


def test_all_mistakes_are_told_at_once(tmp_path: Path):
    path = smac(tmp_path, "cutof_time = 3\nmemory_limit = much\nrun_obj = LUCK\ninstance_file = none.txt\n")
    (tmp_path / "params.pcs").write_text("a [9,1][3]\nb {x,y}[z]\n")
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    lines = str(refused.value).splitlines()
    assert len(lines) == 6
    for fragment in ("cutof_time", "memory_limit", "run_obj", "none.txt", "params.pcs:1:3", "params.pcs:2:8"):
        assert sum(fragment in line for line in lines) == 1

"""Scenarios of irace: what they say becomes a scenario of ours, with the very call irace would make."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario.dialects.foreign_files import IRACE, files, irace, program
from utilitune.errors import ScenarioError
from utilitune.scenario import ListedInstances, build_target, read_scenario, understand
from utilitune.scenario.model import QualityRules
from utilitune.targets.base import Invocation
from utilitune.utility import parse_utility


def words(scenario, captime_s: float = 2.5, instance: str | None = None, **values: object):
    """The arguments of one run, without the program and the two identifiers."""
    configuration = scenario.space.completed(values)
    name = instance or scenario.training.names[0]
    argv = build_target(scenario).prepare(Invocation(configuration, name, 7, captime_s)).argv
    assert argv[1].isdecimal()
    assert argv[2].isdecimal()
    return argv[3:]


def test_the_usual_scenario(tmp_path: Path):
    scenario = read_scenario(irace(tmp_path))
    assert scenario.directory == tmp_path
    assert scenario.name == tmp_path.name
    assert scenario.training.names == ("Instances/a.txt", "Instances/sub/b.txt")
    assert scenario.training.files
    assert scenario.test is None
    assert (scenario.max_captime_s, scenario.stop.cpu_time_s, scenario.stop.runs) == (20, 1000, None)
    assert build_target(scenario).prepare(
        Invocation(scenario.space.default(), "Instances/a.txt", 1, 1.0)
    ).argv[0] == str(tmp_path / "target-runner")


def test_switches_and_values_are_joined_without_a_space(tmp_path: Path):
    scenario = read_scenario(irace(tmp_path))
    assert words(scenario, alpha=0.25, mode="fast", extra="") == (
        "7",
        str(tmp_path / "Instances/a.txt"),
        "3",
        "--alpha",
        "0.25",
        "--mode=fast",
    )
    assert words(scenario, alpha=0.25, mode="safe", depth=4, extra="-x 1")[5:] == (
        "--mode=safe",
        "-d4",
        "-x",
        "1",
    )
    assert words(scenario, extra="--extra")[-1] == "--extra"


@pytest.mark.parametrize(
    ("more", "bound"),
    [
        ("", ("3",)),
        ("boundDigits = 2\n", ("2.5",)),
        ("capping = 0\n", ()),
        ("elitist = 0\n", ()),
        ("elitist = 0\ncapping = TRUE\n", ("3",)),
        ("maxTime = 0\nmaxExperiments = 500\n", ()),
    ],
)
def test_the_bound_is_passed_exactly_when_irace_would(tmp_path: Path, more: str, bound: tuple[str, ...]):
    scenario = read_scenario(irace(tmp_path, more))
    call = words(scenario, mode="fast", alpha=0.5, extra="")
    assert call == ("7", str(tmp_path / "Instances/a.txt"), *bound, "--alpha", "0.5", "--mode=fast")
    assert scenario.max_captime_s == 20


def test_the_command_line_may_be_another(tmp_path: Path):
    more = (
        "targetCmdline = \"--inst={instance} --seed {seed} --id '{configurationID} x' {targetRunnerArgs}\"\n"
    )
    scenario = read_scenario(irace(tmp_path, more))
    argv = (
        build_target(scenario)
        .prepare(Invocation(scenario.space.completed({"mode": "fast", "extra": ""}), "a b", 7, 2.5))
        .argv
    )
    assert argv[1:4] == (f"--inst={tmp_path / 'a b'}", "--seed", "7")
    assert argv[4] == "--id"
    assert argv[5].endswith(" x")
    assert argv[-1] == "--mode=fast"


def test_a_launcher_starts_the_runner(tmp_path: Path):
    more = 'targetRunnerLauncher = "env"\ntargetRunnerLauncherArgs = "A=1 {targetRunner} {targetCmdline}"\n'
    path = irace(tmp_path, more)
    (tmp_path / "target-runner").chmod(0o644)
    spec = read_scenario(path).target
    assert spec.argv[:4] == ("env", "A=1", "./target-runner", "{configuration_id}")


def test_instances_from_lists_with_arguments(tmp_path: Path):
    more = (
        'trainInstancesFile = "train.txt"\ntestInstancesFile = "test.txt"\ntestInstancesDir = ""\n'
        'execDir = "./run"\n'
    )
    path = irace(tmp_path, more)
    (tmp_path / "run").mkdir()
    files(
        tmp_path, train__txt='# two\n"a.txt" --goal 3 # far\n\nsub/b.txt\n', test__txt="100 --kind x\n200\n"
    )
    understanding = understand(path)
    scenario = understanding.scenario
    assert scenario.directory == tmp_path / "run"
    assert scenario.training.names == ("../Instances/a.txt", "../Instances/sub/b.txt")
    assert scenario.training.files
    assert (scenario.test.names, scenario.test.files) == (("100 --kind x", "200"), False)
    call = words(scenario, instance="../Instances/a.txt", mode="fast", extra="")
    assert call[:4] == ("7", "../Instances/a.txt", "--goal", "3")
    assert words(scenario, instance="100 --kind x", extra="")[1:4] == ("100", "--kind", "x")
    assert scenario.target.argv[0] == "../target-runner"
    assert any("passed as its line is written" in line for line in understanding.understood)


def test_an_instance_is_the_whole_line_and_need_not_be_a_file(tmp_path: Path):
    path = irace(tmp_path, 'trainInstancesFile = "train.txt"\ntrainInstancesDir = ""\n')
    files(tmp_path, train__txt="a.txt 1\na.txt 2\n# seeds\n17\nInstances/a.txt -n 3\na.txt 1\n")
    understanding = understand(path)
    scenario = understanding.scenario
    assert scenario.training.names == ("a.txt 1", "a.txt 2", "17", "Instances/a.txt -n 3")
    assert not scenario.training.files
    calls = [words(scenario, instance=name, mode="fast", extra="") for name in scenario.training.names]
    received = [call[1 : call.index("--alpha") - 1] for call in calls]  # then comes the bound
    assert received == [
        ("Instances/a.txt", "1"),
        ("Instances/a.txt", "2"),
        ("17",),
        ("Instances/a.txt", "-n", "3"),
    ]
    assert any(
        "4 training instances" in line and "'17' is no file" in line for line in understanding.understood
    )
    assert any("1 entry that repeats another" in line for line in understanding.without_meaning)


def test_a_folder_stands_before_every_line_as_in_irace(tmp_path: Path):
    path = irace(tmp_path, 'trainInstancesFile = "train.txt"\n')
    files(tmp_path, train__txt="nowhere.txt -x\nmissing.txt\n")
    scenario = read_scenario(path)
    assert words(scenario, instance="Instances/nowhere.txt -x", extra="")[1:3] == (
        "Instances/nowhere.txt",
        "-x",
    )


def test_options_of_other_versions_of_irace(tmp_path: Path):
    forbidden = r'"mode == \"fast\" & alpha > 0.5"'
    more = f'targetRunnerData = "mine"\nforbiddenExps = c({forbidden})\ninitConfigurations = NULL\n'
    understanding = understand(irace(tmp_path, more))
    clauses = understanding.scenario.space.to_tables()["forbidden"]
    assert clauses == [{"clause": "mode == 'fast' and alpha > 0.5"}]
    assert "targetRunnerData" in understanding.without_meaning
    path = irace(tmp_path, 'forbiddenExps = "alpha > beta"\n')
    with pytest.raises(
        ScenarioError, match=r"scenario\.txt:5:9: the forbidden expression is wrong: there is no"
    ):
        read_scenario(path)
    path = irace(tmp_path, 'initConfigurations = "mine"\n')
    with pytest.raises(
        ScenarioError, match="initConfigurations cannot be used: it is a table made by R code"
    ):
        read_scenario(path)


def test_parameters_that_are_never_active_may_stand_in_the_table_of_configurations(tmp_path: Path):
    path = irace(tmp_path, 'configurationsFile = "first.txt"\n')
    with (tmp_path / "parameters.txt").open("a") as more:
        more.write('rank "-r" i (1, 9) | mode == "gone"\n')
    files(tmp_path, first__txt='alpha mode depth extra rank\n0.1 safe 3 "" 4\n0.2 fast NA "" NA\n')
    understanding = understand(path)
    assert [dict(each).get("depth") for each in understanding.scenario.initial] == [3, None]
    assert "rank" not in understanding.scenario.space.names
    assert any("'rank' can never be active" in line for line in understanding.understood)


def test_all_mistakes_are_told_at_once(tmp_path: Path):
    path = irace(tmp_path, 'paralel = 3\nmaxExperiments = 1.5\ntrainInstancesFile = "none.txt"\nseed = "a"\n')
    (tmp_path / "parameters.txt").write_text('a "-a" i (9, 1)\nb "-b" r (0.00001, 1)\nc "-c" c (x)\n')
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    places = [
        line.removeprefix(f"{tmp_path}/").partition(": ")[0] for line in str(refused.value).splitlines()
    ]
    assert places == [
        "scenario.txt:5",
        "parameters.txt:1:10",
        "parameters.txt:2:11",
        "scenario.txt:7",
        "scenario.txt:8",
        "scenario.txt:6",
    ]


def test_configurations_to_try_first(tmp_path: Path):
    path = irace(tmp_path, 'configurationsFile = "first.txt"\n')
    files(tmp_path, first__txt='mode depth alpha extra\n"safe" 3 0.5 ""\nfast NA 0.25 "-x 1"\n')
    scenario = read_scenario(path)
    assert [dict(each) for each in scenario.initial] == [
        {"alpha": 0.5, "mode": "safe", "depth": 3, "extra": ""},
        {"alpha": 0.25, "mode": "fast", "extra": "-x 1"},
    ]


def test_budgets_seed_and_workers(tmp_path: Path):
    more = "maxTime = 0\nmaxExperiments = 5000\nseed = 99\nparallel = 0\ndeterministic = TRUE\n"
    scenario = read_scenario(irace(tmp_path, more))
    assert (scenario.stop.runs, scenario.stop.cpu_time_s) == (5000, None)
    assert (scenario.seed, scenario.workers) == (99, 1)


@pytest.mark.parametrize(
    ("more", "worths"),
    [("", {0: 1.0, 10: 0.5, 20: 0.0}), ("boundPar = 10\n", {0: 1.0, 10: 0.95, 19.9: 0.9005, 20: 0.0})],
)
def test_the_utility_is_the_penalised_runtime(tmp_path: Path, more: str, worths: dict[float, float]):
    utility = parse_utility(read_scenario(irace(tmp_path, more)).utility)
    assert {time: float(utility(time)) for time in worths} == pytest.approx(worths, abs=1e-6)


@pytest.mark.parametrize(
    ("bound", "limit_s"), [("", 86400), ("boundMax = 0\n", 86400), ("targetRunnerTimeout = 5\n", 5)]
)
def test_without_a_bound_the_cost_counts_and_that_is_said_first(tmp_path: Path, bound: str, limit_s: float):
    path = irace(tmp_path, scenario='trainInstancesDir = "./Instances"\nmaxExperiments = 500\n' + bound)
    understanding = understand(path)
    scenario = understanding.scenario
    assert scenario.quality == QualityRules()
    assert scenario.utility == "compared(to=default, alpha=5)"
    assert scenario.limit_s == limit_s
    assert understanding.guess.startswith("There is no boundMax, so the cost that a run prints counts")
    assert any(line.startswith("the cost a run prints → the quality") for line in understanding.understood)
    assert "{whole_captime}" not in scenario.target.argv


@pytest.mark.parametrize(
    ("more", "guess"), [("", ""), ("capping = 1\n", ""), ("capping = 0\n", "although capping")]
)
def test_with_a_bound_the_time_counts(tmp_path: Path, more: str, guess: str):
    understanding = understand(irace(tmp_path, more))
    assert understanding.scenario.quality is None
    assert (guess in understanding.guess) if guess else not understanding.guess


def test_what_was_understood_and_what_has_no_meaning_is_listed_once(tmp_path: Path):
    understanding = understand(
        irace(tmp_path, 'testType = "t-test"\nfirstTest = 5\nlogFile = ""\nbatchmode = 0\n')
    )
    assert "boundMax = 20 → largest captime 20 s" in understanding.understood
    assert "maxTime = 1000 → at most 1000 s in runs of the program" in understanding.understood
    assert understanding.without_meaning == (
        "the cost a run prints (how long the run takes counts, its cost does not)",
        "testType",
        "firstTest",
    )


def test_aclib_mode_calls_the_runner_as_a_wrapper(tmp_path: Path):
    spec = read_scenario(irace(tmp_path, "aclib = 1\n")).target
    assert spec.argv[1:] == (
        "--instance",
        "{instance_path}",
        "--cutoff",
        "{captime}",
        "--seed",
        "{seed}",
        "--config",
        "{parameters}",
    )
    assert spec.rules.contract == "aclib2"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("maxExperimentz = 5\n", "6: irace has no option 'maxExperimentz'; did you mean 'maxExperiments'?"),
        ("boundMax = 2 * 10\n", "6: only literal values are read here"),
        ('boundMax = "20"\n', "6: boundMax must be a number from 0 up, not '20'"),
        ("parameterFile = 3\n", "6: parameterFile must be a text in quotes, not 3.0"),
        ('parameterFile = "p.txt"\n', "6: the parameter file, 'p.txt', does not exist"),
        ('targetRunner = "./other"\n', "6: the target runner './other' does not exist"),
        ('execDir = "target-runner"\n', "6: execDir, 'target-runner', is no folder"),
        ('trainInstancesDir = "target-runner"\n', "6: trainInstancesDir, 'target-runner', is no folder"),
        ("deterministic = 7\n", "6: deterministic must be TRUE or FALSE, or 1 or 0, not 7.0"),
        ("digits = 99\n", "6: digits must be a whole number from 0 to 15, not 99"),
        ("boundMax = 1e-9\n", "6: boundMax = 1e-09 is too short for any run; it is in seconds"),
        (
            'targetCmdline = "x{targetRunnerArgs}"\n',
            "6: targetCmdline has {targetRunnerArgs} inside 'x{targetRunnerArgs}'; put blanks around it",
        ),
        (
            'targetCmdline = "{seed:>9} {targetRunnerArgs}"\n',
            "6: targetCmdline has the unknown placeholder {seed:>9}; did you mean 'seed'?",
        ),
        ('execDir = "nowhere"\n', "6: the folder to run in, 'nowhere', does not exist"),
        ('repairConfiguration = "fix"\n', "6: repairConfiguration cannot be used: it is R code"),
        (
            'targetEvaluator = "./evaluate"\n',
            "6: targetEvaluator cannot be used: a run is judged when it ends",
        ),
        ('batchmode = "slurm"\n', "6: batchmode cannot be used: a run that a cluster makes later"),
        ('targetCmdline = "{seed} {instance}"\n', "6: targetCmdline needs {targetRunnerArgs}"),
        (
            'targetCmdline = "{sede} {targetRunnerArgs}"\n',
            "6: targetCmdline has the unknown placeholder {sede}; did you mean 'seed'?",
        ),
        ('targetCmdline = "\'{seed} {targetRunnerArgs}"\n', "6: targetCmdline has a quotation mark"),
        ('trainInstancesFile = "none.txt"\n', "6: the instance list, 'none.txt', does not exist"),
        ("maxExperiments = Inf\n", "6: maxExperiments must be a number from 0 up, not inf"),
        ("maxExperiments = 10.5\n", "6: maxExperiments must be a whole number, not 10.5"),
        ("boundMax = TRUE\n", "6: boundMax must be a number from 0 up, not True"),
        ("capping = 2\n", "6: capping must be TRUE or FALSE, or 1 or 0, not 2.0"),
        ("instances = c()\n", '6: instances must be a list of names such as c("a.txt", "b.txt")'),
        ('configurationsFile = "c.txt"\n', "6: the file of configurations, 'c.txt', does not exist"),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path: Path, more: str, complaint: str):
    path = irace(tmp_path, more, scenario=IRACE + "# one more line\n")
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    assert f"{path}:{complaint}" in str(refused.value)


HEAD = "mode alpha depth extra"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (f"# none\n{HEAD}\n", "scenario.txt:5: first.txt holds no configurations"),
        (f"{HEAD}\nfast\n", "first.txt:2: the line has 1 value for 4 parameters"),
        ("mode beta\nfast 1\n", "first.txt:1: there is no parameter 'beta'"),
        ("mode mode\nfast fast\n", "first.txt:1: the parameter 'mode' stands there twice"),
        ("mode alpha depth\nfast 1 NA\n", "first.txt:1: the table has no column for the parameter 'extra'"),
        (
            f"{HEAD}\nquick 0.5 NA ''\n",
            "first.txt:2: this is no configuration of the program: parameter 'mode': 'quick'",
        ),
        (f"{HEAD}\n'fast 0.5 NA ''\n", "first.txt:2: a quotation mark is not closed"),
        (f"{HEAD}\nsafe 0.5 NA ''\n", "first.txt:2: the parameter 'depth' applies here, so it needs a value"),
    ],
)
def test_wrong_configurations_are_refused_with_their_line(tmp_path: Path, table: str, complaint: str):
    path = irace(tmp_path, 'configurationsFile = "first.txt"\n')
    files(tmp_path, first__txt=table)
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [
        ("# nothing\n", "train.txt: the list holds no instances"),
        ("a.txt 'x\n", "train.txt:1: a quotation mark is not closed"),
    ],
)
def test_wrong_lists_are_refused_with_their_line(tmp_path: Path, listed: str, complaint: str):
    path = irace(tmp_path, 'trainInstancesFile = "train.txt"\n')
    files(tmp_path, train__txt=listed)
    with pytest.raises(ScenarioError) as refused:
        read_scenario(path)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('trainInstancesFile = "train.txt"\n', "2 entries that repeat another in trainInstancesFile"),
        ('instances = c("a.txt", "b.txt", "a.txt")\n', "1 entry that repeats another in instances"),
        ('instances = c("a.txt", "b.txt", "./a.txt")\n', "1 entry that repeats another in instances"),
        ('instances = c("x", "y", "x")\n', "1 entry that repeats another in instances"),
    ],
)
def test_repeated_instances_count_once_and_that_is_told(tmp_path: Path, more: str, told: str):
    path = irace(tmp_path, more)
    files(tmp_path, train__txt="sub/b.txt\na.txt -x\nsub/b.txt\na.txt -x\n", a__txt="", b__txt="")
    understanding = understand(path)
    assert len(understanding.scenario.training.names) == 2
    assert any("→ 2 training instances" in line for line in understanding.understood)
    assert f"{told} (every instance counts once)" in understanding.without_meaning


def test_a_runner_that_may_not_be_executed_is_refused(tmp_path: Path):
    path = irace(tmp_path)
    (tmp_path / "target-runner").chmod(0o644)
    with pytest.raises(ScenarioError, match=r"target-runner' is not executable or not there; run chmod \+x"):
        read_scenario(path)


def test_a_forbidden_file_of_irace_3_is_honoured(tmp_path: Path):
    path = irace(tmp_path, 'forbiddenFile = "forbidden.txt"\n')
    files(tmp_path, forbidden__txt='(mode == "safe") & (alpha > 0.5)\n')
    program(tmp_path / "target-runner")
    assert len(read_scenario(path).space.forbidden) == 1


def test_a_linked_runner_keeps_its_own_place(tmp_path: Path):
    path = irace(tmp_path)
    program(tmp_path / "shared" / "runner")
    (tmp_path / "target-runner").unlink()
    (tmp_path / "target-runner").symlink_to("shared/runner")
    assert read_scenario(path).target.argv[0] == "./target-runner"


def test_values_that_do_not_apply_are_listed_and_a_category_may_look_like_none(tmp_path: Path):
    path = irace(tmp_path, 'configurationsFile = "first.txt"\n')
    parameters = 'mode "" c (None, NA, fast)\ndepth "" i (1, 9) | mode == "fast"\n'
    files(tmp_path, parameters__txt=parameters, first__txt="mode depth\nNone 3\nNA NA\nfast 4\nNone NA\n")
    understanding = understand(path)
    assert [dict(each) for each in understanding.scenario.initial] == [
        {"mode": "None"},
        {"mode": "NA"},
        {"mode": "fast", "depth": 4},
    ]
    assert "depth in line 2 of first.txt (does not apply there)" in understanding.without_meaning
    assert "line 5 of first.txt (it says the same as line 2)" in understanding.without_meaning


@pytest.mark.parametrize(
    ("more", "own", "line"),
    [
        ("digits = 2\n", "", "digits = 2 → decimal places of real numbers"),
        ("digits = 2\n", "[global]\ndigits = 3\n", "digits = 2 (digits = 3 in parameters.txt counts)"),
        ("boundMax = 30\n", "", "boundMax in line 4 (assigned again in line 5, which counts)"),
        ("targetRunnerTimeout = 50\n", "", "targetRunnerTimeout = 50 (every run is stopped after 20 s)"),
        ("targetRunnerTimeout = 5\n", "", "boundMax = 20 (every run is stopped after 5 s)"),
        ("capping = FALSE\n", "", "capping → the runner does not get the bound, but we stop it there"),
        ("capping = 0\nboundDigits = 2\n", "", "boundDigits (the runner does not get the bound)"),
        ('targetRunnerLauncher = "sh"\n', "", "targetRunnerLauncher = sh → what starts the runner"),
        (
            'targetRunnerLauncherArgs = "-x"\n',
            "",
            "targetRunnerLauncherArgs (there is no targetRunnerLauncher)",
        ),
        ("boundMax = 0\nboundPar = 10\n", "", "boundPar (there is no boundMax)"),
    ],
)
def test_nothing_is_dropped_without_a_word(tmp_path: Path, more: str, own: str, line: str):
    path = irace(tmp_path, more)
    with (tmp_path / "parameters.txt").open("a") as file:
        file.write(own)
    understanding = understand(path)
    assert line in (*understanding.understood, *understanding.without_meaning)


def test_instances_may_stand_in_the_scenario_itself(tmp_path: Path):
    more = 'instances = c("Instances/a.txt", "Instances/sub/b.txt")\ntestInstances = c(1, 2.5, "x y")\n'
    understanding = understand(irace(tmp_path, more))
    scenario = understanding.scenario
    assert scenario.training == ListedInstances(("Instances/a.txt", "Instances/sub/b.txt"))
    assert scenario.test == ListedInstances(("1", "2.5", "x y"), files=False)
    assert "trainInstancesDir (instances names the instances)" in understanding.without_meaning


def test_a_list_without_a_folder_is_also_looked_for_where_irace_does(tmp_path: Path):
    path = irace(tmp_path, scenario='trainInstancesFile = "list.txt"\nboundMax = 5\n')
    files(tmp_path, list__txt="a.txt\nsub/b.txt\n")
    assert read_scenario(path).training.names == ("Instances/a.txt", "Instances/sub/b.txt")


def test_arguments_of_an_instance_follow_it_wherever_it_stands(tmp_path: Path):
    path = irace(
        tmp_path, 'targetCmdline = "-i={instance} {targetRunnerArgs}"\ntrainInstancesFile = "l.txt"\n'
    )
    files(tmp_path, l__txt="a.txt --size 3\n")
    assert read_scenario(path).target.argv[1:] == ("-i={instance_path}", "{specifics}", "{parameters}")


def test_names_of_your_own_begin_with_a_dot(tmp_path: Path):
    assert ".mine (a name of your own)" in understand(irace(tmp_path, ".mine = 3\n")).without_meaning

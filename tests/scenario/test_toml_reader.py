from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scenario.scenario_files import changed, line_of, write_files
from utilitune.domain import Guesses, Measure, RunStatus
from utilitune.errors import ScenarioError
from utilitune.scenario import (
    CommandSpec,
    FailurePolicy,
    FunctionSpec,
    GeneratedInstances,
    ListedInstances,
    Population,
    RecordedSpec,
    StopRules,
    read_scenario,
    understand,
)
from utilitune.scenario.targets import build_target
from utilitune.spaces import ParameterSpace
from utilitune.spaces.configspace import to_json
from utilitune.targets.base import Invocation

if TYPE_CHECKING:
    from pathlib import Path

FULL = """\
name = "full"
utility = "uniform(k0=5m)"
measure = "wall"
seed = 7
workers = 2
guesses = "all"
parameters = "space.json"
[target]
command = ["./solver", "{instance}", "--time={captime}", "{parameters}"]
template = ["-{name}", "{value}"]
exit_codes = [10, 20]
failure_pattern = "(?i)error"
answer_exit_codes = { 10 = "SAT", 20 = "UNSAT" }
answers = "answers.csv"
[target.templates]
mode = { a = "-a", b = [] }
[target.environment]
OMP_NUM_THREADS = "1"
[instances]
training = "train/*.cnf"
test = ["train/one.cnf"]
population = "infinite"
features = "features.csv"
[limits]
smallest_captime = "10ms"
largest_captime = "5m"
memory = "1.5 GiB"
pause_memory = "3 GiB"
[promise]
delta = 0.1
epsilon = 0.02
gamma = 0.01
[budget]
cpu_time = "1h"
wall_time = 90
runs = 1000
[failures]
crashed = "abort"
[procedure]
name = "coup"
doubling = "new"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def test_a_small_scenario_and_its_defaults(path: Path):
    scenario = read_scenario(path)
    assert scenario.name == "small"
    assert scenario.directory == path.parent
    assert isinstance(scenario.target, CommandSpec)
    assert scenario.target.default_template == ("--{name}={value}",)
    assert scenario.space.default() == {"mode": "a"}
    assert scenario.training == ListedInstances(
        ("train/-three.cnf", "train/one.cnf", "train/two words.cnf"), files=True
    )
    assert scenario.test is None
    assert scenario.population is Population.FINITE
    assert scenario.measure is Measure.CPU
    assert scenario.max_captime_s == 10
    assert scenario.captime0_s == 0.01
    assert scenario.memory_bytes is None
    assert scenario.pause_memory_bytes is None
    assert scenario.guesses is Guesses.USEFUL
    assert scenario.stop == StopRules()
    assert scenario.policy(RunStatus.CRASHED) is FailurePolicy.NEVER_FINISHES


def test_every_key_is_read(path: Path):
    folder = path.parent
    space = ParameterSpace.from_tables({"mode": {"type": "categorical", "values": ["a", "b"]}})
    (folder / "space.json").write_text(to_json(space))
    (folder / "answers.csv").write_text("# known\ntrain/one.cnf,SAT\ntrain/two words.cnf\tUNSAT\n")
    (folder / "features.csv").write_text("instance,size\n")
    path.write_text(FULL)
    scenario = read_scenario(path)
    target = scenario.target
    assert isinstance(target, CommandSpec)
    assert target.default_template == ("-{name}", "{value}")
    assert target.templates == {"mode": {"a": ("-a",), "b": ()}}
    assert target.environment == {"OMP_NUM_THREADS": "1"}
    assert target.rules.exit_codes == {10, 20}
    assert target.rules.answer_exit_codes == {10: "SAT", 20: "UNSAT"}
    assert target.rules.answers == {"train/one.cnf": "SAT", "train/two words.cnf": "UNSAT"}
    assert scenario.space == space
    assert scenario.test == ListedInstances(("train/one.cnf",))
    assert scenario.population is Population.INFINITE
    assert scenario.measure is Measure.WALL
    assert (scenario.captime0_s, scenario.max_captime_s) == (0.01, 300)
    assert scenario.memory_bytes == 1536 * 1024**2
    assert scenario.pause_memory_bytes == 3 * 1024**3
    assert scenario.stop == StopRules(0.02, 0.01, 3600, 90, 1000)
    assert scenario.delta == 0.1
    assert scenario.policy(RunStatus.CRASHED) is FailurePolicy.ABORT
    assert (scenario.seed, scenario.workers, scenario.guesses) == (7, 2, Guesses.ALL)
    assert (scenario.procedure, scenario.options) == ("coup", {"doubling": "new"})
    assert scenario.features == "features.csv"


def test_a_list_file_with_comments(path: Path):
    (path.parent / "list.txt").write_text("# my instances\n\ntrain/two words.cnf\n  train/one.cnf  \n")
    scenario = read_scenario(changed(path, ('training = "train"', 'training = "list.txt"')))
    assert scenario.training == ListedInstances(("train/two words.cnf", "train/one.cnf"))


def test_instances_that_are_no_files(path: Path):
    change = ('training = "train"', 'files = false\ntraining = ["n=5", "n=6"]')
    assert read_scenario(changed(path, change)).training == ListedInstances(("n=5", "n=6"), files=False)


def test_a_generator_is_endless_and_infinite(path: Path):
    change = (
        'training = "train"',
        'training = { generator = ["./solver", "{seed}", "{output}"], suffix = ".cnf" }',
    )
    scenario = read_scenario(changed(path, change))
    assert scenario.training == GeneratedInstances(("./solver", "{seed}", "{output}"), "generated", ".cnf")
    assert scenario.population is Population.INFINITE


def test_a_python_function(path: Path):
    (path.parent / "my_target_module.py").write_text("def solve(configuration, instance, seed): ...\n")
    changed(
        path,
        (
            'command = ["./solver", "--seed={seed}", "{parameters}", "{instance}"]',
            'function = "my_target_module:solve"',
        ),
        ('training = "train"', 'training = ["1", "2"]'),
    )
    scenario = read_scenario(path)
    assert scenario.target == FunctionSpec("my_target_module:solve")
    assert scenario.training == ListedInstances(("1", "2"), files=False)


def test_recorded_runtimes_bring_space_and_instances(tmp_path: Path):
    (tmp_path / "runs.csv").write_text("configuration,i1,i2\nfast,1,2\nslow,3,4\n")
    path = tmp_path / "scenario.toml"
    path.write_text('utility = "uniform(k0=5)"\n[target]\nmatrix = "runs.csv"\n')
    scenario = read_scenario(path)
    assert scenario.name == "scenario"
    assert scenario.target == RecordedSpec("runs.csv")
    assert scenario.space.default() == {"configuration": "fast"}
    assert scenario.training == ListedInstances(("i1", "i2"), files=False)
    path.write_text('utility = "uniform(k0=5)"\nparameters = "x"\n[target]\nmatrix = "runs.csv"\n')
    with pytest.raises(
        ScenarioError, match=r"scenario\.toml:2: recorded runtimes bring their own configurations"
    ):
        read_scenario(path)


COMMAND = 'command = ["./solver", "--seed={seed}", "{parameters}", "{instance}"]'
TRAINING = 'training = "train"'
MISTAKES = [
    # the file
    ('name = "small"', "name = small", "name = small", "not valid TOML"),
    ('name = "small"', 'nmae = "small"', "nmae", "unknown key nmae; did you mean 'name'?"),
    ('name = "small"', "name = 3", "name", "name must be a text in quotes, not 3"),
    ("[target]", "target = 3\n[targets]", "target = 3", "target must be a table"),
    ('utility = "log-laplace(k0=60, alpha=1)"', "", "name", "utility is missing"),
    ("utility =", "utilty =", "utilty", "unknown key utilty; did you mean 'utility'?"),
    ("log-laplace(k0=60", "log-laplacian(k0=60", "utility", "no utility 'log-laplacian'"),
    ('name = "small"', 'measure = "cpus"', "measure", "did you mean 'cpu'?"),
    ('name = "small"', "seed = -1", "seed", "at least 0"),
    ('name = "small"', "workers = true", "workers", "a whole number"),
    # the target
    (COMMAND, "", "[target]", "command is missing"),
    (
        COMMAND,
        'python = "a:b"',
        "[target]",
        "one of command, function and matrix; this table has only python",
    ),
    (COMMAND, COMMAND + '\nfunction = "a:b"', "function =", "only one of command and function"),
    (COMMAND, "command = []", "command", "the command is empty"),
    (COMMAND, 'command = "./solver {instance}"', "command", "a list of texts"),
    (COMMAND, 'command = ["./solver", 3]', "command", "only texts, not 3"),
    ("./solver", "./missing", "command", "does not exist relative to the scenario's folder"),
    ("./solver", "no-such-program-anywhere", "command", "neither in the scenario's folder nor on the PATH"),
    ("./solver", "train/one.cnf", "command", "is not executable; run chmod +x"),
    ("./solver", "./train", "command", "is a folder"),
    ("./solver", "{instance}", "command", "has braces"),
    ("{instance}", "{instanse}", "command", "unknown placeholder {instanse}"),
    ("--seed={seed}", "--seed={", "command", "unpaired brace"),
    ('"{parameters}", ', "", "command", "the parameters (mode, depth) are used nowhere in the command"),
    ("--seed={seed}", "-d={dept},{mode}", "command", "unknown placeholder {dept} in '-d={dept},{mode}'"),
    ("--seed={seed}", "-d={dept},{mode}", "command", "did you mean 'depth'?"),
    ("--seed={seed}", "-d={depth:d}", "command", "unknown placeholder {depth:d}"),
    ("--seed={seed}", "-d={depth},{", "command", "unpaired brace"),
    ('"{parameters}", ', '"-m{mode}", ', "command", "the parameters (depth) are used nowhere in the command"),
    (
        COMMAND,
        COMMAND.replace("--seed={seed}", "-d{depth}") + '\n[target.templates]\ndepth = "-{value}"',
        'depth = "-{value}"',
        "the command names 'depth' in '-d{depth}', so its template is never used",
    ),
    (COMMAND, COMMAND + '\ntemplate = "-{nam}"', "template", "unknown placeholder {nam}"),
    (COMMAND, COMMAND + '\ntemplate = "-{name}"', "template", "no value reaches the program"),
    (COMMAND, COMMAND + '\n[target.templates]\nmode = "-m"', 'mode = "-m"', "'mode' is used nowhere"),
    (COMMAND, COMMAND + '\n[target.templates]\nmod = "{value}"', "mod = ", "did you mean 'mode'?"),
    (
        COMMAND,
        COMMAND + '\n[target.templates]\nmode = { a = "-a" }',
        "mode = {",
        "no entry for its value 'b'",
    ),
    (COMMAND, COMMAND + '\n[target.templates]\ndepth = { 1 = "-a" }', "depth = {", "is a number"),
    (COMMAND, COMMAND + "\n[target.templates]\ndepth = 3", "depth = 3", "a text or a list of texts, not 3"),
    (COMMAND, COMMAND + '\nsuccess_pattern = "("', "success_pattern", "not a regular expression"),
    (COMMAND, COMMAND + '\nexit_codes = ["0"]', "exit_codes", "a list of whole numbers"),
    (COMMAND, COMMAND + '\nanswers = "none.csv"', "answers", "'none.csv' does not exist"),
    (COMMAND, COMMAND + '\nanswers = { x = "SAT" }', "answers", "not how to read the program's answer"),
    (COMMAND, COMMAND + '\nanswer_exit_codes = { ten = "SAT" }', "ten", "'ten' is not an exit code"),
    (COMMAND, 'function = "nothing"', "function", "names no function"),
    (COMMAND, 'function = "no_such_module_here:f"', "function", "no module 'no_such_module_here'"),
    (COMMAND, 'matrix = "none.csv"', "matrix", "do not exist"),
    # the parameters
    ("default = 3", "default = 30", "default = 30", "30 is outside its range [1, 9]"),
    ('default = "a"', 'default = "c"', 'default = "c"', "the default of parameter 'mode': 'c' is not one of"),
    ("mode == 'b'\"", "mode == 'c'\"", "when", "'c' is not one of its values"),
    ("mode == 'b'\"", "mode == 'a' and mode == 'b'\"", "when", "'depth' can never be active"),
    ("mode == 'b'\"", 'depth > 3"', "when", "circle: depth → depth"),
    ("mode == 'b'\"", "mode = 'b'\"", "when", "unexpected '=' at character 6"),
    ("mode == 'b'\"", "mod == 'b'\"", "when", "no parameter 'mod'; did you mean 'mode'?"),
    ("depth > 8", "depth > 9", "clause", "never holds"),
    ("mode == 'b' and depth > 8", "mode == 'a'", "clause", "the default configuration is forbidden"),
    ("range = [1, 9]", "range = [9, 1]", "range", "is empty"),
    ('type = "integer"', 'type = "int"', 'type = "int"', "did you mean 'integer'?"),
    ("clause = ", "clasue = ", "[[forbidden]]", "exactly one key"),
    # the instances
    (TRAINING, "", "[instances]", "instances.training is missing"),
    (TRAINING, 'training = "nowhere"', "training", "no file or folder 'nowhere'"),
    (TRAINING, 'training = "train/*.lp"', "training", "holds no instance files"),
    (TRAINING, "training = []", "training", "holds no instances"),
    (
        TRAINING,
        'training = ["train/one.cnf",\n"train/none.cnf"]',
        '"train/none.cnf"]',
        "does not exist relative",
    ),
    (
        TRAINING,
        'training = ["train/one.cnf",\n"train/one.cnf"]',
        '"train/one.cnf"]',
        "listed twice, first in line 22",
    ),
    (
        TRAINING,
        'training = ["train/one.cnf",\n"train/.././train/one.cnf"]',
        '"train/.././train/one.cnf"]',
        "listed twice, first in line 22 as 'train/one.cnf'; remove one of them",
    ),
    (TRAINING, TRAINING + '\npopulation = "endless"', "population", "unknown"),
    (TRAINING, TRAINING + '\nfeatures = "none.csv"', "features", "'none.csv' does not exist"),
    (TRAINING, TRAINING + '\ntests = "train"', "tests", "unknown key instances.tests; did you mean 'test'?"),
    (
        TRAINING,
        'training = { generator = ["./solver", "{seed}"] }',
        "training",
        "needs the placeholder {output}",
    ),
    (TRAINING, 'training = { generator = ["./solver", "{seeds}"] }', "training", "unknown placeholder"),
    (
        TRAINING,
        'training = { generator = ["./gone", "{seed}", "{output}"] }',
        "training",
        "'./gone' does not exist",
    ),
    (TRAINING, 'training = { suffix = ".cnf" }', "training", "training.generator is missing"),
    # the rest
    ("largest_captime = 10", "largest_captime = 0", "largest_captime", "above 0 seconds"),
    ("largest_captime = 10", 'largest_captime = "ten"', "largest_captime", "'ten' is not a duration"),
    (
        "largest_captime = 10",
        "largest_captime = 10\nsmallest_captime = 11",
        "largest",
        "is below the smallest, 11 s",
    ),
    ("[target]", 'guesses = "some"\n[target]', "guesses", "guesses is 'some', which is unknown"),
    ("largest_captime = 10", 'memory = "lots"', "memory", "no amount of memory"),
    ("largest_captime = 10", "pause_memory = 0", "pause_memory", "no amount of memory"),
    ("[limits]", "[promise]\ndelta = 1.5\n[limits]", "delta", "strictly between 0 and 1, not 1.5"),
    ("[limits]", "[promise]\ndelta = 1e-300\n[limits]", "delta", "must be at least 1e-100, not 1e-300"),
    ("[limits]", "[promise]\ndelta = 5e-324\n[limits]", "delta", "must be at least 1e-100, not 5e-324"),
    ("[limits]", "[budget]\nruns = 0\n[limits]", "runs", "at least 1"),
    (
        "[limits]",
        '[failures]\ncrashed = "ignore"\n[limits]',
        "crashed",
        "crashed is 'ignore', which is unknown",
    ),
    ("[limits]", '[failures]\ntimeout = "abort"\n[limits]', "timeout", "unknown key failures.timeout"),
]


@pytest.mark.parametrize(("old", "new", "place", "fragment"), MISTAKES, ids=[m[3][:40] for m in MISTAKES])
def test_a_mistake_is_one_sentence_with_file_and_line(
    path: Path, old: str, new: str, place: str, fragment: str
):
    changed(path, (old, new))
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    text = str(caught.value)
    assert fragment in text
    assert text.startswith(f"{path}:{line_of(path, place)}: ")
    assert all(line.startswith(f"{path}:") for line in text.splitlines())


def test_all_mistakes_are_told_at_once(path: Path):
    (path.parent / "space.pcs").write_text("a [9,1][3]\nb {x,y}[z]\n")
    path.write_text(
        'utility = "log-lapalce(60)"\nparameters = "space.pcs"\nsede = 3\n'
        '[target]\ncommand = ["./solver", "{instance}", "{parameters}"]\n'
        '[instances]\ntraining = "train/*.cnf"\n[limits]\nsmalest_captime = 3\n[promise]\ndelta = 2\n'
    )
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    lines = str(caught.value).splitlines()
    places = [line.removeprefix(f"{path.parent}/").partition(": ")[0] for line in lines]
    here = [f"{path.name}:{number}" for number in (1, 9, 11, 3)]
    assert places == ["space.pcs:1:3", "space.pcs:2:8", *here]


def test_mistakes_in_other_files_name_those_files(path: Path):
    listing = path.parent / "list.txt"
    changed(path, (TRAINING, 'training = "list.txt"'))
    for content, expected in {
        "# nothing\n": f"{path}:{line_of(path, 'list.txt')}: the list 'list.txt' holds no instances",
        "train/one.cnf\n\ntrain/none.cnf\n": f"{listing}:3: the instance 'train/none.cnf' does not exist",
        "train/one.cnf\ntrain/one.cnf\n": f"{listing}:2: the instance 'train/one.cnf' is listed twice",
    }.items():
        listing.write_text(content)
        with pytest.raises(ScenarioError) as caught:
            read_scenario(path)
        assert str(caught.value).startswith(expected)


def test_an_empty_folder_is_refused(path: Path):
    (path.parent / "empty").mkdir()
    with pytest.raises(ScenarioError, match="'empty' holds no instance files"):
        read_scenario(changed(path, (TRAINING, 'training = "empty"')))


def test_broken_answers_name_their_line(path: Path):
    answers = path.parent / "answers.csv"
    answers.write_text("train/one.cnf,SAT\nnonsense\n")
    changed(path, (COMMAND, COMMAND + '\nanswers = "answers.csv"'))
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    assert str(caught.value).startswith(f"{answers}:2: ")


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(ScenarioError, match=r"none\.toml: the scenario does not exist"):
        read_scenario(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="this is a folder"):
        read_scenario(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(ScenarioError, match="not UTF-8"):
        read_scenario(tmp_path / "latin.toml")


def test_missing_tables_are_named(tmp_path: Path):
    path = tmp_path / "empty.toml"
    path.write_text("")
    with pytest.raises(ScenarioError, match=r"empty\.toml:1: target is missing"):
        read_scenario(path)


def test_windows_line_ends_keep_the_line_numbers(path: Path):
    changed(path, ("default = 3", "default = 30"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    assert str(caught.value).startswith(f"{path}:{line_of(path, 'default = 30')}: ")


IRACE = 'mode "--mode=" c (a, b)\nlevel "-l " i (1, 9) | mode == "b"\n'


@pytest.mark.parametrize(
    ("name", "text", "templates"),
    [
        ("space.pcs", "mode {a,b}[a]\nlevel [1,9][5]i\nlevel | mode in {b}\n", {}),
        ("new.pcs", "mode categorical {a, b} [a]\nlevel integer [1, 9] [5]\nlevel | mode == b\n", {}),
        ("parameters.txt", IRACE, {"mode": ("--mode={value}",), "level": ("-l", "{value}")}),
    ],
)
def test_parameter_files_of_every_tool_are_read_with_their_switches(
    path: Path, name: str, text: str, templates: dict[str, tuple[str, ...]]
):
    (path.parent / name).write_text(text)
    whole = FULL.replace("space.json", name).replace('template = ["-{name}", "{value}"]\n', "")
    whole = whole.replace('[target.templates]\nmode = { a = "-a", b = [] }\n', "")
    whole = whole.replace('answers = "answers.csv"\n', "").replace('features = "features.csv"\n', "")
    path.write_text(whole)
    understanding = understand(path)
    assert understanding.scenario.space.names == ("mode", "level")
    assert understanding.scenario.space.default() == {"mode": "a"}
    assert understanding.scenario.target.templates == templates
    assert any("irace files hold no defaults" in note for note in understanding.understood) == bool(templates)
    own = whole.replace("[target]\n", '[target]\ntemplate = "{name}:{value}"\n')
    path.write_text(own)
    assert read_scenario(path).target.templates == {}


def test_a_parameter_that_the_command_names_needs_no_switch_of_its_file(path: Path):
    (path.parent / "parameters.txt").write_text(IRACE)
    text = path.read_text()
    kept = text[: text.index("[parameters")] + text[text.index("[instances]") :]
    named = kept.replace("--seed={seed}", "--both={mode},{level}").replace(
        'name = "small"', 'name = "small"\nparameters = "parameters.txt"'
    )
    path.write_text(named)
    scenario = read_scenario(path)
    assert scenario.target.templates == {}
    made = build_target(scenario).prepare(Invocation({"mode": "b", "level": 3}, "i.cnf", 1, 1.0)).argv
    assert "--both=b,3" in made
    assert not any(word.startswith(("--mode", "-l")) for word in made)


def test_a_mistake_in_a_parameter_file_is_told_with_its_place(path: Path):
    (path.parent / "space.pcs").write_text("mode {a,b}[a]\nlevel [1,9][50]i\n")
    path.write_text(FULL.replace("space.json", "space.pcs").replace('answers = "answers.csv"\n', ""))
    with pytest.raises(ScenarioError, match=r"space\.pcs:2:12: "):
        read_scenario(path)


def test_a_search_method_that_does_not_exist_is_named_at_its_line(path: Path):
    """'utilitune check' said that the scenario was ready, and the run failed after its first runs."""
    path.write_text(f'{path.read_text()}\n[search]\nshare = 0.5\nmethod = "smca"\n')
    line = line_of(path, "smca")
    with pytest.raises(
        ScenarioError, match=f":{line}: there is no search method 'smca'; did you mean 'smac'"
    ):
        read_scenario(path)

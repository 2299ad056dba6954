from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import ScenarioError, TargetError
from utilitune.spaces import Assignment
from utilitune.targets.base import Command, Invocation
from utilitune.targets.command import CommandTarget, written
from utilitune.targets.verdict import VerdictRules

if TYPE_CHECKING:
    from pathlib import Path

np = pytest.importorskip("numpy")
words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def invocation(parameters=None, instance="i", seed=1, captime_s=0.5) -> Invocation:
    return Invocation(parameters or {}, instance, seed, captime_s)


@given(words, st.dictionaries(words, words), st.integers(0, 2**63))
def test_whatever_the_values_hold_they_arrive_as_they_are(instance, parameters, seed):
    target = CommandTarget(
        ("s", "{instance}", "{{}}", "{parameters}", "-s{seed}"), default_template=("{name}", "{value}")
    )
    command = target.prepare(invocation(parameters, instance, seed))
    flat = [word for pair in parameters.items() for word in pair]
    assert command.argv == ("s", instance, "{}", *flat, f"-s{seed}")
    assert read_back(command.shell_text()) == list(command.argv)


def read_back(text: str) -> list[str]:
    """The words of a command line as a shell reads them; only bash reads those with unprintable signs."""
    if "$'" not in text:
        return shlex.split(text)
    read = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True)
    return read.stdout.decode().split("\0")[:-1]


def test_parameters_are_written_by_their_templates():
    templates = {
        "verbose": {"yes": ("-v", "{name}"), "no": ()},
        "alpha": ("-a", "{value}"),
    }
    target = CommandTarget(("s", "{parameters}", "{captime}"), templates)
    values = {"alpha": 1e-05, "verbose": "yes", "beta": 3}
    assert target.prepare(invocation(values)).argv == ("s", "-a", "1e-05", "-v", "verbose", "--beta=3", "0.5")
    assert target.prepare(invocation({"verbose": "no"})).argv == ("s", "0.5")


def test_a_value_without_an_entry_is_named():
    target = CommandTarget(("s", "{parameters}"), {"v": {"yes": ("-v",)}})
    with pytest.raises(ScenarioError, match="parameter 'v' has no entry for the value 'no'"):
        target.prepare(invocation({"v": "no"}))


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ((), "the target command is empty"),
        (("",), "the target command is empty"),
        (("s", "{instanc}"), "unknown placeholder {instanc} in '{instanc}'; did you mean 'instance'?"),
        (("s", "{seed:>3}"), "unknown placeholder {seed:>3}"),
        (("s", "{seed!r}"), "unknown placeholder {seed!r}"),
        (("s", "{}"), "unknown placeholder {}"),
        (("s", "{seed"), "unpaired brace in '{seed'"),
        (("s", "-p={parameters}"), "make it a list element of its own"),
    ],
)
def test_mistakes_in_the_command_are_named(argv, text):
    with pytest.raises(ScenarioError) as caught:
        CommandTarget(argv)
    assert text in str(caught.value)


def test_mistakes_in_templates_are_named():
    with pytest.raises(
        ScenarioError, match=r"the template of parameter 'a' has the unknown placeholder \{val\}"
    ):
        CommandTarget(("s",), {"a": ("{val}",)})
    with pytest.raises(ScenarioError, match="must be a list of arguments, not the single text"):
        CommandTarget(("s",), {"a": "-a {value}"})


def test_a_nul_character_is_refused():
    with pytest.raises(ScenarioError, match="contains a NUL character"):
        CommandTarget(("s", "{instance}")).prepare(invocation(instance="a\0b"))
    with pytest.raises(ScenarioError, match="the target command is empty"):
        Command(())


def test_values_are_written_with_every_digit():
    assert [written(value) for value in (0.1, 1 / 3, 2, True, False, "x", None)] == [
        "0.1",
        "0.3333333333333333",
        "2",
        "true",
        "false",
        "x",
        "None",
    ]
    assert [written(value) for value in (np.float64(0.1), np.int64(3), np.bool_(1), np.str_("a"))] == [
        "0.1",
        "3",
        "true",
        "a",
    ]


def test_the_line_to_paste_sets_environment_and_directory():
    command = Command(("a b", "$x"), {"N": "1 2"}, "/some where")
    assert command.shell_text() == "cd '/some where' && N='1 2' 'a b' '$x'"


def test_a_program_that_is_missing_or_not_executable_is_named(tmp_path):
    program = tmp_path / "program"
    with pytest.raises(TargetError, match="does not exist; correct the command"):
        CommandTarget((str(program),)).check()
    program.write_text("#!/bin/sh\n")
    with pytest.raises(TargetError, match=r"is not executable; run chmod \+x"):
        CommandTarget((str(program),)).check()
    program.chmod(0o755)
    CommandTarget((str(program),)).check()
    CommandTarget(("./program",), directory=str(tmp_path)).check()
    CommandTarget(("program",), environment={"PATH": str(tmp_path)}).check()
    with pytest.raises(TargetError, match="is not on the PATH"):
        CommandTarget(("no-such-program-anywhere",)).check()
    with pytest.raises(TargetError, match="to run the target in does not exist"):
        CommandTarget(("./program",), directory=str(tmp_path / "nowhere")).check()


def test_a_target_knows_whether_it_reports_its_runtime():
    assert not CommandTarget(("s",)).reports_runtime
    target = CommandTarget(("s", "{parameters}"), rules=VerdictRules(runtime_pattern="t=(.*)"))
    assert target.reports_runtime
    assert target.prepare(invocation()).watch == ("t=(.*)",)


def test_an_instance_can_be_named_from_the_root(tmp_path: Path):
    target = CommandTarget(("x", "-i={instance_path}"), directory=str(tmp_path))
    argv = target.prepare(Invocation({}, "sub/a b.cnf", 1, 1.0)).argv
    assert argv[1] == f"-i={tmp_path}/sub/a b.cnf"
    assert target.prepare(Invocation({}, "/else/c.cnf", 1, 1.0)).argv[1] == "-i=/else/c.cnf"


def test_a_path_from_the_root_is_plain_but_never_leads_elsewhere(tmp_path: Path):
    (tmp_path / "here" / "sub").mkdir(parents=True)
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "here" / "link").symlink_to(tmp_path / "deep" / "down")
    target = CommandTarget(("x", "{instance_path}"), directory=f"{tmp_path}/here/../here")

    def path_of(instance: str) -> str:
        return target.prepare(Invocation({}, instance, 1, 1.0)).argv[1]

    assert path_of("sub/..//./sub/a.cnf") == f"{tmp_path}/here/sub/a.cnf"
    assert path_of("../deep/a.cnf") == f"{tmp_path}/deep/a.cnf"
    assert path_of("missing/../a.cnf") == f"{tmp_path}/here/a.cnf"
    assert path_of("//else//c.cnf") == "/else/c.cnf"
    assert path_of("link/a.cnf") == f"{tmp_path}/here/link/a.cnf", "links keep their names"
    assert path_of("link/../a.cnf").endswith("/link/../a.cnf"), "this is deep/a.cnf, not here/a.cnf"


def test_configurations_that_are_equal_but_written_differently_are_not_confused():
    target = CommandTarget(("solver", "{parameters}"))
    for value, word in [(1, "--a=1"), (1.0, "--a=1.0"), (True, "--a=true")] * 2:
        one = invocation(Assignment({"a": value}))
        assert [target.prepare(one).argv[1] for _ in range(2)] == [word, word]


def test_a_mapping_that_was_changed_is_written_anew():
    target, parameters = CommandTarget(("solver", "{parameters}")), {"a": 1}
    assert target.prepare(invocation(parameters)).argv == ("solver", "--a=1")
    parameters["a"] = 2
    assert target.prepare(invocation(parameters)).argv == ("solver", "--a=2")

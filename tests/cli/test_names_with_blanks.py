"""Programs, instances, parameters and scenarios with odd names: all works, and advice can be pasted."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from pathlib import Path

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import StoreError, UsageError
from utilitune.store import Snapshot, open_run_folder

INSTANCES = [
    "a b.cnf",
    "-x.cnf",
    "ü🙂.cnf",
    "new\nline.cnf",
    "quote'\".cnf",
    "$(touch pwned).cnf",
    "{seed}.cnf",
]
PROGRAM = 'my "prog" dir/so\'lve $HOME.sh'
SCENARIO = """
utility = "uniform(1s)"
[target]
command = ["./my \\"prog\\" dir/so'lve $HOME.sh", "{parameters}", "{instance}"]
[parameters]
"a b" = {type = "categorical", values = ["x y", "it's", "$(touch pwned)"], default = "x y"}
[instances]
training = "in st"
[limits]
largest_captime = "1s"
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that ends well only if its last argument is a file."""
    program = tmp_path / PROGRAM
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor last in "$@"; do :; done\ntest -f "$last"\n')
    program.chmod(0o755)
    (tmp_path / "in st").mkdir()
    for name in INSTANCES:
        (tmp_path / "in st" / name).touch()
    path = tmp_path / "scenario one.toml"
    path.write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return Path(path.name)


def advised(text: str) -> list[str]:
    """The words of the command that a text ends with, as a shell reads them."""
    return shlex.split(text.rstrip(")\n")[text.rindex("utilitune ") :])


def test_everything_works_and_what_is_advised_can_be_pasted(scenario: Path):
    with pytest.raises(UsageError) as caught:
        invoke("best", scenario)
    assert advised(str(caught.value)) == ["utilitune", "run", "scenario one.toml"]
    checked = invoke("check", scenario).stdout
    assert "Status: finished" in checked
    assert advised(checked) == ["utilitune", "run", "scenario one.toml"]
    told = invoke("run", scenario, "--plain", "--max-runs", "40").stdout
    assert "Failures" not in told
    assert advised(told)[-1] == "scenario one.run"
    command = invoke("best", scenario).stdout
    for name in INSTANCES:
        pasted = command.replace("INSTANCE", shlex.quote(f"in st/{name}"))
        subprocess.run(["/bin/sh", "-c", pasted], check=True)
    collected = invoke("collect", scenario, "--configurations", "2").stdout
    assert advised(collected) == ["utilitune", "replay", "scenario one.npz"]
    assert not Path("pwned").exists()


def test_a_folder_with_blanks_in_use_is_stopped_by_what_is_advised(tmp_path: Path):
    folder = tmp_path / "my run"
    begun, other = (Snapshot({"utility": f"uniform(k0={k0})"}, f"{k0}") for k0 in (1, 2))
    with contextlib.closing(open_run_folder(folder, begun)):
        with pytest.raises(StoreError) as caught:
            open_run_folder(folder, begun)
        assert advised(str(caught.value)) == ["utilitune", "stop", str(folder)]
    with pytest.raises(StoreError, match=f"with: --reuse '{folder}'"):
        open_run_folder(folder, other)


def test_a_home_that_no_shell_has_read_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Shells leave the ~ in --output=~/x alone, and a folder named ~ was made."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    toy = Toy.write(tmp_path)
    toy.run()
    assert invoke("report", toy.folder, "--output=~/x.html").exit_code == 0
    assert (tmp_path / "home" / "x.html").is_file()

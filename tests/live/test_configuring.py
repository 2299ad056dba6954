"""``utilitune.configure``: from objects and from scenarios, and what it says about mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING

import pytest

import utilitune
from utilitune.errors import ScenarioError, StoreError, TargetError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

SPACE = {"delay": {"type": "float", "range": [0.01, 0.1], "default": 0.05}}
TARGET = """
def work(configuration, instance, seed):
    return configuration["delay"] * float(instance)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that reports its own runtime, in a module of its own."""
    (tmp_path / "reported_work.py").write_text(TARGET)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "reported_work", raising=False)
    monkeypatch.chdir(tmp_path)
    import reported_work

    return reported_work.work


def configured(function: Callable[..., Any] | str, **settings: Any) -> utilitune.RunResult:
    usual = {
        "space": SPACE,
        "instances": [str(size) for size in range(1, 21)],
        "utility": "uniform(k0=4)",
        "reports_runtime": True,
        "procedure": "oup",
        "options": {"configurations": 3},
        "max_runs": 12,
        "workers": 1,
    }
    return utilitune.configure(function, **{**usual, **settings})


def test_a_function_that_always_fails_is_told_of_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The whole traceback stood in its middle."""
    (tmp_path / "always_failing.py").write_text(
        "def work(configuration, instance, seed):\n    return configuration['wrong']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError) as caught:
        configured("always_failing:work", reports_runtime=False, max_runs=300)
    told = str(caught.value)
    assert "runs in a row ended as crashed (KeyError: 'wrong')" in told
    assert "\n" not in told


def test_the_example_of_the_docstring_runs(tmp_path: Path):
    example = utilitune.configure.__doc__.partition("Example::")[2].partition("Args:")[0]
    _, *parts = re.split(r"^# (\w+\.py)$", textwrap.dedent(example), flags=re.MULTILINE)
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    assert list(files) == ["packing.py", "tune.py"]
    for name, text in files.items():
        limited = text.replace('max_wall_time="60s"', 'max_wall_time="60s", max_runs=20, procedure="coup"')
        (tmp_path / name).write_text(limited)
    done = subprocess.run(
        [sys.executable, "tune.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'level': ")


def test_a_function_as_an_object(work: Callable[..., Any]):
    seen = []
    result = configured(work, on_update=seen.append)
    assert set(result.best) == {"delay"}
    assert result.progress.runs == 12
    assert result.stop_reason.code == "run-limit"
    assert len(result.runs) == 12
    assert result.folder is None
    assert seen[-1].progress.runs == 12
    assert len(result.to_pandas()) == 12


def test_a_run_in_a_folder_goes_on(work: Callable[..., Any], tmp_path: Path):
    first = configured(work, folder=tmp_path / "kept")
    more = configured("reported_work:work", folder=str(tmp_path / "kept"), max_runs=16)
    assert first.progress.runs == 12
    assert more.progress.runs == 16
    assert more.runs[:12] == first.runs
    with pytest.raises(StoreError, match="belongs to another scenario"):
        configured(work, folder=tmp_path / "kept", utility="uniform(k0=5)")


def test_a_scenario_file_with_other_limits(work: Callable[..., Any], tmp_path: Path):
    assert work
    path = tmp_path / "scenario.toml"
    path.write_text(
        'utility = "uniform(k0=4)"\n[target]\nfunction = "reported_work:work"\nreports_runtime = true\n'
        '[parameters.delay]\ntype = "float"\nrange = [0.01, 0.1]\n[instances]\ntraining = ["1", "2", "3"]\n'
        '[budget]\nruns = 1000\n[procedure]\nname = "oup"\n'
    )
    result = utilitune.configure(scenario=path, max_runs=2, workers=1)
    assert result.progress.runs == 2
    same = utilitune.configure(scenario=utilitune.read_scenario(path), max_runs=2, workers=1)
    assert same.best == result.best
    with pytest.raises(UsageError, match="space, delta cannot be given beside a scenario"):
        utilitune.configure(scenario=path, space=SPACE, delta=0.1)


def test_mistakes(work: Callable[..., Any]):
    with pytest.raises(UsageError, match="did you mean 'max_wall_time'"):
        configured(work, max_wal_time="60s")
    with pytest.raises(UsageError, match="needs a scenario, or all of"):
        utilitune.configure(work, space=SPACE)
    with pytest.raises(UsageError, match="instances must be a list of texts"):
        configured(work, instances=[1, 2])
    with pytest.raises(UsageError, match="instances must be a list of texts"):
        configured(work, instances="abc")
    with pytest.raises(ScenarioError, match="no training instances"):
        configured(work, instances=[])
    with pytest.raises(UsageError, match="did you mean 'wall'"):
        configured(work, measure="walll")
    with pytest.raises(UsageError, match="max_wall_time must be a positive number"):
        configured(work, max_wall_time=-1)
    with pytest.raises(UsageError, match="unknown procedure"):
        configured(work, procedure="magic")


def test_a_function_that_no_other_process_can_take_over():
    lock = threading.Lock()

    def local(configuration, instance, seed):
        return lock.locked()

    with pytest.raises(UsageError, match="move it to a module of its own"):
        configured(local)


def test_a_folder_at_home_is_there(tmp_path, monkeypatch):
    """A folder named ~ was made in the current one, and whoever removes that removes more."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with utilitune.Tuner.of(
        {"x": {"type": "float", "range": [0.0, 1.0]}},
        instances=["a", "b"],
        utility="uniform(1s)",
        max_runs=1,
        folder="~/runs/one",
    ) as tuner:
        tuner.tell(tuner.ask()[0], 0.1)
    assert (tmp_path / "home" / "runs" / "one").is_dir()
    assert utilitune.load("~/runs/one").progress.runs == 1
    assert not list((tmp_path / "here").iterdir())

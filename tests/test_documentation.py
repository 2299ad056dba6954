"""Every example is run: `>>>` lines in the source, and the `python` blocks of the pages."""

from __future__ import annotations

import doctest
import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import utilitune
import utilitune.testing as utilitune_testing

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text()
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}:{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL), 1
    )
]
SOLVER = "def solve(configuration, instance, seed):\n    return sum(range(1000))\n"
SCENARIO = """
utility = "uniform(k0=1s)"
[target]
function = "mymodule:solve"
[parameters]
step = {type = "float", range = [0.01, 1.0], default = 0.1}
[instances]
training = ["a", "b", "c"]
[limits]
largest_captime = "1s"
"""
SHORTER = {
    '"10m"': '"2s"',
    "lookalike:minisat": "synthetic:rows=60,columns=500,seed=1",
    "(972, 20118)": "(60, 500)",
    '"resource": "50m"': '"resource": "60s"',
    "total_time_s=600.0": "total_time_s=0.5",
    "max_time_s=600.0": "max_time_s=0.5",
}
"""What takes minutes in a page is made small here."""


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_in_a_module_give_what_they_say(name: str):
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_python_in_a_page_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if "Smac" in block:
        pytest.importorskip("smac")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mymodule.py").write_text(SOLVER)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "parameters.txt").write_text('tries "--tries " i (1, 9)\n')
    for long, short in SHORTER.items():
        block = block.replace(long, short)
    names = {"__name__": "a_page"}
    exec(compile(block, "a page", "exec"), names)
    sys.modules.pop("mymodule", None)
    assert names.keys() - {"__name__", "__builtins__"}, "a block of a page makes or imports something"


def test_the_version_stands_in_one_place():
    assert version("utilitune") == utilitune.__version__
    assert utilitune.__version__ not in (ROOT / "pyproject.toml").read_text().split("[project.optional")[0]


def test_the_architecture_page_names_every_room_and_no_other():
    package = SOURCE / "utilitune"
    rooms = {path.stem for path in package.iterdir() if path.is_dir() or path.suffix == ".py"}
    rooms -= {"__init__", "__main__", "__pycache__"}
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page[page.index("| room |") : page.index("## Seams")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == rooms


def test_the_architecture_page_names_files_and_folders_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`([a-z_/]+(?:/|\.py))`", page))
    assert len(named) > 20
    places = [
        SOURCE / "utilitune",
        *(path for path in (SOURCE / "utilitune").iterdir() if path.is_dir()),
        ROOT,
    ]
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_every_suite_for_others_is_on_the_page_about_writing_parts():
    page = (ROOT / "docs" / "extending.md").read_text()
    suites = [name for name in utilitune_testing.__all__ if name.endswith("Suite") and name != "Suite"]
    assert [name for name in suites if name not in page] == []

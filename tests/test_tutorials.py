"""Every tutorial is followed to the letter: its files are written, its commands are run, in their order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from utilitune.errors import MissingExtraError
from utilitune.scenario.demo import solver_path

TUTORIALS = sorted((Path(__file__).resolve().parents[1] / "docs" / "tutorials").glob("*.md"))
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SHORTER = {
    'wall_time="1m"': 'wall_time="3s"',
    'wall_time = "2m"': 'wall_time = "3s"',
    'wall_time = "5m"': 'wall_time = "3s"',
    "maxExperiments = 300": "maxExperiments = 40",
    "tuner_timeout = 60": "tuner_timeout = 2",
}
"""What takes minutes in a page is made small here."""

ANSWERS = {
    "irace": "rounds",
    "mip-solver": "presolve",
    "python-function": "mean utility",
    "sat-solver": "kissat",
    "smac": "-base",
}


def require_kissat() -> None:
    try:
        solver_path()
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.timeout(900)  # several starts of the program, on a machine that may be busy
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(page: Path, tmp_path: Path):
    if page.stem == "sat-solver":
        require_kissat()
    if page.stem == "mip-solver":
        pytest.importorskip("highspy")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = ""
    whole = page.read_text()
    for long, short in SHORTER.items():
        whole = whole.replace(long, short)
    for kind, title, text in FENCE.findall(whole):
        if title:
            (tmp_path / title).write_text(text)
        elif kind == "sh":
            done = subprocess.run(
                ["bash", "-euc", text],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            printed += done.stdout
        else:
            assert kind == "text", f"a block of {kind} that nobody runs"
    assert re.search(ANSWERS[page.stem], printed)

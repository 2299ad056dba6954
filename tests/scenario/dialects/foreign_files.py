"""Scenarios of irace and SMAC as their users lay them out, in a few lines."""

from __future__ import annotations

from pathlib import Path

PARAMETERS = """
alpha  "--alpha "  r (0, 1)
mode   "--mode="   c (fast, safe)
depth  "-d"        i (1, 9) | mode == "safe"
extra  ""          c ("", "--extra", "-x 1")
"""
IRACE = """
trainInstancesDir = "./Instances"
maxTime = 1000
boundMax = 20
"""
PCS = """
alpha real [0, 1] [0.5]
mode categorical {fast, safe} [fast]
depth integer [1, 9] [3]
depth | mode in {safe}
"""
SMAC = """
algo = ./wrapper --fixed="a = b"
paramfile = params.pcs
instance_file = train.txt
run_obj = RUNTIME
overall_obj = PAR10
cutoff_time = 20
"""


def program(path: Path, text: str = "#!/bin/sh\necho 1 1\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def files(folder: Path, **contents: str) -> None:
    """Files by name; ``__`` stands for a dot, ``_in_`` for a slash."""
    for name, content in contents.items():
        path = folder / name.replace("_in_", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def irace(folder: Path, more: str = "", scenario: str = IRACE) -> Path:
    """A small irace scenario; `more` is added to it."""
    program(folder / "target-runner")
    files(
        folder,
        parameters__txt=PARAMETERS,
        Instances_in_a__txt="1",
        Instances_in_sub_in_b__txt="2",
        scenario__txt=scenario + more,
    )
    return folder / "scenario.txt"


def smac(folder: Path, more: str = "", scenario: str = SMAC) -> Path:
    """A small SMAC scenario; `more` is added to it, and takes the place of lines with the same key."""
    keys = {line.partition("=")[0].strip() for line in more.splitlines() if "=" in line}
    lines = scenario.split("\n")
    scenario = "\n".join("" if line.partition("=")[0].strip() in keys else line for line in lines)
    program(folder / "wrapper")
    files(
        folder,
        params__pcs=PCS,
        train__txt="a.cnf SAT\nb.cnf\n",
        a__cnf="1",
        b__cnf="2",
        c__cnf="3",
        scenario__txt=scenario + more,
    )
    return folder / "scenario.txt"

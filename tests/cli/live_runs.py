"""A tiny program with a scenario around it, and runs of it on a virtual clock."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from utilitune.cli import build_app
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.running import run_scenario
from utilitune.scenario import read_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from utilitune.execution.backend import Job
    from utilitune.live.result import RunResult

SOLVER = """
import sys, time
text = open(sys.argv[-1]).read()
if not text.strip():
    sys.exit(3)
alpha = float(sys.argv[2].split("=")[1])
while time.process_time() < 0.0005 * float(text) * alpha:
    pass
print("solved", text.strip(), *sys.argv[1:])
"""

SCENARIO = """
name = "toy"
utility = "uniform(k0=200ms)"
[target]
command = [{python}, "-I", "-S", "solver.py", "--seed={{seed}}", "{{parameters}}", "{{instance}}"]
success_pattern = "solved"
[parameters.alpha]
type = "float"
range = [0.0, 10.0]
default = 8.0
[instances]
training = "train"
{test}
[limits]
smallest_captime = "{smallest}"
largest_captime = "1s"
[promise]
epsilon = 0.05
[budget]
runs = {runs}
[procedure]
name = "oup"
configurations = 4
"""


@dataclass(frozen=True)
class Toy:
    """A scenario file with its instances, and the folder of its run."""

    scenario: Path
    folder: Path

    @classmethod
    def write(cls, place: Path, *, test: bool = True, runs: int = 60, smallest: str = "100ms") -> Toy:
        for role, count, ending in (("train", 40, ""), ("test", 8, ".0")):  # none is the same file twice
            (place / role).mkdir()
            for number in range(1, count + 1):
                (place / role / f"{number} {role}.txt").write_text(f"{number}{ending}")
        (place / "solver.py").write_text(SOLVER)
        toy = cls(place / "scenario.toml", place / "scenario.run")
        toy.describe(test=test, runs=runs, smallest=smallest)
        return toy

    def describe(self, *, test: bool = True, runs: int = 60, smallest: str = "100ms") -> None:
        text = SCENARIO.format(
            python=json.dumps(sys.executable),
            test='test = "test"' if test else "",
            runs=runs,
            smallest=smallest,
        )
        self.scenario.write_text(text)

    def run(self) -> RunResult:
        """Run on the virtual clock."""
        return run_scenario(read_scenario(self.scenario), self.folder, backend=SimulatedBackend(2, behaves))


def behaves(job: Job) -> SimulatedRun:
    """What the program would do; the one with the smallest alpha is the best."""
    words = job.task.argv
    alpha = float(words[5].split("=")[1])
    size = float(words[-1].split("/")[-1].split()[0])
    return SimulatedRun(0.02 + 0.0005 * size * alpha, output="solved\n", matches=("solved",))


def invoke(*arguments: str | Path) -> Result:
    """Run a command; an error the user can cause comes out as itself."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(build_app(words), words, catch_exceptions=False)

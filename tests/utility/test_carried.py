"""Functions of scripts, notebooks and lambdas, where a fresh process can find them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import utilitune
from utilitune.errors import UsageError
from utilitune.reports.page import html_report
from utilitune.utility import as_utility, parse_utility
from utilitune.utility.carried import PREFIX, place_of


def test_an_importable_function_keeps_its_name():
    assert place_of(json.dumps) == ("json", "dumps")


def test_the_same_function_has_the_same_place_and_another_one_of_its_name_another():
    def make(value):
        return lambda: value

    first, again, other = make(1), make(1), make(2)
    assert place_of(first) == place_of(again)
    assert place_of(other) != place_of(first)
    assert place_of(first)[0].startswith(PREFIX)


def test_what_no_process_can_take_over_is_refused_with_advice():
    lock = threading.Lock()
    with pytest.raises(UsageError, match="move it to a module of its own"):
        place_of(lambda: lock)


def test_too_many_values_are_refused():
    ballast = bytes(70 * 2**20)
    with pytest.raises(UsageError, match="let it read them from a file"):
        place_of(lambda: ballast)


def test_a_lambda_is_a_utility_with_a_text_form():
    worth = as_utility(lambda t: 1 / (1 + t))
    assert parse_utility(str(worth))(1.0) == pytest.approx(0.5)


SCRIPT = """
import utilitune

limit = 40

def work(configuration, instance, seed):
    return sum(range(configuration["n"] * 1000)) >= 0 and configuration["n"] < limit

result = utilitune.configure(
    {function},
    space={{"n": {{"type": "integer", "range": [1, 50], "default": 45}}}},
    instances=[str(k) for k in range(4)],
    utility=lambda t: 1 / (1 + t),
    max_runs=20,
    folder="work.run",
)
print(result.progress.runs, result.best["n"])
"""


@pytest.mark.parametrize(
    "function", ["work", "lambda configuration, instance, seed: work(configuration, instance, seed)"]
)
@pytest.mark.parametrize("way", ["script", "command"])
def test_a_script_configures_its_own_function(function, way, tmp_path):
    script = tmp_path / "tune.py"
    script.write_text(SCRIPT.format(function=function))
    argument = [str(script)] if way == "script" else ["-c", script.read_text()]
    done = subprocess.run(
        [sys.executable, *argument], capture_output=True, text=True, cwd=tmp_path, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    runs, best = map(int, done.stdout.split())
    assert runs == 20
    assert best < 40
    seen = utilitune.load(tmp_path / "work.run")  # by a process that knows neither function
    assert seen.best["n"] == best
    assert seen.standing.answer.mean is not None
    assert f"(configuration={{'n': {best}}}, instance='INSTANCE', seed=" in seen.command
    assert PREFIX not in seen.command
    with seen.reading() as store:
        assert "of a script or notebook" in html_report(store)


MANY = """
import multiprocessing, os, sys, threading
from utilitune.utility.carried import place_of

def work():
    return 7

def carried():
    module, name = place_of(work)
    assert getattr(__import__(module), name)() == 7
    return sys.modules[module].__file__

if __name__ == "__main__":
    found = []
    threads = [threading.Thread(target=lambda: found.append(carried())) for _ in range(8)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert len(set(found)) == 1, found
    if (child := os.fork()) == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    assert os.path.exists(found[0]), "a child took the folder with it"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(carried))
    print(found[0])
"""


def test_threads_and_processes_of_a_script_carry_its_functions(tmp_path):
    """Of several folders all but one went; a forked process took it along; multiprocessing's name failed."""
    script = tmp_path / "many.py"
    script.write_text(MANY)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.splitlines()[-1]).exists()

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from execution.running import alive, limits, nasty_command, run
from utilitune.domain import Measure
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command, Ending

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process trees are followed on Linux only")


@pytest.fixture(scope="module")
def backend():
    with LocalBackend(workers=1) as backend:
        yield backend


@pytest.mark.parametrize("kind", ["single", "forks", "threads", "detaches", "ignores_children"])
def test_cpu_time_covers_the_whole_tree(backend, kind):
    raw = run(backend, nasty_command(kind), limits(output_bytes=2000))
    consumed_s = sum(map(float, re.findall(r"consumed ([\d.]+)", raw.output_tail)))
    assert raw.ending is Ending.EXITED
    assert raw.exit_code == 0
    assert raw.cpu_s == pytest.approx(consumed_s, rel=0.02, abs=0.03)


@pytest.mark.parametrize(
    "kind",
    [
        "burn_forever",
        "family_forever",
        "threads_forever",
        "setsid_forever",
        "daemon_forever",
        "deaf_forever",
        "bomb",
        "hop_forever",
        "escape_forever",
        "stopped_forever",
        "zombies_forever",
        "flood_forever",
    ],
)
def test_nothing_survives_the_captime(backend, kind):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command(kind, mark=mark), limits(captime_s=0.3))
    assert alive(mark) == []
    assert raw.ending is Ending.CAPTIME
    assert raw.exit_code == -9
    assert 0.3 <= raw.cpu_s < 1.3


def test_what_a_program_leaves_behind_is_killed_at_its_end(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("outlived", mark=mark))
    assert alive(mark) == []
    assert (raw.ending, raw.exit_code) == (Ending.EXITED, 0)


def test_a_flood_of_output_is_kept_within_bounds_and_its_one_line_found(backend):
    command = nasty_command("flood", watch=(r"^the answer is (\d+)$", "never"))
    raw = run(backend, command, limits(output_bytes=1000))
    assert raw.exit_code == 0
    assert len(raw.output_tail) == 1000
    assert raw.matches == ("42", None)


def test_memory_above_the_limit_ends_the_run(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("hog", mark=mark), limits(memory_bytes=80 << 20))
    assert raw.ending is Ending.MEMORY
    assert 80 << 20 < raw.peak_memory_bytes < 160 << 20
    assert alive(mark) == []


def test_memory_that_processes_share_counts_once(backend):
    raw = run(backend, nasty_command("shares"), limits(memory_bytes=120 << 20))
    assert (raw.ending, raw.exit_code) == (Ending.EXITED, 0)
    assert raw.peak_memory_bytes >= 60 << 20


def test_peak_memory_is_that_of_the_program_and_not_of_the_coordinator():
    ballast = bytearray(os.urandom(100 << 20))
    code = "block = bytearray(50 << 20); block[::4096] = b'x' * len(block[::4096])"
    with LocalBackend(workers=1) as own:
        raw = run(own, Command((sys.executable, "-I", "-S", "-c", code)))
    assert 50 << 20 < raw.peak_memory_bytes < 90 << 20 < len(ballast)


def test_sleeping_is_not_cpu_time_and_the_wall_limit_ends_it(backend):
    raw = run(backend, nasty_command("sleeps"), limits(captime_s=5, wall_limit_s=0.5))
    assert raw.ending is Ending.WALL_LIMIT
    assert raw.cpu_s < 0.3
    assert raw.wall_s >= 0.5


def test_wall_captimes_stop_by_the_wall_clock(backend):
    raw = run(backend, nasty_command("sleeps"), limits(captime_s=0.2, measure=Measure.WALL))
    assert raw.ending is Ending.CAPTIME
    assert raw.wall_s >= 0.2


def test_captimes_may_be_as_short_as_ten_milliseconds(backend):
    raw = run(backend, nasty_command("burn_forever"), limits(captime_s=0.01))
    assert raw.ending is Ending.CAPTIME
    assert 0.01 <= raw.cpu_s < 0.5


def test_a_grace_period_lets_a_program_tidy_up(backend):
    kind = nasty_command("tidy")
    assert run(backend, kind, limits(captime_s=0.3)).output_tail == ""
    raw = run(backend, kind, limits(captime_s=0.3, grace_s=20))
    assert (raw.ending, raw.exit_code, raw.output_tail) == (Ending.CAPTIME, 0, "tidied up\n")


def test_a_grace_period_does_not_save_a_deaf_program(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("deaf_forever", mark=mark), limits(captime_s=0.2, grace_s=0.1))
    assert raw.exit_code == -9
    assert alive(mark) == []


def test_arguments_environment_directory_and_input_arrive_exactly(backend, tmp_path):
    words = ("", " ", "a b", "'", '"', "$HOME", "-x", "--", "a\nb", "*", "é∀😀", "\udcff", "\\", "{}")
    directory = tmp_path / "a folder"
    directory.mkdir()
    command = nasty_command("arguments", *words)
    environment = {**command.environment, "NASTY_TEXT": "a 'b' $c"}
    raw = run(backend, Command(command.argv, environment, str(directory)))
    lines = raw.output_tail.splitlines()
    assert lines[:-1] == [ascii(word) for word in words]
    assert lines[-1] == f"a 'b' $c {directory} ''"


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("no-such-program-anywhere",), "it is not on the PATH"),
        (("./no-such-file",), "No such file or directory"),
        ((os.devnull,), "Permission denied"),
    ],
)
def test_a_program_that_cannot_be_started_is_reported(backend, argv, text):
    raw = run(backend, Command(argv))
    assert raw.launch_error == f"cannot start {argv[0]!r}: {text}"
    assert raw.exit_code is None


def test_a_variable_that_cannot_be_passed_on_is_reported(backend):
    raw = run(backend, Command(("true",), environment={"a=b": "c"}))
    assert raw.launch_error == "cannot start 'true': illegal environment variable name"


def test_a_directory_that_does_not_exist_is_reported(backend, tmp_path):
    raw = run(backend, Command(("true",), directory=str(tmp_path / "nowhere")))
    assert "cannot enter the directory" in raw.launch_error
    assert run(backend, Command(("true",))).exit_code == 0


def test_programs_are_found_on_the_path_of_their_own_environment(backend, tmp_path):
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    raw = run(backend, Command(("only-here",), environment={"PATH": str(tmp_path)}))
    assert raw.exit_code == 7


def test_programs_start_with_default_signals_and_without_core_dumps(backend):
    raw = run(backend, Command(("cat", "/proc/self/status", "/proc/self/limits")), limits(output_bytes=9999))
    found = re.search(r"SigIgn:\s+(\w+)[\s\S]*Max core file size\s+(\d+)", raw.output_tail)
    ignored = {number for number in signal.valid_signals() if int(found[1], 16) >> (number - 1) & 1}
    assert not ignored & {signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ}
    assert found[2] == "0"


def test_the_supervisor_imports_the_standard_library_only():
    package_parent = str(Path(sys.modules["utilitune"].__file__).parents[1])
    code = (
        f"import sys; sys.path.append({package_parent!r}); import utilitune.execution.worker; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["__main__", "utilitune"]

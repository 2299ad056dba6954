from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from execution.running import alive, limits, nasty_command, run
from utilitune.domain import Measure
from utilitune.execution import accounts, cgroups
from utilitune.execution.accounts import open_task_clock
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command, Ending

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process trees are followed on Linux only")


WAYS = {
    "control groups where they can be had": (),
    "a task clock where it can be had": (cgroups.OFF,),
    "parents only": (cgroups.OFF, accounts.OFF),
}


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    with pytest.MonkeyPatch.context() as patch:
        for variable in WAYS[request.param]:
            patch.setenv(variable, "1")
        yield request.param


@pytest.fixture(scope="module")
def backend(way):
    with LocalBackend(workers=1) as backend:
        yield backend


@pytest.fixture
def counts_everybody(way):
    """Whether the kernel certainly keeps a book of all that a run starts."""
    clock = open_task_clock()
    if clock is not None:
        os.close(clock.descriptor)
    return way != "parents only" and clock is not None


@pytest.mark.parametrize("kind", ["single", "forks", "threads", "detaches", "ignores_children"])
def test_cpu_time_covers_the_whole_tree(backend, kind):
    raw = run(backend, nasty_command(kind), limits(output_bytes=2000))
    consumed_s = sum(map(float, re.findall(r"consumed ([\d.]+)", raw.output_tail)))
    assert raw.ending is Ending.EXITED
    assert raw.exit_code == 0
    assert raw.cpu_s == pytest.approx(consumed_s, rel=0.02, abs=0.03)


def test_children_that_nobody_waits_for_count(backend, counts_everybody):
    mark = secrets.token_hex(8)
    stolen_before_s = accounts.stolen_s()
    raw = run(backend, nasty_command("many_ignored_children", mark=mark), limits(captime_s=0.5))
    assert raw.ending is Ending.CAPTIME
    assert 0.5 <= raw.cpu_s < 1.0
    assert alive(mark) == []
    consumed_s = sum(map(float, re.findall(r"consumed ([\d.]+)", raw.output_tail)))
    if counts_everybody:  # but for what a hypervisor took, which is known in ticks of 10 ms
        assert consumed_s <= raw.cpu_s + accounts.stolen_s() - stolen_before_s + 0.02
    else:  # what counts is what was seen by looking, and others may have the cores; all of it would be 6 s
        assert consumed_s < 3.0


def test_a_tree_that_has_waited_for_many_children_is_stopped_at_its_captime(backend):
    raw = run(backend, nasty_command("many_waited_children"), limits(captime_s=0.4))
    assert raw.ending is Ending.CAPTIME
    assert 0.4 <= raw.cpu_s < 0.6


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
        "stops_its_supervisor",
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


def test_a_pattern_that_never_ends_delays_no_kill(backend):
    command = nasty_command("prints_and_burns", watch=(r"(a+)+$",))
    raw = run(backend, command, limits(captime_s=0.2))
    assert raw.ending is Ending.CAPTIME
    assert raw.cpu_s < 0.5
    assert "took longer than" in raw.match_problem
    assert run(backend, nasty_command("nap")).exit_code == 0


def test_memory_above_the_limit_ends_the_run(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("hog", mark=mark), limits(memory_bytes=80 << 20))
    assert raw.ending is Ending.MEMORY
    assert 80 << 20 < raw.peak_memory_bytes < 160 << 20
    assert alive(mark) == []


def test_memory_in_files_that_nobody_has_mapped_counts(backend):
    mark = secrets.token_hex(8)
    raw = run(backend, nasty_command("hog_in_a_file", mark=mark), limits(memory_bytes=80 << 20))
    assert raw.ending is Ending.MEMORY
    assert 80 << 20 < raw.peak_memory_bytes < 250 << 20
    assert alive(mark) == []


def test_memory_of_programs_that_let_nobody_look_counts_for_ordinary_users():
    """A privileged supervisor may look anyway, so it is run without privileges."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("privileges cannot be given up here")
    unprivileged = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from execution.running import limits, nasty_command, run
from utilitune.execution.local import LocalBackend
with LocalBackend(workers=1) as backend:
    for kind in ("undumpable_hogs", "undumpable"):
        raw = run(backend, nasty_command(kind), limits(memory_bytes=80 << 20))
        print(raw.ending.value, raw.peak_memory_bytes)
"""
    done = subprocess.run(
        [*unprivileged, sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = (line.split() for line in done.stdout.splitlines())
    assert first[0] == "memory"
    assert 80 << 20 < int(first[1]) < 250 << 20
    assert second[0] == "exited"


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


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("#!/no/such/shell -x\n", "interpreter '/no/such/shell', which does not exist"),
        ("#!/bin/sh\r\n", "Windows"),
    ],
)
def test_a_script_that_cannot_be_started_says_why(backend, tmp_path, first, reason):
    program = tmp_path / "script"
    program.write_bytes(first.encode() + b"exit 0\n")
    program.chmod(0o755)
    assert reason in run(backend, Command((str(program),))).launch_error


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

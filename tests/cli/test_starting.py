"""The first moments of a command, and places where it can hardly say anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from utilitune import cli
from utilitune.cli.texts import INTERRUPTED


@pytest.mark.parametrize(
    ("inherited", "code"), [(signal.SIG_DFL, -signal.SIGINT), (signal.SIG_IGN, 0)], ids=["heard", "ignored"]
)
def test_ctrl_c_while_a_command_is_loaded_leaves_no_traceback(tmp_path: Path, inherited, code):
    """A library that is loaded first stands for the moment of the Ctrl-C."""
    (tmp_path / "typer.py").write_text(
        "import os, signal, sys\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.path.remove(os.path.dirname(__file__))\n"
        "del sys.modules['typer']\n"
        "import typer\n"
        "sys.modules[__name__] = typer\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "utilitune", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, inherited),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_so_it_does_while_the_command_itself_is_loaded(monkeypatch):
    def interrupted(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "build_app", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main(["status"])
    assert ended.value.code == INTERRUPTED


LINES = {
    "output closed": "{} --help >&-",
    "everything closed": "{} --help <&- >&- 2>&-",
    "a full disk": "{} --help >/dev/full",
    "a full disk, for a table": "{} datasets list >/dev/full",
    "an encoding with few letters": "PYTHONUTF8=0 PYTHONIOENCODING=ascii {} datasets list",
    "a name that is too long": "{} status " + "a" * 5000,
    "a folder that is gone": "mkdir gone && cd gone && rmdir ../gone && {} status ../scenario.run",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_a_sentence_at_most_and_no_traceback(tmp_path: Path, line):
    command = line.format(f"{sys.executable} -m utilitune")
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert len(done.stderr) < 5000
    assert done.returncode in {0, 2}

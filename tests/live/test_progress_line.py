"""One line of progress: over itself on a terminal, now and then in a log."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import utilitune
from utilitune.domain import Progress
from utilitune.live.progress_line import ProgressLine, progress_text

INSTANCES = [str(size) for size in range(1, 21)]


class Screen(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True


def view(epsilon: float, gamma: float | None = None, runs: int = 7) -> Any:
    progress = Progress(0, epsilon, gamma, 0.05, 3.0, runs, runs, 4, 4)
    return SimpleNamespace(progress=progress, elapsed_s=61.0)


def test_a_line_says_what_is_proved_and_never_too_much():
    assert progress_text(view(0.06441)).endswith("ε = 0.0645; 7 runs, 4 configurations")
    assert "γ = 0.1;" in progress_text(view(0.5, 0.1))
    assert len(progress_text(view(0.123456, 0.123456, runs=10**9))) < 80


def test_a_terminal_has_one_line():
    screen, times = Screen(), iter([0.0, 0.0, 0.1, 9.0, 9.0])
    shown = ProgressLine(screen, lambda: next(times))
    for epsilon in (0.123, 0.9, 0.5):
        shown(view(epsilon))
    shown.close()
    first, *others = screen.getvalue().split("\r")[1:]
    assert "0.123" in first
    assert "0.9" not in screen.getvalue()
    assert all(len(other.rstrip("\n")) == len(first) for other in others[:1])
    assert screen.getvalue().count("\n") == 1
    assert screen.getvalue().endswith("\n")


def test_a_log_has_lines_now_and_then():
    log, now = io.StringIO(), [0.0]
    shown = ProgressLine(log, lambda: now[0])
    for at in (0.0, 1.0, 9.0, 10.0):
        now[0] = at
        shown(view(0.5))
    assert log.getvalue().count("\n") == 2
    assert "\r" not in log.getvalue()


def test_a_night_does_not_fill_a_log():
    log, now = io.StringIO(), [0.0]
    shown = ProgressLine(log, lambda: now[0])
    for at in range(8 * 3600):
        now[0] = 1000.0 + at
        shown(view(0.5))
    assert 100 < log.getvalue().count("\n") < 400


def test_nothing_seen_is_nothing_shown():
    screen = Screen()
    ProgressLine(screen).close()
    assert screen.getvalue() == ""


def test_configure_shows_it_beside_a_listener(capsys: Any):
    seen = []
    result = utilitune.configure(
        lambda configuration, instance, seed: configuration["delay"] * float(instance),
        space={"delay": {"type": "float", "range": [0.01, 0.1], "default": 0.05}},
        instances=INSTANCES,
        utility="uniform(k0=4)",
        reports_runtime=True,
        procedure="oup",
        options={"configurations": 3},
        max_runs=6,
        workers=1,
        progress=True,
        on_update=seen.append,
    )
    assert seen[-1].progress.runs == result.progress.runs == 6
    assert "6 runs, 3 configurations" in capsys.readouterr().err
    table = result.to_pandas("configurations")
    assert table["runs"].sum() == 6
    assert len(result.to_pandas("instances")) == len(INSTANCES)

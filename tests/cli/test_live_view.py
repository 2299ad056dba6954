"""What one sees of a run at work."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from utilitune.cli.live import LivePanel, failures, sparkline, watching
from utilitune.cli.numbers import NumbersBeside
from utilitune.domain import Progress, RunStatus
from utilitune.domain.stopping import Budget
from utilitune.live.events import View
from utilitune.live.standing.standing import Standing
from utilitune.live.standing.worths import Estimate

VIEW = View(
    progress=Progress(
        best_index=3,
        epsilon=0.25,
        gamma=0.5,
        delta=0.1,
        total_time_s=12.5,
        runs=700,
        rounds=600,
        configurations=9,
        alive=4,
    ),
    best={"x": 1},
    best_command="solver '[/]' --x=1 INSTANCE",
    elapsed_s=30.0,
    runs_per_s=23.3,
    workers_busy=2,
    statuses={RunStatus.FINISHED: 600, RunStatus.TIMEOUT: 93, RunStatus.CRASHED: 5, RunStatus.MEMOUT: 2},
    budget=Budget(max_wall_s=120.0),
)


def shown(view: View, population: str = "infinite", width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(LivePanel("task [/]: wager", population).drawn(view))
    return " ".join(console.file.getvalue().replace("│", " ").split())


def test_the_panel_says_all_there_is_to_know():
    text = shown(VIEW)
    assert "task [/]: wager" in text
    assert "within ε = 0.25 of the best of all but a fraction γ = 0.5" in text
    assert "solver '[/]' --x=1 INSTANCE" in text
    assert "700 (23.3 per second), 2 under way, 7 failures" in text
    assert "9 configurations, 4 not ruled out" in text
    assert "30 s passed, about 90 s left" in text


def test_the_promise_says_what_it_rests_on():
    assert "It holds if nobody looked." in shown(replace(VIEW, condition="It holds if nobody looked."))


@pytest.mark.parametrize(
    ("population", "words"),
    [("finite", "over exactly these instances"), ("infinite", "over instances like these")],
)
def test_the_promise_names_the_instances_it_is_about(population: str, words: str):
    assert words in shown(VIEW, population)


def test_a_narrow_terminal_loses_nothing():
    assert "--x=1 INSTANCE" in shown(VIEW, width=40)


def test_a_run_without_end_says_how_to_end_it():
    assert "Ctrl-C leaves a valid answer" in shown(replace(VIEW, budget=Budget()))


@pytest.mark.parametrize("best", [3, 0])
def test_numbers_about_an_earlier_answer_are_not_shown_beside_the_latest(best: int):
    """They are read now and then: a line said that the answer was the default, and named another command."""
    numbers = NumbersBeside(None)
    known = Estimate(0, 10, 0.8, 0.8, 0.7, 0.9)
    numbers.latest = Standing(known, known, None, "", None, ())
    view = replace(VIEW, progress=replace(VIEW.progress, best_index=best))
    console = Console(file=io.StringIO(), width=200)
    console.print(LivePanel("task", "finite", numbers).drawn(view))
    assert ("which is the default" in console.file.getvalue()) == (best == 0)


def test_failures_are_neither_answers_nor_timeouts():
    assert failures(VIEW) == 7


def test_bars_fall_with_the_numbers():
    assert sparkline([1.0, 0.5, 0.0]) == "█▅▁"
    assert sparkline([0.5]) == "▅"


@pytest.mark.parametrize("count", [49, 50, 51, 99, 100, 101, 10_000])
def test_a_row_of_bars_keeps_its_width_and_ends_with_the_latest(count: int):
    row = sparkline([1.0] * (count - 1) + [0.0], 50)
    assert len(row) == min(count, 50)
    assert row.endswith("█▁")


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]):
    with watching("task [/]: wager", "finite") as show:
        show(VIEW)
        show(VIEW)
    lines = capsys.readouterr().err
    assert "task [/]: wager; getting ready" in " ".join(lines.split())
    assert lines.count("ε = 0.25, γ = 0.5; 700 runs, 9 configurations, 7 failures; answer: solver") == 1


def heights(*views: View, width: int = 80) -> list[int]:
    """How many lines the panel takes for one view after the other."""
    panel = LivePanel("task", "finite")
    console = Console(file=io.StringIO(), width=width)
    return [len(console.render_lines(panel.drawn(view, width))) for view in views]


@pytest.mark.parametrize("width", [80, 140])
def test_the_panel_never_becomes_shorter(width: int):
    nothing = replace(VIEW.progress, epsilon=1.0, gamma=None)
    long = replace(VIEW, best_command="solver " + " ".join(f"--parameter{n}={n}" for n in range(40)))
    found = heights(
        replace(VIEW, progress=nothing), VIEW, long, VIEW, replace(VIEW, compiling=True), width=width
    )
    assert found == sorted(found)
    assert found[2] == found[3] == found[4]


def test_while_the_proof_is_compiled_the_panel_says_so():
    text = shown(replace(VIEW, compiling=True))
    assert "compiling the proof, once per install" in text
    assert "30 s passed" not in text

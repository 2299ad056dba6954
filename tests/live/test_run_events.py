"""Listeners hear of everything that happens, in its order, and nothing else changes."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

from live.simulated_scenarios import backend, make_scenario
from utilitune.domain.stopping import Budget
from utilitune.live.events import (
    ConfigurationJoined,
    LeaderChanged,
    RunBegun,
    RunEnded,
    RunStopped,
)
from utilitune.live.running import run_scenario, settings_of


def test_every_event_is_heard_in_order(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=40))
    heard = []
    result = run_scenario(scenario, None, settings, on_event=heard.append, backend=backend(2))
    silent = run_scenario(scenario, None, settings, backend=backend(2))
    assert result.progress == silent.progress

    ended = [event for event in heard if isinstance(event, RunEnded)]
    begun = [event for event in heard if isinstance(event, RunBegun)]
    assert len(ended) == result.progress.runs
    assert {event.request for event in ended} <= {event.request for event in begun}
    for event in ended:
        start = next(each for each in begun if each.request == event.request)
        assert heard.index(start) < heard.index(event)
        assert (start.instance, start.seed) == (event.instance, event.seed)

    joined = [event for event in heard if isinstance(event, ConfigurationJoined)]
    assert [event.index for event in joined] == list(range(6))
    assert [event.origin for event in joined] == ["given", *["random"] * 5]

    leaders = [event for event in heard if isinstance(event, LeaderChanged)]
    assert leaders[-1].best == result.best
    assert isinstance(heard[-1], RunStopped)
    assert heard[-1].reason.code == "run-limit"


def test_ctrl_c_while_configurations_are_drawn_stops_at_once_and_loses_nothing(tmp_path):
    scenario = make_scenario(tmp_path, options={"configurations": 40})
    joined = []

    def interrupt(event):
        if isinstance(event, ConfigurationJoined):
            joined.append(event)
            if len(joined) == 3:
                signal.raise_signal(signal.SIGINT)

    settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=60))
    cut = run_scenario(scenario, tmp_path / "cut", settings, on_event=interrupt, backend=backend(1))
    assert cut.stop_reason.code == "interrupted"
    assert len(joined) == 3
    resumed = run_scenario(scenario, tmp_path / "cut", settings, backend=backend(1))
    whole = run_scenario(scenario, tmp_path / "whole", settings, backend=backend(1))
    assert resumed.progress == whole.progress

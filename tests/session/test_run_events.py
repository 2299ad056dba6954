"""Listeners hear of everything that happens, in its order, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from session.simulated_scenarios import backend, make_scenario
from utilitune.session.coordinator import LiveBudget
from utilitune.session.events import (
    ConfigurationJoined,
    LeaderChanged,
    RunBegun,
    RunEnded,
    RunStopped,
)
from utilitune.session.opening import run_scenario, settings_of


def test_every_event_is_heard_in_order(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    settings = replace(settings_of(scenario, workers=2), budget=LiveBudget(max_runs=40))
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

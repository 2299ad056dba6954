"""What changed in a scenario, in its own words."""

from __future__ import annotations

from typing import Any

import pytest

from utilitune.live.reusing import _SAME
from utilitune.store.changes import MAKE_RUNS, changes, runs_can_be_reused

OLD = {
    "name": "a",
    "utility": "uniform(k0=10)",
    "max_captime_s": 10.0,
    "space": {"parameters": {"x": {"type": "bool"}, "y": {"type": "bool"}}, "forbidden": []},
    "training": {"names": ["a", "b"], "files": True},
    "target": {"kind": "command", "argv": ["solver"]},
    "stop": {"epsilon": 0.1},
}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("utility", "uniform(k0=20)", "utility (uniform(k0=10) → uniform(k0=20))"),
        ("max_captime_s", None, "limits.largest_captime (10.0 → none)"),
        ("utility", "x" * 500, "utility"),
        ("training", {"names": ["b", "c"], "files": True}, "instances.training (1 added: c; 1 missing: a)"),
        ("target", {"kind": "command", "argv": ["other"]}, "target.argv (['solver'] → ['other'])"),
        ("space", {"parameters": {"x": {"type": "bool"}}, "forbidden": []}, "parameters (y)"),
        (
            "space",
            {"parameters": {"y": {"type": "bool"}, "x": {"type": "bool"}}, "forbidden": []},
            "the order of parameters",
        ),
        ("quality", {"better": "smaller"}, "objective (none → {'better': 'smaller'})"),
    ],
)
def test_what_changed_is_named(key: str, value: Any, text: str):
    assert changes(OLD, {**OLD, key: value}) == [text]


def test_what_may_change_is_not_named():
    assert changes(OLD, {**OLD, "name": "b", "stop": {}, "workers": 3, "guesses": "all"}) == []


def test_runs_can_be_reused_where_what_they_follow_from_is_the_same():
    assert tuple(_SAME) == MAKE_RUNS, "what --reuse refuses"
    assert runs_can_be_reused(OLD, OLD | {"utility": "uniform(k0=20)"})
    for key in MAKE_RUNS:
        assert not runs_can_be_reused(OLD, OLD | {key: "another"})

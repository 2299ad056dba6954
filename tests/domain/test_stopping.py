"""Reasons to stop, and what they advise."""

from __future__ import annotations

from utilitune.domain.stopping import INSTANCES_EXHAUSTED, instances_exhausted


def test_more_instances_are_advised_only_where_they_would_help():
    some_left, none_left = instances_exhausted(30, 0.12), instances_exhausted(30, 0.0)
    assert some_left.code == none_left.code == INSTANCES_EXHAUSTED
    advice = "begin a new run with more of them, or accept ε = 0.12."
    assert some_left.advice == f"All 30 instances are used: {advice}"
    assert none_left.advice == "All 30 instances are used, and nothing is left to prove about them: ε = 0."


def test_one_instance_is_not_all_1_instances():
    some_left, none_left = instances_exhausted(1, 0.12), instances_exhausted(1, 0.0)
    assert some_left.advice == "The one instance is used: begin a new run with more, or accept ε = 0.12."
    assert none_left.advice == "The one instance is used, and nothing is left to prove about it: ε = 0."


def test_the_epsilon_to_accept_is_never_less_than_what_is_proved():
    assert "accept ε = 0.101." in instances_exhausted(30, 0.10001).advice

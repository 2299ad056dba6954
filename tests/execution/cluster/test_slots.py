"""Slots come and go with their workers, and a run may have a worker for itself."""

from __future__ import annotations

from utilitune.execution.cluster.slots import Slots


def test_slots_are_taken_once_and_go_with_their_worker():
    slots = Slots()
    slots.join("a", 2)
    slots.join("b", 1)
    assert [slots.take(), slots.take(), slots.take(), slots.take()] == ["a", "a", "b", None]
    slots.give_back("a", 2)
    slots.lose("a")
    assert slots.take() is None
    slots.give_back("a", 1)  # it has gone meanwhile
    assert list(slots) == []
    assert not slots.take_at("b")
    slots.give_back("b", 1)
    assert slots.take_at("b")


def test_a_whole_worker_is_one_without_work():
    slots = Slots()
    slots.join("a", 2)
    slots.join("b", 2)
    assert slots.take() == "a"
    assert slots.take_worker() == ("b", 2)
    assert slots.take_worker() is None
    assert slots.take() is None  # the one slot left is of the worker that is held back
    assert not slots.take_at("a")
    slots.give_back("a", 1)
    assert slots.take_worker() == ("a", 2)
    slots.give_back("a", 2)
    assert slots.take() == "a"


def test_a_worker_is_held_back_only_while_somebody_waits_for_it():
    slots = Slots()
    assert slots.take_worker() is None
    slots.join("a", 2)
    slots.take()
    assert slots.take_worker() is None
    slots.hold_none_back()
    assert slots.take() == "a"
    slots.give_back("a", 1)
    assert slots.take_worker() is None
    slots.lose("a")
    slots.join("b", 1)
    assert slots.take() == "b"

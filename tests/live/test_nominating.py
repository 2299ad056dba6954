"""Where the orders of nominees come from: drawn when a run begins, or given to repeat one bit by bit."""

from __future__ import annotations

import numpy as np

from utilitune.live.nominating import ENTROPY, GIVEN_ENTROPY, Orders
from utilitune.procedures.naming import specification_from_options
from utilitune.procedures.orders import fresh_order
from utilitune.store import MemoryStore, Snapshot


def empty() -> MemoryStore:
    return MemoryStore(Snapshot({}, ""))


def conditions(store: MemoryStore) -> list[str]:
    return [event.text for event in store.events()]


def test_entropy_that_is_given_is_used_and_the_promise_rests_on_it():
    store = empty()
    given = specification_from_options("wager", {"entropy": "again"}).entropy
    orders = Orders.of(store, 20, given)
    assert np.array_equal(orders.order(2), fresh_order("again", 2, 20))
    assert conditions(store) == [GIVEN_ENTROPY]


def test_entropy_stays_that_of_the_first_start():
    store = empty()
    first = Orders.of(store, 20)
    assert conditions(store) == []
    later = Orders.of(store, 20, "chosen after looking at the runs")
    assert later.entropy == first.entropy == store.facts()[ENTROPY]
    assert conditions(store) == []


def test_two_runs_of_one_scenario_have_orders_of_their_own():
    orders = [Orders.of(empty(), 20).order(1) for _ in range(2)]
    assert not np.array_equal(orders[0], orders[1])

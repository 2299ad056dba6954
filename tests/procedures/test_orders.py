"""Orders of nominees: reproducible, uniform, and different for every run, nominee and list."""

from __future__ import annotations

import numpy as np

from utilitune.procedures.orders import fresh_order, new_entropy


def test_an_order_holds_every_position_once_and_is_found_again():
    order = fresh_order("entropy", 3, 200)
    assert np.array_equal(np.sort(order), np.arange(200))
    assert np.array_equal(order, fresh_order("entropy", 3, 200))


def test_runs_and_nominees_have_orders_of_their_own():
    first = fresh_order("entropy", 1, 200)
    assert not np.array_equal(first, fresh_order("entropy", 2, 200))
    assert not np.array_equal(first, fresh_order("other", 1, 200))
    assert new_entropy() != new_entropy()


def test_every_position_is_as_likely_at_every_place():
    places = np.zeros((5, 5))
    for number in range(2000):
        places[np.arange(5), fresh_order("entropy", number, 5)] += 1
    assert np.all(np.abs(places - 400) < 5 * np.sqrt(400 * 0.8))

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import Recording, RuntimeMatrix
from utilitune.domain.stopping import Budget
from utilitune.replaying.replay import replay_rival
from utilitune.rivals.naming import RIVALS
from utilitune.rivals.rival import Draws, Rival, play_rival
from utilitune.rivals.successive_halving import SuccessiveHalving

PLAYERS: dict[str, Rival] = {
    "successive-halving": RIVALS["successive-halving"](budget=4000),
    "hyperband": RIVALS["hyperband"](resource_s=900.0, eta=3),
    "ac-band": RIVALS["ac-band"](race_size=2, alpha=0.2),
    "car": RIVALS["car"](delta=0.5, epsilon=0.5),
    "icar": RIVALS["icar"](gamma=0.3, delta=0.5, zeta=0.5, epsilon=0.5),
    "spc": RIVALS["spc"](),
}


def test_every_rival_is_tried_here():
    assert set(PLAYERS) == set(RIVALS)
    assert [name for name, rival in PLAYERS.items() if rival.anytime] == ["spc"]


@pytest.mark.parametrize("name", PLAYERS)
def test_a_rival_finds_a_clear_best_row_at_a_rising_price(name: str):
    runs = recorded(exponential([8, 9, 8, 9, 8, 9, 8, 0.5, 9, 8], 6000), cutoff_s=50, seed=4)
    points, _ = play_rival(PLAYERS[name], runs, Budget(max_time_s=60_000.0))
    assert points[-1].best_index == 7
    for before, after in pairwise(points):
        assert before.total_time_s <= after.total_time_s
        assert before.runs <= after.runs
        assert before.configurations <= after.configurations <= 10


@pytest.mark.parametrize("name", PLAYERS)
def test_a_seed_fixes_everything(name: str):
    rows = exponential([3, 4] * 5, 3000)
    budget = Budget(max_time_s=5000.0)
    first = play_rival(PLAYERS[name], recorded(rows, cutoff_s=20, seed=1), budget)
    again = play_rival(PLAYERS[name], recorded(rows, cutoff_s=20, seed=1), budget)
    assert first == again


def test_rows_are_drawn_in_order_or_by_the_seed():
    rows = constant([1, 2, 3, 4, 5], 3)
    assert recorded(rows).order.tolist() == [0, 1, 2, 3, 4]
    shuffled = recorded(rows, seed=7).order
    assert sorted(shuffled.tolist()) == [0, 1, 2, 3, 4]
    assert shuffled.tolist() == np.random.default_rng(7).permutation(5).tolist()


@given(st.permutations(range(6)), st.lists(st.integers(1, 8), max_size=8))
def test_draws_are_fresh_until_all_rows_were_drawn(order: list[int], counts: list[int]):
    draws = Draws(recorded(constant([1] * 6, 2)).order[order])
    seen: list[int] = []
    for count in counts:
        rows = draws.take(count)
        assert len(rows) == len(set(rows)) == min(count, 6)
        seen += rows
    assert draws.seen == len(set(seen)) == min(6, len(seen))


def test_draws_leave_out_the_incumbent():
    draws = Draws(recorded(constant([1] * 4, 2)).order)
    assert draws.take(1) == [0]
    assert draws.take(9, besides=2) == [1, 3, 0]


def test_repeated_positions_are_instances_of_their_own():
    matrix = RuntimeMatrix.from_array([[1.0, 2.0], [3.0, 4.0]]).resample(6, seed=0)
    runs = Recording.of(matrix, "uniform(k0=10)").runs()
    points, _ = play(SuccessiveHalving(budget=12), runs)
    shown = matrix.runtimes_s[:, matrix.columns]
    assert points[-1].total_time_s == pytest.approx(float(shown.sum()))


def test_an_interrupted_rival_keeps_its_answer():
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    runs = recorded(constant([1, 2, 3, 4], 9), cutoff_s=10)
    points, stop = play_rival(SuccessiveHalving(budget=16), runs, on_progress=interrupt)
    assert (len(points), stop.code) == (1, "interrupted")


def test_a_result_has_the_names_of_every_result_and_no_promise():
    matrix = RuntimeMatrix.from_array(constant([1, 2, 3, 4], 9), 10)
    result = replay_rival(matrix, SuccessiveHalving(budget=16), budget=Budget(max_runs=8))
    values = result.to_dict()
    assert (values["best"], values["best_index"], values["runs"]) == ("c0", 0, 8)
    assert values["epsilon"] is values["gamma"] is values["delta"] is None
    assert values["stop_reason"] == "run-limit"
    assert values["promise"].startswith("No promise")
    assert [point["runs"] for point in values["trajectory"]] == [8]
    assert not result.anytime

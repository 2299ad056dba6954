from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from utilitune import ProcedureSpec, RuntimeMatrix, parse_utility, replay
from utilitune.domain.stopping import Budget
from utilitune.procedures.engine import Origin, PauseAt
from utilitune.procedures.naming import build_engine
from utilitune.procedures.wager import WagerEngine
from utilitune.replaying.recording import Recording
from utilitune.replaying.row_supply import RowSupply, row_supply

UTILITY = parse_utility("log-laplace(k0=10)")
GROWING = ProcedureSpec("wager", delta=0.1, growth="adaptive", epsilon=0.05)


def featured_matrix(seed: int, rows: int = 400) -> RuntimeMatrix:
    """Quick near (0.2, 0.8, 0.5); instance hardness dominates."""
    generator = np.random.default_rng(seed)
    features = generator.random((rows, 3))
    level = 1 + (np.array([12, 8, 6]) * (features - np.array([0.2, 0.8, 0.5])) ** 2).sum(axis=1)
    hardness, noise = generator.normal(0, 1, (1, 1000)), generator.normal(0, 0.5, (rows, 1000))
    matrix = RuntimeMatrix.from_array(np.exp(level[:, None] + hardness + noise), 1000.0)
    return replace(matrix, features=features, feature_names=("a", "b", "c")).resample(20_000, seed)


def fed(matrix: RuntimeMatrix, spec: ProcedureSpec, max_runs: int) -> tuple[WagerEngine, RowSupply, list]:
    recording = Recording.of(matrix, UTILITY)
    engine = build_engine(spec, recording.evidence, UTILITY, configurations=matrix.rows)
    supply, _ = row_supply(recording, spec, engine, recording.evidence)
    origins = []
    add = engine.add
    engine.add = lambda origin, **same: (origins.append((origin, engine.frontier)), add(origin, **same))[1]
    while engine.progress().runs < max_runs:
        if engine.missing_configurations:
            supply.feed()
        engine.advance(PauseAt(2**40, float("inf"), max_runs))
    return engine, supply, origins


def test_rows_are_drawn_in_their_order_and_proposed_in_between():
    _, supply, origins = fed(featured_matrix(1), GROWING, 1500)
    random = [row for row, (origin, _) in zip(supply.rows, origins, strict=True) if origin is Origin.RANDOM]
    model = [row for row, (origin, _) in zip(supply.rows, origins, strict=True) if origin is Origin.MODEL]
    assert random == list(range(len(random)))
    assert len(model) == len(set(model)) > 5
    start = next(index for index, (origin, _) in enumerate(origins) if origin is Origin.MODEL)
    assert abs(len(model) - (len(origins) - start) / 2) <= 1.5


def test_proposed_rows_are_run_on_fresh_positions_only_and_read_their_own_runtimes():
    matrix = featured_matrix(2)
    engine, supply, origins = fed(matrix, GROWING, 1500)
    observed = engine.observed()
    assert len(observed.configuration) > 1000
    for index, (origin, frontier) in enumerate(origins):
        positions = np.sort(observed.position[observed.configuration == index])
        first = frontier if origin is Origin.MODEL else 0
        assert positions.tolist() == list(range(first, first + len(positions)))
    arrays = engine._evidence.arrays
    found = arrays.runtime_s[arrays.base[observed.configuration] + arrays.column[observed.position]]
    rows = np.array(supply.rows)[observed.configuration]
    assert np.array_equal(found, matrix.runtimes_s[rows, matrix.columns[observed.position]])


def test_with_proposals_good_rows_are_found_sooner():
    """Mean true utility of the answer after little time, over several matrices."""
    gains = []
    for seed in range(8):
        matrix = featured_matrix(seed)
        true = UTILITY(matrix.runtimes_s).mean(axis=1)
        specs = (replace(GROWING, proposals=share) for share in (0.0, 0.5))
        found = [
            true[replay(matrix, spec, utility=UTILITY, budget=Budget(3_000.0), seed=None).progress.best_index]
            for spec in specs
        ]
        gains.append(found[1] - found[0])
    assert np.mean(gains) > 0.02


def test_the_answer_is_named_by_its_row():
    result = replay(featured_matrix(3), GROWING, utility=UTILITY, budget=Budget(max_runs=800))
    assert result.best == f"c{result.progress.best_index}"
    assert all(point.best_index < 400 for point in result.trajectory)


@pytest.mark.parametrize(
    "spec",
    [
        replace(GROWING, proposals=0.0),
        replace(GROWING, growth="fixed"),
        ProcedureSpec("oup", delta=0.1, epsilon=0.5),
    ],
)
def test_no_model_where_none_is_wanted(spec):
    recording = Recording.of(featured_matrix(4, rows=20), UTILITY)
    engine = build_engine(spec, recording.evidence, UTILITY, configurations=20)
    assert row_supply(recording, spec, engine, recording.evidence) == (None, "")


def test_without_scikit_learn_rows_come_in_order_and_the_note_says_so(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = replay(featured_matrix(5), GROWING, utility=UTILITY, budget=Budget(max_runs=300))
    assert "pip install 'utilitune[model]'" in result.note


def repeating_matrix(rows: int = 10, times: int = 20) -> RuntimeMatrix:
    """Every configuration of a small space many times, as random draws from it are."""
    few = featured_matrix(6, rows)
    taken = np.random.default_rng(1).permutation(np.tile(np.arange(rows), times))
    names = tuple(f"c{number}" for number in range(len(taken)))
    return replace(few, runtimes_s=few.runtimes_s[taken], features=few.features[taken], configurations=names)


@pytest.mark.parametrize("proposals", [0.0, 0.5])
@pytest.mark.parametrize("growth", ["adaptive", "fixed"])
def test_a_row_that_repeats_an_earlier_one_is_an_idle_draw(growth: str, proposals: float):
    """It counts towards γ, and nothing is run for it: what is run is what ten configurations need."""
    matrix = repeating_matrix()
    spec = replace(GROWING, growth=growth, proposals=proposals, epsilon=0.2)
    result = replay(matrix, spec, utility=UTILITY)
    assert result.stop_reason.code == "epsilon-reached"
    assert result.progress.alive <= 10
    assert result.progress.configurations > 20
    same = matrix.same_as()
    assert len({int(same[row]) for row in np.flatnonzero(result.time_each_s)}) <= 10
    assert "earlier one, with the same features and the same runs: nothing was run" in result.note
    apart = replace(matrix, features=np.arange(200.0)[:, None], feature_names=("x",))
    separate = replay(apart, spec, utility=UTILITY)
    assert separate.progress.runs > 1.5 * result.progress.runs
    assert "repeat" not in separate.note


def test_a_model_does_not_propose_what_was_drawn():
    _, supply, origins = fed(repeating_matrix(60, 5), GROWING, 1500)
    same = Recording.of(repeating_matrix(60, 5), UTILITY).repeats
    proposed = [row for row, (origin, _) in zip(supply.rows, origins, strict=True) if origin is Origin.MODEL]
    assert proposed
    for row in proposed:
        before = supply.rows[: supply.rows.index(row)]
        assert same[row] not in same[before]


def test_other_procedures_run_every_row():
    spec = ProcedureSpec("oup", delta=0.1, epsilon=0.5)
    result = replay(repeating_matrix(), spec, utility=UTILITY, budget=Budget(max_runs=500))
    assert "oup runs each row all the same" in result.note

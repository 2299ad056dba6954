from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import groupby
from types import SimpleNamespace

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune.domain.stopping import Budget
from utilitune.errors import DataError, UsageError
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.supply import ConfigurationSupply, Proposing, model_for
from utilitune.live.task import Task
from utilitune.procedures.engine import Origin
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.naming import build_engine
from utilitune.scenario import ListedInstances, Population
from utilitune.search.proposers.background import BackgroundProposals
from utilitune.search.proposers.fitting import ImmediateProposals
from utilitune.spaces import ParameterSpace
from utilitune.store import MemoryStore, Snapshot, read_run_folder
from utilitune.store.records import ConfigurationRecord, StoredOrigin
from utilitune.utility import parse_utility

SPACE = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0]}})


class Scripted:
    """Proposals from a list; None where there is none."""

    learn_at = 30

    def __init__(self, ready) -> None:
        self.ready = list(ready)
        self.joined = []
        self.closed = False

    def join(self, configuration, *, proposed):
        self.joined.append((configuration, proposed))

    def learn(self, runs):
        raise AssertionError("nothing is run here")

    def take(self):
        return self.ready.pop(0) if self.ready else None

    def close(self):
        self.closed = True


def supply(proposals=None, engine=None, *, positions=None, population=Population.INFINITE):
    engine = engine or SimpleNamespace(frontier=7, runs=100)
    proposing = None if proposals is None else Proposing(proposals, 0.5, positions, population, engine, None)
    return ConfigurationSupply(SPACE, 5, [SPACE.default()], proposing)


def proposed(count: int):
    return [SPACE.validate({"x": number / 1000}) for number in range(count)]


@pytest.mark.parametrize("ready", [[], proposed(3), [None, *proposed(1), None, None, *proposed(9)[1:]]])
def test_the_random_draws_are_the_same_whatever_is_proposed(ready):
    alone, mixed = supply(), supply(Scripted(ready))
    drawn = [mixed.draw(index) for index in range(30)]
    random = [one for one in drawn if one.origin is Origin.RANDOM]
    assert random == [alone.draw(index) for index in range(30)][1 : 1 + len(random)]
    assert len({one.assignment for one in drawn}) == 30


def test_every_other_new_configuration_is_a_proposal():
    source = supply(Scripted(proposed(20)))
    drawn = [source.draw(index) for index in range(9)]
    assert [one.origin for one in drawn] == [Origin.GIVEN, *[Origin.RANDOM, Origin.MODEL] * 4]
    assert [one.first_position for one in drawn] == [0, *[0, 7] * 4]


def test_a_proposal_needs_as_many_fresh_instances_as_were_used():
    engine = SimpleNamespace(frontier=0, runs=100)
    limited = supply(Scripted(proposed(20)), engine, positions=100)
    origins = []
    for index in range(10):
        engine.frontier = 10 * index
        origins.append(limited.draw(index).origin)
    assert Origin.MODEL in origins[:6]
    assert Origin.MODEL not in origins[6:]


def test_on_a_finite_list_a_proposal_may_begin_anywhere():
    engine = SimpleNamespace(frontier=90, runs=100)
    finite = supply(Scripted(proposed(20)), engine, positions=100, population=Population.FINITE)
    assert [finite.draw(index) for index in range(3)][2][1:] == (Origin.MODEL, 0)


def test_stored_configurations_come_back_as_they_were_and_turns_go_on():
    first = supply(Scripted(proposed(20)))
    drawn = [first.draw(index) for index in range(8)]
    stored = {
        Origin.GIVEN: StoredOrigin.DEFAULT,
        Origin.RANDOM: StoredOrigin.RANDOM,
        Origin.MODEL: StoredOrigin.MODEL,
    }
    records = [
        ConfigurationRecord(index, dict(one.assignment), stored[one.origin], one.first_position)
        for index, one in enumerate(drawn)
    ]
    proposals = Scripted(proposed(20)[3:])
    resumed = supply(proposals)
    resumed.restore(records)
    assert proposals.joined == []  # a configuration joins when the procedure asks for it again
    assert [resumed.draw(index) for index in range(8)] == drawn
    assert [flag for _, flag in proposals.joined] == [one.origin is Origin.MODEL for one in drawn]
    assert [resumed.draw(index) for index in (8, 9, 10)] == [first.draw(index) for index in (8, 9, 10)]
    resumed.close()
    assert proposals.closed


# -- in a whole run ------------------------------------------------------------------------------------


def growing_scenario(tmp_path, **changes):
    names = tuple(f"i{number}" for number in range(4000))
    usual = {
        "procedure": "wager",
        "options": {},
        "utility": "uniform(k0=20)",
        "training": ListedInstances(names, files=False),
    }
    return make_scenario(tmp_path, **{**usual, **changes})


def run(scenario, folder, runs, workers=1):
    settings = replace(settings_of(scenario, workers=workers), budget=Budget(max_runs=runs))
    result = run_scenario(scenario, folder, settings, backend=backend(workers))
    return result, read_run_folder(folder)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_proposal_is_only_ever_run_on_instances_the_procedure_had_not_looked_at(tmp_path, workers):
    _, store = run(growing_scenario(tmp_path), tmp_path / "run", 400, workers)
    model = [record for record in store.configurations() if record.origin is StoredOrigin.MODEL]
    assert len(model) > 3
    runs = list(store.runs())
    for record in model:
        own = [one.request.position for one in runs if one.request.configuration == record.index]
        assert all(position >= record.first_position for position in own)
        earlier = [one for one in runs if one.ended_at <= record.drawn_at]
        needed = [one.request.position for one in earlier if not one.speculative]
        assert max(needed) < record.first_position <= max(one.request.position for one in earlier) + 1
    assert any(one.request.configuration == model[0].index for one in runs)


def test_about_half_of_the_new_configurations_are_proposals_and_they_are_good(tmp_path):
    distance = {StoredOrigin.MODEL: [], StoredOrigin.RANDOM: []}
    for seed in range(3):
        _, store = run(growing_scenario(tmp_path, seed=seed), tmp_path / f"run{seed}", 400)
        records = store.configurations()
        start = next(
            (record.index for record in records if record.origin is StoredOrigin.MODEL), len(records)
        )
        kinds = [record.origin for record in records[start:]]
        assert abs(kinds.count(StoredOrigin.MODEL) - len(kinds) / 2) <= 1.5
        assert max((len(list(group)) for _, group in groupby(kinds)), default=0) <= 2
        for record in records[start:]:
            distance[record.origin].append(abs(record.assignment["x"] - 0.3))
    mean = {origin: sum(values) / len(values) for origin, values in distance.items()}
    assert mean[StoredOrigin.MODEL] < mean[StoredOrigin.RANDOM] / 1.5


def test_a_resumed_run_goes_on_with_its_stored_proposals(tmp_path):
    scenario = growing_scenario(tmp_path)
    whole, whole_store = run(scenario, tmp_path / "whole", 240)
    for limit in (60, 150, 151, 240):
        piece, store = run(scenario, tmp_path / "pieces", limit)
    assert piece.progress.epsilon == whole.progress.epsilon
    found = [(record.assignment, record.origin, record.first_position) for record in store.configurations()]
    assert found == [
        (record.assignment, record.origin, record.first_position) for record in whole_store.configurations()
    ]
    assert any(origin is StoredOrigin.MODEL for _, origin, _ in found)


def test_without_scikit_learn_all_draws_are_random_and_one_warning_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    scenario = growing_scenario(tmp_path)
    run(scenario, tmp_path / "run", 50)
    result, store = run(scenario, tmp_path / "run", 200)
    assert all(record.origin is not StoredOrigin.MODEL for record in store.configurations())
    (warning,) = result.warnings
    assert "drawn at random" in warning
    assert "pip install 'utilitune[model]'" in warning


@pytest.mark.parametrize("options", [{"proposals": 0}, {"growth": "fixed", "configurations": 12}])
def test_no_model_where_none_is_wanted_or_the_set_is_fixed(tmp_path, options):
    _, store = run(growing_scenario(tmp_path, options=options), tmp_path / "run", 150)
    assert all(record.origin is not StoredOrigin.MODEL for record in store.configurations())


def test_a_share_without_random_draws_is_refused(tmp_path):
    with pytest.raises(UsageError, match="random draws carry the promise"):
        settings_of(growing_scenario(tmp_path, options={"proposals": 1.0}))


@pytest.mark.parametrize(("live", "kind"), [(True, BackgroundProposals), (False, ImmediateProposals)])
def test_only_a_live_run_has_its_model_in_the_background(tmp_path, live, kind):
    scenario = growing_scenario(tmp_path)
    store = MemoryStore(Snapshot(scenario.snapshot(), scenario.digest()))
    specification = settings_of(scenario).specification
    evidence = LiveEvidence(parse_utility(scenario.utility), 4000)
    engine = build_engine(specification, evidence, parse_utility(scenario.utility), configurations=0)
    proposing = model_for(Task(scenario), specification, store, engine, evidence, live=live)
    assert type(proposing.proposals) is kind
    assert (proposing.share, proposing.positions) == (0.5, 4000)
    proposing.proposals.close()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("later", ["", "-1e300", "7"])
def test_features_of_instances_nobody_has_run_change_no_proposal(tmp_path, workers, later):
    """A proposal is judged on these instances, so nothing about them may have shaped it."""

    def proposed(folder: str, described: dict[str, str]) -> tuple[list[object], set[str]]:
        lines = [
            f"{name},{value},{'' if number % 5 else number}"
            for number, (name, value) in enumerate(described.items())
        ]
        (tmp_path / "features.csv").write_text("\n".join(["instance,kind,size", *lines]), encoding="utf-8")
        settings = replace(settings_of(scenario, workers=workers), budget=Budget(max_runs=150))
        run_scenario(scenario, tmp_path / folder, settings, backend=backend(workers))
        with contextlib.closing(read_run_folder(tmp_path / folder)) as store:
            made = [
                (record.assignment, record.origin, record.first_position) for record in store.configurations()
            ]
            positions = {run.request.position for run in store.runs()}
        source = Task(scenario).training
        return made, {source.name(position) for position in positions}

    scenario = growing_scenario(tmp_path, features="features.csv")
    names = [f"i{number}" for number in range(4000)]
    plain = {name: str(number % 7) for number, name in enumerate(names)}
    made, ran = proposed("plain", plain)
    assert any(origin is StoredOrigin.MODEL for _, origin, _ in made)
    changed = {name: value if name in ran else later for name, value in plain.items()}
    assert changed != plain
    assert proposed("changed", changed) == (made, ran)


def test_instance_features_of_the_scenario_are_read_and_used(tmp_path):
    lines = [f"i{number},{number % 7},{number}" for number in range(4000)]
    path = tmp_path / "features.csv"
    path.write_text("\n".join(["instance,kind,size", *lines]), encoding="utf-8")
    scenario = growing_scenario(tmp_path, features="features.csv")
    _, store = run(scenario, tmp_path / "run", 150)
    assert any(record.origin is StoredOrigin.MODEL for record in store.configurations())
    path.write_text("instance,kind\ni0,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"features\.csv: the instance 'i\d+' has no line of features"):
        run(scenario, tmp_path / "other", 150)

"""Certificates of whole runs: valid as they are written, and the same however the run was made."""

from __future__ import annotations

import contextlib
import gzip
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from certificate.certified_runs import (
    LISTED,
    as_format_5,
    by_best_moment,
    by_quality,
    by_time,
    certificate_in,
    made,
    resealed,
    sentence_of,
)
from live.simulated_scenarios import runtime_s
from utilitune.certificate import checking, read_certificate, verify, write_certificate
from utilitune.certificate.content import FORMAT
from utilitune.certificate.issuing import certify
from utilitune.domain import Promise
from utilitune.errors import DataError, StoreError, UsageError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.first_start import settled
from utilitune.live.running import open_store, run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import ListedInstances, Population
from utilitune.scenario.model import NO_SEARCH, SearchRules, StopRules
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.store import read_run_folder
from utilitune.utility import parse_utility


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    place = tmp_path_factory.mktemp("searched")
    return made(by_time(place, search=SearchRules()), place / "run")


def test_a_run_with_search_has_a_valid_certificate(searched, tmp_path):
    verdict = verify(searched)
    assert verdict.valid, verdict.reason
    assert searched["promise"]["epsilon"] < 0.9
    assert searched["nominations"]
    for name in ("certificate.json.gz", "certificate.json"):
        write_certificate(searched, tmp_path / name)
        assert verify(read_certificate(tmp_path / name)) == verdict


OWN_METHOD = "live.test_exploring:AtTheQuickEnd"

TRIED_FIRST = (Assignment({"x": 0.5}), Assignment({"x": 0.9}), Assignment({"x": 0.7}))
"""The second is the default, which is tried once."""

CASES = {
    "a list": (by_time, {}),
    "a sample": (by_time, {"population": Population.INFINITE}),
    "a sample, with search": (
        by_time,
        {"population": Population.INFINITE, "search": SearchRules(), "stop": StopRules(runs=800)},
    ),
    "a fixed set": (by_time, {"options": {"configurations": 6}}),
    "a large fixed set": (by_time, {"options": {"configurations": 120}}),
    "phases": (by_time, {"options": {"growth": "phases", "entropy": "test"}, "search": SearchRules()}),
    "phases, a sample": (by_time, {"options": {"growth": "phases"}, "population": Population.INFINITE}),
    "phases of another schedule": (by_time, {"options": {"growth": "phases", "schedule": "balanced"}}),
    "proposals": (by_time, {"options": {"proposals": 0.5}, "population": Population.INFINITE}),
    "another method": (by_time, {"search": SearchRules(method="random")}),
    "a method of the user's own": (by_time, {"search": SearchRules(0.5, OWN_METHOD)}),
    "some to try first": (by_time, {"initial": TRIED_FIRST}),
    "some to try first, with search": (by_time, {"initial": TRIED_FIRST, "search": SearchRules()}),
    "some to try first, another method": (
        by_time,
        {"initial": TRIED_FIRST, "search": SearchRules(method="random")},
    ),
    "some to try first, a method of the user's own": (
        by_time,
        {"initial": TRIED_FIRST, "search": SearchRules(0.5, OWN_METHOD)},
    ),
    "some to try first, a fixed set": (by_time, {"initial": TRIED_FIRST, "options": {"configurations": 6}}),
    "some to try first, a sample": (
        by_time,
        {"initial": TRIED_FIRST, "population": Population.INFINITE, "options": {"proposals": 0.5}},
    ),
    "quality": (by_quality, {}),
    "quality, with search": (by_quality, {"search": SearchRules(), "options": {"entropy": "test"}}),
    "quality, a sample": (by_quality, {"population": Population.INFINITE}),
    "quality beside the default": (by_quality, {"utility": "compared(to=default, alpha=2)"}),
    "quality beside the default, with search": (
        by_quality,
        {"utility": "compared(to=default, alpha=2)", "search": SearchRules(), "options": {"entropy": "test"}},
    ),
    "anytime": (by_best_moment, {}),
    "anytime, a sample": (by_best_moment, {"population": Population.INFINITE}),
    "anytime, fixed set": (by_best_moment, {"options": {"configurations": 6}}),
    "anytime beside the default": (
        by_best_moment,
        {"utility": "product(compared(to=default, alpha=2), uniform(k0=16))"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_run_has_one(tmp_path, case):
    make, changes = CASES[case]
    content = made(make(tmp_path, **changes), tmp_path / "run")
    verdict = verify(content)
    assert verdict.valid, verdict.reason
    assert content["promise"]["epsilon"] < 1.0, "nothing was claimed, so nothing was checked"
    gain = content["promise"]["gain"]
    if gain is not None and content["promise"]["answer"] != 0:
        more = resealed(content, promise=sentence_of(content, gain=max(0.0, gain) + 0.02))
        assert not verify(more).valid, "the runs prove more than the promise says of the default"


@pytest.mark.parametrize("crashes", [False, True])
@pytest.mark.parametrize("runs", [30, 50, 100, 150])
def test_a_run_that_ends_at_its_captime_counts_in_the_certificate_of_one_that_was_stopped(
    tmp_path, runs, crashes
):
    """A program that reports whole seconds: what is over was known to the promise, but not to the file."""

    def behaves(job):
        _, instance, argument = job.task.argv
        time_s = float(np.ceil(runtime_s(float(argument.removeprefix("--x=")), instance)))
        return SimulatedRun(time_s, exit_code=int(crashes and time_s in (2.0, 4.0, 8.0)))

    scenario = by_time(tmp_path, captime0_s=2.0, stop=StopRules(runs=runs), options={"entropy": "test"})
    settings = replace(settings_of(scenario), workers=2)
    run_scenario(scenario, tmp_path / "run", settings, backend=SimulatedBackend(2, behaves))
    verdict = verify(certificate_in(tmp_path / "run"))
    assert verdict.valid, verdict.reason


@pytest.mark.parametrize("forged", [False, True])
def test_a_fixed_set_with_room_for_more_than_there_is(tmp_path, forged):
    """Where all of a space was given, the rest of the set would only repeat it."""
    three = ParameterSpace.from_tables(
        {"x": {"type": "categorical", "values": ["0.3", "0.6", "0.9"], "default": "0.9"}}
    )
    rest = tuple(Assignment({"x": each}) for each in ("0.3", "0.6"))
    options = {"configurations": 8}
    content = made(by_time(tmp_path, space=three, initial=rest, options=options), tmp_path / "run")
    assert len(content["configurations"]) == 3
    assert content["promise"]["epsilon"] < 1.0
    if forged:
        content["configurations"], numbers = content["configurations"][:2], content["runs"]["configuration"]
        keep = [place for place, number in enumerate(numbers) if number < 2]
        content["runs"] = {name: [column[i] for i in keep] for name, column in content["runs"].items()}
        content = resealed(content, given=content["given"][:2], promise=sentence_of(content))
    verdict = verify(content)
    assert verdict.valid is not forged, verdict.reason
    assert not forged or "another number of configurations" in verdict.reason


def test_a_run_that_was_killed_before_it_began_has_none(tmp_path):
    scenario = by_time(tmp_path)
    with contextlib.closing(open_store(Task(scenario), tmp_path / "run")) as store:
        settled(store, Task(scenario), settings_of(scenario).specification)
        with pytest.raises(StoreError, match="made no progress yet: let it run a little longer"):
            certify(store)


SIX = ParameterSpace.from_tables(
    {"x": {"type": "categorical", "values": ["0.1", "0.2", "0.4", "0.6", "0.8", "0.9"], "default": "0.9"}}
)


def test_a_poor_configuration_of_a_small_space_is_proved_as_near_as_it_is(tmp_path):
    """Others are ruled out against the best one only, which is known to its end: that is enough."""
    scenario = by_time(tmp_path, space=SIX, stop=StopRules(runs=10_000))
    content = made(scenario, tmp_path / "run", found=scenario.space.validate({"x": "0.1"}))
    claim, runs = content["promise"], content["runs"]
    worth = [[] for _ in content["configurations"]]
    for configuration, runtime in zip(runs["configuration"], runs["runtime_s"], strict=True):
        worth[configuration].append(parse_utility(scenario.utility)(runtime))
    best = max(float(np.mean(each)) for each in worth if len(each) == len(LISTED.names))
    asked = float(np.mean(worth[claim["answer"]]))
    assert content["configurations"][claim["answer"]]["values"] == {"x": "0.1"}
    assert len(worth[claim["answer"]]) == len(LISTED.names)
    assert claim["epsilon"] == pytest.approx(best - asked, abs=0.03), "some runs are never seen to their end"
    assert claim["gamma"] == 0.0
    verdict = verify(content)
    assert verdict.valid, verdict.reason
    less = resealed(content, promise=sentence_of(content, epsilon=claim["epsilon"] - 0.01))
    assert "do not prove" in verify(less).reason


def test_a_sample_that_a_method_of_the_users_own_has_searched_has_none(tmp_path):
    scenario = by_time(tmp_path, population=Population.INFINITE, search=SearchRules(0.5, OWN_METHOD))
    with pytest.raises(UsageError, match="for lists of instances only"):
        made(scenario, tmp_path / "run")


@pytest.mark.parametrize(("seed", "workers", "share", "epsilon"), [(3, 3, 0.9, 0.3), (5, 6, 0.5, 0.2)])
def test_what_a_run_has_proved_is_what_it_is_certified_for(tmp_path, seed, workers, share, epsilon):
    """It ends when ε is reached, and search may have wanted another candidate at that moment."""
    finite = seed == 3
    names = tuple(f"i{number}" for number in range(40 if finite else 400))
    scenario = by_time(
        tmp_path,
        population=Population.FINITE if finite else Population.INFINITE,
        training=ListedInstances(names, files=False),
        search=SearchRules(share),
        seed=seed,
        stop=StopRules(epsilon=epsilon, runs=4000),
    )
    content = made(scenario, tmp_path / "run", workers=workers)
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        progress = store.last_progress().progress
    assert progress.epsilon <= epsilon
    assert content["promise"]["epsilon"] == progress.epsilon
    assert verify(content).valid


@pytest.mark.parametrize("fixed", [False, True])
def test_where_that_method_has_nothing_to_search_there_is_one(tmp_path, fixed):
    """In the proof of one configuration, and in a fixed set, nobody searches, whatever the scenario names."""
    options = {"configurations": 6} if fixed else {}
    scenario = by_time(
        tmp_path, population=Population.INFINITE, search=SearchRules(0.5, OWN_METHOD), options=options
    )
    found = None if fixed else scenario.space.validate({"x": 0.31})
    content = made(scenario, tmp_path / "run", found=found, stops=[60, 120])
    assert len(content["nominations"]) == (0 if fixed else 1)
    assert verify(content).valid
    same = replace(scenario, search=SearchRules())
    assert made(same, tmp_path / "same", found=found, stops=[120])["runs"] == content["runs"]


@pytest.mark.parametrize(
    ("search", "workers"), [(NO_SEARCH, 1), (NO_SEARCH, 3), (SearchRules(), 1), (SearchRules(), 3)]
)
def test_stops_do_not_change_the_digest(tmp_path, search, workers):
    scenario = by_time(tmp_path, search=search, stop=StopRules(epsilon=0.35, gamma=0.3, runs=4000))
    straight = made(scenario, tmp_path / "straight", workers)
    stopped = made(scenario, tmp_path / "stopped", workers, stops=[30, 31, 100, 4000])
    assert stopped["promise"]["epsilon"] <= 0.35
    assert stopped["digest"] == straight["digest"]
    assert certificate_in(tmp_path / "stopped")["digest"] == straight["digest"]


@pytest.mark.parametrize("make", [by_time, by_quality, by_best_moment], ids=["time", "quality", "anytime"])
def test_without_search_the_number_of_workers_does_not_change_the_digest(tmp_path, make):
    scenario = make(tmp_path, search=NO_SEARCH, stop=StopRules(epsilon=0.35, gamma=0.3, runs=4000))
    digests = {made(scenario, tmp_path / f"{workers}", workers)["digest"] for workers in (1, 2, 7)}
    assert len(digests) == 1


def test_the_commitment_is_there_from_the_first_run_on_and_stays(tmp_path):
    scenario = by_time(tmp_path, search=SearchRules(), options={})
    early = made(scenario, tmp_path / "run", stops=[5])
    late = made(scenario, tmp_path / "run", stops=[200])
    assert early["commitment"] == late["commitment"]
    assert verify(late, commitment=early["commitment"]).valid
    other = made(scenario, tmp_path / "other", stops=[200])
    assert other["entropy"] != late["entropy"], "orders of nominees must not be known beforehand"
    assert "committed" in verify(other, commitment=early["commitment"]).reason


def test_a_certificate_of_the_format_before_says_what_nobody_had_committed_to(searched, tmp_path):
    earlier = as_format_5(searched)
    write_certificate(earlier, tmp_path / "earlier.json.gz")
    kept = read_certificate(tmp_path / "earlier.json.gz")
    for verdict in (verify(kept), verify(kept, commitment=earlier["commitment"])):
        assert verdict.valid, verdict.reason
        assert verdict.reason.startswith("VALID: with probability")
        assert "format 5 leaves out the configurations that were given" in verdict.reason
    assert "leaves out" not in verify(searched, commitment=searched["commitment"]).reason
    assert "committed" in verify(kept, commitment=searched["commitment"]).reason


def test_a_commitment_that_was_noted_in_the_format_before_still_counts_for_what_it_covers(searched):
    noted = as_format_5(searched)["commitment"]
    verdict = verify(searched, commitment=noted)
    assert verdict.valid, verdict.reason
    assert "format 5 leaves out the configurations that were given" in verdict.reason


def test_instances_without_files_cannot_be_compared(searched, tmp_path):
    verdict = verify(searched, files=tmp_path)
    assert verdict.valid
    assert not [each for each in verdict.checked if "with the content that was run" in each]
    assert "no file of an instance was compared: the certificate holds the content of none" in verdict.checked


def test_the_files_of_the_instances_can_be_compared(tmp_path):
    names = tuple(f"i{number}.txt" for number in range(30))
    for name in names:
        (tmp_path / name).write_text(name)
    scenario = by_time(tmp_path, training=ListedInstances(names, files=True), stop=StopRules(runs=100))
    content = made(scenario, tmp_path / "run")
    assert verify(content, files=tmp_path).valid
    (tmp_path / names[7]).write_text("something else")
    assert "'i7.txt' is not the one that was run" in verify(content, files=tmp_path).reason
    with pytest.raises(UsageError, match="has changed since this run was begun"):
        certificate_in(tmp_path / "run")
    (tmp_path / names[7]).unlink()
    assert "there is no file" in verify(content, files=tmp_path).reason


def test_other_procedures_are_refused_in_a_sentence(tmp_path):
    scenario = by_time(tmp_path, procedure="oup", options={"configurations": 6}, stop=StopRules(runs=50))
    with pytest.raises(UsageError, match="certificates exist for runs of wager"):
        made(scenario, tmp_path / "run")


def test_utilities_that_would_have_to_be_run_are_refused_in_a_sentence(tmp_path):
    own = by_time(tmp_path, utility="python:certificate.test_certificates:worth", stop=StopRules(runs=30))
    with pytest.raises(UsageError, match="not for Python functions"):
        made(own, tmp_path / "run")


def worth(time_s):
    return 1.0 / (1.0 + time_s)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\x1f\x8b\x08\x00", b'{"format": NaN}', b"[" * 100_000])
def test_what_is_no_certificate_is_refused_in_a_sentence(tmp_path, data):
    path = tmp_path / "certificate.json.gz"
    path.write_bytes(data)
    with pytest.raises(DataError, match="certificate"):
        read_certificate(path)


@pytest.mark.parametrize(
    ("version", "advice"), [(4, "certify the run again"), (99, "newer version"), ([5], "newer version")]
)
def test_another_format_is_refused_with_what_to_do(tmp_path, version, advice):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps({"format": FORMAT, "version": version}), encoding="utf-8")
    with pytest.raises(DataError, match=advice):
        read_certificate(path)


BOMBS = {
    "lists": b"[" + b"[]," * 6_000_000 + b"[]]",
    "spaces": b'{"format": 1' + b" " * (20 << 20) + b"}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_takes_little_memory(tmp_path, name):
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(BOMBS[name]))
    with pytest.raises(DataError, match="unpacks to more than 16 MiB"):
        read_certificate(path)


def test_a_file_with_more_lists_than_any_certificate_is_not_taken_apart(tmp_path):
    path = tmp_path / "bomb.json"
    path.write_bytes(BOMBS["lists"])
    with pytest.raises(DataError, match="lists and tables"):
        read_certificate(path)


@pytest.mark.parametrize(
    "more", [gzip.compress(b"{}"), gzip.compress(b""), b"more"], ids=["a file", "an empty file", "a text"]
)
def test_nothing_stands_behind_the_end_of_a_file(searched, tmp_path, more):
    """Readers differ in what they make of it."""
    path = tmp_path / "certificate.json.gz"
    write_certificate(searched, path)
    path.write_bytes(path.read_bytes() + more)
    with pytest.raises(DataError, match="behind the end"):
        read_certificate(path)


def test_a_certificate_is_written_in_utf_8(searched, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(searched), encoding="utf-16")
    with pytest.raises(DataError, match="no valid JSON"):
        read_certificate(path)


def test_a_key_that_stands_there_twice_is_refused(searched, tmp_path):
    """Every reader would take another one of them."""
    path = tmp_path / "twice.json"
    write_certificate(searched, path)
    path.write_bytes(path.read_bytes().replace(b'"delta":', b'"delta":0.5,"delta":', 1))
    with pytest.raises(DataError, match="no valid JSON"):
        read_certificate(path)


@pytest.mark.parametrize(("delta", "words"), [(1e-28, "1 − 1e-28"), (1 - 1e-16, "0.00000000000001 %")])
def test_an_extreme_delta_can_be_certified_and_is_said_exactly(tmp_path, delta, words):
    content = made(by_time(tmp_path, delta=delta, stop=StopRules(runs=300)), tmp_path / "run")
    verdict = verify(content)
    assert verdict.valid, verdict.reason
    assert f"with probability {words} the answer" in verdict.reason


def test_a_verdict_rounds_to_the_safe_side():
    promise = Promise(0.10000041, 0.05, 0.02000003, 9, gain=0.3000009)
    said = checking._in_words(promise, SimpleNamespace(delta=0.05, configurations=range(9)))
    assert "ε = 0.100001 of" in said
    assert "γ = 0.0200001 of" in said
    assert "at least 0.3 better" in said


def test_what_an_earlier_start_has_proved_is_certified_until_more_is(tmp_path):
    """A start with another ε goes another way, on which less was proved so far."""
    scenario = by_time(tmp_path, search=SearchRules(), stop=StopRules(epsilon=0.4, gamma=0.2, runs=400))
    first = made(scenario, tmp_path / "run")
    later = replace(scenario, stop=StopRules(epsilon=0.02, gamma=0.2, runs=len(first["runs"]["position"])))
    second = made(later, tmp_path / "run")
    assert verify(second).valid
    claimed, before = second["promise"], first["promise"]
    assert (claimed["answer"], claimed["epsilon"]) == (before["answer"], before["epsilon"])
    third = made(replace(later, stop=replace(later.stop, epsilon=0.1, runs=6000)), tmp_path / "run")
    assert verify(third).valid
    assert third["promise"]["epsilon"] <= 0.1

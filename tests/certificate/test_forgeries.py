"""Attacks on the checker: whatever is changed is found, also by a forger who hashes everything anew."""

from __future__ import annotations

import copy
import json
import os
import random
import sys

import numpy as np
import pytest

from certificate.certified_runs import (
    as_format_5,
    by_best_moment,
    by_quality,
    by_time,
    claiming,
    made,
    resealed,
    sentence_of,
)
from live.simulated_scenarios import runtime_s
from utilitune.certificate import betting, verify
from utilitune.certificate.drawing import TRIED_FIRST
from utilitune.live import reusing
from utilitune.live.supply import RandomDraws
from utilitune.scenario import Population
from utilitune.scenario.model import SearchRules, StopRules
from utilitune.spaces import Assignment, ParameterSpace


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    place = tmp_path_factory.mktemp("searched")
    scenario = by_time(place, search=SearchRules(share=0.5), stop=StopRules(runs=250))
    content = made(scenario, place / "run")
    assert content["nominations"], "there is something to forge"
    return content


def places(value, path=()):
    """The way to every plain value in a certificate."""
    if isinstance(value, dict | list) and value:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in entries:
            yield from places(part, (*path, key))
    else:
        yield path


def change(content, path):
    """Change one value in place; what undoes it."""
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    if isinstance(value, bool) or not isinstance(value, int | float):
        holder[path[-1]] = "something else" if value != "something else" else "x"
    else:
        holder[path[-1]] = value + 1
    return lambda: holder.__setitem__(path[-1], value)


def test_any_single_change_is_found_in_a_thousand_tries(searched):
    content = copy.deepcopy(searched)
    ways = list(places(content))
    found = 0
    for way in random.Random(7).choices(ways, k=1000):
        undo = change(content, way)
        found += not verify(content).valid
        undo()
    assert found == 1000
    assert content == searched


def test_a_changed_setting_is_found_although_everything_is_hashed_anew(searched):
    """Whoever noted the commitment finds it; without it, what does not fit is found all the same."""
    settled = [
        "scenario",
        "seed",
        "delta",
        "objective",
        "utility",
        "population",
        "space",
        "rules",
        "given",
        "entropy",
    ]
    for key in settled:
        forged = copy.deepcopy(searched)
        change(forged, next(places(forged[key], (key,))))
        assert not verify(resealed(forged), commitment=searched["commitment"]).valid, key


def columns(content, keep):
    return {name: [column[i] for i in keep] for name, column in content["runs"].items()}


def without(content, number):
    return [each for index, each in enumerate(content["configurations"]) if index != number]


def ran(content, number, position, **changes):
    """The log with one run changed."""
    runs = copy.deepcopy(content["runs"])
    at = list(zip(runs["configuration"], runs["position"], strict=True)).index((number, position))
    for name, value in changes.items():
        runs[name][at] = value
    return runs


def first_stopped(content):
    runs = content["runs"]
    at = runs["status"].index("timeout")
    return runs["configuration"][at], runs["position"][at], runs["captime_s"][at]


def test_a_forger_who_seals_anew_is_found_out_all_the_same(searched):
    order = searched["instances"]["order"]
    turned = {**searched["instances"], "order": [order[1], order[0], *order[2:]]}
    draws = [n for n, each in enumerate(searched["configurations"]) if each["origin"] == "random"]
    other = copy.deepcopy(searched["configurations"])
    other[draws[3]]["values"] = dict(other[draws[4]]["values"])
    renamed = copy.deepcopy(searched["configurations"])
    renamed[draws[1]]["origin"] = "user"
    promise, rules = searched["promise"], searched["rules"]
    count = len(searched["runs"]["position"])
    number, position, captime_s = first_stopped(searched)
    space = json.loads(searched["space"])
    next(iter(space["parameters"].values()))["range"] = [0.1, 1.0]
    wrong = [
        ("sentence says something else", claiming(searched, epsilon=promise["epsilon"] / 3)),
        ("sentence says something else", claiming(searched, condition="")),
        ("no whole number", claiming(searched, answer=float(promise["answer"]))),
        ("no number", claiming(searched, epsilon="0.1")),
        ("another set", claiming(searched, gamma=None)),
        ("other entries", claiming(searched, sure=True)),
        ("do not prove a gain", claiming(searched, gain=0.99)),
        ("order that follows from the seed", resealed(searched, instances=turned)),
        ("order that follows from the seed", resealed(searched, seed=searched["seed"] + 1)),
        ("random draw 4", resealed(searched, configurations=other)),
        ("given after others", resealed(searched, configurations=renamed)),
        ("random draw", resealed(searched, configurations=without(searched, draws[2]))),
        ("random draw 1 is not", resealed(searched, space=json.dumps(space))),
        ("not in order", resealed(searched, runs=columns(searched, range(count - 1, -1, -1)))),
        ("counts twice", resealed(searched, runs=columns(searched, [0, *range(count)]))),
        ("stopped at another time", resealed(searched, runs=ran(searched, number, position, captime_s=99.0))),
        (
            "after its captime",
            resealed(
                searched,
                runs=ran(searched, number, position, status="finished", runtime_s=captime_s + 1),
            ),
        ),
        ("no share of δ", resealed(searched, rules={**rules, "chosen": False})),
        ("no share of δ", resealed(searched, rules={**rules, "given": False})),
        ("settled otherwise", resealed(searched, rules={**rules, "default": False})),
        ("another number of configurations", resealed(searched, rules={**rules, "space_size": 3})),
        ("fixed set", resealed(searched, rules={**rules, "fixed": 3})),
        ("no entropy", resealed(searched, entropy=None)),
        ("δ must lie between", resealed(searched, delta=0.0)),
        ("δ must lie between", resealed(searched, delta=1e-300)),
        ("δ must lie between", resealed(searched, delta=5e-324)),
        ("is no number", resealed(searched, delta=True)),
        ("other entries", resealed(searched, note="trust me")),
        ("nobody knows the objective", resealed(searched, objective={"kind": "luck"})),
        ("about a list, but there is none", resealed(searched, instances={**turned, "listed": None})),
        (
            "about a list, but there is none",
            resealed(searched, instances={**turned, "listed": [], "order": []}),
        ),
    ]
    told = [(reason, verify(forged)) for reason, forged in wrong]
    assert [reason for reason, verdict in told if verdict.valid] == []
    assert [(reason, verdict.reason) for reason, verdict in told if reason not in verdict.reason] == []


def test_claims_that_the_runs_do_not_prove_are_found_out(searched):
    promise = searched["promise"]
    few = columns(searched, range(40))
    claims = {
        "within ε": {"promise": sentence_of(searched, epsilon=promise["epsilon"] / 2)},
        "too few random draws": {"promise": sentence_of(searched, gamma=promise["gamma"] / 5)},
        "do not prove": {"runs": few},
        "a smaller δ": {
            "delta": 1e-9,
            "promise": sentence_of({**searched, "delta": 1e-9}),
        },
    }
    for name, changes in claims.items():
        assert not verify(resealed(searched, **changes)).valid, name


def test_a_nominee_is_judged_along_its_own_order_only(tmp_path):
    scenario = by_time(tmp_path, stop=StopRules(epsilon=0.5, gamma=0.3, runs=1500))
    content = made(scenario, tmp_path / "run", found=scenario.space.validate({"x": 0.31}))
    (nomination,) = content["nominations"]
    assert content["promise"]["answer"] == nomination["configuration"]
    assert verify(content).valid
    another = {"configuration": 3, "first_position": 0}
    given = copy.deepcopy(content["configurations"])
    given[-1]["origin"] = "user"
    for name, changes in {
        "the entropy of another run": {"entropy": "another"},
        "another place among the nominations": {"nominations": [another, nomination]},
        "no nomination": {"nominations": []},
        "given instead of nominated": {"configurations": given, "nominations": []},
    }.items():
        assert not verify(resealed(content, **changes)).valid, name


def test_a_claim_about_another_configuration_needs_its_own_proof(searched):
    """The promise holds for every answer at once, so what is accepted here is proved, and true."""
    valid = 0
    for answer in range(0, len(searched["configurations"]), 7):
        if answer != searched["promise"]["answer"]:
            valid += verify(resealed(searched, promise=sentence_of(searched, answer=answer))).valid
    assert valid == 0


def test_leaving_runs_out_never_helps(searched):
    """So it does not matter whether a forger has dropped what did not please."""
    generator = np.random.default_rng(3)
    count = len(searched["runs"]["position"])
    stronger = sentence_of(searched, epsilon=searched["promise"]["epsilon"] * 0.97)
    assert not verify(resealed(searched, promise=stronger)).valid
    for share in (0.02, 0.1, 0.3, 0.6):
        keep = np.flatnonzero(generator.random(count) > share).tolist()
        assert not verify(resealed(searched, promise=stronger, runs=columns(searched, keep))).valid


def test_a_bound_without_a_run_is_never_larger():
    generator = np.random.default_rng(4)
    for population in (0, 50):
        for _ in range(40):
            values = generator.random(30) * (generator.random(30) < 0.7)
            weaker = values.copy()
            weaker[generator.integers(30)] = 0.0
            whole = betting.lower_bound(values, population, 0.01)
            assert betting.lower_bound(weaker, population, 0.01) <= whole + 1e-9


def test_nothing_in_a_certificate_is_executed(searched, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("import sys\nsys.evil = True\ndef worth(t): return 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for text in ("python:evil:worth", "product(python:evil:worth, uniform(k0=1))", "PYTHON:evil:worth"):
        assert "not run here" in verify(resealed(searched, utility=text)).reason
    assert not hasattr(sys, "evil")


@pytest.mark.parametrize("depth", [10_000, 200_000])
def test_a_space_that_is_nested_without_end_is_refused(searched, depth):
    assert not verify(resealed(searched, space="[" * depth)).valid


def test_a_sample_has_no_more_instances_than_were_listed(tmp_path):
    content = made(by_time(tmp_path, population=Population.INFINITE), tmp_path / "run")
    assert verify(content).valid
    answer, end = content["promise"]["answer"], len(content["instances"]["order"])
    rows = list(zip(*content["runs"].values(), strict=True))
    rows += [(answer, position, 10.0, "finished", 0.001) for position in range(end, end + 300)]
    made_up = zip(*sorted(rows), strict=True)
    runs = {name: list(column) for name, column in zip(content["runs"], made_up, strict=True)}
    verdict = verify(resealed(content, runs=runs))
    assert not verdict.valid
    assert "not listed" in verdict.reason


def test_shares_of_proposals_and_nominees_are_not_spent_twice(tmp_path):
    scenario = by_time(tmp_path, options={"proposals": 0.5}, population=Population.INFINITE)
    content = made(scenario, tmp_path / "run")
    assert any(each["origin"] == "model" for each in content["configurations"])
    nominated = [{"configuration": content["promise"]["answer"], "first_position": 0}]
    assert "never both" in verify(resealed(content, nominations=nominated)).reason


@pytest.mark.parametrize("value", [5, None, ["x"]])
def test_a_condition_is_a_text(searched, value):
    assert "condition of the promise is no text" in verify(claiming(searched, condition=value)).reason


def test_numbers_that_json_lacks_are_refused(tmp_path):
    content = made(by_best_moment(tmp_path), tmp_path / "run")
    content["runs"]["trace"][0] = [[1.0, float("nan"), None]]
    assert not verify(content).valid


def test_only_files_are_opened_as_instances(searched, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "missing", "a\0b"):
        contents = {**searched["instances"], "contents": {name: "0"}}
        verdict = verify(resealed(searched, instances=contents), files=tmp_path)
        assert "there is no file of the instance" in verdict.reason


def test_positions_that_would_fill_the_memory_are_refused(searched):
    runs = copy.deepcopy(searched["runs"])
    runs["position"][-1] = 2**60
    forged = resealed(searched, runs=runs, population="infinite")
    assert "not listed" in verify(forged).reason


def test_a_better_moment_that_was_not_reported_is_found_out(tmp_path):
    content = made(by_best_moment(tmp_path, stop=StopRules(runs=150)), tmp_path / "run")
    assert verify(content).valid
    weaker = copy.deepcopy(content["runs"])
    weaker["trace"] = [[] for _ in weaker["trace"]]
    assert not verify(resealed(content, runs=weaker)).valid


def test_runs_are_compared_with_the_default_and_with_nobody_else(tmp_path):
    """Whatever stood first could be called the default."""
    content = made(by_quality(tmp_path, utility="compared(to=default, alpha=2)"), tmp_path / "run")
    configurations = copy.deepcopy(content["configurations"])
    configurations[0]["origin"] = "user"
    forged = resealed(content, configurations=configurations, rules={**content["rules"], "default": False})
    assert "compared with the default" in verify(forged).reason


# -- given configurations ------------------------------------------------------------------------------------


def all_run(content, configurations):
    """Every configuration with one of these numbers, run on every instance to its end, as it really is."""
    rows = [
        (number, position, None, "finished", runtime_s(configurations[number]["values"]["x"], name))
        for number in configurations
        for position, name in enumerate(content["instances"]["order"])
    ]
    return {name: list(column) for name, column in zip(content["runs"], zip(*rows, strict=True), strict=True)}


def from_a_pleasant_draw_on(content, count):
    """Entries that count as given up to where none of the next draws is good; the best of these wins."""
    space = ParameterSpace.from_tables(**json.loads(content["space"]))
    draws, default = RandomDraws(space, content["seed"]), content["configurations"][0]
    first = worse = 1
    while worse - first < count:
        worse += 1
        if abs(draws.draw(worse - 1)["x"] - 0.3) < 0.3:
            first = worse
    drawn = [
        {"origin": "random", "values": dict(draws.draw(n)), "first_position": 0} for n in range(first, worse)
    ]
    dummies = [{**default, "origin": "user"} for _ in range(first - 1)]
    configurations = [default, *dummies, *drawn]
    ran = {number: configurations[number] for number in (0, *range(first, worse))}
    best = min(ran, key=lambda number: abs(ran[number]["values"]["x"] - 0.3))
    forged = {**content, "configurations": configurations, "nominations": []}
    claim = {"answer": best, "epsilon": 0.0, "gamma": 0.9, "gain": None}
    return resealed(forged, runs=all_run(content, ran), promise=sentence_of(forged, **claim))


def test_entries_that_count_as_given_do_not_choose_the_first_draw(searched):
    """Every run is true and nothing settled was touched: without a list of the given ones this is valid."""
    forged = from_a_pleasant_draw_on(searched, 8)
    noted = searched["commitment"]
    assert forged["commitment"] == noted
    assert "more configurations count as given than were settled" in verify(forged, commitment=noted).reason
    given = [each["values"] for each in forged["configurations"] if each["origin"] != "random"]
    assert "committed" in verify(resealed(forged, given=given), commitment=noted).reason
    assert "does not say that it rests on" in verify(resealed(forged, given=given)).reason


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_first_draws_cannot_be_called_given(searched, count):
    """They would need no bound and no run."""
    configurations = copy.deepcopy(searched["configurations"])
    for each in configurations[1 : 1 + count]:
        assert each["origin"] == "random"
        each["origin"] = "user"
    forged = resealed(searched, configurations=configurations)
    verdict = verify(forged, commitment=searched["commitment"])
    assert "more configurations count as given than were settled" in verdict.reason


@pytest.fixture(scope="module")
def with_given(tmp_path_factory):
    place = tmp_path_factory.mktemp("given")
    return made(by_time(place, initial=(Assignment({"x": 0.5}), Assignment({"x": 0.7}))), place / "run")


def test_given_configurations_are_those_that_were_settled(with_given):
    assert [each["origin"] for each in with_given["configurations"][:4]] == [
        "default",
        "user",
        "user",
        "random",
    ]
    assert verify(with_given, commitment=with_given["commitment"]).valid
    other, drawn, fewer = (copy.deepcopy(with_given["configurations"]) for _ in range(3))
    other[1]["values"] = {"x": 0.31}
    drawn[2]["origin"] = "random"
    del fewer[2]
    settled = [{"x": 0.9}, {"x": 0.31}, {"x": 0.7}]
    wrong = [
        ("configuration 1 is not the given one", resealed(with_given, configurations=other)),
        ("committed", resealed(with_given, configurations=other, given=settled)),
        ("fewer configurations count as given", resealed(with_given, configurations=drawn)),
        ("fewer configurations count as given", resealed(with_given, configurations=fewer)),
        ("committed", resealed(with_given, given=with_given["given"][:2])),
        ("committed", resealed(with_given, given=None)),
    ]
    for reason, forged in wrong:
        verdict = verify(forged, commitment=with_given["commitment"])
        assert reason in verdict.reason, verdict
    assert "no list" in verify(resealed(with_given, given=None)).reason
    assert not verify(resealed(with_given, given=with_given["given"][:2])).valid


def test_what_was_given_is_told_of_in_its_number(with_given):
    checked = verify(with_given).checked
    assert any(" given configurations as settled, and " in sentence for sentence in checked)


def test_the_checker_looks_for_the_sentence_that_is_written():
    """It imports nothing of what writes certificates, so it has the sentence once more."""
    assert TRIED_FIRST == reusing._LISTED


@pytest.mark.parametrize(
    "others", ["{}", "This uses runs of x: it holds if y. {}", "{} The program was changed."]
)
def test_the_sentence_may_stand_among_others(with_given, others):
    stated = sentence_of(with_given, condition=others.format(TRIED_FIRST))
    assert verify(resealed(with_given, promise=stated)).valid


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "It holds.",
        "The configurations to try first do not matter.",
        "This uses runs of configurations to try first: it holds.",
        f"Nobody says: {TRIED_FIRST}",
        TRIED_FIRST.replace("were not", "were"),
    ],
)
def test_a_promise_with_given_configurations_says_so(with_given, condition):
    forged = resealed(with_given, promise=sentence_of(with_given, condition=condition))
    assert "does not say that it rests on how they were chosen" in verify(forged).reason
    assert "does not say that it rests on how they were chosen" in verify(as_format_5(forged)).reason


# -- listed spaces -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    place = tmp_path_factory.mktemp("listed")
    few = ParameterSpace.from_tables({"x": {"type": "categorical", "values": [0.1, 0.3, 0.5, 0.9]}})
    return made(by_time(place, space=few, search=SearchRules(), stop=StopRules(runs=90)), place / "run")


def test_a_listed_space_is_certified_as_a_whole(listed):
    verdict = verify(listed)
    assert verdict.valid, verdict.reason
    assert listed["rules"]["listed"] is True
    assert listed["promise"]["gamma"] == 0.0
    assert 0 < listed["promise"]["epsilon"] < 1


def test_nothing_of_a_listed_space_can_be_left_out_or_turned(listed, searched):
    draws = [n for n, each in enumerate(listed["configurations"]) if each["origin"] == "random"]
    assert len(draws) == 4
    turned = copy.deepcopy(listed["configurations"])
    turned[draws[0]], turned[draws[1]] = turned[draws[1]], turned[draws[0]]
    rules = listed["rules"]
    of_last = [n for n, number in enumerate(listed["runs"]["configuration"]) if number != draws[-1]]
    fewer = {"configurations": without(listed, draws[-1]), "runs": columns(listed, of_last)}
    wrong = [
        ("random draw 1 is not", resealed(listed, configurations=turned)),
        ("random draw", resealed(listed, configurations=without(listed, draws[0]))),
        ("random draw", resealed(listed, rules={**rules, "listed": False})),
        ("random draw", resealed(listed, rules={**rules, "listed": 1})),
        ("without end", resealed(searched, rules={**searched["rules"], "listed": True})),
        ("", resealed(listed, **fewer)),
    ]
    for reason, forged in wrong:
        verdict = verify(forged)
        assert not verdict.valid
        assert reason in verdict.reason, verdict.reason


@pytest.mark.parametrize("status", ["timeout", "crashed"])
def test_runs_that_went_on_after_the_limit_say_nothing(tmp_path, status):
    content = made(by_quality(tmp_path), tmp_path / "run")
    assert verify(content).valid
    runs, limit_s = content["runs"], content["objective"]["limit_s"]
    for row in range(len(runs["status"])):
        runs["captime_s"][row] = runs["runtime_s"][row] = 2 * limit_s
        runs["status"][row] = status
    verdict = verify(resealed(content))
    assert "do not prove" in verdict.reason, verdict

"""The designer's side of the server: what it answers, and what it never does."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest

from reports.dashboard.servers import Server, served
from reports.dashboard.stored_runs import HOSTILE, small_run
from utilitune.errors import UtilituneError
from utilitune.reports.dashboard.designing import Designer, utility_from_outside
from utilitune.reports.dashboard.watching import WatchedRun
from utilitune.store import RunFolderReader

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served([]) as started:
        yield started


def asked(server: Server, about: str, **values: str) -> dict:
    answer = server.ask("GET", f"/api/designer/{about}?{urlencode(values)}")
    assert answer.status == 200
    return answer.json()


def test_the_designer_works_without_any_run(server: Server):
    assert "designer.js" in server.ask("GET", "/designer").text
    assert server.ask("GET", "/api/runs").json() == []
    begun = asked(server, "begin")
    assert begun["sources"][0]["key"] == "shipped:kissat"
    assert begun["situations"][0]["phrase"] == "useless after {time}"


def test_a_utility_is_judged(server: Server):
    found = asked(server, "judge", utility="step(10ms)", source="shipped:kissat")
    assert found["line"] == 'utility = "step(deadline=0.01)"'
    assert found["contest"]["rows"][0]["number"] == found["contest"]["winner"]
    times, worths = found["curve"]["t"], found["curve"]["u"]
    assert times == sorted(times)
    assert worths == sorted(worths, reverse=True)
    assert {0.0, 1.0} == set(worths)


def test_a_curve_alone_is_drawn_without_a_contest(server: Server):
    found = asked(server, "judge", utility="uniform(60)")
    assert found["contest"] is None
    assert found["line"] == 'utility = "uniform(k0=60)"'


def test_a_sentence_and_an_interview(server: Server):
    said = asked(server, "said", text="nightly batch, useless after 10 minutes, 0.05 per hour")
    assert said["utility"] == "product(step(deadline=600), cost-per-hour(value=1, rate=0.05))"
    assert said["names"] == ["nightly batch"]
    choices: list[str] = []
    while True:
        found = asked(server, "ask", best="1s", worst="1h", choices=",".join(choices))
        if found["question"] is None:
            break
        choices.append("same")
    assert len(choices) == 4
    assert len(found["fit"]["answers"]) == 4
    assert 0 <= found["fit"]["inconsistency"] < 1


def test_points_become_a_family(server: Server):
    assert asked(server, "smooth", utility="piecewise(0s:1, 30s:0.5, 60s:0)")["utility"] == "uniform(k0=60)"


@pytest.mark.parametrize(
    ("about", "values"),
    [
        ("judge", {"utility": "", "source": "shipped:kissat"}),
        ("judge", {"utility": HOSTILE}),
        ("judge", {"utility": "gap(0, 1)"}),
        ("judge", {"utility": "product(" * 300 + ")" * 300}),
        ("judge", {"utility": "x" * 5000}),
        ("said", {"text": ""}),
        ("said", {"text": "useless after lunch"}),
        ("ask", {"best": "1h", "worst": "1s"}),
        ("ask", {"best": "", "worst": ""}),
        ("ask", {"best": "1s", "worst": "1h", "choices": "9h"}),
        ("ask", {"best": "1s", "worst": "1h", "choices": "same," * 500}),
        ("smooth", {"utility": "piecewise(0s:1)"}),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(server: Server, about: str, values: dict[str, str]):
    problem = asked(server, about, **values)["problem"]
    assert problem
    assert "Traceback" not in problem


@pytest.mark.parametrize(
    "source", ["", "/etc/passwd", "run:0", "run:-1", "run:٣", "run:99999999999", "../../x"]
)
def test_a_source_is_never_a_path(server: Server, source: str):
    found = asked(server, "judge", utility="uniform(60)", source=source)
    assert "problem" in found["contest"]
    assert found["line"]


@pytest.mark.parametrize(
    "text",
    [
        "python:evil_module:u",
        " PYTHON:evil_module:u",
        "product(uniform(60), python:evil_module:u)",
        "minimum(step(10),\n python : evil_module:u)",
    ],
)
def test_no_python_function_is_ever_loaded(server: Server, text: str, tmp_path: Path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("import sys; sys.evil = True\nu = lambda t: 1.0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for about in ("judge", "smooth"):
        assert "problem" in asked(server, about, utility=text, source="shipped:kissat")
    assert not hasattr(sys, "evil")
    assert "evil_module" not in sys.modules
    with pytest.raises(UtilituneError):
        utility_from_outside(text)


def test_other_questions_are_not_found_and_others_are_refused(server: Server):
    assert server.ask("GET", "/api/designer/other").status == 404
    assert server.ask("GET", "/api/designer/..%2f..").status == 404
    evil = {"origin": "http://evil.example"}
    assert server.ask("GET", "/api/designer/begin", headers=evil).status == 403
    assert server.ask("GET", "/designer", headers={"host": "evil.example"}).status == 403
    assert server.ask("POST", "/api/designer/judge").status == 403
    policy = server.ask("GET", "/designer").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert server.ask("GET", "/assets/" + quote("designer.html")).status == 404


def test_a_run_at_work_is_read_again_only_now_and_then(tmp_path: Path, monkeypatch):
    writer = small_run(tmp_path, end=False)
    run = WatchedRun(writer.folder)
    run.look()
    designer = Designer([run])
    ask = {"utility": "uniform(k0=5s)", "source": "run:0"}
    first = designer.judged(ask)["contest"]["rows"][0]["runs"]
    writer.add_runs(5, 8)
    run.look()
    assert designer.judged(ask)["contest"]["rows"][0]["runs"] == first
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 1000)
    monkeypatch.setattr(
        "utilitune.reports.dashboard.designing.time", later
    )  # a server is at work in this process
    assert designer.judged(ask)["contest"]["rows"][0]["runs"] == first + 5
    writer.end()


def test_runs_that_the_page_has_read_are_not_read_again(tmp_path: Path, monkeypatch):
    writer = small_run(tmp_path, end=False)
    writer.add_runs(1, 9, range(1, 4))  # on a gap: these do not count
    writer.add_configurations(3)  # never run
    run = WatchedRun(writer.folder)
    ask = {"utility": "uniform(k0=5s)", "source": "run:0"}
    from_disk = Designer([run]).judged(ask)
    while not run.is_complete:
        run.look()
    monkeypatch.setattr(RunFolderReader, "runs", None)
    assert Designer([run]).judged(ask) == from_disk
    writer.end()


def test_hostile_names_stay_data(tmp_path: Path):
    run = WatchedRun(small_run(tmp_path, hostile=True).folder)
    run.look()
    designer = Designer([run])
    found = (designer.beginning(), designer.judged({"utility": "uniform(k0=5s)", "source": "run:0"}))
    assert json.loads(json.dumps(found, allow_nan=False))
    assert designer.beginning()["sources"][0]["name"] == HOSTILE


def test_runs_of_the_same_name_are_told_apart(tmp_path: Path):
    runs = [WatchedRun(small_run(tmp_path / place).folder) for place in ("one", "other")]
    for run in runs:
        run.look()
    sources = Designer(runs).beginning()["sources"][:2]
    assert [each["name"] for each in sources] == [f"large ({run.folder})" for run in runs]


def test_a_run_brings_its_own_utility_along(tmp_path: Path):
    writer = small_run(tmp_path)
    designer = Designer([WatchedRun(writer.folder), WatchedRun(tmp_path / "gone.run")])
    own, gone = designer.beginning()["sources"][:2]
    assert own["utility"] == "uniform(k0=10)"
    assert gone["utility"] == ""
    assert "problem" in designer.judged({"utility": "uniform(60)", "source": "run:1"})["contest"]

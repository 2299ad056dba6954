"""Who is refused: other names, other origins, no token, paths instead of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.datastructures import Headers

from reports.dashboard.servers import Server, served
from reports.dashboard.stored_runs import small_run
from utilitune.reports.dashboard.guarding import TOKEN_HEADER, Guard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "[::1", "2130706433"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served([small_run(tmp_path_factory.mktemp("run")).folder]) as started:
        yield started


@pytest.mark.parametrize("host", ["127.0.0.1:8750", "localhost", "LOCALHOST:1", "[::1]:9"])
def test_our_own_names_are_taken(server: Server, host: str):
    assert server.ask("GET", "/api/runs", headers={"host": host}).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://evil"])
def test_another_origin_is_refused(server: Server, origin: str):
    for method, place in (("GET", "/api/runs"), ("GET", "/api/events"), ("POST", "/api/runs/0/stop")):
        headers = {"origin": origin, TOKEN_HEADER: server.token}
        assert server.ask(method, place, headers=headers).status == 403


def test_requests_that_another_site_sends_are_refused(server: Server):
    assert server.ask("GET", "/api/runs", headers={"sec-fetch-site": "cross-site"}).status == 403
    assert server.ask("GET", "/assets/core.js", headers={"sec-fetch-site": "same-site"}).status == 403
    following = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert server.ask("GET", "/", headers=following).status == 200
    token = {**following, TOKEN_HEADER: server.token}
    assert server.ask("POST", "/api/runs/0/stop", headers=token).status == 403


@pytest.mark.parametrize("token", [None, "", "the-token", " ", "ü"])
def test_nothing_changes_without_the_token(server: Server, token: str | None):
    headers = {} if token is None else {TOKEN_HEADER: token.encode("latin-1")}
    answer = server.ask("POST", "/api/runs/0/stop", headers=headers)
    assert answer.status == 403
    assert "token" in answer.text


def test_a_token_in_the_address_is_none(server: Server):
    assert server.ask("POST", "/api/runs/0/stop?token=" + server.token).status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_need_the_token_and_do_nothing(server: Server, method: str):
    assert server.ask(method, "/api/runs/0").status == 403
    known = server.ask(method, "/api/runs/0", headers={TOKEN_HEADER: server.token})
    assert known.status == 405


@pytest.mark.parametrize(
    "place",
    [
        "/assets/../application.py",
        "/assets/%2e%2e/application.py",
        "/assets/..%2f..%2fpage.py",
        "/assets/core.js%00",
        "/assets/",
        "/assets//etc/passwd",
        "/api/runs/../../etc/passwd",
        "/api/runs/1",
        "/api/runs/-1",
        "/api/runs/" + "9" * 5000,
        "/api/runs/%D9%A0",
        "/api/runs/0/configurations/999",
        "/api/runs/0/configurations/..%2f..",
        "/run.sqlite",
    ],
)
def test_no_address_is_a_path(server: Server, place: str):
    answer = server.ask("GET", place)
    assert answer.status == 404
    assert "Traceback" not in answer.text


def test_every_answer_carries_the_policy(server: Server):
    for place in ("/", "/assets/core.js", "/api/runs", "/nothing"):
        headers = server.ask("GET", place).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


def test_a_wish_that_nobody_can_fulfil_is_explained(server: Server):
    token = {TOKEN_HEADER: server.token}
    stopped = server.ask("POST", "/api/runs/0/stop", headers=token)
    assert (stopped.status, "not at work" in stopped.text) == (400, True)
    assert "there is no wish" in server.ask("POST", "/api/runs/0/dance", headers=token).text
    assert server.ask("POST", "/api/runs/0/stop", headers=token, body=b"{").status == 400
    assert server.ask("POST", "/api/runs/0/stop", headers=token, body=b"[1]").status == 400
    assert server.ask("POST", "/api/runs/0/stop", headers=token, body=b"x" * 100_000).status == 413


def test_a_run_at_work_is_asked_to_stop(tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server:
        assert not writer.store.stop_requested()
        answer = server.ask("POST", "/api/runs/0/stop", {TOKEN_HEADER: server.token}, b"{}")
        assert "asked to stop" in answer.json()["said"]
    assert writer.store.stop_requested()
    writer.end()


def test_tokens_are_not_shown_and_differ():
    one, other = Guard(), Guard()
    assert one.token != other.token
    assert one.token not in repr(one)
    assert not one.knows_token(Headers({TOKEN_HEADER: other.token}))


def test_a_run_at_work_is_paused_and_extended(tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server:

        def wish(name: str, body: bytes = b"{}") -> str:
            return server.ask("POST", f"/api/runs/0/{name}", {TOKEN_HEADER: server.token}, body).text

        assert "no more runs" in wish("pause")
        assert writer.store.pause_requested()
        assert "goes on" in wish("go-on")
        assert not writer.store.pause_requested()
        assert "30 min longer" in wish("extend", b'{"wall_time": "30m"}')
        assert writer.store.more_time_s() == 1800.0
        for bad in (b"{}", b'{"wall_time": 5}', b'{"wall_time": "-1"}', b'{"wall_time": "0"}'):
            assert "longer" not in wish("extend", bad).replace("say how much longer", "")
        assert writer.store.more_time_s() == 1800.0
    writer.end()

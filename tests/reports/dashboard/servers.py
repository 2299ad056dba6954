"""A real server in a thread, and a client that sends exactly what it is told."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from utilitune.reports.dashboard.application import application
from utilitune.reports.dashboard.guarding import Guard
from utilitune.reports.dashboard.serving import Address
from utilitune.reports.dashboard.watching import WatchedRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Server:
    home: str
    token: str

    def ask(
        self,
        method: str,
        place: str,
        headers: Mapping[str, str | bytes] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send one request; neither address nor headers are mended."""
        given = {name.lower(): value for name, value in (headers or {}).items()}
        connection = http.client.HTTPConnection(urlsplit(self.home).netloc, timeout=60)
        try:
            connection.putrequest(method, place, skip_host=True, skip_accept_encoding=True)
            for name, value in {"host": urlsplit(self.home).netloc, **given}.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            text = "" if "event-stream" in answer.headers.get("content-type", "") else answer.read().decode()
            return Answer(answer.status, answer.headers, text)
        finally:
            connection.close()


@contextlib.contextmanager
def served(folders: Sequence[Path]) -> Iterator[Server]:
    """A server of these runs on a free port."""
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    guard = Guard()
    listener = Address(port=0).listen()
    config = uvicorn.Config(
        application([WatchedRun(folder) for folder in folders], guard),
        log_level="error",
        timeout_graceful_shutdown=1,
        ws="none",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{listener.getsockname()[1]}/", guard.token)
    finally:
        server.should_exit = True
        thread.join()  # however long it takes: it works with the listener until then
        listener.close()

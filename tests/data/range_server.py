"""A small web server that understands range requests and can be told to misbehave."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Site:
    """What the server offers at every address, and how it behaves.

    Attributes:
        content: The file.
        cut_after: Close the connection after this many bytes of one answer; None to send all.
        ranges: Whether range requests are honoured.
        state_length: Whether the answer states its length.
        status: Answer with this error instead.
        requests: The ``Range`` header of every request so far (empty for none).
        url: Where it listens.
    """

    content: bytes
    cut_after: int | None = None
    ranges: bool = True
    state_length: bool = True
    status: int = 200
    requests: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site on a free local port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            site.requests.append(asked)
            if site.status != 200:
                self.send_error(site.status)
                return
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and site.ranges else 0  # type: ignore[index]
            total = len(site.content)
            if start >= total > 0:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{total}")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
            if site.state_length:
                self.send_header("Content-Length", str(total - start))
            self.end_headers()
            end = total if site.cut_after is None else min(total, start + site.cut_after)
            self.wfile.write(site.content[start:end])

        def log_message(self, *_args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}/archive.zip"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

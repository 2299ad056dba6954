"""Who may ask for what.

A page on the loopback interface can be reached by every page the user has open elsewhere, so the browser's
own words are checked: the Host header must be one of ours (else another name may have been made to point
here), an Origin must be our own, and nothing is answered to a request that another site sent. Whoever wants
to change something must also show the token that was printed at the start, in a header that no foreign page
can set. Answers carry a content security policy under which no script but our own files runs.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this very machine."""

TOKEN_HEADER = "x-utilitune-token"  # noqa: S105 - the name of a header, no secret
"""Where a request shows its token."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = {"GET", "HEAD"}


@dataclass(frozen=True, slots=True)
class Guard:
    """What a request must show.

    Attributes:
        hosts: Names under which we may be called, without ports.
        token: What whoever wants to change something must know.
    """

    hosts: tuple[str, ...] = LOOPBACK
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def refusal(self, method: str, headers: Headers) -> str:
        """Why a request is refused, in a sentence; empty if it is not."""
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            return "This name is not one of this server's: open it under the address that was printed."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "Another page must not ask here."
        if headers.get("sec-fetch-site", "same-origin") in {"cross-site", "same-site"} and not (
            method in _SAFE and headers.get("sec-fetch-mode") == "navigate"
        ):
            return "Another page must not ask here."
        if method not in _SAFE and not self.knows_token(headers):
            return "Changing a run needs the token that was printed when the server started."
        return ""

    def knows_token(self, headers: Headers) -> bool:
        """Whether a request shows the token."""
        shown = headers.get(TOKEN_HEADER, "")
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode())


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


class Guarded:
    """An application behind a guard.

    Args:
        application: What is guarded.
        guard: What a request must show.
    """

    def __init__(self, application: ASGIApp, guard: Guard) -> None:
        self._application = application
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._guard.refusal(scope["method"], Headers(scope=scope))
        if refusal:
            await PlainTextResponse(refusal, status_code=403)(scope, receive, send_with_headers)
            return
        await self._application(scope, receive, send_with_headers)

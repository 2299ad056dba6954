"""Starting the server: a free port on the loopback interface, uvicorn, and what to open."""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import MissingExtraError, UsageError
from utilitune.reports.dashboard.guarding import LOOPBACK, Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens.

    Attributes:
        host: A name or number of this machine.
        port: 0 lets the system choose a free one.
    """

    host: str = "127.0.0.1"
    port: int = 8750

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    def listen(self) -> socket.socket:
        """A socket that listens there.

        Raises:
            UsageError: The port is taken, or the host is not this machine.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
            listener.listen()  # who asks before the server answers waits, and is not refused
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(
                f"cannot listen on {self.host} port {self.port}: {reason}; choose another --port, "
                "or 0 for any free one"
            ) from None
        return listener


def serve(folders: Sequence[Path], address: Address, announce: Callable[[str, str], None]) -> None:
    """Serve the live page until Ctrl-C.

    Args:
        folders: The run folders to show.
        address: Where to listen.
        announce: Called with the page's address and the token once the server is about to answer.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("The live page", "serve") from None
    from utilitune.reports.dashboard.application import application
    from utilitune.reports.dashboard.watching import WatchedRun

    hosts = LOOPBACK if address.is_loopback else (*LOOPBACK, address.host.lower(), *_own_names(address.host))
    guard = Guard(hosts)
    listener = address.listen()
    port = listener.getsockname()[1]
    shown = f"[{address.host}]" if ":" in address.host else address.host
    config = uvicorn.Config(
        application([WatchedRun(folder) for folder in folders], guard),
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    announce(f"http://{shown}:{port}/", guard.token)
    server = uvicorn.Server(config)
    # what the end cuts off is no error
    logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
    with listener:
        server.run(sockets=[listener])


def _own_names(host: str) -> tuple[str, ...]:
    """Under which names others call this machine, where it listens on all of its addresses."""
    return (socket.gethostname().lower(), socket.getfqdn().lower()) if host in {"0.0.0.0", "::"} else ()  # noqa: S104 - what the user asked for

"""Messages between the coordinator, its supervisors and their fork servers: length, then JSON.

JSON keeps every float exactly and, written in ASCII, also carries file names that are not valid
Unicode. Only the standard library is used, and little of it, because supervisors must start fast.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

HEADER = struct.Struct("!I")
Message = dict[str, Any]


def encode(message: Message) -> bytes:
    """One message as bytes, with its length in front."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return HEADER.pack(len(body)) + body


class FrameReader:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Add bytes; return the messages that are complete."""
        self._pending += data
        messages = []
        while len(self._pending) >= HEADER.size:
            (length,) = HEADER.unpack_from(self._pending)
            end = HEADER.size + length
            if len(self._pending) < end:
                break
            messages.append(json.loads(self._pending[HEADER.size : end]))
            del self._pending[:end]
        return messages


def receive(connection: socket.socket) -> Message | None:
    """Wait for one message; None if the other side has gone."""
    header = receive_exactly(connection, HEADER.size)
    if header is None:
        return None
    body = receive_exactly(connection, HEADER.unpack(header)[0])
    return None if body is None else json.loads(body)


def receive_exactly(connection: socket.socket, count: int) -> bytes | None:
    """Wait for `count` bytes; None if the other side has gone."""
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            return None
        data += part
    return bytes(data)

"""A process that has imported the target function's module and forks one process per call.

It is run as a script by the supervisor (never imported by it) and speaks with it over the socket whose
descriptor number is its only argument. First message: where modules are found and which function is
meant; answer: ready, or why not. Then per call: the arguments, with two descriptors attached, for the
output and for the report; answer: the process id.

A call is forked twice, so that the process which makes it loses its parent and falls to the supervisor,
the nearest subreaper: the supervisor meters, waits for and kills it like any other run, and the time the
module took to import is nobody's. Only the standard library is used, and nothing of this package, so that
the module's own imports find everything untouched.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import traceback
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = struct.Struct("!I")
_WANTED = ("status", "runtime", "detail", "quality", "bound")
_LONGEST_DETAIL = 2_000
_LONGEST_REPORT = 8_000  # characters; six bytes each at most, so a report always fits into its pipe


def main() -> None:
    """Serve calls until the supervisor goes away."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)
    greeting = _receive(connection, _HEADER.size)
    function = _load(json.loads(_receive(connection, _HEADER.unpack(greeting)[0])), connection)
    gc.collect()
    gc.freeze()
    while True:
        header, descriptors, _, _ = socket.recv_fds(connection, _HEADER.size, 2)
        if not header:
            return
        header += _receive(connection, _HEADER.size - len(header))
        call = json.loads(_receive(connection, _HEADER.unpack(header)[0]))
        pid = _fork_twice(connection, partial(_perform, function, call, descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        _send(connection, {"pid": pid})


def _load(greeting: dict[str, Any], connection: socket.socket) -> Callable[..., Any]:
    try:
        sys.path[:] = greeting["search_path"]
        function = getattr(importlib.import_module(greeting["module"]), greeting["function"])
    except BaseException as error:  # noqa: BLE001 (a module may even exit while it is imported)
        name = f"{greeting['module']}:{greeting['function']}"
        _send(connection, {"error": f"the function {name} cannot be imported: {error!r}"})
        sys.exit(1)
    _send(connection, {"ready": True})
    return function  # type: ignore[no-any-return]


def _fork_twice(connection: socket.socket, perform: Callable[[], NoReturn]) -> int:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the module may have started threads
        middle = os.fork()
    if middle == 0:
        connection.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            final = os.fork()
        if final == 0:
            try:
                os.close(reading)
                os.close(writing)
                perform()
            finally:
                os._exit(1)  # a fork must never return into the serving loop
        os.write(writing, str(final).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(middle, 0)
    pid = int(os.read(reading, 32))
    os.close(reading)
    return pid


def _perform(function: Callable[..., Any], call: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Make the call in this fresh process and end it."""
    output, report = descriptors
    caller = os.getpid()
    os.set_inheritable(report, False)  # noqa: FBT003 -- what the function starts has no say in its report
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if call["directory"] is not None:
        os.chdir(call["directory"])
    code = 0
    try:
        outcome = {"returned": _sendable(_called(function, call, report))}
    except BaseException:  # noqa: BLE001 (whatever the function raises, even SystemExit, is its outcome)
        if os.getpid() != caller:
            _leave(1)
        text = _what_was_raised()
        outcome = {"raised": text[-_LONGEST_REPORT:]}
        code = 1
    if os.getpid() == caller:  # a process that the function has forked may return as well, but not for it
        os.write(report, json.dumps(outcome).encode("ascii"))
    _leave(code)


def _called(function: Callable[..., Any], call: dict[str, Any], descriptor: int) -> Any:  # noqa: ANN401 (the function's)
    """Make the call, passing on what the function reports of solutions while it runs."""

    def report(quality: Any, bound: Any = None) -> None:  # noqa: ANN401 (whatever behaves like a number)
        told = "none" if bound is None else repr(float(bound))
        os.write(descriptor, f"solution {float(quality)!r} {told}\n".encode("ascii"))

    if call.get("reports") == "call":
        return function(**call["arguments"], report=report)
    returned = function(**call["arguments"])
    if call.get("reports") != "yield":
        return returned
    while True:
        try:
            found = next(returned)
        except StopIteration as end:
            return end.value
        report(*found) if isinstance(found, tuple) else report(found)


def _what_was_raised() -> str:
    """The traceback of the error under way, which is also written to the output."""
    try:
        text = traceback.format_exc()
    except BaseException as error:  # noqa: BLE001 (an exception may even fail to say what it is)
        text = f"{type(error).__name__} while the function's error was written down\n"
    with contextlib.suppress(BaseException):  # the function may have closed or replaced the stream
        sys.stderr.write(text)
    return text


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    os._exit(code)


def _sendable(value: Any) -> Any:  # noqa: ANN401 (whatever the user's function returned)
    """What the judge wants to know of a return value: a number, False, or a dictionary."""
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if isinstance(value, dict):
        wanted = {name: value[name] for name in _WANTED if name in value}
        return {name: _simple(part) for name, part in wanted.items()}
    return _simple(value) if isinstance(value, int | float) else None


def _simple(value: Any) -> Any:  # noqa: ANN401 (the same)
    """A number as it is, if it is one that can be written down; anything else as text."""
    if not isinstance(value, int | float):
        return str(value)[:_LONGEST_DETAIL]
    try:
        float(value)
    except OverflowError:
        return "a number beyond all bounds"
    return value


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode("ascii")
    connection.sendall(_HEADER.pack(len(body)) + body)


def _receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


if __name__ == "__main__":
    main()

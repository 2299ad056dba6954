"""Starting the program of a run: directly, or through a fork server for a Python function.

Commands are started with `posix_spawn`, which does not copy the supervisor's memory. The program gets a
session of its own, /dev/null as its input, one pipe for all its output, default signals, no core dumps,
and a CPU limit of the kernel as a backstop.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import select
import shutil
import signal
import socket
import sys

from utilitune.execution import wire

CPU_BACKSTOP_S = 5
_LONGEST_LIMIT_S = 2.0**60  # the system counts these seconds in 64 bits
_LONGEST_SHEBANG = 256
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU, signal.SIGINT, signal.SIGTERM)
_FORK_SERVER = os.path.join(os.path.dirname(__file__), "forkserver.py")  # noqa: PTH118, PTH120 (pathlib would slow every supervisor's start)


class LaunchError(Exception):
    """The program of a run could not be started; the text says why."""


class LaunchInterrupted(Exception):  # noqa: N818 (nothing went wrong: the coordinator changed its mind)
    """The coordinator spoke up while a program was being started."""


class Launcher:
    """Starts programs for one supervisor.

    Args:
        control: The supervisor's connection to the coordinator; starting a function's server gives up
            when it becomes readable.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._environment = dict(os.environ)
        self._home = os.getcwd()  # noqa: PTH109 (the same)
        self._servers: dict[tuple[str, ...], _ForkServer] = {}

    @property
    def servers(self) -> frozenset[int]:
        """Process ids of the fork servers."""
        return frozenset(server.pid for server in self._servers.values())

    def forget_server(self, pid: int) -> bool:
        """Drop a fork server that has ended; False if `pid` is not that of a fork server."""
        for key, server in self._servers.items():
            if server.pid == pid:
                server.connection.close()
                del self._servers[key]
                return True
        return False

    def launch(self, job: wire.Message, output: int, report: int) -> int:
        """Start a job's program, its output going to `output`; returns its process id."""
        captime_s = job["captime_s"] if job["measure"] == "cpu" else None
        if "call" in job:
            pid = self._call(job["call"], output, report)
        else:
            pid = self._spawn(job, output, captime_s)
        if captime_s is not None and hasattr(resource, "prlimit"):
            _limit_cpu(pid, captime_s)
        return pid

    def _spawn(self, job: wire.Message, output: int, captime_s: float | None) -> int:
        argv = job["argv"]
        environment = {**self._environment, **job["environment"]}
        previous = resource.getrlimit(resource.RLIMIT_CPU)
        try:
            self._enter(job["directory"])
            if captime_s is not None and not hasattr(resource, "prlimit"):
                resource.setrlimit(
                    resource.RLIMIT_CPU, (math.ceil(min(captime_s, _LONGEST_LIMIT_S)), previous[1])
                )
            return os.posix_spawn(
                _located(argv[0], environment.get("PATH")),
                argv,
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, self._null, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setsid=True,
                setsigmask=[],
                setsigdef=_DEFAULT_SIGNALS,
            )
        except OSError as error:
            raise LaunchError(f"cannot start {argv[0]!r}: {_reason(error, argv[0])}") from None
        except ValueError as error:  # an argument or variable that cannot be passed on
            raise LaunchError(f"cannot start {argv[0]!r}: {error}") from None
        finally:
            if not hasattr(resource, "prlimit"):
                resource.setrlimit(resource.RLIMIT_CPU, previous)

    def _enter(self, directory: str | None) -> None:
        """Go where the program is to run; spawned programs start where their parent is."""
        try:
            os.chdir(self._home if directory is None else directory)
        except OSError as error:
            raise LaunchError(f"cannot enter the directory {directory!r}: {error.strerror}") from None

    def _call(self, call: wire.Message, output: int, report: int) -> int:
        self._bury_dead_servers()
        key = (call["module"], call["function"], *call["search_path"])
        if key not in self._servers:
            os.chdir(self._home)
            self._servers[key] = _ForkServer.start(self._null)
            self._servers[key].send(call, [])
            self._await(key)
        self._servers[key].send(call, [output, report])
        pid: int = self._await(key)["pid"]
        return pid

    def _bury_dead_servers(self) -> None:
        for pid in self.servers:
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                self.forget_server(pid)

    def _await(self, key: tuple[str, ...]) -> wire.Message:
        server = self._servers[key]
        ready, _, _ = select.select([server.connection, self._control], [], [])
        answer = wire.receive(server.connection) if server.connection in ready else {}
        if not answer or "error" in answer:
            os.kill(server.pid, signal.SIGKILL)
            os.waitpid(server.pid, 0)
            self.forget_server(server.pid)
        if answer is None:
            raise LaunchError(f"the process that imports the module {key[0]!r} ended unexpectedly")
        if not answer:
            raise LaunchInterrupted
        if "error" in answer:
            raise LaunchError(answer["error"])
        return answer


class _ForkServer:
    """The supervisor's end of a fork server."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self.connection = connection

    @classmethod
    def start(cls, null: int) -> _ForkServer:
        ours, theirs = socket.socketpair()
        theirs.set_inheritable(True)
        with theirs:
            pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-P", _FORK_SERVER, str(theirs.fileno())],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, null, 0),
                    (os.POSIX_SPAWN_DUP2, null, 1),
                    (os.POSIX_SPAWN_DUP2, null, 2),
                ],
                setsid=True,
                setsigmask=[],
                setsigdef=_DEFAULT_SIGNALS,
            )
        return cls(pid, ours)

    def send(self, call: wire.Message, descriptors: list[int]) -> None:
        """Send one message; descriptors travel with its length."""
        message = wire.encode(call)
        try:
            socket.send_fds(self.connection, [message[: wire.HEADER.size]], descriptors)
            self.connection.sendall(message[wire.HEADER.size :])
        except OSError:
            return  # the server has gone; waiting for its answer will say so


def _located(program: str, search_path: str | None) -> str:
    """Where a program lies; one without a slash is looked for on the run's own PATH."""
    if os.sep in program:
        return program
    found = shutil.which(program, path=search_path)
    if found is None:
        raise FileNotFoundError(2, "it is not on the PATH")
    return found


def _reason(error: OSError, program: str) -> str:
    """Why a program cannot be started; the system says "no such file" also of a missing interpreter."""
    try:
        with open(program, "rb") as stream:  # noqa: PTH123 (the same)
            first = stream.readline(_LONGEST_SHEBANG)
    except OSError:
        return str(error.strerror)
    words = first[2:].split(None, 1)
    if error.errno == errno.ENOENT and first.startswith(b"#!") and words:
        if first.endswith(b"\r\n"):
            return "its lines end as on Windows; convert it with: sed -i 's/\\r$//' FILE"
        interpreter = words[0].decode("utf-8", "replace")
        return f"its first line asks for the interpreter {interpreter!r}, which does not exist"
    if error.errno == errno.ENOEXEC:
        return "it is no program for this machine, and its first line names no interpreter (#!/bin/sh)"
    return str(error.strerror)


def raise_cpu_limit(pid: int, captime_s: float | None, larger_s: float | None) -> None:
    """Move the backstop of a process that goes on to a larger captime; a limit of its own is left alone."""
    if captime_s is None or larger_s is None or not hasattr(resource, "prlimit"):
        return
    try:
        if resource.prlimit(pid, resource.RLIMIT_CPU)[0] == _backstop_s(captime_s):
            _limit_cpu(pid, larger_s)
    except OSError:
        return  # it has ended


def _backstop_s(captime_s: float) -> int:
    return math.ceil(min(captime_s, _LONGEST_LIMIT_S)) + CPU_BACKSTOP_S


def _limit_cpu(pid: int, captime_s: float) -> None:
    soft = _backstop_s(captime_s)
    try:
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        if hard == resource.RLIM_INFINITY or hard > soft:
            resource.prlimit(pid, resource.RLIMIT_CPU, (soft, hard))
    except OSError:
        return  # it has ended already

"""Programs that misbehave on purpose, run as ``python nasty_targets.py KIND``.

Those that consume a known amount of CPU time print what each of their processes has consumed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

SHARE_S = 0.15


def burn(seconds: float = float("inf")) -> None:
    """Consume CPU time of this process, then print how much it has consumed in all."""
    while time.process_time() < seconds:
        sum(range(2000))
    os.write(1, f"consumed {time.process_time():.6f}\n".encode())


def fork(work) -> int:
    """Do something in a child that never returns."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def detached(work) -> None:
    """Do something in a daemon: forked twice, in a session of its own."""

    def middle() -> None:
        os.setsid()
        fork(work)

    os.waitpid(fork(middle), 0)


def with_end(start) -> None:
    """Start something and wait until every process that does it has ended."""
    reading, writing = os.pipe()
    start()
    os.close(writing)
    os.read(reading, 1)


def single() -> None:
    burn(2 * SHARE_S)


def forks() -> None:
    for pid in [fork(lambda: burn(SHARE_S)) for _ in range(3)]:
        os.waitpid(pid, 0)
    burn(SHARE_S)


def threads() -> None:
    def work() -> None:
        while time.process_time() < 3 * SHARE_S:
            sum(range(2000))

    crew = [threading.Thread(target=work) for _ in range(3)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    burn(0)


def detaches() -> None:
    with_end(lambda: detached(lambda: burn(2 * SHARE_S)))
    burn(0)


def ignores_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with_end(lambda: fork(lambda: burn(4 * SHARE_S)))
    time.sleep(0.05)
    burn(0)


def many_ignored_children() -> None:
    """200 children of 30 ms each, one after the other, for which nobody waits."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(200):
        with_end(lambda: fork(lambda: burn(0.03)))
    burn(0)


def many_waited_children() -> None:
    """100 children of 6 ms each, one after the other, and then some time of its own."""
    for _ in range(100):
        os.waitpid(fork(lambda: burn(time.process_time() + 0.006)), 0)
    burn()


def burn_forever() -> None:
    burn()


def family_forever() -> None:
    for _ in range(3):
        fork(lambda: fork(burn) and burn())
    burn()


def many_files() -> None:
    """A child that takes a while to die, since it has many files to close."""

    def open_all() -> None:
        with contextlib.suppress(OSError):
            while True:
                os.open(os.devnull, os.O_RDONLY)
        burn()

    fork(open_all)
    burn()


def threads_forever() -> None:
    for _ in range(3):
        threading.Thread(target=burn).start()


def setsid_forever() -> None:
    def work() -> None:
        os.setsid()
        burn()

    fork(work)
    signal.pause()


def daemon_forever() -> None:
    detached(burn)
    signal.pause()


def nameless_forever() -> None:
    """A sleeper whose environment says nothing."""
    code = "import time; time.sleep(1e9)"
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code, sys.argv[-1]], {})


def deaf_forever() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    fork(burn)
    burn()


def parricide() -> None:
    """Kill whoever runs us, and go on."""
    os.kill(os.getppid(), signal.SIGKILL)
    burn()


def stops_its_supervisor() -> None:
    os.kill(os.getppid(), signal.SIGSTOP)
    burn()


def stops_its_supervisor_again_and_again() -> None:
    supervisor = os.getppid()
    while os.getppid() == supervisor:
        os.kill(supervisor, signal.SIGSTOP)


def bomb() -> None:
    """Four generations of two children each; all stay."""
    for _ in range(4):
        os.fork()
        os.setsid() if os.getpid() != os.getsid(0) else None
    burn()


def hop_forever() -> None:
    """A process that forks and ends, for ever; the first waits."""

    def hop() -> None:
        while True:
            if os.fork():
                os._exit(0)

    fork(hop)
    burn()


def escape_forever() -> None:
    """A process that forks, ends and leaves for a session of its own, for ever; the first waits."""

    def escape() -> None:
        while True:
            if os.fork():
                os._exit(0)
            os.setsid()

    fork(escape)
    burn()


def chain_forever() -> None:
    """Links that fork and end for ever, each in a session of its own; the second start does nothing.

    The pipe whose name is the last argument is held open by every link, so that its reader knows whether one
    is alive. Every link writes to it: none can outlive the reader.
    """
    pipe = _only_once(sys.argv[-1])
    fork(lambda: _links(pipe, os.setsid))
    signal.pause()


def group_chain_forever() -> None:
    """The same in one process group."""
    pipe = _only_once(sys.argv[-1])
    fork(lambda: _links(pipe, lambda: None))
    signal.pause()


def chains_forever() -> None:
    """Four such chains, with a parent that starts another one whenever a child of its own ends."""
    pipe = _only_once(sys.argv[-1])
    for _ in range(4):
        fork(lambda: _links(pipe, os.setsid))
    for _ in range(40):
        os.wait()
        fork(lambda: _links(pipe, os.setsid, 200))
    signal.pause()


def nameless_chain_forever() -> None:
    """A chain whose links have no environment and no session in common."""
    if sys.argv[2] != "nameless":
        words = [*sys.argv[:2], "nameless", sys.argv[-1]]
        os.execve(sys.executable, [sys.executable, "-I", "-S", *words], {})
    chain_forever()


def _links(pipe: int, leave, count: float = float("inf")) -> None:
    while count > 0:
        if os.fork():
            os._exit(0)
        leave()
        _prove_alive(pipe)
        count -= 1


def _only_once(path: str) -> int:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        Path(path).unlink()
    except OSError:
        sys.exit(0)
    os.write(pipe, b"begun")
    return pipe


def _prove_alive(pipe: int) -> None:
    try:
        os.write(pipe, b".")
    except BlockingIOError:
        return  # the reader has seen enough of us
    except BrokenPipeError:
        os._exit(0)


def stopped_forever() -> None:
    fork(burn)
    child = fork(signal.pause)
    os.kill(child, signal.SIGSTOP)
    burn()


def zombies_forever() -> None:
    for _ in range(20):
        fork(lambda: None)
    burn()


def outlived() -> None:
    """Ends at once and leaves a daemon and a child behind."""
    detached(signal.pause)
    fork(signal.pause)
    os._exit(0)


def shows_cpu_limit() -> None:
    """Shows what its limit of CPU seconds is in the end."""
    burn(0.3)
    os.write(1, f"limit {resource.getrlimit(resource.RLIMIT_CPU)[0]}\n".encode())


def prints_and_burns() -> None:
    os.write(1, b"a" * 5000 + b"!\n")
    burn()


def flood() -> None:
    block = b"nothing to see here\n" * 3000
    os.write(1, b"the answer is 42\n")
    for _ in range(1000):
        os.write(1, block)


def flood_forever() -> None:
    block = b"x" * 65536
    while True:
        os.write(2, block)


def hog() -> None:
    blocks = []
    while True:
        blocks.append(bytearray(os.urandom(1 << 20)))
        time.sleep(0.002)


def hog_in_a_file() -> None:
    """Fills a file that lives in memory and is mapped by nobody."""
    descriptor = os.memfd_create("hoard")
    while True:
        os.write(descriptor, bytes(1 << 20))
        time.sleep(0.002)


def undumpable_hogs() -> None:
    """Two processes that let nobody look and fill memory together."""
    forbid = ctypes.CDLL(None).prctl
    forbid(4, 0, 0, 0, 0)
    fork(lambda: forbid(4, 0, 0, 0, 0) or hog())
    hog()


def undumpable() -> None:
    """Two processes that let nobody look and need little."""
    forbid = ctypes.CDLL(None).prctl
    forbid(4, 0, 0, 0, 0)
    fork(lambda: time.sleep(0.3))
    time.sleep(0.3)


def shares() -> None:
    """Four processes that share 60 MB: no more memory than one of them needs."""
    block = os.urandom(60 << 20)
    for _ in range(3):
        fork(lambda: time.sleep(0.5))
    time.sleep(0.5)
    sys.stdout.write(f"{len(block)}\n")


def sleeps() -> None:
    time.sleep(60)


def tidy() -> None:
    """Tidies up when asked to end."""

    def end(*_: object) -> None:
        os.write(1, b"tidied up\n")
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    burn()


def nap() -> None:
    time.sleep(0.05)


def arguments() -> None:
    for word in sys.argv[2:]:
        sys.stdout.write(ascii(word) + "\n")
    sys.stdout.write(f"{os.environ.get('NASTY_TEXT')} {Path.cwd()} {sys.stdin.read()!a}\n")


if __name__ == "__main__":
    globals()[sys.argv[1]]()

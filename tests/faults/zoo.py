"""Programs for the fault trials, run as ``python zoo.py TOKEN PARAMETER INSTANCE``.

The instance file names the kind. All end within the limits, or are ended; none may end anything but itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from execution import nasty_targets as nasty

_NEW_USER, _NEW_PID, _NEW_MOUNT = 0x10000000, 0x20000000, 0x00020000


def works() -> None:
    nasty.burn(0.002 + 0.01 * float(sys.argv[2]))


def prints_much() -> None:
    block = b"\x1b[31m\xff\x00garbage " * 8000
    for _ in range(200):
        os.write(1, block)


def in_namespaces() -> None:
    """In user, process and mount namespaces of its own, where the system allows that."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_USER | _NEW_PID | _NEW_MOUNT) != 0:
        library.unshare(_NEW_PID | _NEW_MOUNT)
    nasty.fork(lambda: time.sleep(1000))
    time.sleep(1000)


def stops_itself() -> None:
    nasty.fork(lambda: time.sleep(1000))
    os.kill(os.getpid(), signal.SIGSTOP)


def returns_garbage() -> None:
    os.write(1, os.urandom(5000))
    os._exit(77)


def crashes() -> None:
    os.abort()


def undumpable_sleeper() -> None:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    nasty.fork(lambda: time.sleep(1000))
    time.sleep(1000)


def ignores_everything() -> None:
    for number in range(1, 32):
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
    nasty.fork(lambda: time.sleep(1000))
    time.sleep(1000)


OWN = (
    *(works, prints_much, in_namespaces, stops_itself, returns_garbage, crashes, undumpable_sleeper),
    ignores_everything,
)
OTHERS = (
    *(nasty.family_forever, nasty.setsid_forever, nasty.daemon_forever, nasty.nameless_forever),
    *(nasty.hop_forever, nasty.escape_forever, nasty.stopped_forever, nasty.zombies_forever, nasty.outlived),
    *(nasty.flood_forever, nasty.hog, nasty.sleeps, nasty.bomb, nasty.ignores_children, nasty.deaf_forever),
)
KINDS = {each.__name__: each for each in (*OWN, *OTHERS)}

if __name__ == "__main__":
    KINDS[Path(sys.argv[3]).read_text().split()[0]]()

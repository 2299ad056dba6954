"""Becoming an ordinary user in a child process, for tests that are run by root."""

from __future__ import annotations

import ctypes
import os
import struct

USER = 61_234
"""Somebody who owns nothing."""

_KEEP_CAPABILITIES, _AMBIENT, _RAISE = 8, 47, 2
_VERSION_3 = 0x20080522
_READS_FILES = 1


def become_ordinary() -> None:
    """Give up root, all but the right to read files: the interpreter may lie where others may not look.

    Signals, priorities and limits are those of an ordinary user. For `preexec_fn`.
    """
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    bit = 1 << _READS_FILES
    header = struct.pack("Ii", _VERSION_3, 0)
    sets = struct.pack("6I", bit, bit, bit, 0, 0, 0)
    if library.capset(header, sets) or library.prctl(_AMBIENT, _RAISE, _READS_FILES, 0, 0):
        raise OSError(ctypes.get_errno(), "a capability cannot be kept")

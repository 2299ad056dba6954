"""Python functions to be configured, imported by name in other processes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def echoes(configuration, instance, seed, captime):
    sys.stdout.write(f"{configuration!r} {instance!r} {seed} {captime} {Path.cwd()}\n")


def burns(configuration, instance, seed):
    while time.process_time() < configuration["seconds"]:
        sum(range(2000))


def burns_in_a_daemon(configuration, instance, seed):
    if os.fork() == 0:
        os.setsid()
        burns({"seconds": 1e9}, instance, seed)
    time.sleep(1e9)


def raises(configuration, instance, seed):
    raise ValueError("no luck on " + instance)


def exits(configuration, instance, seed):
    os._exit(5)


def leaves(configuration, instance, seed):
    raise SystemExit(0)


def returns(configuration, instance, seed):
    return configuration["value"]


def counts_calls(configuration, instance, seed):
    """Fresh processes see the module as it was imported, however often it was called before."""
    STATE.append(seed)
    return float(len(STATE))


STATE: list[int] = []

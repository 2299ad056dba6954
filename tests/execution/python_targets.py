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


def says_half_a_character(configuration, instance, seed):
    raise ValueError("half \ud800 of a character")


def prints_half_a_character(configuration, instance, seed):
    sys.stdout.buffer.write("half \ud800\n".encode("utf-8", "surrogatepass"))
    return {"status": "crashed", "detail": "half \udfff"}


def forks_a_child_that_raises(configuration, instance, seed):
    if os.fork() == 0:
        raise ValueError("the child's own affair")
    os.wait()
    return 0.25


def forks_a_child_that_returns(configuration, instance, seed):
    if os.fork() == 0:
        return 77.0
    os.wait()
    return 0.25


def returns_a_huge_number(configuration, instance, seed):
    return 10 ** configuration["power"]


def writes_over_the_report(configuration, instance, seed):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b"\xff\xfe[[[[\x00")
        except OSError:
            continue
    os._exit(0)


def closes_everything(configuration, instance, seed):
    os.closerange(0, 256)


def loses_its_streams(configuration, instance, seed):
    sys.stdout.close()
    sys.stderr = None
    raise ValueError("seen nevertheless")


def raises_what_cannot_be_shown(configuration, instance, seed):
    raise Unspeakable


class Unspeakable(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError("no")


def returns_what_cannot_be_shown(configuration, instance, seed):
    return {"status": Unspeakable(), "detail": Unspeakable()}


def recurses(configuration, instance, seed):
    return recurses(configuration, instance, seed)


def counts_calls(configuration, instance, seed):
    """Fresh processes see the module as it was imported, however often it was called before."""
    STATE.append(seed)
    return float(len(STATE))


STATE: list[int] = []


def tells(configuration, instance, seed, report):
    for quality in configuration["qualities"]:
        report(quality, bound=1)
        time.sleep(0.02)
    time.sleep(configuration.get("rest", 0))


def yields(configuration, instance, seed):
    yield from configuration["qualities"]
    yield 3, 2.5
    return {"quality": 1.5, "bound": 1}

"""Modules are found under the names they had before they moved, and are the same ones."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import utilitune


@pytest.mark.parametrize(("before", "now"), sorted(utilitune._MOVED.items()))
def test_both_names_stand_for_the_same_module(before: str, now: str):
    assert import_module(before) is import_module(now)


def test_modules_in_a_room_that_moved_are_the_same_ones_too():
    before = import_module("utilitune.proposers.base")
    assert before is import_module("utilitune.search.proposers.base")
    assert before.__name__ == "utilitune.search.proposers.base"


def test_a_fresh_process_finds_a_name_of_before_first():
    program = "from utilitune.stopping import Budget as b; from utilitune import Budget; print(b is Budget)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "True\n"


@pytest.mark.parametrize("name", ["utilitune.nothing", "utilitune.bounds.nothing", "utilitune.boundsless"])
def test_what_never_was_is_not_found(name: str):
    with pytest.raises(ModuleNotFoundError, match=r"nothing|boundsless"):
        import_module(name)

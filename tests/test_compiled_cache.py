from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from compiled_cache import remove_stale_code

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose ``loop`` depends on ``rules/bound`` through ``rules/middle``, compiled at time 100."""
    package = tmp_path / "house"
    (package / "rules").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    sources = {
        "loop.py": "from house.rules import middle",
        "rules/middle.py": "from house.rules.bound import width",
        "rules/bound.py": "def width(): ...",
        "apart.py": "",
    }
    for name, text in sources.items():
        (package / name).write_text(text)
        os.utime(package / name, (50, 50))
    index = package / "__pycache__" / "loop.play-12.py311.nbi"
    index.touch()
    os.utime(index, (100, 100))
    return package


def test_code_newer_than_all_it_depends_on_is_kept(package: Path):
    assert remove_stale_code(package) == []


def test_a_change_elsewhere_does_not_matter(package: Path):
    os.utime(package / "apart.py", (200, 200))
    assert remove_stale_code(package) == []


@pytest.mark.parametrize("changed", ["loop.py", "rules/middle.py", "rules/bound.py"])
def test_a_change_of_anything_it_depends_on_removes_it(package: Path, changed: str):
    os.utime(package / changed, (200, 200))
    assert [index.name for index in remove_stale_code(package)] == ["loop.play-12.py311.nbi"]
    assert not list(package.rglob("*.nbi"))

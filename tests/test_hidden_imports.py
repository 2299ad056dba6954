"""Rooms that are named in a text and looked up while the program runs, which no import linter can see."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "utilitune"
UPWARD = {("live/above.py", "reports"), ("live/hunting.py", "rivals")}
"""The two that docs/architecture.md explains."""


def heights() -> dict[str, int]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = reversed(contracts[0]["layers"])
    return {room.strip(): height for height, layer in enumerate(layers) for room in layer.split("|")}


def rooms_in_texts(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in prose else None
        if isinstance(text, str) and text.startswith("utilitune."):
            yield text.split(".")[1].partition(":")[0]


def test_no_other_room_looks_up_one_above_it():
    height = heights()
    found = {
        (str(path.relative_to(SOURCE)), named)
        for path in SOURCE.rglob("*.py")
        if path.parent != SOURCE
        for named in rooms_in_texts(path)
        if height.get(named, 0) > height[path.relative_to(SOURCE).parts[0]]
    }
    assert found == UPWARD

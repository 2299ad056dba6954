"""Programs beside the package, which no other test imports, use names that exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    path.relative_to(ROOT)
    for folder in ("benchmarks", "examples", "experiments", "site_hooks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "utilitune":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_what_a_program_imports_exists(program: Path):
    for module, name in imported_names(ROOT / program):
        assert hasattr(import_module(module), name) or find_spec(f"{module}.{name}"), f"{module}.{name}"

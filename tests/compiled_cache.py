"""Keeps tests honest about compiled code.

A compiled function is kept on disk until its own file changes; a rule it took in from another file may
change unnoticed. Before the tests, whatever was compiled before a change of a file it depends on is
removed, so that the rules under test are those in the source.
"""

from __future__ import annotations

import ast
import math
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "utilitune"


def remove_stale_code(package: Path = PACKAGE) -> list[Path]:
    """Remove compiled code older than a source it depends on; return the index files removed."""
    removed = []
    for index in package.rglob("__pycache__/*.nbi"):
        source = index.parent.parent / f"{index.name.split('.')[0]}.py"
        sources = [path for path in _dependencies(source, package) if path.exists()]
        newest = max((path.stat().st_mtime for path in sources), default=math.inf)  # its own may have moved
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)
            removed.append(index)
    return removed


@cache
def _dependencies(source: Path, package: Path) -> set[Path]:
    """The file itself and everything of the package that it imports, directly or not."""
    found, waiting = {source}, [source]
    while waiting:
        here = waiting.pop()
        if here.exists():
            new = _imported(here, package) - found
            found |= new
            waiting += new
    return found


@cache
def _imported(source: Path, package: Path) -> set[Path]:
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package.name}."):
            place = package.joinpath(*node.module.split(".")[1:])
            candidates = [place.with_suffix(".py"), *(place / f"{name.name}.py" for name in node.names)]
            found |= {path for path in candidates if path.is_file()}
    return found

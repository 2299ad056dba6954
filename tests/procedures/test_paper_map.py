"""The table from the paper to the code names functions that exist, and is the same in both places."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import utilitune.procedures

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"


def on_the_page() -> list[str]:
    section = PAGE.read_text(encoding="utf-8").split("## From the paper to the code")[1].split("\n## ")[0]
    cells = [line.split("|")[3] for line in section.splitlines() if line.startswith("|")][2:]
    return re.findall(r"`([^`]+)`", " ".join(cells))


def in_the_docstring() -> list[str]:
    lines = (utilitune.procedures.__doc__ or "").splitlines()
    edges = [index for index, line in enumerate(lines) if line.strip().startswith("===")]
    last_columns = [re.split(r"  +", line)[-1] for line in lines[edges[1] + 1 : edges[2]]]
    return [name for column in last_columns for name in column.split(", ")]


def exists(name: str) -> bool:
    room, *attributes = name.split(".")
    module = importlib.import_module(f"utilitune.procedures.{room}")
    for index, attribute in enumerate(attributes):
        if not hasattr(module, attribute):
            module = importlib.import_module(f"{module.__name__}.{attribute}")
        else:
            return reduce(getattr, attributes[index:], module) is not None
    return False


def test_every_function_of_the_table_exists():
    names = on_the_page()
    assert len(names) > 15
    assert [name for name in names if not exists(name)] == []


def test_page_and_docstring_agree():
    assert on_the_page() == in_the_docstring()

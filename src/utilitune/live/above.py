"""What can be asked of a result but is made in a room above this one.

A result is a value of this room. Tables of all its configurations and pictures of it are made in
`utilitune.reports`, which knows results and may not be imported from here. So it is looked up by its name
when somebody asks for the first of them, as the public names of the package are.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def reports(module: str) -> Any:  # noqa: ANN401 -- a module
    """A module of the reports."""
    return import_module(f"utilitune.reports.{module}")

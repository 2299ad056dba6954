"""Which tool a scenario file was written for, by what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError
from utilitune.scenario.dialects import irace_keys, smac
from utilitune.scenario.dialects.understanding import Dialect

if TYPE_CHECKING:
    from pathlib import Path

_ASSIGNMENT = re.compile(r"^[ \t]*([A-Za-z.][\w.-]*)[ \t]*(=|<-)", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[{1,2}[\w.\"' -]+\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)


def dialect_of(path: Path, text: str) -> Dialect:
    """The tool a scenario file was written for.

    TOML is known by its ending or its tables, the others by the keys they assign. A file that assigns no
    key of either is refused.
    """
    if path.suffix.lower() == ".toml" or _TABLE.search(text):
        return Dialect.NATIVE
    found = _ASSIGNMENT.findall(text)
    arrows = any(sign == "<-" for _, sign in found)
    as_irace = sum(name in irace_keys.KEYS for name, _ in found) + arrows
    as_smac = sum(smac.normal_key(name) in smac.KEYS for name, _ in found)
    if not as_irace and not as_smac:
        raise ScenarioError(
            "this is no scenario file: it has neither tables of a Utilitune scenario nor keys of an irace "
            "or SMAC scenario; write one with 'utilitune init'",
            path=path,
        )
    return Dialect.IRACE if as_irace >= as_smac else Dialect.SMAC

"""ConfigSpace JSON files, with the line and column of a mistake.

`configspace` knows the format but not where an entry stands; the place is found again by its name.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from utilitune.spaces.configspace import from_json
from utilitune.spaces.dialects.model import ParameterFile
from utilitune.spaces.dialects.source import Place
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from utilitune.spaces.dialects.source import SourceText


def read_configspace(source: SourceText) -> ParameterFile:
    """Read a ConfigSpace JSON file."""
    try:
        space = from_json(source.text)
    except json.JSONDecodeError as error:
        raise source.problem(f"this is not JSON: {error.msg}", Place(error.lineno, error.colno)) from None
    except SpaceError as error:
        raise source.located(error, _place(source.text, error)) from None
    return ParameterFile(source.path, "configspace", space)


def _place(text: str, error: SpaceError) -> Place:
    """Where the entry to blame begins: its name or list, else the beginning of the file."""
    key = error.where[1] if error.where[:1] == ("parameters",) and len(error.where) > 1 else None
    named = re.search(r"'([^']*)'", error.reason) if key is None else None
    name = key if isinstance(key, str) else named[1] if named else None
    patterns = [r'"forbiddens"\s*:'] if error.where[:1] == ("forbidden",) else []
    patterns += [rf'"name"\s*:\s*{re.escape(json.dumps(name, ensure_ascii=False))}'] if name else []
    for pattern in patterns:
        match = re.search(pattern, text)
        if match is not None:
            before = text[: match.start()]
            return Place(before.count("\n") + 1, match.start() - before.rfind("\n"))
    return Place(1, 1)

"""Read and write a parameter file of any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import UsageError, did_you_mean
from utilitune.spaces.configspace import to_json
from utilitune.spaces.dialects.configspace_file import read_configspace
from utilitune.spaces.dialects.detect import detect
from utilitune.spaces.dialects.irace import read_irace
from utilitune.spaces.dialects.irace_writer import write_irace
from utilitune.spaces.dialects.model import DIALECTS
from utilitune.spaces.dialects.pcs import read_pcs
from utilitune.spaces.dialects.pcs_writer import write_new_pcs, write_old_pcs
from utilitune.spaces.dialects.ranges import read_ranges, write_ranges
from utilitune.spaces.dialects.source import SourceText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.spaces.dialects.model import ParameterFile
    from utilitune.spaces.space import ParameterSpace


def read_parameter_file(
    path: Path | str,
    dialect: str | None = None,
    *,
    digits: int | None = None,
    forbidden_file: Path | str | None = None,
    forbidden: SourceText | None = None,
) -> ParameterFile:
    """Read a parameter file; a `ScenarioError` names file, line and column of every mistake.

    Arguments:
        path: The file.
        dialect: Its format, a key of `DIALECTS` or "pcs" for either PCS; None finds it out.
        digits: For irace, the decimal places its scenario asks for.
        forbidden_file: For irace 3, the separate file of forbidden expressions.
        forbidden: For irace, such expressions that stand elsewhere.
    """
    source = SourceText.read(Path(path))
    if dialect is not None and dialect not in (*DIALECTS, "pcs"):
        raise UsageError(f"there is no parameter file format {dialect!r}; {did_you_mean(dialect, DIALECTS)}")
    family = detect(source) if dialect is None else dialect
    if family == "irace":
        if forbidden_file is not None:
            forbidden = SourceText.read(Path(forbidden_file))
        return read_irace(source, digits, forbidden)
    if family == "ranges":
        return read_ranges(source)
    return read_configspace(source) if family == "configspace" else read_pcs(source)


def write_parameter_file(
    space: ParameterSpace,
    dialect: str,
    *,
    switches: Mapping[str, str] | None = None,
    digits: int | None = None,
) -> str:
    """The space as the text of a parameter file; a `SpaceError` names what the format cannot say.

    Arguments:
        space: The space.
        dialect: The format, a key of `DIALECTS`.
        switches: For irace, the text before each value; by default ``--name`` and a blank.
        digits: For irace, the decimal places of floats that have none of their own.
    """
    match dialect:
        case "pcs-old":
            return write_old_pcs(space)
        case "pcs-new":
            return write_new_pcs(space)
        case "irace":
            return write_irace(space, switches, digits)
        case "ranges":
            return write_ranges(space)
        case "configspace":
            return to_json(space)
        case _:
            raise UsageError(
                f"there is no parameter file format {dialect!r}; {did_you_mean(dialect, DIALECTS)}"
            )

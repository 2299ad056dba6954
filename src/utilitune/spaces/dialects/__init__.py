"""Parameter files of other tools, read and written without loss or refused with a reason.

- `source`: the lines of a file, and errors that name file, line and column;
- `draft`: what a reader collects before it becomes a space;
- `resolving`: conditions and clauses of files, where the parameters are known;
- `pcs`, `irace`, `ranges`, `configspace_file`: one reader per family of formats;
- `pcs_writer`, `irace_writer`: the way back, where a format can say it;
- `detect`: which format a file has;
- `files`: the two functions everyone else uses.

Everything a file says becomes part of the space, or a note of the `ParameterFile`, or an error.
"""

from __future__ import annotations

from utilitune.spaces.dialects.files import read_parameter_file, write_parameter_file
from utilitune.spaces.dialects.model import DIALECTS, ParameterFile

__all__ = ["DIALECTS", "ParameterFile", "read_parameter_file", "write_parameter_file"]

"""The public data sets Utilitune knows by name, where their authors publish them, and where they are kept.

All three data sets of the paper come in one archive, which is read as it was downloaded: nothing is
unpacked. Sizes and cutoffs are those of the published files.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.data.arrays import matrix_from_npy
from utilitune.data.pickles import matrix_from_pickle
from utilitune.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from utilitune.data.matrix import RuntimeMatrix

MINISAT_CUTOFF_S = 900.0
CPLEX_CUTOFF_S = 10_000.0
CPLEX_FILE = re.compile(r"cplex_(rcw|region)(_.*)?\.npy$")
"""File names of the archive's two CPLEX data sets."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A file to download: its name here, its address, and its size where the authors state one."""

    filename: str
    url: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set inside an archive; `member` may contain ``{seed}``, of which `seeds` lists the choices."""

    name: str
    rows: int
    columns: int
    cutoff_s: float
    about: str
    archive: Archive
    member: str
    seeds: tuple[int, ...] = ()

    def member_for(self, seed: int | None) -> str:
        """The file inside the archive, for one of several samples of the data."""
        if seed is None:
            seed = self.seeds[0] if self.seeds else None
        elif seed not in self.seeds:
            choices = ", ".join(map(str, self.seeds)) or "none"
            raise DataError(f"data set {self.name!r} has no seed {seed}; it has: {choices}")
        return self.member.format(seed=seed)


ICAR_ARCHIVE = Archive("dataset_icar.zip", "https://www.cs.ubc.ca/~drgraham/datasets/dataset_icar.zip")
_CPLEX_SEEDS = (520, 521, 522, 523, 524)
DATA_SETS = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            "minisat",
            rows=972,
            columns=20_118,
            cutoff_s=MINISAT_CUTOFF_S,
            about="measured runtimes of the SAT solver minisat on fuzzed formulas (CNFuzzDD)",
            archive=ICAR_ARCHIVE,
            member="minisat_cnfuzzdd/measurements.dump",
        ),
        DataSet(
            "cplex_rcw",
            rows=2000,
            columns=35_640,
            cutoff_s=CPLEX_CUTOFF_S,
            about="predicted runtimes of the MIP solver CPLEX on conservation planning (RCW)",
            archive=ICAR_ARCHIVE,
            member="cplex_rcw/cplex_rcw_rt_seed{seed}.npy",
            seeds=_CPLEX_SEEDS,
        ),
        DataSet(
            "cplex_region",
            rows=2000,
            columns=50_000,
            cutoff_s=CPLEX_CUTOFF_S,
            about="predicted runtimes of the MIP solver CPLEX on combinatorial auctions (Regions200)",
            archive=ICAR_ARCHIVE,
            member="cplex_region/cplex_region_rt_seed{seed}.npy",
            seeds=_CPLEX_SEEDS,
        ),
    )
}
"""The data sets of the paper, by name."""


def find_data_set(name: str) -> DataSet:
    """The data set of that name."""
    if name not in DATA_SETS:
        raise DataError(f"there is no public data set {name!r}; {did_you_mean(name, DATA_SETS)}")
    return DATA_SETS[name]


def data_folder() -> Path:
    """Where downloads are kept: ``$UTILITUNE_DATA``, else `utilitune` in the user's data folder."""
    chosen = os.environ.get("UTILITUNE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path("~/.local/share").expanduser()) / "utilitune"


def read_data_set(data_set: DataSet, seed: int | None = None) -> RuntimeMatrix:
    """Read a data set that was fetched before."""
    member = data_set.member_for(seed)
    path = data_folder() / data_set.archive.filename
    if not path.exists():
        raise DataError(
            f"data set {data_set.name!r} is not on this machine; run `utilitune datasets fetch"
            f" {data_set.name}` once, or try the synthetic lookalike:{data_set.name}"
        )
    source = f"{path}:{member}"
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_stored_name(archive, member, path)) as stream:
            read = matrix_from_npy if member.endswith(".npy") else matrix_from_pickle
            return read(stream, data_set.cutoff_s, source)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(
            f"the archive is damaged; remove it and run `utilitune datasets fetch {data_set.name}` again",
            path=path,
        ) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=path) from error


def _stored_name(archive: zipfile.ZipFile, member: str, path: Path) -> str:
    """The member's full name; the archive may keep everything in a folder of its own."""
    for name in archive.namelist():
        if name == member or (name.endswith("/" + member) and not name.startswith("__MACOSX/")):
            return name
    raise DataError(f"the archive holds no {member}", path=path)

"""Recorded data that come with the package; a text file beside each says how it was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from utilitune.data.arrays import read_npz
from utilitune.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from utilitune.data.matrix import RuntimeMatrix

PREFIX = "shipped"


@dataclass(frozen=True, slots=True)
class ShippedData:
    """A data set in the package: its file without the ending, and what it is."""

    name: str
    stem: str
    about: str


SHIPPED = {
    data.name: data
    for data in (
        ShippedData(
            "kissat",
            stem="kissat-ordering",
            about="measured runtimes of the SAT solver kissat on ordering-principle formulas",
        ),
    )
}
"""The data sets that come with the package, by name."""


def read_shipped(name: str) -> RuntimeMatrix:
    """A data set that comes with the package."""
    data = _find(name)
    with resources.as_file(_folder().joinpath(f"{data.stem}.npz")) as path:
        return replace(read_npz(path), source=f"{PREFIX}:{name}")


def _find(name: str) -> ShippedData:
    if name not in SHIPPED:
        raise DataError(f"there is no shipped data set {name!r}; {did_you_mean(name, SHIPPED)}")
    return SHIPPED[name]


def _folder() -> resources.abc.Traversable:
    return resources.files("utilitune.data").joinpath("shipped")

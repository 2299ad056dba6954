"""Recorded runtimes: one matrix type, its readers and writers, synthetic data, and known archives.

::

    matrix      RuntimeMatrix: what every reader gives and every procedure takes
    solutions   what the runs of a matrix have found, where quality counts
    reading     read_matrix, write_matrix: from a user's words to the right reader
    arff, aslib, tables, arrays, pickles      one file format each
    synthetic   SyntheticSpec, generate: seeded data and look-alikes of public ones
    shipping    data that come with the package
    catalogue   the public data sets and where their authors keep them
    fetch       the download (imported only by who downloads)
    summary     a matrix in a few numbers
"""

from __future__ import annotations

from utilitune.data.matrix import RuntimeMatrix
from utilitune.data.reading import read_matrix, write_matrix
from utilitune.data.synthetic import LOOKALIKES, SyntheticSpec, generate

__all__ = ["LOOKALIKES", "RuntimeMatrix", "SyntheticSpec", "generate", "read_matrix", "write_matrix"]

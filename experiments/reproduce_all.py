"""Make all figures on the shipped data, the full-size look-alikes and any further data that are named.

Usage: ``python experiments/reproduce_all.py FOLDER [DATA …]``. Stop it at any time: the same command goes on.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from utilitune.reports.reproduction import reproduce

SOURCES = ("shipped:kissat", "lookalike:minisat", "lookalike:cplex_rcw", "lookalike:cplex_region")


def main() -> None:
    """Make the figures and print the claims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="*")
    given = parser.parse_args()
    for source in (*SOURCES, *given.data):
        started = time.monotonic()
        reports = reproduce(source, given.folder / re.sub(r"[^\w.-]+", "-", source).strip("-"))
        print(f"{source}, {time.monotonic() - started:.0f} s")
        for report in reports:
            for claim in report.claims:
                print(f"  {report.name}: {claim.line()}")


if __name__ == "__main__":
    main()

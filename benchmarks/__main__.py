"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named; each prints its figures.

``python -m benchmarks search`` takes hours and is run by name only, with options of its own. Rules of search
were chosen by ``python -m benchmarks.search.tuning``, ``….shares`` and ``….guard``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main(chosen: list[str]) -> None:
    if chosen[:1] == ["search"]:
        import_module("benchmarks.search").main(chosen[1:])
        return
    known = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"there is no benchmark {', '.join(unknown)}; known: {', '.join(known)}")
    for name in chosen or known:
        print(f"\n== {name} ==", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])

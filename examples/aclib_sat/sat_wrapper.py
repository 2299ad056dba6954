#!/usr/bin/env python3
"""A wrapper for SMAC and ParamILS around kissat.

Called as: sat_wrapper.py [OWN OPTIONS] INSTANCE SPECIFICS CUTOFF RUNLENGTH SEED -name value -name value ...
Prints: Result for SMAC: STATUS, RUNTIME, RUNLENGTH, QUALITY, SEED
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

ANSWERS = {10: "SAT", 20: "UNSAT"}
KNOWN = {"SATISFIABLE": "SAT", "UNSATISFIABLE": "UNSAT"}


def find_kissat() -> Path | None:
    """On the PATH, or where the package passagemath-kissat puts it."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packaged = Path(sys.executable).parents[1] / "lib" / version / "site-packages" / "sage_wheels" / "bin"
    folders = [*map(Path, os.environ["PATH"].split(os.pathsep)), packaged]
    return next((folder / "kissat" for folder in folders if os.access(folder / "kissat", os.X_OK)), None)


def report(status: str, runtime: float, seed: str) -> None:
    """Print the one line that counts."""
    print(f"Result for SMAC: {status}, {runtime:.4f}, 0, 0, {seed}")


def main() -> None:
    """Make one run of kissat."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    instance, specifics, cutoff, _, seed, *parameters = words
    solver = find_kissat()
    if solver is None:
        print("kissat is not installed: pip install passagemath-kissat")
        report("ABORT", 0, seed)
        return
    pairs = zip(parameters[::2], parameters[1::2], strict=True)
    options = [f"--{name[1:]}={value}" for name, value in pairs]
    limit = f"--time={max(1, int(float(cutoff)))}"
    command = [str(solver), "-q", "-n", f"--seed={seed}", limit, *options, instance]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = ANSWERS.get(code, "TIMEOUT" if code == 0 else "CRASHED")
    if code in ANSWERS and KNOWN.get(specifics, status) != status:
        status = "CRASHED"
    report(status, used.ru_utime + used.ru_stime, seed)


main()

"""HiGHS as a Python function; every run is made in a process of its own."""

from __future__ import annotations

from typing import Any

import highspy


def solve(configuration: dict[str, Any], instance: str, seed: int) -> bool:
    """Solve a MIP to optimality."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)  # noqa: FBT003
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("parallel", "off")
    solver.setOptionValue("random_seed", seed % 2**31)
    for name, value in configuration.items():
        _, current = solver.getOptionValue(name)
        kind = type(current)
        made = value == "true" if kind is bool else kind(value)
        if solver.setOptionValue(name, made) != highspy.HighsStatus.kOk:
            return False
    solver.readModel(instance)
    solver.run()
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)

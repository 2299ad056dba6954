"""clasp as a Python function; every run is made in a process of its own."""

from __future__ import annotations

from typing import Any

import clingo


def solve(configuration: dict[str, Any], instance: str, seed: int) -> bool:
    """Decide an ASP program."""
    control = clingo.Control(["--warn=none", f"--seed={seed}", *clasp_arguments(configuration)])
    control.load(instance)
    control.ground([("base", [])])
    return control.solve().satisfiable is not None


def clasp_arguments(given: dict[str, Any]) -> list[str]:
    """The command line of a configuration; several parameters make one argument."""
    value = {name: str(each) for name, each in given.items()}

    def joined(option: str, *names: str) -> str:
        return f"--{option}=" + ",".join(value[name] for name in names if name in value)

    def switch(name: str) -> str:
        return f"--{'' if value[name] == 'yes' else 'no-'}{name.replace('_', '-')}"

    plain = [
        "trans_ext",
        "eq",
        "score_res",
        "score_other",
        "sign_def",
        "save_progress",
        "init_watches",
        "rand_freq",
        "otfs",
        "update_lbd",
        "reverse_arcs",
        "loops",
    ]
    arguments = [f"--{name.replace('_', '-')}={value[name]}" for name in plain]
    arguments += [switch(name) for name in ("backprop", "init_moms", "sign_fix", "nant", "local_restarts")]
    arguments += [switch(name) for name in ("vsids_acids", "berk_huang") if name in value]
    arguments += ["--update-act"] if value["update_act"] == "yes" else []
    arguments.append(joined("heuristic", "heuristic", "berkmin_last", "vmtf_front", "vsids_decay"))
    arguments.append(joined("lookahead", "lookahead", "lookahead_limit"))
    arguments.append(joined("strengthen", "strengthen", "strengthen_type", "strengthen_bump"))
    arguments.append(joined("contraction", "contraction", "contraction_rep"))
    arguments.append(
        joined("restarts", "restarts", "restart_base", "restart_factor", "restart_step", "restart_margin")
    )
    sat = value["sat_prepro"]
    if sat != "no":
        sat += f",iter={value['sat_iter']},occ={value['sat_occ']}"
    arguments.append(f"--sat-prepro={sat}")
    arguments.append(joined("deletion", "deletion", "deletion_share", "deletion_score"))
    if value["deletion"] != "no":
        arguments.append(joined("del-grow", "del_grow", "del_grow_stop"))
        arguments.append(joined("del-init", "del_init"))
        arguments.append(joined("del-glue", "del_glue"))
        arguments.append(joined("del-on-restart", "del_on_restart"))
    return arguments

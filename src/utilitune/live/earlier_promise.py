"""What earlier starts of a run have proved, where they asked for another ε or γ.

What a procedure runs next depends on what is asked for. So a start with another ε or γ goes another way from
the beginning: it uses the runs that are stored, but may need others before it has proved as much. All starts
share δ and its parts, and every promise follows from bounds that hold together with probability 1 − δ. So
what an earlier start has proved stays true, and it is what the run has to say until more is proved.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from utilitune.domain import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.store.base import Store

_FACT = "proved_earlier"


def targets(procedure: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The ε and the γ that a start asks for, from the settings of its procedure."""
    return procedure.get("epsilon"), procedure.get("gamma")


def proved_earlier(store: Store, specification: ProcedureSpec) -> Progress | None:
    """What was proved before the latest change of ε or γ; to be called before a start is stored as one."""
    sessions, last = store.sessions(), store.last_progress()
    changes = sessions and targets(sessions[-1].settings["procedure"]) != targets(specification.plain())
    if changes and last is not None:
        store.keep_fact(_FACT, json.dumps(asdict(last.progress)))
    kept = store.facts().get(_FACT)
    return None if kept is None else Progress(**json.loads(kept))

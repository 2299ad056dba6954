"""Write down everything that the promise of a run rests on, for others to check.

A certificate holds what was settled before the first run (scenario, space, utility, seed, δ and its shares,
what is tried first, entropy), every configuration with its origin, what the procedure has looked at, and the
claim. It holds no output of the program, no environment and no paths beyond the names of the instances.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from utilitune.certificate.content import (
    COLUMNS,
    FORMAT,
    VERSION,
    chain_of,
    commitment_of,
    number_or_none,
    sealed,
)
from utilitune.certificate.retracing import retraced
from utilitune.certificate.selecting import selected
from utilitune.errors import UsageError
from utilitune.live.places import unanswered
from utilitune.live.reusing import condition_of
from utilitune.live.task import Task
from utilitune.scenario.model import ListedInstances
from utilitune.scenario.snapshot import content_digests
from utilitune.store.records import StoredOrigin
from utilitune.utility.functions import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from utilitune.certificate.retracing import Retraced
    from utilitune.certificate.selecting import Row
    from utilitune.store.base import StoreReader

_CERTIFIED = "wager"


def certify(store: StoreReader) -> dict[str, Any]:
    """The certificate of a run as it stands; nothing is stored.

    Raises:
        UsageError: The procedure of this run, or its utility, is not one that certificates exist for.
    """
    task = Task.stored(store)
    rules = _checked_rules(task, store)
    retrace = retraced(task, store)
    if retrace is None:
        raise unanswered(store, "made no progress")
    objective = task.scenario.objective.value
    numbers = _numbers(retrace)
    rows = [
        row._replace(configuration=numbers[row.configuration])
        for row in selected(task, store, retrace.looked_at)
    ]
    runs = _as_columns(sorted(rows, key=lambda row: (row.configuration, row.position)), COLUMNS[objective])
    content = {
        "format": FORMAT,
        "version": VERSION,
        **_settled(task, store, rules),
        "configurations": _configurations(store, retrace),
        "nominations": [
            {"configuration": numbers[number], "first_position": first}
            for number, first in retrace.nominations
        ],
        "runs": runs,
        "chain": chain_of(runs, objective),
        "promise": _promise(task, store, retrace, numbers),
        "versions": dict(store.sessions()[-1].versions),
    }
    return sealed({**content, "commitment": commitment_of(content)})


def _checked_rules(task: Task, store: StoreReader) -> dict[str, Any]:
    """What was settled before the first run; runs that cannot be certified are refused."""
    scenario, rules = task.scenario, store.facts().get("rules")
    if scenario.procedure != _CERTIFIED or rules is None:
        raise UsageError(
            f"certificates exist for runs of {_CERTIFIED} that this version began, not for "
            f"{scenario.procedure if rules else 'earlier versions, other packages and collections'}: start "
            "a new run with 'utilitune run' to get one"
        )
    if PREFIX in scenario.utility:
        raise UsageError(
            "certificates exist for utilities that are written down as a text, not for Python functions, "
            "which a checker would have to run: start a new run with some of its points instead, such as "
            'utility = "piecewise(0s:1, 10s:0.8, 1m:0)"'
        )
    if task.snapshot.digest != store.snapshot.digest:
        raise UsageError(
            "an instance or another input has changed since this run was begun, so nobody could make its "
            "runs again: put the files back as they were"
        )
    found: dict[str, Any] = json.loads(rules)
    if scenario.options.get("growth") == "phases":
        found["schedule"] = scenario.options.get("schedule", "default")
    return found


def _settled(task: Task, store: StoreReader, rules: dict[str, Any]) -> dict[str, Any]:
    scenario, training, quality = task.scenario, task.scenario.training, task.scenario.quality
    objective: dict[str, Any] = {"kind": scenario.objective.value}
    if quality is not None:
        objective |= {
            "better": quality.better.value,
            "references": dict(quality.references),
            "bounds": dict(quality.bounds),
            "limit_s": scenario.limit_s,
        }
    return {
        "scenario": {"digest": store.snapshot.digest, "name": scenario.name},
        "seed": scenario.seed,
        "delta": scenario.delta,
        "objective": objective,
        "utility": str(task.utility if quality is None else task.solution_utility),
        "population": scenario.population.value,
        "space": json.dumps(scenario.space.to_tables()),  # a text: the order of parameters counts
        "instances": {
            "listed": list(training.names) if isinstance(training, ListedInstances) else None,
            "order": [task.training.name(place) for place in range(task.training.count or 0)],
            "contents": content_digests(scenario),
        },
        "rules": rules,
        "given": [dict(each) for each in task.given],
        "entropy": store.facts().get("entropy"),
    }


def _numbers(retrace: Retraced) -> dict[int, int]:
    """The number in the certificate of every configuration in play: by joining, then by nomination."""
    found: dict[int, int] = {}
    for number, _ in [*retrace.joined, *retrace.nominations]:
        found.setdefault(number, len(found))
    return found


def _configurations(store: StoreReader, retrace: Retraced) -> list[dict[str, Any]]:
    records = store.configurations()
    firsts = dict(retrace.joined)
    return [
        {
            "origin": records[number].origin.value if number in firsts else StoredOrigin.NOMINEE.value,
            "values": dict(records[number].assignment),
            "first_position": firsts.get(number, 0),
        }
        for number in _numbers(retrace)
    ]


def _promise(task: Task, store: StoreReader, retrace: Retraced, numbers: Mapping[int, int]) -> dict[str, Any]:
    progress = retrace.progress
    promise = replace(
        progress.promise,
        configurations=len(numbers),
        population=task.scenario.population.value,
        condition=condition_of(store),
    )
    return {
        "answer": numbers[progress.best_index],
        "epsilon": promise.epsilon,
        "gamma": promise.gamma,
        "gain": promise.gain,
        "condition": promise.condition,
        "sentence": promise.sentence(),
    }


def _as_columns(rows: Iterable[Row], names: tuple[str, ...]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for name in names:
            columns[name].append(_plain(getattr(row, name)))
    return columns


def _plain(value: Any) -> Any:  # noqa: ANN401 - a number, a text or a trace
    """A value as JSON has it."""
    if isinstance(value, tuple):
        return [[_plain(each) for each in point] for point in value]
    return number_or_none(value) if isinstance(value, float) else value

"""What the runs of a certificate tell, and who has which share of δ.

Every configuration has an interval [X, Y] on every position. A pair that nobody ran is an observation that
tells nothing: X is the least a run can be worth, Y the most. So there are no holes, and leaving a run out
never helps: it makes X smaller and Y larger, and every bound weaker.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.certificate.content import COLUMNS
from utilitune.certificate.judging import (
    FAILED,
    FINISHED,
    STOPPED,
    ByBestMoment,
    ByQuality,
    ByTime,
    RunColumns,
)
from utilitune.certificate.shares import SCHEDULES, StatedShares, announced_draws
from utilitune.domain import SMALLEST_DELTA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

MOST_PASSED_OVER = 1 << 20
"""So many instances of an endless source may have no run, because what was found is judged behind those that
earlier runs have used. Without a limit, one made-up position would fill the memory."""

_UNJUDGED = "nominee"
_ENDINGS = FAILED | {FINISHED, STOPPED}


class RefutedError(Exception):
    """Something in a certificate does not hold; the text says what."""


def require(holds: bool, otherwise: str) -> None:
    """Go on if something holds, else refute the certificate."""
    if not holds:
        raise RefutedError(otherwise)


def whole(value: Any, what: str) -> int:  # noqa: ANN401 - whatever the file holds
    """A whole number that is not negative."""
    require(type(value) is int and value >= 0, f"{what} is no whole number")
    return int(value)


def number(value: Any, what: str) -> float:  # noqa: ANN401 - whatever the file holds
    """A finite number."""
    require(type(value) in (int, float) and math.isfinite(value), f"{what} is no number")
    return float(value)


@dataclass(frozen=True, slots=True)
class AnswerRole:
    """As what a configuration may be the answer.

    Attributes:
        weight: Its share of what possible answers may spend.
        order: The positions along which it is judged; None for the stored order.
        ungauged: Whether only the sum of its runs bounds it from below.
    """

    weight: float
    order: NDArray[np.int64] | None
    ungauged: bool = False


class Facts:
    """Every configuration's observations, and who has which share of δ.

    Args:
        content: The certificate; draws and the order of instances are checked already.
        keys: For each configuration something that is equal where the configurations are.
        space_size: How many configurations the space has, where that is known.

    Attributes:
        population: How many instances the list has; 0 if they are a sample.
        row: For each configuration the first one that is equal to it: their runs are the same.
    """

    def __init__(self, content: Mapping[str, Any], keys: Sequence[object], space_size: int | None) -> None:
        rules = content["rules"]
        self.delta = number(content["delta"], "δ")
        require(SMALLEST_DELTA <= self.delta < 1.0, f"δ must lie between {SMALLEST_DELTA:g} and 1")
        self.configurations = content["configurations"]
        self.announced = rules["announced_gamma"]
        self.space_size = space_size
        order = content["instances"]["order"]
        self._listed = len(order)
        self.population = len(order) if content["population"] == "finite" else 0
        self.nominations: Sequence[Mapping[str, Any]] = content["nominations"]
        self._entropy = content["entropy"]
        self.shares = StatedShares(
            self.delta,
            whole(rules["fixed"] or 0, "the size of a fixed set"),
            default=rules["default"] is True,
            given=rules["given"] is True,
            chosen=rules["chosen"] is True,
            listed=_listed(rules, space_size),
            schedule=_schedule(rules),
            announced=_announced(rules, self.delta),
        )
        first: dict[object, int] = {}
        self.row = [first.setdefault(key, place) for place, key in enumerate(keys)]
        self._judge = _judge_of(content)
        self._take(self._read(content["runs"], content["objective"]["kind"]))

    @property
    def compares(self) -> bool:
        """Whether runs are worth something in comparison with those of the default."""
        return self._judge.compares

    # -- runs ----------------------------------------------------------------------------------------------

    def _read(self, columns: Mapping[str, Sequence[Any]], objective: str) -> RunColumns:
        """The log as arrays, each entry possible."""
        for name in ("configuration", "position"):
            known = all(type(value) is int and value >= 0 for value in columns[name])
            require(known, f"a run has something else than a number as its {name}")
        seconds = [math.inf if value is None else value for value in columns["captime_s"]]
        for times in (seconds, columns["runtime_s"]):
            known = all(type(value) in (int, float) and value >= 0 for value in times)
            require(known, "a run has a time that is no number, or negative")
        unknown = set(columns["status"]) - _ENDINGS
        require(not unknown, f"a run ended as {min(unknown, default='')!r}, which nobody knows")
        runs = RunColumns(
            np.array(columns["configuration"], dtype=np.int64),
            np.array(columns["position"], dtype=np.int64),
            np.array(seconds, dtype=np.float64),
            np.array(columns["status"], dtype=np.str_),
            np.array(columns["runtime_s"], dtype=np.float64),
            **{name: columns[name] for name in COLUMNS[objective][5:]},
        )
        if runs.count:
            self._check(runs, objective)
        return runs

    def _check(self, runs: RunColumns, objective: str) -> None:
        require(
            int(runs.configuration.max()) < len(self.configurations), "a run is of no known configuration"
        )
        listed = self._listed or runs.count + MOST_PASSED_OVER
        require(int(runs.position.max()) < listed, "a run is about an instance that is not listed")
        places = runs.configuration * (int(runs.position.max()) + 1) + runs.position
        steps = np.diff(places)
        require(bool((steps >= 0).all()), "the log of runs is not in order")
        once = objective != "anytime"
        require(not once or bool((steps > 0).all()), "a pair of configuration and instance counts twice")
        stopped, finished = runs.status == STOPPED, runs.status == FINISHED
        require(
            bool((runs.runtime_s[stopped] == runs.captime_s[stopped]).all()),
            "a run was stopped at another time than its captime",
        )
        require(
            bool((runs.runtime_s[finished] <= runs.captime_s[finished]).all()),
            "a run finished after its captime",
        )

    def _take(self, runs: RunColumns) -> None:
        """X and Y of every configuration that was run, with their positions."""
        least, most = self._judge.intervals(runs)
        rows = np.array(self.row, dtype=np.int64)[runs.configuration] if runs.count else runs.configuration
        order = np.lexsort((runs.position, rows))
        rows, position, least, most = rows[order], runs.position[order], least[order], most[order]
        if runs.count > 1 and bool(((np.diff(rows) == 0) & (np.diff(position) == 0)).any()):
            rows, position, least, most = _joined(rows, position, least, most)
        self._position, self._least, self._most = position, least, most
        starts = np.searchsorted(rows, np.arange(len(self.configurations) + 1))
        self._start = starts.tolist()

    def known(self, configuration: int) -> NDArray[np.int64]:
        """The positions on which a configuration was run, increasing."""
        row = self.row[configuration]
        return self._position[self._start[row] : self._start[row + 1]]

    def _values(self, configuration: int, *, most: bool) -> NDArray[np.float64]:
        row, known = self.row[configuration], self.known(configuration)
        length = self.population or (int(known[-1]) + 1 if known.size else 0)
        found = np.full(length, self._judge.top if most else self._judge.bottom)
        found[known] = (self._most if most else self._least)[self._start[row] : self._start[row + 1]]
        return found

    def own(self, configuration: int, role: AnswerRole) -> NDArray[np.float64]:
        """X of a possible answer along its order, as far as it was run."""
        values = self._values(configuration, most=False)
        order = self._along(role, values.size, self.known(configuration))
        return values[order]

    def losses(self, configuration: int) -> NDArray[np.float64]:
        """1 − Y of a draw along the stored order, as far as it was run."""
        known = self.known(configuration)
        end = int(known[-1]) + 1 if known.size else 0
        return 1.0 - self._values(configuration, most=True)[:end]

    def most(self, configuration: int) -> float:
        """What a configuration can be worth on the list at most, by counting."""
        return float(self._values(configuration, most=True).mean())

    def differences(self, above: int, below: int, role: AnswerRole) -> NDArray[np.float64]:
        """1 − Y of one and X of the other added up, along an order, as far as both were run."""
        most, least = self._values(above, most=True), self._values(below, most=False)
        length = min(most.size, least.size)
        known = np.union1d(self.known(above), self.known(below))
        order = self._along(role, length, known[known < length])
        return 1.0 - most[order] + least[order]

    def _along(self, role: AnswerRole, length: int, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions along a role's order up to the last one that is known."""
        if role.order is None:
            return np.arange(int(known[-1]) + 1 if known.size else 0)
        order = role.order if self.population else role.order[role.order < length]
        is_known = np.zeros(max(length, 1), dtype=np.bool_)
        is_known[known] = True
        last = np.flatnonzero(is_known[order])
        return order[: int(last[-1]) + 1 if last.size else 0]

    # -- shares --------------------------------------------------------------------------------------------

    @cached_property
    def draws(self) -> list[int]:
        """The random draws (in a fixed set, all configurations), in order."""
        fixed = bool(self.shares.fixed)
        return [n for n, each in enumerate(self.configurations) if fixed or each["origin"] == "random"]

    @cached_property
    def possible(self) -> dict[int, list[AnswerRole]]:
        """By configuration, as what it may be the answer."""
        found: dict[int, list[AnswerRole]] = {}
        counts: Counter[str] = Counter()
        for place, each in enumerate(self.configurations):
            origin = each["origin"]
            if self.shares.fixed:
                role = AnswerRole(self.shares.weight("draw", 1), None)
            elif origin == _UNJUDGED:
                continue
            else:
                kind = {"random": "draw", "model": "chosen"}.get(origin, "given")
                counts[kind] += 1
                role = AnswerRole(
                    self.shares.weight(kind, counts[kind]),
                    self._from(each["first_position"]) if origin == "model" else None,
                    ungauged=origin == "model" and self.population > 0,
                )
            found.setdefault(place, []).append(role)
        for q, nomination in enumerate(self.nominations, start=1):
            nominee = whole(nomination["configuration"], f"nomination {q}")
            require(nominee < len(self.configurations), f"nomination {q} is of no known configuration")
            weight = self.shares.weight("chosen", counts["chosen"] + q)
            order = self._fresh_order(q) if self.population else self._from(nomination["first_position"])
            found.setdefault(nominee, []).append(AnswerRole(weight, order))
        return found

    def roles(self, configuration: int) -> list[AnswerRole]:
        """As what the values of a configuration may be the answer: they may be drawn and nominated."""
        return self._roles_by_row.get(self.row[configuration], [])

    @cached_property
    def _roles_by_row(self) -> dict[int, list[AnswerRole]]:
        found: dict[int, list[AnswerRole]] = {}
        for place, roles in self.possible.items():
            found.setdefault(self.row[place], []).extend(roles)
        return found

    def _from(self, first_position: Any) -> NDArray[np.int64]:  # noqa: ANN401 - whatever the file holds
        """The stored order from the first position that nobody had looked at."""
        first = whole(first_position, "a first position")
        end = int(self._position.max(initial=-1)) + 1
        return np.arange(min(first, end), end)

    def _fresh_order(self, number: int) -> NDArray[np.int64]:
        """The order of nomination q: positions ranked by a hash of entropy, q and position."""
        require(isinstance(self._entropy, str) and bool(self._entropy), "there are nominees, but no entropy")
        ranks = [
            hashlib.blake2b(f"{self._entropy}/{number}/{position}".encode(), digest_size=16).digest()
            for position in range(self.population)
        ]
        return np.array(sorted(range(self.population), key=ranks.__getitem__), dtype=np.int64)


def _listed(rules: Mapping[str, Any], space_size: int | None) -> int:
    """How many configurations a listed space has; 0 where the space is not listed."""
    if rules.get("listed", False) is False:  # runs of an earlier version do not say
        return 0
    require(rules["listed"] is True, "something was settled neither with yes nor with no")
    require(space_size is not None and not rules["fixed"], "a space without end was listed")
    return space_size or 0


def _schedule(rules: Mapping[str, Any]) -> str:
    """The schedule in whose phases the set grows; empty where it does not."""
    name = rules.get("schedule")
    if name is None:
        return ""
    require(isinstance(name, str) and name in SCHEDULES, "the set grows by a schedule that nobody knows")
    fixed = rules["fixed"] or rules.get("listed", False)
    require(not fixed, "a set that is known from the start does not grow in phases")
    return str(name)


def _announced(rules: Mapping[str, Any], delta: float) -> int:
    """How many draws the announced γ needs, where these have shares of their own; else 0."""
    undivided, gamma = rules.get("undivided", False), rules["announced_gamma"]
    require(type(undivided) is bool, "something was settled neither with yes nor with no")
    if not undivided or gamma is None or rules.get("schedule") is not None:
        return 0
    require(0.0 < number(gamma, "the announced γ") < 1.0, "the announced γ is no share")
    return announced_draws(delta, gamma)


def _judge_of(content: Mapping[str, Any]) -> ByTime | ByQuality:
    objective, text = content["objective"], content["utility"]
    require("python:" not in text.lower(), "its utility is a Python function, which is not run here")
    if objective["kind"] == "runtime":
        return ByTime(text)
    kind = {"quality": ByQuality, "anytime": ByBestMoment}[objective["kind"]]
    return kind(text, objective, content["instances"]["order"])


def _joined(
    rows: NDArray[np.int64],
    position: NDArray[np.int64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Several looks at one pair, in their order: what one has shown stays, later ones are taken into it."""
    kept: list[int] = []
    for place in range(len(rows)):
        before = kept[-1] if kept else -1
        if kept and rows[before] == rows[place] and position[before] == position[place]:
            low, high = least[before], most[before]
            least[before] = min(max(least[place], low), high)
            most[before] = max(min(most[place], high), least[before])
        else:
            kept.append(place)
    return rows[kept], position[kept], least[kept], most[kept]

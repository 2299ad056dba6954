"""Random spaces with what each format can say, and more, for property tests."""

from __future__ import annotations

import random

from utilitune.spaces import ParameterSpace, SpaceError

FEATURES = {
    "pcs-old": {"log", "member"},
    "pcs-new": {"log", "member", "ordinal", "compare", "or", "advanced"},
    "irace": {
        "log",
        "member",
        "ordinal",
        "compare",
        "or",
        "advanced",
        "digits",
        "dependent",
        "arithmetic",
        "na",
    },
    "ranges": set(),
    "configspace": {"log", "member", "ordinal", "compare", "or", "weights", "typed"},
}
EVERYTHING = {feature for features in FEATURES.values() for feature in features}


class Maker:
    """Makes the tables of one space; conditions and ranges mention earlier parameters only."""

    def __init__(self, seed: int, features: set[str], *, clauses: bool = True) -> None:
        self.chance = random.Random(seed)
        self.features = features
        self.digits = self.chance.randint(1, 6) if "digits" in features else None
        self.tables: dict[str, dict] = {}
        self.clauses: list[dict[str, str]] = []
        for number in range(self.chance.randint(1, 9)):
            self._add(self.chance.choice(["p{}", "x.{}", "name_{}"]).format(number))
        if "member" in features:
            self._forbid()

    def space(self) -> ParameterSpace:
        return ParameterSpace.from_tables(self.tables, self.clauses)

    def _add(self, name: str) -> None:
        table = self._domain()
        if self.tables and "member" in self.features and self.chance.random() < 0.5:
            table["when"] = self._condition()
        for drop in ("when", "range", None):
            try:
                ParameterSpace.from_tables({**self.tables, name: table})
            except SpaceError:
                if drop == "when":
                    table.pop("when", None)
                elif drop == "range":
                    table = {"type": "integer", "range": [0, 7]}
            else:
                break
        self.tables[name] = table

    def _forbid(self) -> None:
        for _ in range(self.chance.randint(0, 2)):
            if "advanced" in self.features or "or" in self.features:
                text = self._condition()
            else:
                text = " and ".join(self._equality(name) for name in self._names(2))
            try:
                ParameterSpace.from_tables(self.tables, [*self.clauses, {"clause": text}])
            except SpaceError:
                continue
            self.clauses.append({"clause": text})

    def _domain(self) -> dict:
        kinds = ["float", "integer"]
        kinds += ["categorical"] if "member" in self.features else []
        kinds += ["ordinal"] if "ordinal" in self.features else []
        kinds += ["bool"] if "typed" in self.features else []
        kind = self.chance.choice(kinds)
        if kind in {"categorical", "ordinal"}:
            table = {"type": kind, "values": [f"v{k}" for k in range(self.chance.randint(1, 5))]}
            if kind == "categorical" and "weights" in self.features and self.chance.random() < 0.3:
                table["weights"] = [self.chance.randint(1, 5) for _ in table["values"]]
            return {**table, "default": self.chance.choice(table["values"])}
        return {"type": kind} if kind == "bool" else self._number(kind)

    def _number(self, kind: str) -> dict:
        table: dict = {"type": kind}
        log = "log" in self.features and self.chance.random() < 0.3
        low = self.chance.randint(1 if log else -20, 20)
        table["range"] = [low, low + self.chance.randint(1, 100)]
        numbers = self._numbers()
        if "dependent" in self.features and numbers and not log and self.chance.random() < 0.3:
            name = self.chance.choice(numbers)
            end = self.chance.choice(["{0}", "min({0}, 7)", "{0} + 3", "round({0} * 1.5)", "abs({0}) + 1"])
            table["range"] = [self.chance.choice([-30, "{0} - 9"]), end]
            table["range"] = [each.format(name) if isinstance(each, str) else each for each in table["range"]]
        if kind == "float" and self.digits is not None:
            table["digits"] = self.digits
        return {**table, "log": True} if log else table

    def _numbers(self) -> list[str]:
        return [name for name, table in self.tables.items() if table["type"] in {"integer", "float"}]

    def _names(self, most: int) -> list[str]:
        return self.chance.sample(list(self.tables), min(len(self.tables), self.chance.randint(1, most)))

    def _condition(self) -> str:
        parts = [self._leaf(name) for name in self._names(3)]
        if "or" not in self.features:
            return " and ".join(parts)
        text = f" {self.chance.choice(['and', 'or'])} ".join(parts)
        text = f"not ({text})" if self.chance.random() < 0.2 else text
        return f"({text}) and {self._leaf(self._names(1)[0])}" if self.chance.random() < 0.3 else text

    def _equality(self, name: str) -> str:
        table = self.tables[name]
        return f"{name} == {self._value(table)}"

    def _value(self, table: dict) -> str:
        if table["type"] == "bool":
            return self.chance.choice(["true", "false"])
        if "values" in table:
            return f"'{self.chance.choice(table['values'])}'"
        ends = [end if isinstance(end, int) else 0 for end in table["range"]]
        return str(self.chance.randint(min(ends), max(ends)))

    def _leaf(self, name: str) -> str:
        table = self.tables[name]
        number = table["type"] in {"integer", "float"}
        if "na" in self.features and self.chance.random() < 0.1:
            return self.chance.choice(["", "not "]) + f"active({name})"
        if number and "arithmetic" in self.features and self.chance.random() < 0.3:
            return self.chance.choice(
                ["{0} + 2 * {1} > 3", "max({0}, 4) < {1}", "{0} % 3 == 1", "-{0} ^ 2 < {1} - 9"]
            ).format(name, self.chance.choice(self._numbers()))
        if number and "compare" in self.features and self.chance.random() < 0.7:
            return f"{name} {self.chance.choice(['<', '<=', '>', '>=', '!='])} {self._value(table)}"
        if self.chance.random() < 0.4:
            negative = "not " if "compare" in self.features and self.chance.random() < 0.5 else ""
            return f"{name} {negative}in [{self._value(table)}, {self._value(table)}]"
        if table["type"] == "ordinal" and self.chance.random() < 0.5:
            return f"{name} {self.chance.choice(['<', '<=', '>', '>='])} {self._value(table)}"
        return self._equality(name)

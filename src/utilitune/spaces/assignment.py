"""One configuration: the values of the parameters that are active in it."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utilitune.spaces.parameters import Value


class Assignment(Mapping[str, "Value"]):
    """A frozen mapping from the name of every active parameter to its value, in the order of the space.

    Equal assignments have equal hashes whatever their order; the JSON text restores every value exactly.
    """

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)
        self._hash: int | None = None

    @classmethod
    def owning(cls, values: dict[str, Value]) -> Assignment:
        """The same without a copy, of a dictionary that nobody else keeps."""
        made = cls.__new__(cls)
        made._values = values  # noqa: SLF001 - one of its own kind
        made._hash = None  # noqa: SLF001
        return made

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def items(self) -> ItemsView[str, Value]:
        """The same view that a dictionary gives, which is faster to walk through than the usual one."""
        return self._values.items()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Assignment):
            return self._values == other._values
        return self._values == other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._values.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Assignment({self._values!r})"

    def to_json(self) -> str:
        """The assignment as one JSON object."""
        return json.dumps(self._values, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Assignment:
        """Restore what `to_json` wrote."""
        return cls(json.loads(text))

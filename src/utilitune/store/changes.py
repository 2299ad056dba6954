"""What differs between two scenarios, in the words of a scenario file: why a run folder cannot go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utilitune.errors.outside import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FREE = (
    "name",
    "directory",
    "stop",
    "workers",
    "cluster",
    "guesses",
    "test",
    "features",
    "search",
    "pause_memory_bytes",
)
"""Parts of a scenario that may change between two starts of one run."""

MAKE_RUNS = ("target", "training", "measure", "memory_bytes", "seed")
"""Parts of a scenario that runs follow from: where one of them differs, runs cannot be used again."""

_WORDS = {
    "captime0_s": "limits.smallest_captime",
    "max_captime_s": "limits.largest_captime",
    "memory_bytes": "limits.memory",
    "delta": "promise.delta",
    "procedure": "procedure.name",
    "options": "procedure",
    "policies": "failures",
    "initial": "configurations to try first",
    "quality": "objective",
}
_LONGEST = 60
_MOST_NAMES = 4


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What changed between two snapshots, one piece of text each; empty if only contents of files did."""
    found: list[str] = []
    for key in dict.fromkeys((*old, *new)):
        if key not in FREE and (key == "space" or old.get(key) != new.get(key)):
            found += _described(key, old.get(key), new.get(key))
    return found


def _described(key: str, old: Any, new: Any) -> Iterator[str]:  # noqa: ANN401 -- whatever JSON holds
    if key == "space" and isinstance(old, dict) and isinstance(new, dict):
        yield from _parameters(old, new)
    elif key == "training" and isinstance(old, dict) and isinstance(new, dict):
        yield _instances(old, new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for part in dict.fromkeys((*old, *new)):
            if old.get(part) != new.get(part):
                yield _pair(f"{_WORDS.get(key, key)}.{part}", old.get(part), new.get(part))
    else:
        yield _pair(_WORDS.get(key, key), old, new)


def _parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = old.get("parameters", {}), new.get("parameters", {})
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    if names:
        yield f"parameters ({_listed(names)})"
    elif list(before) != list(after):
        yield "the order of parameters"
    if old.get("forbidden") != new.get("forbidden"):
        yield "forbidden"


def _instances(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    before, after = set(old.get("names", ())), set(new.get("names", ()))
    gone, come = sorted(before - after), sorted(after - before)
    parts = []
    if come:
        parts.append(f"{len(come)} added: {_listed(come)}")
    if gone:
        parts.append(f"{len(gone)} missing: {_listed(gone)}")
    return f"instances.training ({'; '.join(parts)})" if parts else "instances.training"


def _listed(names: list[str]) -> str:
    shown = ", ".join(clipped(name, _LONGEST) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown}, …"


def _pair(word: str, old: object, new: object) -> str:
    before, after = (_text(value) for value in (old, new))
    if max(len(before), len(after)) > _LONGEST:
        return word
    return f"{word} ({before} → {after})"


def _text(value: object) -> str:
    return "none" if value is None else str(value)


def runs_can_be_reused(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the runs of one snapshot are those that another would make, as far as the two tell."""
    return all(old.get(key) == new.get(key) for key in MAKE_RUNS)

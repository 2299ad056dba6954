"""A rival by name: where words such as ``eta=3`` become the settings of a rival, once."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from utilitune.errors import UsageError, did_you_mean
from utilitune.rivals.ac_band import ACBand, Feedback
from utilitune.rivals.caps_and_runs import CapsAndRuns
from utilitune.rivals.hyperband import Hyperband
from utilitune.rivals.impatient import ImpatientCapsAndRuns
from utilitune.rivals.rival import RankedBy
from utilitune.rivals.structured_procrastination import StructuredProcrastination
from utilitune.rivals.successive_halving import SuccessiveHalving
from utilitune.utility import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from utilitune.rivals.rival import Rival

RIVALS: dict[str, Callable[..., Rival]] = {
    rival.name: rival
    for rival in (
        SuccessiveHalving,
        Hyperband,
        ACBand,
        CapsAndRuns,
        ImpatientCapsAndRuns,
        StructuredProcrastination,
    )
}
"""Every rival of this room, by the name users write."""

Kind = TypeVar("Kind")


def rival_named(name: str, settings: Mapping[str, str] | None = None) -> Rival:
    """The rival of that name with these settings; what is left out keeps its default.

    Example:
        >>> rival_named("hyperband", {"resource": "1h", "eta": "4", "objective": "runtime"}).resource_s
        3600.0
    """
    return with_settings(_kind(name), name, settings or {})


def settings_of(kind: Callable[..., object]) -> dict[str, str]:
    """The settings of a class of rivals, in the words users write, each with its default or ``required``."""
    return {
        word: "required" if field.default is MISSING else _shown(field.default)
        for word, field in _fields(kind).items()
    }


def with_settings(kind: Callable[..., Kind], name: str, settings: Mapping[str, str]) -> Kind:
    """A rival of this class with these settings, in the words users write.

    Args:
        kind: The class, a dataclass whose fields are the settings.
        name: What users call it.
        settings: What is left out keeps its default.
    """
    known = _fields(kind)
    given: dict[str, Any] = {}
    for setting, text in settings.items():
        word = setting.replace("-", "_")
        if word not in known:
            raise UsageError(f"{name} has no setting {setting!r}; {did_you_mean(word, known)}")
        if known[word].name in given:
            raise UsageError(f"the setting {word!r} of {name} is given twice")
        given[known[word].name] = _value(word, text, known[word])
    for word, field in known.items():
        if field.default is MISSING and field.name not in given:
            raise UsageError(f"{name} needs a {word}: add --set {word}=VALUE")
    return kind(**given)


def split_settings(texts: Iterable[str]) -> dict[str, str]:
    """Settings written ``name=value``, apart."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"a setting is written name=value, not {text!r}")
        if name.strip() in settings:
            raise UsageError(f"the setting {name.strip()!r} is given twice")
        settings[name.strip()] = value.strip()
    return settings


def _kind(name: str) -> Callable[..., Rival]:
    if name not in RIVALS:
        raise UsageError(f"unknown rival {name!r}; {did_you_mean(name, RIVALS)}")
    return RIVALS[name]


def _fields(kind: Callable[..., object]) -> dict[str, Field[Any]]:
    """The fields of a rival's settings by the words users write: without the unit."""
    return {field.name.removesuffix("_s"): field for field in fields(kind)}  # type: ignore[arg-type]


def _value(word: str, text: str, field: Field[Any]) -> Any:  # noqa: ANN401 -- whatever type the setting has
    """The value a text stands for, by the type of the setting."""
    if field.name.endswith("_s"):
        return parse_duration(text)
    readers: dict[str, tuple[str, Callable[[str], Any]]] = {
        "int": ("a whole number", int),
        "float": ("a number", float),
        "bool": ("yes or no", _yes_or_no),
        "RankedBy": (" or ".join(RankedBy), RankedBy),
        "Feedback": (" or ".join(Feedback), Feedback),
    }
    kind, read = readers[str(field.type).removesuffix(" | None")]
    try:
        return read(text)
    except ValueError:
        raise UsageError(f"{word} must be {kind}, not {text!r}") from None


def _yes_or_no(text: str) -> bool:
    answers = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in answers:
        raise ValueError(text)
    return answers[text.lower()]


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return "" if default is None else str(default)

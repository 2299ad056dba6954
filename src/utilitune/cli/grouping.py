"""Commands whose options are too many for one list of parameters take them as a few frozen values.

Typer knows a command by its parameters, one per option. `grouped` gives it that list: every parameter that is
a dataclass stands for its fields, and so does every field that is one. The command itself gets the values.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with one parameter per option, which hands them over in groups."""
    kinds = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    options = [
        option for name in parameters for option in _options(name, kinds[name], parameters[name].default)
    ]

    @functools.wraps(command)
    def flat(**values: object) -> None:
        command(**{name: _value(name, kinds[name], values) for name in parameters})

    del flat.__wrapped__  # whoever asks for its parameters shall see these
    flat.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in options}
    return flat


def _options(name: str, kind: object, default: object) -> Iterator[inspect.Parameter]:
    if _is_group(kind):
        kinds = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            yield from _options(field.name, kinds[field.name], field.default)
    else:
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _value(name: str, kind: object, values: Mapping[str, object]) -> object:
    if _is_group(kind):
        kinds = get_type_hints(kind)
        return kind(**{field.name: _value(field.name, kinds[field.name], values) for field in fields(kind)})
    return values[name]


def _is_group(kind: object) -> TypeGuard[type[Any]]:
    return isinstance(kind, type) and is_dataclass(kind)

"""rich's console with clean text; apart from `terminal`, so that commands without tables start quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment

from utilitune.errors.outside import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.text import Text


class CleaningConsole(Console):
    """A console that makes the control characters of every text visible; its own go another way."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces that make something up, as rich asks for them before it writes."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, keep="\n"), style, control)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 -- as rich has it
        """Print texts, cleaned before they are laid out, and everything else."""
        super().print(*(_clean(each) for each in objects), **options)


def height_of(words: Text, width: int) -> int:
    """How many lines a text takes at a width; nothing is written."""
    return len(words.wrap(Console(width=width), width))


def _clean(value: Any) -> Any:  # noqa: ANN401 -- whatever can be printed
    return printable(value, keep="\n\t") if isinstance(value, str) else value

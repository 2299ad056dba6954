"""Everything Utilitune raises on purpose.

::

    UtilituneError              base; its text is one sentence that says what to do
    ├── UsageError              an argument or option is wrong
    ├── UtilityError            a utility function cannot be understood or is not one
    ├── DataError               recorded runtimes cannot be read or are not runtimes
    ├── ScenarioError           a scenario, parameter space or instance list is wrong
    ├── TargetError             the program under configuration cannot be run
    ├── ClusterError            a cluster cannot be reached or used
    ├── StoreError              a run folder cannot be used
    ├── StoppedError            a stop was asked for, or a budget spent, before everything was run
    └── MissingExtraError       an optional dependency is not installed

The command line prints the text of a `UtilituneError` and exits with code 2; any other exception
is a defect of ours.

`outside` holds what is done with names, numbers and texts of others, which errors often quote.
`wording` holds numbers in sentences.
"""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

from utilitune.errors.outside import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class UtilituneError(Exception):
    """Base of every error a user can cause; the text is one clear sentence.

    It may quote names, values and outputs of others. So control characters are written out and the middle of
    a very long text is left out here, once for every way in which an error is shown or kept.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(shortened(printable(text, keep="\n\t")))


class UsageError(UtilituneError):
    """An argument or option is wrong."""


class UtilityError(UtilituneError):
    """A utility function cannot be understood, or is not non-increasing inside [0, 1]."""


class _LocatedError(UtilituneError):
    """An error in a file, shown as ``file:line: text`` or ``file:line:column: text``."""

    def __init__(
        self,
        text: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.path = path
        self.line = line
        self.column = column
        place = "" if path is None else ":".join(str(part) for part in (path, line, column) if part)
        super().__init__(f"{place}: {text}" if place else text)


class DataError(_LocatedError):
    """Recorded runtimes cannot be read, or are not runtimes."""


class ScenarioError(_LocatedError):
    """A scenario, parameter space or instance list is wrong."""


class Mistakes:
    """The mistakes of a file, so that all of them are told at once and not one after the other."""

    def __init__(self) -> None:
        self._found: dict[str, ScenarioError] = {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._found)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the mistake that is met inside, and go on behind it."""
        try:
            yield
        except ScenarioError as error:
            self._found.setdefault(str(error), error)

    def tell(self) -> None:
        """Raise what was found: one error as it is, several as one with a line for each."""
        first, *others = self._found.values() or [None]
        if first is None:
            return
        if not others:
            raise first
        texts = dict.fromkeys(line for text in self._found for line in text.splitlines())
        error = ScenarioError("\n".join(texts))
        error.path, error.line, error.column = first.path, first.line, first.column
        raise error


class TargetError(UtilituneError):
    """The program under configuration cannot be run."""


class ClusterError(UtilituneError):
    """A cluster cannot be reached, or its workers cannot be used."""


class StoreError(UtilituneError):
    """A run folder cannot be used."""


class StoppedError(UtilituneError):
    """Somebody asked for a stop, or a budget was spent, before everything was run."""


class MissingExtraError(UtilituneError):
    """An optional dependency is not installed.

    Args:
        purpose: What needs it.
        extra: The extra of this package that holds it.
        install: How to get it, where no extra holds it.
    """

    def __init__(self, purpose: str, extra: str = "", *, install: str = "") -> None:
        how = install or f"pip install 'utilitune[{extra}]' (in a clone: pip install '.[{extra}]')"
        super().__init__(f"{purpose} needs an optional part: {how}")


_ALIKE = 0.6
"""How much of two names must agree, in order, for one to be taken for the other misspelt."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence fragment for an unknown name: the nearest known one, or all of them."""
    options = sorted(known)
    near = get_close_matches(str(name), options, n=1, cutoff=_ALIKE)  # a file may hold a number there
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(map(_listed, options))}"


def _listed(name: str) -> str:
    """A name in a list of names: in quotes if its beginning or end could not be seen otherwise."""
    plain = name.isprintable() and name.strip() == name and name and not set(name) & set(" ,'\"")
    return name if plain else repr(name)

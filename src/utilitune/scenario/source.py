"""A TOML file with typed access: whatever is wrong, its file and line are named.

Every key that is asked for becomes known; `Table.finish` refuses the others and suggests the nearest.
"""

from __future__ import annotations

import math
import re
import stat
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from utilitune.errors import Mistakes, ScenarioError, UtilituneError, did_you_mean
from utilitune.scenario.locator import KeyPath, key_lines
from utilitune.utility import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ERROR_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_MEMORY = re.compile(r"([0-9.]+)\s*([kmgt]i?)?b?", re.IGNORECASE)
_PREFIXES = "kmgt"
_TOO_LARGE = "a whole number is too large: TOML has those from -2^63 to 2^63 - 1"


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario file that was read."""

    path: Path
    content: dict[str, Any]
    lines: dict[KeyPath, int]

    @classmethod
    def read(cls, path: Path, what: str = "the scenario") -> Source:
        """Read a TOML file."""
        text = read_text(path, what)
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            place = _ERROR_PLACE.search(str(error))
            line = int(place[1]) if place and place[1] else text.count("\n") + 1
            reason = _ERROR_PLACE.sub("", str(error))
            raise ScenarioError(f"this is not valid TOML: {reason}", path=path, line=line) from None
        except RecursionError:
            raise ScenarioError("this is nested too deeply to be a scenario", path=path) from None
        except ValueError:  # a number of thousands of digits
            raise ScenarioError(_TOO_LARGE, path=path) from None
        source = cls(path, content, key_lines(text.replace("\r\n", "\n")))
        source._check_numbers()
        return source

    @property
    def top(self) -> Table:
        """The whole file as a table."""
        return Table(self, self.content, ())

    def _check_numbers(self) -> None:
        """Refuse whole numbers that TOML does not have: those beyond 64 bits."""
        pending: list[tuple[KeyPath, Any]] = [((), self.content)]
        while pending:
            where, value = pending.pop()
            if isinstance(value, dict):
                pending.extend(((*where, key), inner) for key, inner in value.items())
            elif isinstance(value, list):
                pending.extend(((*where, place), inner) for place, inner in enumerate(value))
            elif type(value) is int and not -(2**63) <= value < 2**63:
                raise self.problem(where, _TOO_LARGE)

    def problem(self, where: KeyPath, reason: str) -> ScenarioError:
        """An error at the line of a key, or of the nearest table around it."""
        place = where
        while place and place not in self.lines:
            place = place[:-1]
        return ScenarioError(reason, path=self.path, line=self.lines.get(place, 1))


@dataclass(slots=True)
class Table:
    """One table of the file."""

    source: Source
    content: Mapping[str, Any]
    where: KeyPath
    asked: set[str] = field(default_factory=set)

    def problem(self, key: str, reason: str) -> ScenarioError:
        """An error at the line of a key."""
        return self.source.problem((*self.where, key), reason)

    def raw(self, key: str) -> Any:  # noqa: ANN401 - whatever the file holds
        """The value as it stands, or None."""
        self.asked.add(key)
        return self.content.get(key)

    def need(self, key: str, reason: str) -> ScenarioError:
        """An error for a key that is missing, or that stands there misspelt."""
        for misspelt in get_close_matches(key, self.content.keys() - self.asked, n=1, cutoff=0.8):
            return self.problem(misspelt, f"unknown key {self._shown(misspelt)}; did you mean {key!r}?")
        return self.source.problem(self.where, f"{self._shown(key)} is missing: {reason}")

    def text(self, key: str) -> str | None:
        """A text, or None."""
        return self._typed(key, str, "a text in quotes")  # type: ignore[no-any-return]

    def boolean(self, key: str) -> bool | None:
        """True or false, or None."""
        return self._typed(key, bool, "true or false")  # type: ignore[no-any-return]

    def integer(self, key: str, least: int) -> int | None:
        """A whole number not below a bound, or None."""
        value: int | None = self._typed(key, int, "a whole number")
        if value is not None and value < least:
            raise self.problem(key, f"{self._shown(key)} must be at least {least}, not {value}")
        return value

    def number(self, key: str) -> float | None:
        """A finite number, or None."""
        value = self._typed(key, (int, float), "a number")
        if value is not None and not math.isfinite(value):
            raise self.problem(key, f"{self._shown(key)} must be a finite number, not {value}")
        return None if value is None else float(value)

    def share(self, key: str, least: float = 0.0) -> float | None:
        """A number strictly between 0 and 1 and not below a bound, or None."""
        value = self.number(key)
        if value is not None and not 0 < value < 1:
            raise self.problem(key, f"{self._shown(key)} must lie strictly between 0 and 1, not {value:g}")
        if value is not None and value < least:
            raise self.problem(key, f"{self._shown(key)} must be at least {least:g}, not {value}")
        return value

    def duration(self, key: str) -> float | None:
        """Positive seconds, from a number or a text such as "1h30m", or None."""
        value = self._typed(key, (int, float, str), 'seconds, or a text such as "500ms" or "1h30m"')
        if value is None:
            return None
        try:
            seconds = parse_duration(value) if isinstance(value, str) else float(value)
        except UtilituneError as error:
            raise self.problem(key, f"{self._shown(key)}: {error}") from None
        if not (math.isfinite(seconds) and seconds > 0):
            raise self.problem(
                key, f"{self._shown(key)} must be a finite time above 0 seconds, not {value!r}"
            )
        return seconds

    def memory(self, key: str) -> int | None:
        """Positive bytes, from a number or a text such as "2 GiB", or None."""
        value = self._typed(key, (int, str), 'bytes, or a text such as "500 MB" or "2 GiB"')
        if value is None:
            return None
        amount = amount_of_memory(str(value))
        if amount is None:
            raise self.problem(
                key, f'{self._shown(key)}: {value!r} is no amount of memory; write it as "2 GiB"'
            )
        return amount

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts, or None."""
        values = self._typed(key, list, 'a list of texts such as ["a", "b"]')
        if values is None:
            return None
        for position, value in enumerate(values):
            if not isinstance(value, str):
                place = (*self.where, key, position)
                raise self.source.problem(place, f"{self._shown(key)} may hold only texts, not {value!r}")
        return tuple(values)

    def table(self, key: str) -> Table:
        """A table; an empty one if there is none."""
        content = self._typed(key, dict, f"a table: [{'.'.join(map(str, (*self.where, key)))}]")
        return Table(self.source, content or {}, (*self.where, key))

    def finish(self) -> None:
        """Refuse every key nobody asked for."""
        mistakes = Mistakes()
        for key in self.content:
            if key not in self.asked:
                with mistakes.collected():
                    hint = did_you_mean(key, self.asked)
                    raise self.problem(key, f"unknown key {self._shown(key)}; {hint}")
        mistakes.tell()

    def _shown(self, key: str) -> str:
        return ".".join(str(part) for part in (*self.where, key))

    def _typed(self, key: str, kinds: type | tuple[type, ...], expected: str) -> Any:  # noqa: ANN401
        value = self.raw(key)
        wrong_boolean = isinstance(value, bool) and kinds is not bool
        if value is not None and (wrong_boolean or not isinstance(value, kinds)):
            raise self.problem(key, f"{self._shown(key)} must be {expected}, not {value!r}")
        return value


def read_text(path: Path, what: str) -> str:
    """The text of a UTF-8 file, or a sentence on why there is none; a pipe might never end."""
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ScenarioError(f"{what} must be a file, but this is a pipe or a device", path=path)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ScenarioError(f"{what} does not exist; check the path", path=path) from None
    except IsADirectoryError:
        raise ScenarioError(f"{what} must be a file, but this is a folder", path=path) from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{what} is not UTF-8 text; save it as UTF-8", path=path) from None
    except OSError as error:
        raise ScenarioError(f"{what} cannot be read: {error.strerror}", path=path) from None
    except ValueError as error:  # a name with a NUL in it
        raise ScenarioError(f"{what} cannot be read: {error}", path=path) from None


def amount_of_memory(text: str) -> int | None:
    """Positive bytes from a text such as "2 GiB" or "500000", or None."""
    match = _MEMORY.fullmatch(text.strip())
    if not match:
        return None
    prefix = (match[2] or "").lower()
    base = 1024 if prefix.endswith("i") else 1000
    power = _PREFIXES.index(prefix[0]) + 1 if prefix else 0
    try:
        return int(float(match[1]) * base**power) or None
    except (ValueError, OverflowError):
        return None

"""irace parameter files.

::

    name  "switch"  type  (domain)  [ | condition ]
    …
    [forbidden]
    expression            one per line
    [global]
    digits = 4

Types: ``c`` categorical, ``o`` ordinal, ``i`` integer, ``r`` real, ``i,log`` and ``r,log``. A domain is
``(smallest, largest)`` or a list of values, quoted where they hold commas, blanks or parentheses. An end of
a range may be a calculation with other parameters, in quotes or not. Real numbers are rounded to `digits`
decimal places, 4 unless the file or its scenario says otherwise. ``#`` begins a comment outside quotes.

The format has no defaults. The default configuration is the middle: the middle of every range on its scale,
the middle value of an ordinal, the first value of a categorical parameter. Where that is forbidden, it is the
nearest of a thousand random configurations that is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import Mistakes, did_you_mean
from utilitune.errors.outside import read_number
from utilitune.spaces.dependent import DependentNumber, DependentRange
from utilitune.spaces.dialects.draft import Declared, Draft
from utilitune.spaces.dialects.model import ParameterFile
from utilitune.spaces.dialects.r_expressions import RParser, plain_number, r_tokens, with_inactive
from utilitune.spaces.dialects.resolving import ALWAYS, NEVER, folded
from utilitune.spaces.dialects.source import NUMBER, Place, Scanner, SourceText
from utilitune.spaces.grammar import ExpressionParser
from utilitune.spaces.parameters import (
    MOST_DIGITS,
    ChoiceParameter,
    NumberParameter,
    Parameter,
    number_default,
)
from utilitune.spaces.terms import Constant, Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.errors import ScenarioError

USUAL_DIGITS = 4
_TYPES = ("c", "o", "i", "r", "i,log", "r,log")
_SECTION = re.compile(r"\[\s*([^\]]*?)\s*\]\s*$")
_NAME = re.compile(r"""[^\s"'|()#,]+""")
_GOOD_NAME = re.compile(r"[\w.]+")
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'')
_TYPE = re.compile(r"""[^\s"'()|]+""")
_OPEN, _CLOSE, _COMMA, _BAR = (re.compile(re.escape(symbol)) for symbol in "(),|")
_SIMPLE = re.compile(r"[^(),]*")
_SETTING = re.compile(r"([\w.]+)\s*(?:=|<-)\s*(\S+)\s*$")


@dataclass(frozen=True, slots=True)
class _Item:
    """One entry of a domain."""

    text: str
    place: Place
    quote: str = ""


def read_irace(
    source: SourceText, digits: int | None = None, forbidden: SourceText | None = None
) -> ParameterFile:
    """Read an irace parameter file.

    Arguments:
        source: The file.
        digits: Decimal places that the scenario asks for; the file's own come first.
        forbidden: The separate file of forbidden expressions that irace 3 had.
    """
    reader = _IraceReader(source)
    places = reader.read(USUAL_DIGITS if digits is None else digits, forbidden)
    reader.draft.notes.append(
        "irace files hold no defaults: the default configuration is the middle of every range and the first "
        "of every list of categories"
    )
    space = reader.draft.space(search_default=True)
    switches = {name: switch for name, switch in reader.switches.items() if name in space.parameters}
    notes, idle = tuple(reader.draft.notes), tuple(reader.draft.idle)
    return ParameterFile(source.path, "irace", space, switches, places, notes, idle)


class _IraceReader:
    """Global settings first, then parameters, then the conditions and clauses that mention them."""

    def __init__(self, source: SourceText) -> None:
        self.draft = Draft(source)
        self.switches: dict[str, str] = {}
        self._source = source
        self._digits = USUAL_DIGITS
        self._conditions: dict[str, Scanner] = {}
        self._dependent: set[str] = set()
        self._mistakes = Mistakes()

    def read(self, digits: int, forbidden: SourceText | None) -> int:
        sections = self._sections()
        with self._mistakes.collected():
            self._digits = self._global(sections["global"], digits)
        for scanner in sections["parameters"]:
            with self._mistakes.collected():
                self._declaration(scanner)
        if not self.draft.names:
            self._mistakes.tell()
        parameters = self.draft.parameters(self._mistakes)
        conditional = frozenset(self._conditions) | self._dependent
        for name, scanner in self._conditions.items():
            if not self.draft.is_broken(scanner.rest):
                with self._mistakes.collected():
                    self._condition(name, scanner, parameters, conditional)
        clauses = list(sections["forbidden"])
        clauses += [] if forbidden is None else list(forbidden.scanners(_without_comment))
        for scanner in clauses:
            if not self.draft.is_broken(scanner.rest):
                with self._mistakes.collected():
                    self._clause(scanner, parameters, conditional)
        self._mistakes.tell()
        return self._digits

    def _sections(self) -> dict[str, list[Scanner]]:
        sections: dict[str, list[Scanner]] = {"parameters": [], "forbidden": [], "global": []}
        current = "parameters"
        for scanner in self._source.scanners(_without_comment):
            place = scanner.place
            header = scanner.take(_SECTION)
            if header is None:
                sections[current].append(scanner)
                continue
            current = header[1].lower()
            if current not in {"forbidden", "global"}:
                hint = did_you_mean(current, ["forbidden", "global"])
                raise scanner.problem(f"there is no section {header[0].strip()}; {hint}", place)
        return sections

    def _global(self, scanners: list[Scanner], digits: int) -> int:
        for scanner in scanners:
            place = scanner.place
            setting = scanner.need(_SETTING, "a setting such as digits = 4")
            if setting[1] != "digits":
                raise scanner.problem(f"the only global setting is digits, not {setting[1]!r}", place)
            if not setting[2].isdecimal() or read_number(setting[2]) > MOST_DIGITS:
                where = Place(scanner.line, setting.start(2) + 1)
                raise scanner.problem(
                    f"digits must be a whole number from 0 to {MOST_DIGITS}, not {setting[2]}", where
                )
            digits = int(setting[2])
        return digits

    def _declaration(self, scanner: Scanner) -> None:
        place = scanner.place
        name = scanner.need(_NAME, "the name of a parameter")[0]
        if not _GOOD_NAME.fullmatch(name):
            raise scanner.problem(f"the name {name!r} may hold only letters, digits, '.' and '_'", place)
        switch = scanner.need(_QUOTED, f'the switch of {name!r} in quotes, such as "--{name} "')
        pieces = {"type": scanner.place}
        kind = scanner.need(_TYPE, f"the type of {name!r}, one of {' '.join(_TYPES)}")[0]
        if kind not in _TYPES:
            raise scanner.problem(
                f"parameter {name!r} has the unknown type {kind!r}; known: {' '.join(_TYPES)}", pieces["type"]
            )
        pieces["range"] = pieces["values"] = pieces["log"] = scanner.place
        items = _domain(scanner)
        if kind in {"c", "o"}:
            self._note_quotes(name, items)
            texts = tuple(item.text for item in items)
            first = texts[(len(texts) - 1) // 2 if kind == "o" else 0]
            self.draft.declare(
                name, place, lambda: ChoiceParameter(name, texts, first, ordered=kind == "o"), pieces
            )
        else:
            self._number(scanner, (name, place), kind, items, pieces)
        self.switches[name] = switch[1] if switch[1] is not None else switch[2]
        if scanner.rest:
            scanner.need(_BAR, "'|' and a condition, or its end")
            if not scanner.rest:
                raise scanner.expected(f"the condition of {name!r}")
            self._conditions[name] = scanner

    def _note_quotes(self, name: str, items: Sequence[_Item]) -> None:
        """Say where irace keeps quotes as a part of the value, and here they only surround it."""
        quoted = [item.text for item in items if item.quote == "'"]
        if quoted:
            self.draft.notes.append(
                f"the values of {name!r} stand in single quotes, which irace keeps as a part of them; here "
                f"{quoted[0]!r} is the value, without quotes"
            )

    def _number(
        self,
        scanner: Scanner,
        named: tuple[str, Place],
        kind: str,
        items: Sequence[_Item],
        pieces: Mapping[str, Place],
    ) -> None:
        name, place = named
        if len(items) != 2:
            raise scanner.problem(
                f"the domain of {name!r} needs a smallest and a largest value", pieces["range"]
            )
        low, high = items
        plain = all(NUMBER.fullmatch(item.text) for item in items)
        if not plain:
            self._dependent.add(name)
        integer, log = kind.startswith("i"), kind.endswith("log")
        digits = None if integer else self._digits

        def make() -> Declared:
            if plain:
                ends = read_number(low.text), read_number(high.text)
                self._check_digits(scanner, name, items, digits)
                middle = number_default(*ends, integer=integer, log=log, digits=digits)
                return NumberParameter(name, *ends, middle, integer=integer, log=log, digits=digits)
            terms = DependentRange(self._end(scanner, name, low), self._end(scanner, name, high))
            return DependentNumber(name, terms, integer, log, digits)

        self.draft.declare(name, place, make, pieces)

    def _check_digits(self, scanner: Scanner, name: str, items: Sequence[_Item], digits: int | None) -> None:
        """Refuse ends of a range with more decimal places than values are rounded to."""
        for item in items:
            needed = decimal_places(float(item.text))
            if digits is not None and needed > digits:
                raise scanner.problem(
                    f"parameter {name!r}: {item.text} has {needed} decimal places, but values are rounded to "
                    f"{digits}: set digits = {needed} in the scenario, or below [global] in this file",
                    item.place,
                )

    def _end(self, scanner: Scanner, name: str, item: _Item) -> Term:
        if NUMBER.fullmatch(item.text):
            return Constant(read_number(item.text))

        def problem(reason: str, column: int) -> ScenarioError:
            place = Place(scanner.line, column)
            return scanner.problem(f"the range of {name!r} {reason}", place)

        return ExpressionParser(r_tokens(item.text, item.place.column, problem), problem).parse_term()

    def _condition(
        self, name: str, scanner: Scanner, parameters: Mapping[str, Parameter], conditional: frozenset[str]
    ) -> None:
        place = scanner.place
        subject = f"the condition of {name!r}"
        expression = self._parser(scanner, scanner.rest, place.column, subject, parameters).parse()
        if expression == ALWAYS:
            self.draft.notes.append(f"the condition of {name!r} always holds, so it changes nothing")
            return
        self.draft.condition(name, folded(with_inactive(expression, conditional)), place)

    def _clause(
        self, scanner: Scanner, parameters: Mapping[str, Parameter], conditional: frozenset[str]
    ) -> None:
        place = scanner.place
        subject = "the forbidden expression"
        expression = self._parser(scanner, scanner.rest, place.column, subject, parameters).parse()
        if expression == ALWAYS:
            raise scanner.problem("this forbids every configuration; remove it", place)
        if expression == NEVER:
            self.draft.notes.append(
                f"{scanner.source.path}:{place.line}:{place.column}: the forbidden expression never holds, "
                "so it changes nothing"
            )
            return
        self.draft.clause(with_inactive(expression, conditional), place, scanner.source)

    def _parser(
        self, scanner: Scanner, text: str, column: int, subject: str, parameters: Mapping[str, Parameter]
    ) -> RParser:
        def problem(reason: str, at: int) -> ScenarioError:
            return scanner.problem(reason, Place(scanner.line, at))

        tokens = r_tokens(text, column, lambda why, at: problem(f"{subject} {why}", at))
        return RParser(tokens, parameters, problem, subject, self.draft.notes.append)


def _without_comment(line: str) -> str:
    """A line up to the first hash outside quotes."""
    quote = ""
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'`":
            quote = character
        elif character == "#":
            return line[:position]
    return line


def _domain(scanner: Scanner) -> list[_Item]:
    scanner.need(_OPEN, "the domain in parentheses")
    items = [_item(scanner)]
    while scanner.take(_COMMA):
        items.append(_item(scanner))
    scanner.need(_CLOSE, "',' or ')'")
    return items


def _item(scanner: Scanner) -> _Item:
    place = scanner.place
    quoted = scanner.take(_QUOTED)
    if quoted is not None:
        text = quoted[1] if quoted[1] is not None else quoted[2]
        return _Item(text, Place(place.line, place.column + 1), quoted[0][0])
    if scanner.content.startswith(('"', "'"), scanner.position):
        raise scanner.problem("this quote is not closed")
    simple = _SIMPLE.match(scanner.content, scanner.position)
    depth, position = 0, simple.end() if simple else scanner.position
    while position < len(scanner.content):
        character = scanner.content[position]
        if depth == 0 and character in ",)":
            break
        depth += {"(": 1, ")": -1}.get(character, 0)
        position += 1
    text = scanner.content[scanner.position : position].strip()
    if not text:
        raise scanner.expected("a value (an empty one in quotes)")
    scanner.position = position
    return _Item(text, place)


def decimal_places(value: float) -> int:
    """How many digits behind the point a number has."""
    return len(plain_number(value).partition(".")[2])

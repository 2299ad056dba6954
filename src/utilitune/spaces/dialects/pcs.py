"""PCS files, old and new.

::

    old    name {a,b,c}[a]        name [1,32][4]       flags after the default: i integer, l log scale
    new    name categorical {a, b} [a]     name ordinal {a, b} [a]
           name integer [1, 32] [4] log    name real [0, 1] [0.5]
    both   child | parent in {a,b} && other == 3 || third > 0.5        several lines: all must hold
           {x=1, c=b}                      these values may not come together
           {a > 3 && b == y}               this may not hold; calculations and parentheses are allowed
           # a comment, to the end of the line

The two kinds of declarations may stand in one file, as SMAC allows. The headers ``Conditionals:`` and
``Forbidden:`` of old files say nothing. ``&&`` binds more tightly than ``||``. A name or a value is any run
of characters other than blanks and ``,{}[]()|#&=<>!``. Quotes are characters like others, as for SMAC: they
belong to the value. A range of one point is a fixed value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.errors import Mistakes, did_you_mean
from utilitune.errors.outside import read_number
from utilitune.spaces.dialects.draft import Draft
from utilitune.spaces.dialects.model import ParameterFile
from utilitune.spaces.dialects.pcs_expressions import NEW_OPERATORS, PcsParser, pcs_tokens
from utilitune.spaces.dialects.resolving import ALWAYS, NEVER, folded
from utilitune.spaces.dialects.source import NUMBER, Place, Scanner, SourceText, before_hash, spelling_hint
from utilitune.spaces.expressions import Expression, ValueComparison
from utilitune.spaces.grammar import all_of
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from utilitune.errors import ScenarioError

WORD = re.compile(r"""[^\s,{}\[\]()|\#&=<>!]+""")
_HEADER = re.compile(r"(?:conditionals?|forbiddens?)\s*:\s*$", re.IGNORECASE)
_CONDITION = re.compile(r"[^\s{}\[\]|]+\s*\|")
_FLAG = re.compile(r"[il](?![^\sil])")
_QUOTES = frozenset("\"'")
_NEW_KINDS = ("categorical", "ordinal", "integer", "real")
_AFTER_KIND = {
    None: "a type, {values} or [range]",
    "categorical": "{values}",
    "ordinal": "{values}",
    "integer": "[smallest, largest]",
    "real": "[smallest, largest]",
}
_SYMBOLS = {symbol: re.compile(re.escape(symbol)) for symbol in "{}[],|="}


def read_pcs(source: SourceText) -> ParameterFile:
    """Read a PCS file of either kind."""
    reader = _PcsReader(source)
    reader.read()
    space = reader.draft.space()
    dialect = "pcs-new" if reader.new_style else "pcs-old"
    notes, idle = tuple(reader.draft.notes), tuple(reader.draft.idle)
    return ParameterFile(source.path, dialect, space, notes=notes, idle=idle)


class _PcsReader:
    """Declarations first, then conditions and clauses, which may mention what is declared later."""

    def __init__(self, source: SourceText) -> None:
        self.draft = Draft(source)
        self.new_style = False
        self._source = source

    def read(self) -> None:
        mistakes = Mistakes()
        later: list[tuple[str, Callable[[Mapping[str, Parameter]], None]]] = []
        for scanner in self._source.scanners(before_hash):
            if scanner.take(_HEADER):
                continue
            with mistakes.collected():
                if scanner.rest.startswith("{"):
                    later.append((scanner.rest, self._later_clause(scanner)))
                elif _CONDITION.match(scanner.rest):
                    later.append((scanner.rest, self._later_condition(scanner)))
                else:
                    self._declaration(scanner)
        if not self.draft.names:
            mistakes.tell()
        parameters = self.draft.parameters()
        for text, finish in later:
            if not self.draft.is_broken(text):
                with mistakes.collected():
                    finish(parameters)
        mistakes.tell()

    def _declaration(self, scanner: Scanner) -> None:
        place = scanner.place
        name = scanner.need(WORD, "the name of a parameter")[0]
        kind_place = scanner.place
        kind = scanner.take(WORD)
        if kind is not None:
            self.new_style = True
            if kind[0] not in _NEW_KINDS:
                hint = did_you_mean(kind[0], _NEW_KINDS)
                raise scanner.problem(
                    f"parameter {name!r} has the unknown type {kind[0]!r}; {hint}", kind_place
                )
        pieces = {"range": scanner.place, "values": scanner.place}
        if scanner.rest.startswith("[") and (kind is None or kind[0] in {"integer", "real"}):
            make = self._number(scanner, name, None if kind is None else kind[0], pieces)
        elif scanner.rest.startswith("{") and (kind is None or kind[0] in {"categorical", "ordinal"}):
            make = self._choice(
                scanner, name, ordered=kind is not None and kind[0] == "ordinal", pieces=pieces
            )
        else:
            raise scanner.expected(_AFTER_KIND[None if kind is None else kind[0]])
        scanner.end()
        self.draft.declare(name, place, make, pieces)

    def _number(
        self, scanner: Scanner, name: str, kind: str | None, pieces: dict[str, Place]
    ) -> Callable[[], Parameter]:
        _symbol(scanner, "[")
        low = _number(scanner)
        _symbol(scanner, ",")
        high = _number(scanner)
        _symbol(scanner, "]")
        pieces["default"] = scanner.place
        _symbol(scanner, "[", f"the default of {name!r} in brackets")
        default = _number(scanner)
        _symbol(scanner, "]")
        pieces["log"] = scanner.place
        flags = _old_flags(scanner) if kind is None else _new_flags(scanner)
        integer = kind == "integer" or "i" in flags
        if low == high == default:
            fixed = number_text(default, integer=integer)
            return lambda: ChoiceParameter(name, (fixed,), fixed)
        return lambda: NumberParameter(name, low, high, default, integer=integer, log="l" in flags)

    def _choice(
        self, scanner: Scanner, name: str, *, ordered: bool, pieces: dict[str, Place]
    ) -> Callable[[], Parameter]:
        choices = _set(scanner)
        quoted = [choice for choice in choices if set(choice) & _QUOTES]
        if quoted:
            self.draft.notes.append(
                f"quotes belong to the values of {name!r}, as in SMAC: {', '.join(quoted)} "
                f"{'is a value' if len(quoted) == 1 else 'are values'}"
            )
        pieces["default"] = scanner.place
        _symbol(scanner, "[", f"the default of {name!r} in brackets")
        default = _word(scanner, "the default")
        _symbol(scanner, "]")
        return lambda: ChoiceParameter(name, choices, default, ordered=ordered)

    def _later_condition(self, scanner: Scanner) -> Callable[[Mapping[str, Parameter]], None]:
        place = scanner.place
        name = scanner.need(WORD, "the name of a parameter")[0]
        _symbol(scanner, "|")
        start = scanner.place

        def finish(parameters: Mapping[str, Parameter]) -> None:
            if name not in parameters:
                hint = spelling_hint(name, parameters)
                raise scanner.problem(
                    f"there is a condition for {name!r}, which is no parameter; {hint}", place
                )
            expression = self._expression(scanner, scanner.rest, f"the condition of {name!r}", parameters)
            if expression != ALWAYS:
                self.draft.condition(name, expression, start)

        return finish

    def _later_clause(self, scanner: Scanner) -> Callable[[Mapping[str, Parameter]], None]:
        place = scanner.place

        def finish(parameters: Mapping[str, Parameter]) -> None:
            if not scanner.content.endswith("}"):
                end = Place(scanner.line, len(scanner.content) + 1)
                raise scanner.problem("the forbidden clause needs '}' where the line ends", end)
            if NEW_OPERATORS.search(scanner.rest):
                self.new_style = True
                _symbol(scanner, "{")
                inside = scanner.rest[:-1]
                expression = self._expression(scanner, inside, "the forbidden clause", parameters)
            else:
                expression = self._simple_clause(scanner, parameters)
            if expression != NEVER:
                self.draft.clause(expression, place)

        return finish

    def _expression(
        self, scanner: Scanner, text: str, subject: str, parameters: Mapping[str, Parameter]
    ) -> Expression:
        def problem(reason: str, column: int) -> ScenarioError:
            return scanner.problem(reason, Place(scanner.line, column))

        tokens = pcs_tokens(text, scanner.place.column, lambda why, at: problem(f"{subject} {why}", at))
        self.new_style |= any(token.text in {"==", "!=", "<", ">", "<=", ">=", "or"} for token in tokens)
        return PcsParser(tokens, parameters, problem, subject, self.draft.notes.append).parse()

    def _simple_clause(self, scanner: Scanner, parameters: Mapping[str, Parameter]) -> Expression:
        terms: list[Expression] = []
        _symbol(scanner, "{")
        while not terms or scanner.take(_SYMBOLS[","]):
            place = scanner.place
            name = _word(scanner, "the name of a parameter")
            if name not in parameters:
                hint = spelling_hint(name, parameters)
                raise scanner.problem(
                    f"the forbidden clause names {name!r}, which is no parameter; {hint}", place
                )
            _symbol(scanner, "=")
            place = scanner.place
            raw = _word(scanner, "a value")
            terms.append(self._equality(scanner, parameters[name], raw, place))
        _symbol(scanner, "}")
        scanner.end()
        return folded(all_of(terms))

    def _equality(self, scanner: Scanner, parameter: Parameter, raw: str, place: Place) -> Expression:
        """One part of a clause; a value that is no longer in a list never comes up."""
        if isinstance(parameter, ChoiceParameter) and raw not in parameter.choices:
            self.draft.notes.append(
                f"the forbidden clause in line {place.line} asks for {raw!r}, which is none of the values of "
                f"{parameter.name!r} ({', '.join(map(str, parameter.choices))}), so it never holds"
            )
            return NEVER
        try:
            value = value_of(parameter, raw)
            parameter.code(value)
        except SpaceError as error:
            raise scanner.problem(f"the forbidden clause is wrong: {error.reason}", place) from None
        return ValueComparison(parameter.name, "==", value)


def number_text(value: float, *, integer: bool) -> str:
    """A number that is never changed, as it is written."""
    return str(int(value)) if integer and float(value).is_integer() else repr(value)


def value_of(parameter: Parameter, raw: str) -> Value:
    """What a word means as a value of a parameter."""
    if isinstance(parameter, ChoiceParameter):
        return raw
    if NUMBER.fullmatch(raw) is None:
        raise SpaceError(f"parameter {parameter.name!r} is a number, and {raw!r} is not")
    number = float(raw)
    return int(number) if parameter.integer and number.is_integer() else number


def _symbol(scanner: Scanner, symbol: str, what: str | None = None) -> None:
    scanner.need(_SYMBOLS[symbol], what or f"{symbol!r}")


def _number(scanner: Scanner) -> float:
    return read_number(scanner.need(NUMBER, "a number")[0])


def _word(scanner: Scanner, what: str) -> str:
    return scanner.need(WORD, what)[0]


def _set(scanner: Scanner) -> tuple[str, ...]:
    _symbol(scanner, "{")
    values = [_word(scanner, "a value")]
    while scanner.take(_SYMBOLS[","]):
        values.append(_word(scanner, "a value"))
    _symbol(scanner, "}", "',' or '}'")
    return tuple(values)


def _old_flags(scanner: Scanner) -> set[str]:
    flags: set[str] = set()
    while rest := scanner.rest:
        place = scanner.place
        flag = scanner.take(_FLAG)
        if flag is None or flag[0] in flags:
            text = f"only i (integer) and l (log scale) can follow the default, not {rest!r}"
            raise scanner.problem(text, place)
        flags.add(flag[0])
    return flags


def _new_flags(scanner: Scanner) -> set[str]:
    if not scanner.rest:
        return set()
    rest, place = scanner.rest, scanner.place
    if scanner.need(WORD, "'log' or its end")[0] != "log":
        raise scanner.problem(f"only log can follow the default, not {rest!r}", place)
    return {"l"}

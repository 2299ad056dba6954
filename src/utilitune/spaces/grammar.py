"""One recursive descent for conditions and clauses, whatever a dialect calls its operators.

::

    expression   = conjunction { or conjunction }
    conjunction  = negation { and negation }
    negation     = not negation | comparison
    comparison   = sum [ operator sum | [ not ] in list ]
    sum          = product { ( + | - ) product }
    product      = modulo { ( * | / ) modulo }
    modulo       = sign { % sign }
    sign         = ( + | - ) sign | power
    power        = primary [ ^ sign ]
    primary      = "(" expression ")" | function "(" [ sum { "," sum } ] ")" | name | literal

A dialect brings its tokens, already named as above, and overrides what it reads differently. Nothing is
executed; the result is a tree of `expressions`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from utilitune.errors.outside import read_number
from utilitune.errors.wording import counted
from utilitune.spaces.expressions import (
    MIRRORED,
    OPERATORS,
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Presence,
    Relation,
    TermComparison,
    ValueComparison,
    negated,
)
from utilitune.spaces.terms import FUNCTIONS, Constant, Operation, Reference, Term, names_in

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence

    from utilitune.spaces.parameters import Value

_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: its kind (number, name, text, symbol, word, end), itself, and its first column."""

    kind: str
    text: str
    column: int


def tokens_of(
    pattern: re.Pattern[str],
    text: str,
    first_column: int,
    named: Callable[[str, str, int], tuple[str, str]],
    unexpected: Callable[[str, int], Exception],
) -> list[Token]:
    """A text cut into tokens.

    Args:
        pattern: Matches the next token; the group that it matched in says of which kind it is.
        text: What to cut.
        first_column: The column of its first character.
        named: Kind and text as the grammar has them, for those of the dialect and the column.
        unexpected: Makes the error for the rest of a text that begins with no token, and its column.
    """
    found: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = pattern.match(text, position)
        if match is None or match.lastgroup is None:
            rest = text[position:].lstrip()
            raise unexpected(rest, first_column + len(text) - len(rest))
        column = first_column + match.start(match.lastgroup)
        found.append(Token(*named(match.lastgroup, match[match.lastgroup], column), column))
        position = match.end()
    return [*found, Token("end", "", first_column + end)]


@dataclass(frozen=True, slots=True)
class Literal:
    """A text or a truth value, which no calculation can use."""

    value: str | bool


Operand = Constant | Reference | Operation | Literal
Node = Expression | Operand


class ExpressionParser:
    """One pass over the tokens, one method per rule of the grammar.

    Arguments:
        tokens: The tokens; the last one is of kind "end".
        problem: Makes the error for a text and a column.
    """

    functions: frozenset[str] = frozenset(FUNCTIONS) - {"+", "-", "*", "/", "^", "%"}
    presence: str | None = "active"
    spellings: dict[str, str] = {}  # noqa: RUF012 - a dialect replaces it, nobody changes it
    wanted_value = "a number, a quoted text, true or false"
    wanted_end = "'and', 'or' or the end"

    def __init__(self, tokens: Sequence[Token], problem: Callable[[str, int], Exception]) -> None:
        self._tokens = tokens
        self._problem = problem
        self._next = 0
        self._depth = 0
        self._wanted = "a parameter name"

    def parse(self) -> Expression:
        """The whole text as one condition or clause."""
        result = self._as_expression(self._expression())
        self._end()
        return result

    def parse_term(self) -> Term:
        """The whole text as one calculation."""
        start = self._peek().column
        result = self._sum()
        self._end()
        return self._as_term(result, start)

    def _end(self) -> None:
        if self._peek().kind != "end":
            self._expected(self.wanted_end)

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def _take(self, *texts: str) -> Token | None:
        """The next token if it is one of the symbols or words asked for."""
        token = self._peek()
        if token.kind in {"symbol", "word"} and token.text in texts:
            self._next += 1
            return token
        return None

    def _need(self, *texts: str) -> None:
        if not self._take(*texts):
            self._expected(" or ".join(repr(text) for text in texts))

    def _fail(self, text: str, column: int) -> NoReturn:
        raise self._problem(text, column)

    def _expected(self, what: str) -> NoReturn:
        token = self._peek()
        found = "the text ends" if token.kind == "end" else f"{token.text!r} stands"
        self._fail(f"needs {what} where {found}", token.column)

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"is nested more than {_DEEPEST} levels deep; write it flatter", self._peek().column)
        yield
        self._depth -= 1

    def _expression(self) -> Node:
        return self._joined("or", self._conjunction, any_of)

    def _conjunction(self) -> Node:
        return self._joined("and", self._negation, all_of)

    def _joined(
        self, word: str, part: Callable[[], Node], join: Callable[[list[Expression]], Expression]
    ) -> Node:
        first = part()
        if not (self._peek().kind == "word" and self._peek().text == word):
            return first
        terms = [self._as_expression(first)]
        while self._take(word):
            terms.append(self._as_expression(part()))
        return join(terms)

    def _negation(self) -> Node:
        if not self._take("not"):
            return self._comparison()
        with self._nested():
            return negated(self._as_expression(self._negation()))

    def _comparison(self) -> Node:
        column = self._peek().column
        self._wanted = "a parameter name"
        left = self._sum()
        self._wanted = self.wanted_value
        if self._take("in"):
            return self._contains(left, column, outside=False)
        if self._take("not"):
            self._need("in")
            return self._contains(left, column, outside=True)
        symbol = self._take(*OPERATORS)
        if symbol is None:
            return left
        right_column = self._peek().column
        return self._compare((left, column), symbol.text, (self._right_side(left), right_column))

    def _right_side(self, left: Node) -> Node:
        """What a comparison compares with."""
        del left  # for dialects whose values depend on the parameter
        return self._sum()

    def _contains(self, left: Node, column: int, *, outside: bool) -> Expression:
        if not isinstance(left, Reference):
            self._fail("needs a parameter name before the list", column)
        return Membership(left.name, self._list(left.name), negated=outside)

    def _sum(self) -> Node:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Node:
        return self._chain(("*", "/"), self._modulo)

    def _modulo(self) -> Node:
        return self._chain(("%",), self._sign)

    def _chain(self, symbols: tuple[str, ...], part: Callable[[], Node]) -> Node:
        column = self._peek().column
        left = part()
        while symbol := self._take(*symbols):
            right_column = self._peek().column
            right = self._as_term(part(), right_column)
            left = Operation(symbol.text, (self._as_term(left, column), right))
        return left

    def _sign(self) -> Node:
        sign = self._take("+", "-")
        if sign is None:
            return self._power()
        with self._nested():
            column = self._peek().column
            operand = self._as_term(self._sign(), column)
            return operand if sign.text == "+" else minus(operand)

    def _power(self) -> Node:
        column = self._peek().column
        base = self._primary()
        if not self._take("^"):
            return base
        with self._nested():
            exponent_column = self._peek().column
            exponent = self._as_term(self._sign(), exponent_column)
            return Operation("^", (self._as_term(base, column), exponent))

    def _primary(self) -> Node:
        token = self._peek()
        if self._take("("):
            with self._nested():
                inner = self._expression()
                self._need(")")
                return inner
        if token.kind == "name" and self._peek(1).text == "(" and self._peek(1).kind == "symbol":
            if token.text == self.presence:
                return self._presence()
            if self.spellings.get(token.text, token.text) in self.functions:
                return self._call()
        return self._atom()

    def _presence(self) -> Presence:
        self._next += 2
        token = self._peek()
        if token.kind not in {"name", "quoted"}:
            self._expected("a parameter name")
        self._next += 1
        self._need(")")
        return Presence(token.text)

    def _call(self) -> Operation:
        token = self._peek()
        self._next += 2
        arguments: list[Term] = []
        with self._nested():
            while not arguments or self._take(","):
                column = self._peek().column
                arguments.append(self._as_term(self._sum(), column))
        self._need(")")
        name = self.spellings.get(token.text, token.text)
        count = FUNCTIONS[name].count
        if count is not None and len(arguments) != count:
            values = counted(len(arguments), "value")
            self._fail(f"gives {token.text} {values}, but it takes {count}", token.column)
        return Operation(name, tuple(arguments))

    def _atom(self) -> Operand:
        """A name or a literal; what a dialect spells its own way."""
        token = self._peek()
        if token.kind in {"name", "quoted"}:
            self._next += 1
            return Reference(token.text)
        if token.kind == "number":
            self._next += 1
            return Constant(read_number(token.text))
        if token.kind == "text":
            self._next += 1
            return Literal(token.text)
        truth = self._take("true", "false")
        if truth is None:
            self._expected(self._wanted)
        return Literal(truth.text == "true")

    def _list(self, name: str) -> tuple[Value, ...]:
        """The values between brackets after ``in``."""
        del name  # for dialects whose values depend on the parameter
        self._need("[")
        values: list[Value] = []
        while not self._take("]"):
            if values and not self._take(","):
                self._expected("',' or ']'")
            values.append(self._value())
        return tuple(values)

    def _value(self) -> Value:
        column = self._peek().column
        operand = self._sign()
        if not isinstance(operand, Constant | Literal):
            self._fail(f"needs {self.wanted_value} here", column)
        return operand.value

    def _as_expression(self, node: Node) -> Expression:
        if isinstance(node, Constant | Reference | Operation | Literal):
            self._expected(f"one of {' '.join(OPERATORS)} in")
        return node

    def _as_term(self, node: Node, column: int) -> Term:
        if not isinstance(node, Constant | Reference | Operation):
            self._fail("calculates with something that is not a number", column)
        return node

    def _compare(self, left: tuple[Node, int], symbol: str, right: tuple[Node, int]) -> Expression:
        """A comparison; each side comes with its column."""
        for node, column in (left, right):
            if not isinstance(node, Constant | Reference | Operation | Literal):
                self._fail("compares something that is already a comparison", column)
        if isinstance(left[0], Constant | Literal):
            left, right, symbol = right, left, MIRRORED[symbol]
        first, second = left[0], right[0]
        if isinstance(first, Reference) and isinstance(second, Constant | Literal):
            return ValueComparison(first.name, symbol, second.value)
        if isinstance(first, Reference) and isinstance(second, Reference):
            return Relation(first.name, symbol, second.name)
        terms = self._as_term(first, left[1]), self._as_term(second, right[1])
        if not any(True for term in terms for _ in names_in(term)):
            self._fail("needs a parameter name in the comparison", left[1])
        return TermComparison(terms[0], symbol, terms[1])


def minus(term: Term) -> Term:
    """The negative of a term; of a number it is a number again."""
    return Constant(-term.value) if isinstance(term, Constant) else Operation("-", (term,))


def all_of(terms: Sequence[Expression]) -> Expression:
    """Every term holds."""
    return terms[0] if len(terms) == 1 else AllOf(tuple(terms))


def any_of(terms: Sequence[Expression]) -> Expression:
    """At least one term holds."""
    return terms[0] if len(terms) == 1 else AnyOf(tuple(terms))

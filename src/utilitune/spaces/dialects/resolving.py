"""Conditions and clauses of files, where every name can be looked up while reading.

Values in files are texts; what a text means depends on the parameter it is compared with. So each
comparison is resolved and checked on the spot, and a mistake is reported at its own column.

People shorten a list of values and leave the conditions on those they removed. Such a comparison never holds;
that is worth a note and is no mistake. While reading it is a `Membership` in an empty list, which `folded`
turns into `NEVER`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from utilitune.spaces.dialects.source import spelling_hint
from utilitune.spaces.expressions import (
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Presence,
    ValueComparison,
    check,
    names_of,
)
from utilitune.spaces.grammar import ExpressionParser, Token, any_of
from utilitune.spaces.parameters import ChoiceParameter
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from utilitune.errors import ScenarioError
    from utilitune.spaces.parameters import Parameter, Value

ALWAYS, NEVER = AllOf(()), AnyOf(())
"""Expressions that come down to true and to false."""


class ResolvingParser(ExpressionParser):
    """An `ExpressionParser` that knows the parameters.

    Arguments:
        tokens: The tokens; the last one is of kind "end".
        parameters: All parameters of the file.
        problem: Makes the error for a text and a column of the line.
        subject: What is being read, such as "the condition of 'x'".
        note: Called with a sentence on what is odd but no mistake.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        parameters: Mapping[str, Parameter],
        problem: Callable[[str, int], ScenarioError],
        subject: str,
        note: Callable[[str], None],
    ) -> None:
        super().__init__(tokens, lambda reason, column: problem(f"{subject} {reason}", column))
        self._parameters = parameters
        self._place_problem = problem
        self._subject = subject
        self._note = note

    def parse(self) -> Expression:
        """The whole text; `ALWAYS` and `NEVER` stand for conditions that come down to true and false."""
        return folded(super().parse())

    def _has(self, parameter: ChoiceParameter, value: Value) -> bool:
        """Whether a value is one of the list; a note where it is not, for it may have been removed."""
        if value in parameter.choices:
            return True
        self._note(
            f"{self._subject} asks for {value!r}, which is none of the values of {parameter.name!r} "
            f"({', '.join(map(str, parameter.choices))}), so this part of it never holds"
        )
        return False

    def _is_possible(self, name: str, value: Value) -> bool:
        """Whether a parameter can have a value of a list; any number is left to other checks."""
        parameter = self._parameters[name]
        return not isinstance(parameter, ChoiceParameter) or self._has(parameter, value)

    def _equality(self, parameter: ChoiceParameter, symbol: str, value: Value) -> Expression:
        """Whether a choice has a value, or has another one."""
        if self._has(parameter, value):
            return ValueComparison(parameter.name, symbol, value)
        return Membership(parameter.name, ()) if symbol == "==" else Presence(parameter.name)

    def _refuse(self, sentence: str, column: int) -> NoReturn:
        """Raise a sentence of its own, unlike `_fail`, which continues the subject."""
        raise self._place_problem(f"{self._subject} is wrong: {sentence}", column)

    def _refuse_call(self) -> None:
        """Refuse a function that is not among the known ones."""
        token = self._peek()
        if token.kind == "name" and self._peek(1).kind == "symbol" and self._peek(1).text == "(":
            known = ", ".join(sorted(self.functions))
            self._fail(f"calls {token.text!r}, which is not understood; known: {known}", token.column)

    def _known(self, name: str, column: int, hint: str = "") -> Parameter:
        if name not in self._parameters:
            near = spelling_hint(name, self._parameters)
            self._refuse(f"there is no parameter {name!r}; {near}{hint}", column)
        return self._parameters[name]

    def _checked(self, expression: Expression, column: int) -> Expression:
        try:
            check(expression, self._parameters)
        except SpaceError as error:
            self._refuse(error.reason, column)
        return expression

    def _two_choices(
        self, left: ChoiceParameter, symbol: str, right: ChoiceParameter, column: int
    ) -> Expression:
        """Whether two choices have the same value, said value by value."""
        if symbol not in {"==", "!="}:
            self._refuse(f"{left.name!r} and {right.name!r} can only be compared by == and !=", column)
        terms: list[Expression] = []
        for value in left.choices:
            mine = ValueComparison(left.name, "==", value)
            if value in right.choices:
                terms.append(AllOf((mine, ValueComparison(right.name, symbol, value))))
            elif symbol == "!=":
                terms.append(AllOf((mine, Presence(right.name))))
        if not terms:
            self._refuse(f"{left.name!r} and {right.name!r} have no value in common", column)
        return any_of(terms)


def folded(expression: Expression) -> Expression:
    """The same without empty parts: an empty `AllOf` always holds, an empty `AnyOf` or list never does."""
    if isinstance(expression, Membership) and not expression.values:
        return ALWAYS if expression.negated else NEVER
    if not isinstance(expression, AllOf | AnyOf):
        return expression
    kind, other = (AllOf, AnyOf) if isinstance(expression, AllOf) else (AnyOf, AllOf)
    terms: list[Expression] = []
    for term in map(folded, expression.terms):
        if term == other(()):
            return term
        terms.extend(term.terms if isinstance(term, kind) else [term])
    return terms[0] if len(terms) == 1 else kind(tuple(terms))


def without(expression: Expression, name: str) -> Expression:
    """The same for a parameter that is never active: no comparison with it holds."""
    if isinstance(expression, AllOf | AnyOf):
        return folded(type(expression)(tuple(without(term, name) for term in expression.terms)))
    if name not in names_of(expression):
        return expression
    return ALWAYS if expression == Presence(name, active=False) else NEVER

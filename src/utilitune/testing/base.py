"""What all suites share: a check is a method named ``test_…`` that raises `ContractError` with a sentence."""

from __future__ import annotations

from abc import ABC
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ContractError(AssertionError):
    """An implementation does not keep its seam's contract; the text says what it did."""


def expect(condition: object, sentence: str) -> None:
    """Raise `ContractError` with this sentence unless the condition holds."""
    if not condition:
        raise ContractError(sentence)


@contextmanager
def expect_error(kind: type[BaseException], sentence: str) -> Iterator[None]:
    """Raise `ContractError` with this sentence unless the block raises this kind of error."""
    try:
        yield
    except kind:
        return
    raise ContractError(sentence)


class Suite(ABC):  # noqa: B024 -- every seam has methods of its own to fill in
    """A set of checks for one seam; subclasses of its subclasses say what is checked."""

    @classmethod
    def checks(cls) -> list[str]:
        """The names of all checks."""
        return [name for name in dir(cls) if name.startswith("test_")]

    def check_all(self) -> None:
        """Run every check; the first that fails raises `ContractError`."""
        for name in self.checks():
            getattr(self, name)()

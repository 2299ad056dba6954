"""Who was given and who was drawn: given configurations as they were settled, draws as the seed makes them.

Only random draws count for γ. A draw that was called a given one afterwards would need no bound and no run,
and the number of given ones is the number of the first draw. So both are settled before the first run:
`given` holds the values of those that are tried first, and the commitment covers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.certificate.content import WITHOUT_GIVEN
from utilitune.certificate.facts import require
from utilitune.errors.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from utilitune.spaces import Assignment, ParameterSpace

_DRAWN_TOGETHER = 32
_STREAM, _STREAM_OF_LISTS = 1, 4
_ORIGINS = frozenset({"default", "user", "random", "model", "nominee"})
_GIVEN = frozenset({"default", "user"})
TRIED_FIRST = "It holds if the configurations to try first were not chosen by runs on these very instances."
"""What a promise says where configurations were given, as a sentence of its own."""


def check_draws(content: Mapping[str, Any], space: ParameterSpace) -> str:
    """Every configuration is what its origin says, and no random draw is left out."""
    configurations = content["configurations"]
    drawn: list[Mapping[str, Any]] = []
    given: list[Mapping[str, Any]] = []
    for place, configuration in enumerate(configurations):
        origin = configuration["origin"]
        require(origin in _ORIGINS, f"configuration {place} has the unknown origin {origin!r}")
        require(
            origin != "default" or place == 0,
            f"configuration {place} claims to be the default, but is not first",
        )
        if origin == "random":
            drawn.append(configuration["values"])
        elif origin in _GIVEN:
            require(len(given) == place, f"configuration {place} was given after others had been drawn")
            given.append(configuration["values"])
        require(
            origin == "model" or configuration["first_position"] == 0,
            f"configuration {place} counts from a later position, but is no proposal",
        )
    if configurations and configurations[0]["origin"] == "default":
        require(given[0] == {**space.default()}, "configuration 0 is not the default of the space")
    settled = content["version"] != WITHOUT_GIVEN
    first = _check_given(given, content["given"], complete=bool(drawn)) if settled else len(given)
    listed = content["rules"].get("listed") is True
    seed = content["seed"]
    expected = _listing(space, seed, len(drawn)) if listed else _draws(space, seed, first, len(drawn))
    for place, (claimed, real) in enumerate(zip(drawn, expected, strict=True), start=1):
        require(
            claimed == real, f"random draw {place} is not the one that follows from the seed and the space"
        )
    follow = "it follows" if len(drawn) == 1 else "they follow"
    found = f"{counted(len(drawn), 'random draw')} as {follow} from the seed and the space"
    if settled:
        return f"{counted(len(given), 'given configuration')} as settled, and {found}, none left out"
    return f"{found}, none left out behind the {counted(len(given), 'given configuration')}"


def _check_given(given: Sequence[Mapping[str, Any]], settled: Any, *, complete: bool) -> int:  # noqa: ANN401 - of a file
    """Given configurations are those that were settled, in their order; how many were settled.

    Args:
        given: Those of the certificate.
        settled: Those that were settled.
        complete: Whether all of them must be there: a run that was stopped at once has only the first.
    """
    require(isinstance(settled, list), "what was given is no list")
    require(len(given) <= len(settled), "more configurations count as given than were settled")
    for place, (claimed, real) in enumerate(zip(given, settled, strict=False)):
        require(claimed == real, f"configuration {place} is not the given one that was settled")
    require(
        not complete or len(given) == len(settled),
        "fewer configurations count as given than were settled",
    )
    return len(settled)


def check_condition(content: Mapping[str, Any]) -> None:
    """A promise with given configurations beside the default says that it rests on how they were chosen."""
    beside = [each for each in content["configurations"] if each["origin"] == "user"]
    sentences = f". {content['promise']['condition']} "
    require(
        not beside or f". {TRIED_FIRST} " in sentences,
        "configurations were given, but the promise does not say that it rests on how they were chosen",
    )


def _draws(space: ParameterSpace, seed: int, first: int, count: int) -> Iterator[Mapping[str, Any]]:
    """The draws from number `first` on; the numbers before it were given to the given configurations."""
    block: list[Assignment] = []
    block_number = -1
    for place in range(first, first + count):
        if place // _DRAWN_TOGETHER != block_number:
            block_number = place // _DRAWN_TOGETHER
            sequence = np.random.SeedSequence(seed, spawn_key=(_STREAM, block_number))
            block = space.sample(np.random.default_rng(sequence), _DRAWN_TOGETHER)
        yield {**block[place % _DRAWN_TOGETHER]}


def _listing(space: ParameterSpace, seed: int, count: int) -> list[Mapping[str, Any]]:
    """The first configurations of a listed space, in the order that follows from the seed."""
    require(space.size is not None, "a space without end was listed")
    everything = space.configurations()
    require(count <= len(everything), "there are more random draws than configurations in the space")
    sequence = np.random.SeedSequence(seed, spawn_key=(_STREAM_OF_LISTS,))
    order = np.random.default_rng(sequence).permutation(len(everything))
    return [{**everything[place]} for place in order[:count].tolist()]

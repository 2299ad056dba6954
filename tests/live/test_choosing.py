"""Which configuration is the answer: by what is proved, by who was ahead, and what the user is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from utilitune.domain import Progress
from utilitune.domain.stopping import instances_exhausted
from utilitune.live.choosing import MOST_LOST, MOST_TIMES, Choice


def standing(index: int, epsilon: float, gamma: float = 0.1) -> Progress:
    return Progress(
        best_index=index,
        epsilon=epsilon,
        gamma=gamma,
        delta=0.1,
        total_time_s=1.0,
        runs=1,
        rounds=1,
        configurations=3,
        alive=2,
    )


class Proved:
    """What is proved of each configuration, without a procedure; the first one is its own answer."""

    def __init__(self, *each: Progress) -> None:
        self._of = {one.best_index: one for one in each}
        self._own = each[0]

    def proved(self) -> Progress:
        return self._own

    def progress_of(self, configuration: int) -> Progress:
        return self._of[configuration]

    def worth(self, progress: Progress) -> float:
        return progress.epsilon + 2.0 * (progress.gamma or 0.0)


class Ranked:
    """A search that holds larger numbers to be better."""

    def is_ahead(self, number: int, other: int) -> bool:
        return number > other

    is_surely_ahead = is_ahead


class Unsure:
    """A search in which nobody was clearly better than anybody."""

    def is_ahead(self, number: int, other: int) -> bool:
        del number, other
        return False

    is_surely_ahead = is_ahead


class Lucky(Ranked):
    """A search in which larger numbers were better, but never by more than luck explains."""

    def is_surely_ahead(self, number: int, other: int) -> bool:
        del number, other
        return False


def choice(
    *each: Progress, epsilon: float | None = None, gamma: float | None = None, proves_one: bool = False
) -> Choice:
    chosen = Choice(Proved(*each), Ranked(), epsilon, gamma=gamma, proves_one=proves_one)  # type: ignore[arg-type]
    for one in each[1:]:
        chosen.note(one.best_index)
    return chosen


def numbers(chosen: Choice) -> tuple[int, int]:
    proved, answer = chosen.candidates()
    assert proved is not None
    assert answer is not None
    return proved.best_index, answer.best_index


def test_without_a_find_the_answer_is_what_is_proved():
    assert numbers(choice(standing(3, 0.2))) == (3, 3)


def test_a_small_epsilon_about_few_configurations_is_not_the_best_proved():
    """ε = 0.01 with γ = 0.26 says less than ε = 0.12 with γ = 0.06."""
    assert numbers(choice(standing(5, 0.12, 0.06), standing(1, 0.01, 0.26))) == (5, 5)


def test_what_is_ahead_is_the_answer_where_little_is_lost():
    assert numbers(choice(standing(1, 0.1, 0.02), standing(5, 0.1 + 0.9 * MOST_LOST, 0.02))) == (1, 5)
    assert numbers(choice(standing(1, 0.1, 0.02), standing(5, 0.1 + 1.1 * MOST_LOST, 0.02))) == (1, 1)


def test_a_larger_gamma_counts_as_a_loss_too():
    assert numbers(choice(standing(1, 0.1, 0.02), standing(5, 0.1, 0.02 + 0.4 * MOST_LOST))) == (1, 5)
    assert numbers(choice(standing(1, 0.1, 0.02), standing(5, 0.1, 0.02 + 0.6 * MOST_LOST))) == (1, 1)


@pytest.mark.parametrize("epsilon", [0.3, 0.5])
def test_where_little_is_proved_of_anybody_more_may_be_lost(epsilon):
    best, times = standing(1, epsilon, 0.1), epsilon + 0.2  # as this proof weighs γ
    within, beyond = MOST_TIMES * times - 0.21, MOST_TIMES * times - 0.19
    assert within > epsilon + MOST_LOST
    assert numbers(choice(best, standing(5, within, 0.1))) == (1, 5)
    assert numbers(choice(best, standing(5, beyond, 0.1))) == (1, 1)


def test_what_is_behind_is_not_the_answer_however_little_is_proved():
    assert numbers(choice(standing(5, 0.9, 0.4), standing(1, 0.95, 0.4))) == (5, 5)


def test_what_is_behind_is_not_the_answer():
    assert numbers(choice(standing(5, 0.2), standing(1, 0.21))) == (5, 5)


def test_the_latest_find_comes_first_and_one_that_returns_is_the_latest():
    chosen = choice(standing(1, 0.2), standing(6, 0.2), standing(5, 0.2))
    assert numbers(chosen) == (1, 5)
    chosen.note(6)
    assert chosen.found == [5, 6]
    assert numbers(chosen) == (1, 6)


def test_an_epsilon_that_was_asked_for_is_not_given_away():
    assert numbers(choice(standing(1, 0.19), standing(5, 0.21), epsilon=0.2)) == (1, 1)
    assert numbers(choice(standing(1, 0.21), standing(5, 0.22), epsilon=0.2)) == (1, 5)


def test_nothing_falls_short_of_what_was_asked_for_and_reached():
    """The proof has stopped with ε and γ as asked for: a smaller ε with a larger γ is no answer then."""
    reached, other = standing(1, 0.19, 0.12), standing(5, 0.005, 0.186)
    assert numbers(choice(reached, other, epsilon=0.2))[0] == 1
    assert numbers(choice(reached, other))[0] == 5
    other = standing(5, 0.16, 0.14)  # better by its runs, and not much less is proved of it
    assert numbers(choice(reached, other, epsilon=0.2)) == (1, 1)
    assert numbers(choice(reached, other)) == (1, 5)


def test_a_find_that_reaches_what_was_asked_for_is_the_answer_if_nothing_else_does():
    assert numbers(choice(standing(5, 0.21, 0.05), standing(1, 0.2, 0.1), epsilon=0.2)) == (1, 1)


def test_one_that_is_to_be_proved_is_the_answer_whatever_is_proved_of_it():
    asked = choice(standing(5, 0.1), standing(1, 0.9), proves_one=True)
    assert numbers(asked) == (5, 1)
    assert asked.sentence() == "More is proved of configuration 5: ε = 0.1, γ = 0.1."


def test_figures_are_never_smaller_than_what_is_proved():
    asked = choice(standing(5, 0.10001, 0.20001), standing(7, 0.9), proves_one=True)
    assert asked.sentence() == "More is proved of configuration 5: ε = 0.101, γ = 0.201."


def test_what_the_proof_says_at_its_end_is_put_right_for_the_one_asked_about():
    used_up = instances_exhausted(40, 0.0)
    assert "nothing is left to prove" in used_up.advice
    asked = choice(standing(5, 0.0), standing(1, 0.3), proves_one=True)
    assert asked.ending(used_up).advice == (
        "All instances are used: no more can be proved of this configuration than ε = 0.3, γ = 0.1."
    )
    assert choice(standing(5, 0.0), standing(1, 0.3)).ending(used_up) is used_up
    assert choice(standing(5, 0.0), standing(1, 0.0), proves_one=True).ending(used_up) is used_up


@pytest.mark.parametrize(
    ("each", "said"),
    [
        ((standing(1, 0.2), standing(5, 0.25)), "more is proved of configuration 1: ε = 0.2, γ = 0.1."),
        ((standing(1, 0.2), standing(5, 0.9)), "little is proved of it yet: ε = 0.9, γ = 0.1. More time"),
        ((standing(5, 0.2), standing(1, 0.9)), ""),
        ((standing(1, 0.2, 0.0), standing(5, 0.25, 0.0)), "configuration 1: ε = 0.2."),
    ],
)
def test_where_the_two_differ_the_user_is_told(each: tuple[Progress, Progress], said: str):
    sentence = choice(*each).sentence()
    assert said in sentence
    assert bool(sentence) == bool(said)


@pytest.mark.parametrize(("gamma", "stops"), [(None, True), (0.1, True), (0.05, False)])
def test_one_configuration_is_proved_when_its_gamma_is_as_small_as_asked_for_too(gamma, stops):
    asked = choice(standing(5, 0.1), standing(1, 0.2), epsilon=0.3, gamma=gamma, proves_one=True)
    assert (asked.one_proved() is not None) is stops


def test_one_that_was_not_clearly_better_than_the_default_does_not_take_its_place():
    default, other = standing(0, 0.5), standing(3, 0.2)
    unsure = Choice(Proved(other, default), Unsure(), None, proves_one=False)  # type: ignore[arg-type]
    assert numbers(unsure) == (3, 0)
    assert unsure.sentence() == (
        "The answer is the default: nothing was clearly better where both were run. "
        "More is proved of configuration 3: ε = 0.2, γ = 0.1."
    )
    unsure.note(3)
    assert numbers(unsure) == (3, 0)


def test_what_takes_the_place_of_the_default_was_better_by_more_than_luck_explains():
    """A find takes the place of the best-proved configuration by less."""
    default, drawn, find = standing(0, 0.5), standing(3, 0.2), standing(5, 0.25)
    for search, answer in ((Ranked(), 5), (Lucky(), 0)):
        chosen = Choice(Proved(drawn, default, find), search, None, proves_one=False)  # type: ignore[arg-type]
        chosen.note(5)
        assert numbers(chosen) == (3, answer)


@pytest.mark.parametrize(("epsilon", "gain"), [(0.3, None), (None, 0.01)])
def test_it_does_where_it_is_proved_to_be_better_or_as_near_to_the_best_as_asked_for(epsilon, gain):
    default, other = standing(0, 0.5), replace(standing(3, 0.2), gain=gain)
    chosen = Choice(Proved(other, default), Unsure(), epsilon, proves_one=False)  # type: ignore[arg-type]
    assert numbers(chosen) == (3, 3)

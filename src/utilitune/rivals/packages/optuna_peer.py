"""Optuna: random or TPE proposals, cut short by its pruner for averages over instances.

A trial runs a proposal on one instance after the other, in a random order of its own, and reports what each
run was worth. Optuna's Wilcoxon pruner compares it with the best trial on the same instances and may end it
after 2, 4, 8, … instances; as Optuna's documentation advises, a trial that was cut short is told with the
mean it had. The answer is the configuration with the best mean among those with the most instances.

Trials are define-by-run: only active parameters are suggested, parents before children. What the space
forbids is told to Optuna as a failed trial.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from utilitune.domain.stopping import finished
from utilitune.rivals.packages.peer import PythonPeer
from utilitune.spaces.parameters import NumberParameter
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.rivals.packages.arena import Arena
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.spaces.parameters import Parameter, Value

_ATTEMPTS = 1000
_SHARE_OF_A_TRIAL = 0.05
"""A trial of the default takes at most this share of the budget, unless the number of instances is set."""
_FEWEST_INSTANCES = 8
_FIRST_LOOK = 2


@dataclass(frozen=True)
class _OptunaPeer(PythonPeer):
    """Optuna and its settings.

    Attributes:
        instances: Most instances of one trial; if left out all, as far as a trial of the default takes a
            twentieth of the budget at most.
    """

    instances: int | None = None

    title: ClassVar[str] = "Optuna"
    package: ClassVar[str] = "optuna"
    extra: ClassVar[str] = "peers"

    @abstractmethod
    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        """Who suggests."""

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        """Make trials; yield the answer after each."""
        study = self._study()
        generator = np.random.default_rng(self.own_seed)
        for assignment in arena.given:
            study.enqueue_trial(_suggested_as(arena.space, assignment))
        count = arena.positions if self.instances is not None else _instances_within(arena)
        made = 0
        while self.trials is None or made < self.trials:
            asked = _next_trial(study, arena.space)
            if asked is None:
                return finished(
                    f"Optuna has suggested {_ATTEMPTS:,} configurations in a row that the scenario forbids: "
                    "use conditions in place of forbidden clauses."
                )
            trial, assignment = asked
            _run_trial(study, trial, arena, arena.number(assignment), generator.permutation(count).tolist())
            made += 1
            yield arena.leader()
            if arena.has_run_all(count):
                return finished("Optuna has run every configuration that can be set.")
            if arena.idle(_ATTEMPTS):
                return finished(f"Optuna has proposed nothing new in {_ATTEMPTS:,} trials.")
        return finished(f"Optuna has made its {self.trials} trials: allow more of them to go on.")

    def _study(self) -> Any:  # noqa: ANN401 -- optuna's study
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            pruner = optuna.pruners.WilcoxonPruner()
        return optuna.create_study(direction="maximize", sampler=self._sampler(), pruner=pruner)


class OptunaRandom(_OptunaPeer):
    """Optuna with its random sampler."""

    name: ClassVar[str] = "optuna-random"

    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=self.own_seed)


class OptunaTpe(_OptunaPeer):
    """Optuna with its tree-structured Parzen estimator."""

    name: ClassVar[str] = "optuna-tpe"

    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        from optuna.samplers import TPESampler

        return TPESampler(seed=self.own_seed)


def _instances_within(arena: Arena) -> int:
    """How many instances a trial may have: run the default until that takes its share of the budget."""
    default = arena.number(arena.given[0])
    for count in range(1, arena.positions + 1):
        arena.run(default, [count - 1])
        if count >= _FEWEST_INSTANCES and arena.spent_share() >= _SHARE_OF_A_TRIAL:
            return count
    return arena.positions


def _next_trial(study: Any, space: ParameterSpace) -> tuple[Any, Assignment] | None:  # noqa: ANN401 -- optuna's study
    """The next trial and its configuration; None if Optuna finds none that is allowed."""
    from optuna.trial import TrialState

    for _ in range(_ATTEMPTS):
        trial = study.ask()
        try:
            return trial, space.filled(lambda parameter, trial=trial: _suggest(trial, parameter))  # type: ignore[misc]
        except SpaceError:
            study.tell(trial, state=TrialState.FAIL)
    return None


def _suggest(trial: Any, parameter: Parameter) -> Value:  # noqa: ANN401 -- optuna's trial
    """The trial's value of a parameter; one of ordered choices is suggested by its place."""
    name = parameter.name
    if isinstance(parameter, NumberParameter):
        if parameter.integer:
            whole: int = trial.suggest_int(name, int(parameter.low), int(parameter.high), log=parameter.log)
            return whole
        number: float = trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
        return number if parameter.digits is None else round(number, parameter.digits)
    last = len(parameter.choices) - 1
    place: int = (
        trial.suggest_int(name, 0, last)
        if parameter.ordered
        else trial.suggest_categorical(name, list(range(last + 1)))
    )
    return parameter.choices[place]


def _suggested_as(space: ParameterSpace, assignment: Assignment) -> dict[str, Value]:
    """A configuration in the terms of `_suggest`: choices by their place."""
    return {
        name: value if isinstance(parameter, NumberParameter) else int(parameter.code(value))
        for name, value in assignment.items()
        for parameter in (space.parameters[name],)
    }


def _run_trial(
    study: Any,  # noqa: ANN401 -- optuna's study
    trial: Any,  # noqa: ANN401 -- optuna's trial
    arena: Arena,
    configuration: int,
    order: list[int],
) -> None:
    """Run a proposal on instances in this order, as far as the pruner lets it go; tell its mean."""
    total, done, look = 0.0, 0, _FIRST_LOOK
    while done < len(order):
        batch = order[done : min(look, len(order))]
        for instance, played in zip(batch, arena.run(configuration, batch), strict=True):
            trial.report(played.score, instance)
            total += played.score
        done += len(batch)
        look *= 2
        if done < len(order) and trial.should_prune():
            break
    study.tell(trial, total / done)

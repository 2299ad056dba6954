"""Optuna: random or TPE proposals, cut short by its median pruner.

A trial runs a proposal on instances 1, 2, 4, 8, … up to `instances`, reports the mean score after each of
these steps, and ends there if the pruner says so. The answer is the configuration with the best mean among
those with the most instances.

All parameters are suggested in every trial, and those that are not active are left out afterwards; a
suggestion that the space forbids is told to Optuna as a failed trial.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from utilitune.baselines.rival import finished, require_whole
from utilitune.errors import MissingExtraError
from utilitune.peers.peer import Peer
from utilitune.spaces.parameters import NumberParameter
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.peers.arena import Arena
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.spaces.parameters import Parameter, Value

_ATTEMPTS = 1000


@dataclass(frozen=True)
class _OptunaPeer(Peer):
    """Optuna and its settings.

    Attributes:
        instances: Most instances of one trial.
        trials: Most trials; a proposal that is known costs nothing, so time alone might never end it.
    """

    instances: int = 64
    trials: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("the number of trials", self.trials)

    @staticmethod
    def is_installed() -> bool:
        """Whether the extra ``peers`` is there."""
        return find_spec("optuna") is not None

    def require_installed(self) -> None:
        """Refuse to play without the extra ``peers``."""
        if not self.is_installed():
            raise MissingExtraError("Optuna", "peers")

    @abstractmethod
    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        """Who suggests."""

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        """Make trials; yield the answer after each."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            direction="maximize", sampler=self._sampler(), pruner=optuna.pruners.MedianPruner()
        )
        for assignment in arena.given:
            study.enqueue_trial(_suggested_as(arena.space, assignment))
        for _ in range(self.trials):
            asked = _next_trial(study, arena.space)
            if asked is None:
                return finished(
                    f"Optuna has suggested {_ATTEMPTS:,} configurations in a row that the scenario forbids: "
                    "use conditions in place of forbidden clauses."
                )
            trial, assignment = asked
            _run_trial(study, trial, arena, arena.number(assignment))
            yield arena.leader()
        return finished(f"Optuna has made its {self.trials} trials: allow more of them to go on.")


class OptunaRandom(_OptunaPeer):
    """Optuna with its random sampler."""

    name: ClassVar[str] = "optuna-random"

    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=self.seed)


class OptunaTpe(_OptunaPeer):
    """Optuna with its tree-structured Parzen estimator."""

    name: ClassVar[str] = "optuna-tpe"

    def _sampler(self) -> Any:  # noqa: ANN401 -- optuna's sampler
        from optuna.samplers import TPESampler

        return TPESampler(seed=self.seed)


def _next_trial(study: Any, space: ParameterSpace) -> tuple[Any, Assignment] | None:  # noqa: ANN401 -- optuna's study
    """The next trial and its configuration; None if Optuna finds none that is allowed."""
    from optuna.trial import TrialState

    for _ in range(_ATTEMPTS):
        trial = study.ask()
        try:
            return trial, space.completed(
                {name: _suggest(trial, each) for name, each in space.parameters.items()}
            )
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


def _run_trial(study: Any, trial: Any, arena: Arena, configuration: int) -> None:  # noqa: ANN401 -- optuna's study and trial
    from optuna.trial import TrialState

    step = 1
    while True:
        played = arena.run(configuration, range(step))
        mean = sum(each.score for each in played) / step
        trial.report(mean, step)
        if step == arena.positions:
            study.tell(trial, mean)
            return
        if trial.should_prune():
            study.tell(trial, state=TrialState.PRUNED)
            return
        step = min(2 * step, arena.positions)

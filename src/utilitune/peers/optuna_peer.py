"""Optuna on recorded runtimes: random or TPE proposals, cut short by its median pruner.

A trial runs the recorded configuration nearest to Optuna's proposal on instances 1, 2, 4, 8, … up to
`instances`, reports the mean score after each of these steps, and ends there if the pruner says so. A run
pays min(runtime, captime), and a run that is known already is free, as for every rival. The answer is the row
with the best mean among those with the most instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from utilitune.baselines.rival import (
    Objective,
    Scores,
    Standing,
    check_optional_captime,
    finished,
    require_objective,
    require_whole,
)
from utilitune.errors import MissingExtraError, UsageError
from utilitune.peers.nearest import NearestRow

if TYPE_CHECKING:
    from collections.abc import Generator

    import numpy as np
    from numpy.typing import NDArray

    from utilitune.baselines.rival import Allowance, RecordedRuns
    from utilitune.domain import StopReason


class Sampler(StrEnum):
    """Which of Optuna's samplers proposes."""

    RANDOM = "random"
    TPE = "tpe"


def optuna_is_installed() -> bool:
    """Whether the extra ``peers`` is there."""
    return find_spec("optuna") is not None


@dataclass(frozen=True, eq=False)
class OptunaPeer:
    """Optuna and its settings.

    Attributes:
        features: Features of the configurations, as in `RuntimeMatrix.features`.
        sampler: Who proposes.
        instances: Most instances of one trial.
        captime_s: Where runs are stopped; the cutoff of the recording if left out.
        objective: What a trial's score is.
        trials: Most trials; a proposal that is known costs nothing, so time alone might never end it.
        seed: Seed of the sampler.
    """

    features: NDArray[np.float64]
    sampler: Sampler = Sampler.TPE
    instances: int = 64
    captime_s: float | None = None
    objective: Objective = Objective.UTILITY
    trials: int = 1000
    seed: int = 0

    name: ClassVar[str] = "optuna"
    anytime: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.sampler, Sampler):
            raise UsageError(f"the sampler must be a Sampler ({' or '.join(Sampler)}), not {self.sampler!r}")
        require_whole("the number of instances of a trial", self.instances)
        require_whole("the number of trials", self.trials)
        require_objective(self.objective)
        check_optional_captime(self.captime_s)

    def play(self, runs: RecordedRuns, allowance: Allowance) -> Generator[Standing, None, StopReason]:
        """Make trials; yield where it stands after each."""
        if not optuna_is_installed():
            raise MissingExtraError("Optuna", "peers")
        if len(self.features) != runs.configurations:
            raise UsageError(
                f"there are features of {len(self.features)} configurations, but {runs.configurations} rows"
            )
        nearest = NearestRow(self.features)
        table = _Table(runs, Scores(runs, self.objective, runs.captime_s(self.captime_s)))
        most = min(self.instances, runs.positions)
        study = self._study()
        for _ in range(self.trials):
            trial = study.ask()
            point = [trial.suggest_float(f"x{axis}", 0.0, 1.0) for axis in range(nearest.dimensions)]
            self._run_trial(study, trial, table, nearest.row(point), most)
            standing = table.standing()
            yield standing
            if allowance.reached(standing):
                break
        return finished(f"Optuna has made its {self.trials} trials: allow more of them to go on.")

    def _study(self) -> Any:  # noqa: ANN401 -- optuna's study
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = optuna.samplers
        made = (
            samplers.TPESampler(seed=self.seed)
            if self.sampler is Sampler.TPE
            else samplers.RandomSampler(seed=self.seed)
        )
        return optuna.create_study(direction="maximize", sampler=made, pruner=optuna.pruners.MedianPruner())

    @staticmethod
    def _run_trial(study: Any, trial: Any, table: _Table, row: int, most: int) -> None:  # noqa: ANN401 -- optuna's study and trial
        from optuna.trial import TrialState

        step = 1
        while True:
            mean = table.advance(row, step)
            trial.report(mean, step)
            if step == most:
                study.tell(trial, mean)
                return
            if trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                return
            step = min(2 * step, most)


class _Table:
    """What is known of the rows: how many instances, their mean score; and what it has cost."""

    def __init__(self, runs: RecordedRuns, scores: Scores) -> None:
        self._runs = runs
        self._scores = scores
        self._known: dict[int, tuple[int, float]] = {}
        self._total_s = 0.0
        self._made = 0

    def advance(self, row: int, instances: int) -> float:
        """Run a row up to so many instances; its mean score over all it has run."""
        have, total = self._known.get(row, (0, 0.0))
        if instances > have:
            scores, paid_s = self._scores.of(row, have, instances)
            total += float(scores.sum())
            self._total_s += float(paid_s.sum())
            self._made += instances - have
            self._known[row] = (instances, total)
        have, total = self._known[row]
        return total / have

    def standing(self) -> Standing:
        """The best mean among the rows with the most instances."""
        best = max(
            self._known, key=lambda row: (self._known[row][0], self._known[row][1] / self._known[row][0])
        )
        seen = len(self._known)
        return Standing(best, self._total_s, self._made, configurations=seen, alive=seen)

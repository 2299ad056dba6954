"""SMAC3: random-forest proposals, raced on more and more instances by its own intensifier.

SMAC's facade for algorithm configuration, as it comes, is asked for a trial (a configuration and an instance)
and told its cost; its own runner, process limits and parallel workers are never used. Where the scenario has
features of instances, SMAC's model learns from them. The answer is SMAC's incumbent. One trial is made after
the other.
"""

from __future__ import annotations

import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from utilitune.domain.stopping import finished
from utilitune.rivals.packages.decimals import without_digits
from utilitune.rivals.packages.peer import PythonPeer
from utilitune.spaces.configspace import to_configspace
from utilitune.spaces.parameters import NumberParameter

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.rivals.packages.arena import Arena
    from utilitune.spaces import ParameterSpace
    from utilitune.spaces.parameters import Value

_UNLIMITED = 10**9
_IDLE_TRIALS = 1000


@dataclass(frozen=True)
class Smac(PythonPeer):
    """SMAC3 and its settings; a trial is a run of one configuration on one instance."""

    name: ClassVar[str] = "smac"
    one_run_at_a_time: ClassVar[bool] = True
    title: ClassVar[str] = "SMAC3"
    package: ClassVar[str] = "smac"
    extra: ClassVar[str] = "smac"

    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        """Make trials; yield SMAC's incumbent after each."""
        from joblib import parallel_config
        from smac.main.exceptions import ConfigurationSpaceExhaustedException
        from smac.runhistory.dataclasses import TrialValue

        with tempfile.TemporaryDirectory(prefix="utilitune-smac-") as folder:
            facade = self._facade(arena, Path(folder))
            made = 0
            while self.trials is None or made < self.trials:
                try:
                    with parallel_config(
                        backend="sequential"
                    ):  # threads for small forests wait more than work
                        trial = facade.ask()
                except (StopIteration, ConfigurationSpaceExhaustedException):
                    return finished("SMAC has no configuration left to try.")
                number = arena.number(_assignment(arena.space, trial.config))
                (played,) = arena.run(number, [int(trial.instance)])
                facade.tell(trial, TrialValue(cost=-played.score, time=played.time_s), save=False)
                made += 1
                incumbent = facade.intensifier.get_incumbent()
                if incumbent is not None:
                    yield arena.number(_assignment(arena.space, incumbent))
                if arena.idle(_IDLE_TRIALS):
                    return finished(f"SMAC has asked for nothing new in {_IDLE_TRIALS:,} trials.")
        return finished(f"SMAC has made its {self.trials} trials: allow more of them to go on.")

    def _facade(self, arena: Arena, folder: Path) -> Any:  # noqa: ANN401 -- smac's facade
        from ConfigSpace import Configuration
        from smac import AlgorithmConfigurationFacade, Scenario

        logging.getLogger("smac").setLevel(logging.ERROR)
        space = to_configspace(without_digits(arena.space))
        space.seed(self.own_seed)
        scenario = Scenario(
            space,
            output_directory=folder,
            deterministic=True,
            instances=[str(position) for position in range(arena.positions)],
            instance_features=_features(arena),
            n_trials=min(arena.budget.run_limit, self.trials or _UNLIMITED, _UNLIMITED),
            seed=self.own_seed,
        )
        given = [Configuration(space, values=dict(assignment)) for assignment in arena.given]
        return AlgorithmConfigurationFacade(
            scenario,
            initial_design=AlgorithmConfigurationFacade.get_initial_design(
                scenario, additional_configs=given[1:]
            ),
            logging_level=False,
            overwrite=True,
        )


def _features(arena: Arena) -> dict[str, list[float]] | None:
    """What is known of the instances, by the names that SMAC has for them."""
    if arena.features is None:
        return None
    return {str(position): list(arena.features[position]) for position in range(arena.positions)}


def _assignment(space: ParameterSpace, config: Any) -> dict[str, Value]:  # noqa: ANN401 -- smac's configuration
    """A configuration of SMAC's in our terms."""
    return {name: _plain(space, name, config[name]) for name in space.names if name in config}


def _plain(space: ParameterSpace, name: str, value: Any) -> Value:  # noqa: ANN401 -- a value of numpy or Python
    plain: Value = value.item() if hasattr(value, "item") else value
    parameter = space.parameters[name]
    if isinstance(parameter, NumberParameter) and parameter.digits is not None:
        return round(float(plain), parameter.digits)
    return plain

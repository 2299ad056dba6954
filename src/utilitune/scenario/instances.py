"""The instances of a run, in the one order in which every configuration takes them.

The order of a list and every seed are SHA-256 values of the scenario's seed and the instance's name or
position. They are the same on every machine and with every version of every library, and a
configuration sees the same instance–seed pairs whatever was run before.

A name that is listed k times stands for k pairs of this instance and a seed. Each pair has a hash of its own,
of the name and its occurrence, so the order of the pairs is as random as that of names listed once. (Sorted
by the name's hash alone all copies would stand together: the first positions would show few instances.)
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from utilitune.errors import ScenarioError
from utilitune.errors.outside import exists, is_file
from utilitune.scenario.fingerprints import FileWatch
from utilitune.scenario.generating import make_instance
from utilitune.scenario.model import GeneratedInstances, InstanceSet, ListedInstances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.scenario.fingerprints import Known
    from utilitune.scenario.model import Scenario

TRAINING = "training"
TEST = "test"


def _never() -> bool:
    return False


class InstanceSource(Protocol):
    """Instances by position, counted from 0 in a fixed random order."""

    @property
    def count(self) -> int | None:
        """How many there are; None means without end."""

    def name(self, position: int) -> str:
        """What the target receives as its instance."""

    def seed(self, position: int) -> int:
        """The seed every configuration runs this instance with, 0 ≤ seed < 2^31."""

    def prepare(self, position: int, stopping: Callable[[], bool] = ...) -> bool:
        """Make sure the instance exists; to be called before it is first run.

        Args:
            position: Which instance.
            stopping: Asked now and then while an instance is made, whether to give up.

        Returns:
            Whether the instance is there: not if it was given up.

        Raises:
            InputChangedError: It is not what it was when it was first used.
        """

    def require_unchanged(self, position: int) -> None:
        """Refuse an instance that is not what it was; to be called when a run on it has ended.

        Raises:
            InputChangedError: It has changed, or is gone.
        """


def instance_source(scenario: Scenario, role: str = TRAINING, known: Known | None = None) -> InstanceSource:
    """The training or test instances of a scenario.

    Args:
        scenario: Whose instances.
        role: Which of them.
        known: Gives the fingerprints of those that are files, where they were taken already.
    """
    instances: InstanceSet | None = scenario.training if role == TRAINING else scenario.test
    if instances is None:
        raise ScenarioError("the scenario has no test instances; add instances.test to evaluate an answer")
    watch = FileWatch(scenario.directory, known)
    if isinstance(instances, ListedInstances):
        order = tuple(_shuffled(instances.names, scenario.seed, role))
        return _Listed(order, scenario.seed, role, watch if instances.files else None)
    return _Generated(instances, scenario.directory, scenario.seed, role, watch)


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A 31-bit seed that follows from the scenario's seed and a purpose."""
    return int.from_bytes(_hashed(seed, *purpose)[:4], "big") >> 1


def made_name(instances: GeneratedInstances, scenario_seed: int, role: str, position: int) -> str:
    """The file of a generated instance, within the scenario's folder; made already or not."""
    instance_seed = _making_seed(scenario_seed, role, position)
    return str(Path(instances.folder) / f"{role}-{position}-{instance_seed}{instances.suffix}")


def _making_seed(scenario_seed: int, role: str, position: int) -> int:
    """What the generator makes an instance from."""
    return derived_seed(scenario_seed, role, "make", position)


def _hashed(seed: int, *purpose: str | int) -> bytes:
    text = "\0".join(map(str, (seed, *purpose)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _shuffled(names: tuple[str, ...], seed: int, role: str) -> list[str]:
    """The names in the order of their hashes, each occurrence of a name by a hash of its own."""
    pairs = ((_hashed(seed, role, "order", *pair), *pair) for pair in _occurrences(names))
    return [name for _, name, *_ in sorted(pairs)]


def _occurrences(names: tuple[str, ...]) -> Iterator[tuple[str] | tuple[str, int]]:
    """Every name with the number of its occurrence; the first has none, as in lists without repetition."""
    seen: Counter[str] = Counter()
    for name in names:
        yield (name, seen[name]) if seen[name] else (name,)
        seen[name] += 1


@dataclass(frozen=True, slots=True)
class _Listed:
    names: tuple[str, ...]
    scenario_seed: int
    role: str
    watch: FileWatch | None = field(default=None, compare=False)

    @property
    def count(self) -> int:
        return len(self.names)

    def name(self, position: int) -> str:
        return self.names[position]

    def seed(self, position: int) -> int:
        return derived_seed(self.scenario_seed, self.role, "run", position)

    def prepare(self, position: int, stopping: Callable[[], bool] = _never) -> bool:  # noqa: ARG002 - the seam's
        """The instances are there, but must be what they were."""
        self.require_unchanged(position)
        return True

    def require_unchanged(self, position: int) -> None:
        if self.watch is not None:
            self.watch.require_unchanged(self.names[position])


@dataclass(frozen=True, slots=True)
class _Generated:
    instances: GeneratedInstances
    directory: Path
    scenario_seed: int
    role: str
    watch: FileWatch = field(compare=False)

    @property
    def count(self) -> int | None:
        return self.instances.count

    def name(self, position: int) -> str:
        return made_name(self.instances, self.scenario_seed, self.role, position)

    def seed(self, position: int) -> int:
        return derived_seed(self.scenario_seed, self.role, "run", position)

    def prepare(self, position: int, stopping: Callable[[], bool] = _never) -> bool:
        """Run the generator unless the file is there; a file appears only when it is complete."""
        finished = self.directory / self.name(position)
        there = exists(finished)
        if not there:
            there = make_instance(finished, partial(self._command, position), self.directory, stopping)
        if there:
            self.require_unchanged(position)
        return there

    def require_unchanged(self, position: int) -> None:
        self.watch.require_unchanged(self.name(position))

    def _command(self, position: int, output: Path) -> list[str]:
        """The command line that writes the instance at a position to a file."""
        instance_seed = _making_seed(self.scenario_seed, self.role, position)
        values = {"seed": str(instance_seed), "output": str(output)}
        argv = [word.format_map(values) for word in self.instances.argv]
        argv[0] = program_path(self.directory, argv[0]) or argv[0]
        return argv


def program_path(directory: Path, program: str) -> str | None:
    """The full path of an executable program, looked for in the folder and then on the PATH."""
    local = directory / program
    if is_file(local) and os.access(local, os.X_OK):
        return str(local)
    return None if os.sep in program else shutil.which(program)

"""``utilitune check``: is a scenario right? One real run tells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.domain import RunOutcome
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import RunRules
    from utilitune.scenario.model import Scenario
    from utilitune.targets.base import Invocation

_LONGEST_CHECK_S = 60.0
_LONGEST_START_S = 10.0
_SHORTEST_START_S = 1.0
_TAIL_LINES = 15


def check(
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    captime: Annotated[
        str | None,
        typer.Option(
            help="Stop the run after this time, e.g. 5s.  [default: the scenario's largest captime, at most "
            "60s]"
        ),
    ] = None,
) -> None:
    """Check a scenario file, then make one real run of the default configuration.

    The run is made on the first training instance, exactly as 'utilitune run' would make it. You see
    the command, the end of its output, how it was judged and what it used.

    For example:

    - `utilitune check scenario.toml`
    """
    from utilitune.cli import understanding
    from utilitune.errors import TargetError
    from utilitune.utility import parse_duration

    captime_s = None if captime is None else parse_duration(captime)
    understood = understanding.explained(scenario)
    told = understood.scenario
    understanding.settings_told(scenario, told)
    _print_scenario(told, scenario)
    _check_features(told)
    trial = _try_out(told, captime_s)
    _print_trial(told, trial)
    for warning in _warnings(told, trial, partial(understanding.setting, scenario, understood)):
        _say(f"Warning: {warning}", style="yellow")
    if not (trial.outcome.finished or trial.outcome.status == "timeout" or trial.rejected):
        why = ": ".join(filter(None, [trial.outcome.status.value, _last_line(trial.outcome.detail)]))
        raise TargetError(
            f"the default configuration failed on the first training instance ({why}); run the command above "
            f"by hand, then mend the program, its command or how its success is judged in {scenario}"
        )
    _say(f"Ready: utilitune run {scenario}", style="green")


def _check_features(scenario: Scenario) -> None:
    """Read the file of instance features, or try the command that makes them on the first instance."""
    from utilitune.scenario.features import computed_features
    from utilitune.session.supply import training_features

    if isinstance(scenario.features, str):
        training_features(scenario)
    elif scenario.features is not None:
        computed_features(scenario, 0)


@dataclass(frozen=True, slots=True)
class Trial:
    """What the one run showed.

    Attributes:
        command: What was run, to paste into a shell.
        captime_s: Where it would have been stopped.
        outcome: What came of it.
        start_up_s: How long the program needs to start, where it could be measured.
        disagreement: A sentence where a wrapper's own figure is far from the measured one.
    """

    command: str
    captime_s: float
    outcome: RunOutcome
    start_up_s: float | None
    disagreement: str = ""

    @property
    def rejected(self) -> bool:
        """Whether the wrapper did not want this configuration, which says nothing of others."""
        from utilitune.targets.wrappers import REJECTED

        return self.outcome.detail == REJECTED


def _try_out(scenario: Scenario, captime_s: float | None) -> Trial:
    from utilitune.evaluation import usual_captime_s
    from utilitune.execution.runs import RunRules
    from utilitune.scenario.instances import instance_source
    from utilitune.scenario.targets import build_target
    from utilitune.session.opening import backend_for
    from utilitune.session.result import task_text
    from utilitune.targets.base import Invocation

    target = build_target(scenario)
    target.check()
    instances = instance_source(scenario)
    instances.prepare(0)
    limit_s = min(usual_captime_s(scenario), _LONGEST_CHECK_S) if captime_s is None else captime_s
    invocation = Invocation(scenario.space.default(), instances.name(0), instances.seed(0), limit_s)
    rules = RunRules(target, scenario.measure, scenario.memory_bytes)
    with backend_for(scenario, 1) as backend:
        outcome, disagreement = _run(rules, invocation, backend)
        start_up_s = _start_up_s(scenario, rules, invocation, backend)
    return Trial(task_text(target.prepare(invocation)), limit_s, outcome, start_up_s, disagreement)


def _run(rules: RunRules, invocation: Invocation, backend: Backend) -> tuple[RunOutcome, str]:
    backend.submit(0, rules.job(invocation))
    [(_, raw)] = backend.wait()
    judged = rules.judge(invocation, raw)
    return judged.outcome, rules.disagreement(invocation, judged, unnoticed_s=0.0)


def _start_up_s(
    scenario: Scenario, rules: RunRules, invocation: Invocation, backend: Backend
) -> float | None:
    """How long the default configuration takes on an empty file.

    Most programs refuse one as soon as they have started, so this is about their start-up, and never less.
    None where instances are no files, or where the program does not end by itself.
    """
    import tempfile
    from dataclasses import replace

    from utilitune.domain import Measure, RunStatus
    from utilitune.errors import TargetError
    from utilitune.scenario.model import CommandSpec, GeneratedInstances

    training = scenario.training
    files = isinstance(training, GeneratedInstances) or training.files
    if not (files and isinstance(scenario.target, CommandSpec)):
        return None
    with tempfile.NamedTemporaryFile(suffix=Path(invocation.instance).suffix) as empty:
        limit_s = min(max(invocation.captime_s, _SHORTEST_START_S), _LONGEST_START_S)
        try:
            outcome, _ = _run(rules, replace(invocation, instance=empty.name, captime_s=limit_s), backend)
        except TargetError:  # a wrapper may answer ABORT to an instance that makes no sense
            return None
    if outcome.status is RunStatus.TIMEOUT:
        return None
    return outcome.cpu_s if scenario.measure is Measure.CPU else outcome.wall_s


def _warnings(scenario: Scenario, trial: Trial, setting: Callable[[str], str]) -> Iterator[str]:
    from utilitune.domain import RunStatus
    from utilitune.scenario.model import CommandSpec, RecordedSpec
    from utilitune.utility import format_duration

    if trial.disagreement:
        yield trial.disagreement
    if trial.rejected:
        yield "the wrapper rejects the default configuration (Inf), so this says nothing of others"
    yield from _start_up_warnings(scenario, trial, setting)
    if trial.outcome.status is RunStatus.TIMEOUT:
        yield (
            f"the run did not finish within {format_duration(trial.captime_s)}, so its output and success "
            "were not judged: try a longer --captime or an easier first instance"
        )
    command = scenario.target.argv if isinstance(scenario.target, CommandSpec) else ("{instance}",)
    if not any(sign in word for word in command for sign in ("{instance}", "{instance_path}")):
        yield (
            "the command has no {instance}, so every instance is the same to it: add it to "
            + setting("target.command")
        )
    stop = scenario.stop
    if all(rule is None for rule in (stop.epsilon, stop.cpu_time_s, stop.wall_time_s, stop.runs)):
        limit = setting("budget.wall_time")
        yield f"nothing ends the run but you: set {limit}, run it with --epsilon, or press Ctrl-C"
    if scenario.test is None and not isinstance(scenario.target, RecordedSpec):
        yield (
            "there are no test instances for 'utilitune evaluate' to compare on: set "
            + setting("instances.test")
        )


def _start_up_warnings(scenario: Scenario, trial: Trial, setting: Callable[[str], str]) -> Iterator[str]:
    """Where a captime is too short even for an empty file, the worse of the two things to say.

    Whether that time is start-up or work cannot be seen from outside, so only what was measured is told; and
    nothing where the run on a real instance was quicker than the captime.
    """
    from utilitune.utility import format_duration

    if trial.start_up_s is None:
        return
    quickest_s = min(trial.start_up_s, trial.outcome.runtime_s)
    smallest_s, largest_s = scenario.captime0_s, scenario.max_captime_s
    longer = (
        f"is no longer than the {format_duration(trial.start_up_s)} that the default configuration takes "
        "even on an empty file"
    )
    if largest_s is not None and largest_s <= quickest_s:
        yield (
            f"the largest captime, {format_duration(largest_s)}, {longer}: hardly any of its runs could "
            "finish; raise " + setting("limits.largest_captime")
        )
    elif smallest_s <= quickest_s:
        yield (
            f"the smallest captime, {format_duration(smallest_s)}, {longer}: its first runs would nearly all "
            "be stopped; raise " + setting("limits.smallest_captime")
        )


def _print_scenario(scenario: Scenario, path: Path) -> None:
    from utilitune.scenario.instances import TEST, instance_source

    def size(count: int | None) -> str:
        return "endless" if count is None else f"{count:,}"

    training = size(instance_source(scenario).count)
    test = "no" if scenario.test is None else size(instance_source(scenario, TEST).count)
    count = len(scenario.space.names)
    parameters = f"{count} parameter{'' if count == 1 else 's'}"
    _say(
        f"{path} is valid: {parameters}, {training} training and {test} test "
        f"instances, utility {scenario.utility}."
    )


def _print_trial(scenario: Scenario, trial: Trial) -> None:
    from utilitune.cli.texts import memory_text, printable
    from utilitune.utility import format_duration

    outcome = trial.outcome
    _say("\nThe default configuration on the first training instance:")
    _say(f"  {trial.command}")
    tail = printable(outcome.output_tail, keep="\n\t").rstrip().splitlines()[-_TAIL_LINES:]
    _say("The end of its output:" if tail else "It printed nothing.")
    for line in tail:
        _say(f"  | {line}")
    ended = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
    _say(f"Status: {outcome.status.value}{ended}")
    _say(
        f"CPU time {format_duration(outcome.cpu_s)}, wall-clock time {format_duration(outcome.wall_s)}, "
        f"largest memory {memory_text(outcome.peak_memory_bytes)} "
        f"(what counts is {_counted(scenario)}: {format_duration(outcome.runtime_s)})"
    )
    if trial.start_up_s is not None:
        _say(f"Start-up: at most about {format_duration(trial.start_up_s)}, its time on an empty file")


def _counted(scenario: Scenario) -> str:
    """Which of the times of a run is its runtime, in words."""
    from utilitune.scenario.targets import build_target

    reported = build_target(scenario).reports_runtime
    return "the time it reports" if reported else f"{scenario.measure.value} time"


def _say(text: str, style: str | None = None) -> None:
    from utilitune.cli.texts import words

    words().print(text, style=style)


def _last_line(text: str) -> str:
    """The line of a traceback or message that says most."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""

"""``utilitune check``: is a scenario right? One real run tells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.errors.outside import shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.domain import RunOutcome
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import Judged, RunRules
    from utilitune.live.task import Task
    from utilitune.scenario.model import Scenario
    from utilitune.targets.base import Invocation

_LONGEST_CHECK_S = 60.0
_LONGEST_START_S = 10.0
_SHORTEST_START_S = 1.0
_TAIL_LINES = 15
_LINE_CHARACTERS = 400
"""How much of a line of the program's output is shown; of a longer one the middle is left out."""

_HIDING = 0.5
"""The share of a run from which on its start-up hides what the configuration changes."""


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
    from utilitune.live.failures import last_line
    from utilitune.live.task import Task
    from utilitune.utility import parse_duration

    captime_s = None if captime is None else parse_duration(captime)
    understood = understanding.explained(scenario, guess_on_stdout=True)
    told = understood.scenario
    understanding.check_search_told(scenario, told, understanding.settings_told(scenario, told))
    task = Task(told)
    _print_scenario(task, scenario)
    task.check_features()
    trial = _try_out(task, captime_s)
    _print_trial(task, trial)
    _print_quality(task, trial)
    for warning in _warnings(told, trial, partial(understanding.setting, scenario, understood)):
        _say(f"Warning: {warning}", style="yellow")
    if not (trial.outcome.finished or trial.outcome.status == "timeout" or trial.rejected):
        why = ": ".join(filter(None, [trial.outcome.status.value, last_line(trial.outcome.detail)]))
        raise TargetError(
            f"the default configuration failed on the first training instance ({why}); run the command above "
            f"by hand, then mend the program, its command or how its success is judged in {scenario}"
            + _glued(told)
        )
    for note in _missing_parts(told):
        _say(f"Note: {note}", style="yellow")
    _say(f"Ready: utilitune run {shell_word(str(scenario))}", style="green")


def _glued(scenario: Scenario) -> str:
    """A hint where an option and its value are written as one element: they reach the program as one."""
    from utilitune.scenario.model import CommandSpec

    if not isinstance(scenario.target, CommandSpec):
        return ""
    target = scenario.target
    for word in (*target.argv, *target.default_template):
        option, blank, value = word.partition(" ")
        if option.startswith("-") and blank and value:
            return f"; one element is one argument: if '{word}' should be two, write '{option}', '{value}'"
    return ""


def _missing_parts(scenario: Scenario) -> Iterator[str]:
    """What the run would do without, because it is not installed or does not exist."""
    from importlib.util import find_spec

    from utilitune.domain import Objective
    from utilitune.live.running import NO_SEARCH_AT_ANY_TIME

    if scenario.objective is Objective.ANYTIME and scenario.search.share > 0:
        yield f"{NO_SEARCH_AT_ANY_TIME}."

    proposes = scenario.procedure == "wager" and scenario.search.share == 0  # search has a model of its own
    if proposes and find_spec("sklearn") is None:
        yield (
            "scikit-learn is not installed, so no model proposes configurations, and all will be drawn at "
            "random: pip install scikit-learn"
        )


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What the one run showed.

    Attributes:
        command: What was run, to paste into a shell.
        captime_s: Where it would have been stopped.
        outcome: What came of it.
        start_up_s: How long the program needs to start, where it could be measured.
        disagreement: A sentence where a wrapper's own figure is far from the measured one.
        reported_s: The runtime that a wrapper reported itself, where it did.
    """

    command: str
    captime_s: float
    outcome: RunOutcome
    start_up_s: float | None
    disagreement: str = ""
    reported_s: float | None = None

    @property
    def rejected(self) -> bool:
        """Whether the wrapper did not want this configuration, which says nothing of others."""
        from utilitune.targets.wrappers import REJECTED

        return self.outcome.detail == REJECTED


def _try_out(task: Task, captime_s: float | None) -> CheckRun:
    from dataclasses import replace

    from utilitune.live.task import Task, task_text
    from utilitune.targets.base import Invocation

    rules, instances = task.rules, task.training
    instances.prepare(0)
    limit_s = min(task.usual_captime_s, _LONGEST_CHECK_S) if captime_s is None else captime_s
    invocation = Invocation(task.space.default(), instances.name(0), instances.seed(0), limit_s)
    with Task(replace(task.scenario, cluster=None)).backend(1) as backend:
        judged = _run(rules, invocation, backend)
        start_up_s = _start_up_s(task.scenario, rules, invocation, backend)
    return CheckRun(
        command=task_text(task.target.prepare(invocation)),
        captime_s=limit_s,
        outcome=judged.outcome,
        start_up_s=start_up_s,
        disagreement=rules.disagreement(invocation, judged, unnoticed_s=0.0),
        reported_s=judged.reported_s,
    )


def _run(rules: RunRules, invocation: Invocation, backend: Backend) -> Judged:
    backend.submit(0, rules.job(invocation))
    [(_, raw)] = backend.wait()
    return rules.judge(invocation, raw)


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
            outcome = _run(
                rules, replace(invocation, instance=empty.name, captime_s=limit_s), backend
            ).outcome
        except TargetError:  # a wrapper may answer ABORT to an instance that makes no sense
            return None
    if outcome.status is RunStatus.TIMEOUT:
        return None
    return outcome.cpu_s if scenario.measure is Measure.CPU else outcome.wall_s


def _warnings(scenario: Scenario, trial: CheckRun, setting: Callable[[str], str]) -> Iterator[str]:
    from utilitune.domain import RunStatus
    from utilitune.errors.outside import shortened
    from utilitune.scenario.model import CommandSpec, RecordedSpec
    from utilitune.scenario.overlap import overlap_of
    from utilitune.utility import format_duration

    hidden = [] if scenario.quality is not None else list(_hidden_solver(scenario, trial, setting))
    if trial.disagreement and not hidden:  # else the same is said of the same two times
        yield trial.disagreement
    if trial.rejected:
        yield "the wrapper rejects the default configuration (Inf), so this run shows nothing about others"
    if scenario.quality is None:
        yield from _start_up_warnings(scenario, trial, setting)
        yield from hidden
    stopped_early = scenario.quality is None or trial.captime_s < scenario.limit_s
    if trial.outcome.status is RunStatus.TIMEOUT and stopped_early:
        yield (
            f"the run did not finish within {format_duration(trial.captime_s)}, so its output and success "
            "were not judged: try a longer --captime or an easier first instance"
        )
    command = scenario.target.argv if isinstance(scenario.target, CommandSpec) else ("{instance}",)
    if not any(sign in word for word in command for sign in ("{instance", "{specifics}")):
        yield (
            "the command has no {instance}, so every instance is the same to it: add it to "
            + setting("target.command")
        )
    stop = scenario.stop
    if all(rule is None for rule in (stop.epsilon, stop.cpu_time_s, stop.wall_time_s, stop.runs)):
        limit = setting("budget.wall_time")
        yield f"nothing ends the run but you: set {limit}, run it with --epsilon, or press Ctrl-C"
    same, _ = overlap = overlap_of(scenario)
    if overlap.not_compared:
        yield overlap.note()
    if same:
        example = repr(shortened(same[0], 80))
        which = (
            f"1 of the test instances is a training instance, too ({example})"
            if len(same) == 1
            else f"{len(same):,} of the test instances are training instances, too ({example} is one)"
        )
        yield (
            f"{which}, so 'utilitune evaluate' could not tell whether an answer is better: take others for "
            + setting("instances.test")
        )
    yield from _copies(scenario, setting)
    if scenario.test is None and not isinstance(scenario.target, RecordedSpec):
        yield (
            "there are no test instances for 'utilitune evaluate' to compare on: set "
            + setting("instances.test")
        )


def _copies(scenario: Scenario, setting: Callable[[str], str]) -> Iterator[str]:
    """Instances of a list that are others of it under another name."""
    from utilitune.errors.outside import shortened
    from utilitune.scenario.model import Population
    from utilitune.scenario.overlap import copies_in

    harm = "so the same instance counts more than once in the mean that is promised: list each once"
    if scenario.population is Population.INFINITE:
        harm = (
            "so the list is no independent sample, on which the promise rests: list each once, or set "
            + setting('instances.population = "finite"')
        )
    unlike = "so an evaluation looks surer than it is: list each once"
    for role, instances, why in (("training", scenario.training, harm), ("test", scenario.test, unlike)):
        found = copies_in(scenario.directory, instances)
        if found.pairs:
            copy, first = (repr(shortened(name, 80)) for name in found.pairs[0])
            one = len(found.pairs) == 1
            which = (
                f"1 of the {role} instances holds" if one else f"{len(found.pairs):,} {role} instances hold"
            )
            yield f"{which} the same as another one ({copy} as {first}), {why}"
        if found.not_compared:
            yield (
                f"{found.not_compared:,} of the {role} instances may hold the same as another one: size and "
                "beginning are equal, and the files are too large to compare all of them"
            )


def _start_up_warnings(scenario: Scenario, trial: CheckRun, setting: Callable[[str], str]) -> Iterator[str]:
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


def _hidden_solver(scenario: Scenario, trial: CheckRun, setting: Callable[[str], str]) -> Iterator[str]:
    """Where most of a run is the start of its wrapper, which takes the same for every configuration."""
    from utilitune.scenario.model import CommandSpec
    from utilitune.utility import format_duration

    outcome, target, reported_s = trial.outcome, scenario.target, trial.reported_s
    if not (outcome.finished and isinstance(target, CommandSpec)) or reported_s is None:
        return
    hidden_s = outcome.runtime_s - reported_s
    if target.rules.reports_runtime or hidden_s < _HIDING * outcome.runtime_s:
        return
    yield (
        f"{format_duration(hidden_s)} of the {format_duration(outcome.runtime_s)} that the run took are not "
        "the solver's by the wrapper's own account, and are the same for every configuration: a tiny ε then "
        "proves little; let the time that the wrapper reports count with "
        f"{setting('target.reported_runtime = true')}, or take larger instances"
    )


def _print_scenario(task: Task, path: Path) -> None:
    def size(count: int | None) -> str:
        return "endless" if count is None else f"{count:,}"

    scenario = task.scenario
    training = size(task.training.count)
    test = "no" if scenario.test is None else size(task.test.count)
    count = len(scenario.space.names)
    parameters = f"{count} parameter{'' if count == 1 else 's'}"
    _say(
        f"{path} is valid: {parameters}, {training} training and {test} test "
        f"instances, utility {scenario.utility}."
    )


def _print_trial(task: Task, trial: CheckRun) -> None:
    from utilitune.cli.texts import memory_text
    from utilitune.errors.outside import printable, shortened
    from utilitune.utility import format_duration

    outcome = trial.outcome
    _say("\nThe default configuration on the first training instance:")
    _say(f"  {trial.command}")
    tail = printable(outcome.output_tail, keep="\n\t").rstrip().splitlines()[-_TAIL_LINES:]
    _say("The end of its output:" if tail else "It printed nothing.")
    for line in tail:
        _say(f"  | {shortened(line, _LINE_CHARACTERS)}")
    ended = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
    _say(f"Status: {outcome.status.value}{ended}")
    _say(
        f"CPU time {format_duration(outcome.cpu_s)}, wall-clock time {format_duration(outcome.wall_s)}, "
        f"largest memory {memory_text(outcome.peak_memory_bytes)} "
        f"(what counts is {_counted(task)}: {format_duration(outcome.runtime_s)})"
    )
    if trial.start_up_s is not None:
        _say(f"Start-up: at most about {format_duration(trial.start_up_s)}, its time on an empty file")


def _print_quality(task: Task, trial: CheckRun) -> None:
    """What the one run reached and what that is worth, where the quality of solutions counts."""
    from utilitune.domain import Objective
    from utilitune.utility import Goal

    scenario, outcome = task.scenario, trial.outcome
    if scenario.quality is None:
        return
    better = f"{scenario.quality.better.value} is better"
    best = max if scenario.quality.better is Goal.LARGER else min
    found = [point.quality for point in outcome.trace if point.quality is not None]
    quality = best(found, default=None) if outcome.quality is None else outcome.quality
    reached = "none reported" if quality is None else f"{quality:.10g}"
    bound = "" if outcome.bound is None else f", bound {outcome.bound:.10g}"
    judge = task.judge()
    worth = f"worth {judge.worth(0, outcome, outcome):.3g}"
    if scenario.objective is Objective.ANYTIME:
        _say(_trace_in_words(outcome))
        worth += " at its best moment"
    if outcome.status == "timeout" and trial.captime_s < scenario.limit_s:
        worth = "its worth is known only when it has ended or has reached the limit of the scenario"
    elif judge.compares_with_default:
        worth += ", being compared with itself"
    _say(f"Quality: {reached}{bound} ({better}); {worth}")
    _say(f"A solution is {judge.utility.describe()}.")


def _trace_in_words(outcome: RunOutcome) -> str:
    """How many solutions a run has told of, and when."""
    from utilitune.utility import format_duration

    found = [point for point in outcome.trace if point.quality is not None]
    if not found:
        return "Solutions while it ran: none; see that it prints them at once, and that quality_pattern fits."
    first, last = found[0], found[-1]
    return (
        f"Solutions while it ran: {len(found)}, from {first.quality:.10g} after "
        f"{format_duration(first.time_s)} to {last.quality:.10g} after {format_duration(last.time_s)}"
    )


def _counted(task: Task) -> str:
    """Which of the times of a run is its runtime, in words."""
    if task.target.reports_runtime:
        return "the time it reports"
    return {"cpu": "CPU time", "wall": "wall-clock time"}[task.scenario.measure.value]


def _say(text: str, style: str | None = None) -> None:
    from utilitune.cli.texts import words

    words().print(text, style=style)

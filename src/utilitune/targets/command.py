"""A program described by its argument list.

The list is written with placeholders. Every element becomes exactly one argument, whatever characters
the values hold, except two that may become any number of arguments: ``{parameters}``, all parameters, each
written by its template, and ``{specifics}``, what belongs to the instance. A parameter may also be named in
an element, alone or with others (see `composite`); ``{parameters}`` then leaves it out. Nothing is split at
spaces and nothing goes through a shell.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import string
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.errors import ScenarioError, TargetError, did_you_mean
from utilitune.errors.outside import is_file, is_folder
from utilitune.targets.base import Command, Invocation, RawResult, Solution, Verdict
from utilitune.targets.composite import Composite
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import WrapperRules

if TYPE_CHECKING:
    from collections.abc import Collection

Words = tuple[str, ...]
"""Arguments to be written, with placeholders."""

Template = Words | Mapping[str, Words]
"""How a parameter is written: the same words for all values, or words per value (for switches)."""

JudgingRules = VerdictRules | WrapperRules
"""How an exit code and output are judged."""

PARAMETERS = "{parameters}"
SPECIFICS = "{specifics}"
ARGUMENT_PLACEHOLDERS = frozenset(
    {"instance", "instance_path", "seed", "captime", "whole_captime", "configuration_id", "instance_id"}
)
_MOST_KEPT = 1000
_TEMPLATE_PLACEHOLDERS = frozenset({"name", "value"})
_EVERYWHERE = ARGUMENT_PLACEHOLDERS | _TEMPLATE_PLACEHOLDERS
"""Placeholders that always have a value, so that nothing can be written instead."""


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A program called with an argument list.

    Example:
        >>> target = CommandTarget(("solver", "{instance}", "--seed={seed}", "{parameters}"),
        ...                        templates={"verbose": {"yes": ("-v",), "no": ()}})
        >>> invocation = Invocation({"alpha": 0.5, "verbose": "yes"}, "a b.cnf", seed=7, captime_s=1.0)
        >>> target.prepare(invocation).argv
        ('solver', 'a b.cnf', '--seed=7', '--alpha=0.5', '-v')

    Attributes:
        argv: The program and its arguments with the placeholders ``{instance} {seed} {captime}``,
            ``{instance_path}`` (absolute), ``{whole_captime}`` (rounded up to seconds),
            ``{configuration_id} {instance_id}`` (numbers that name them) and, as elements of their own,
            ``{parameters}`` and ``{specifics}``; a brace that is meant is doubled.
        templates: Per parameter, how it is written, with ``{name}`` and ``{value}``.
        default_template: How a parameter without a template is written.
        environment: Variables set for the program.
        directory: Where it is run; None for the current directory.
        rules: How its exit code and output are judged.
        specifics: Per instance, the arguments that belong to it; those of the empty name are for all others.
        parameters: Names of parameters that may stand in braces in `argv`.
        anytime: Whether every solution in the output counts, with its time, and not only the last one.
    """

    argv: Words
    templates: Mapping[str, Template] = field(default_factory=dict)
    default_template: Words = ("--{name}={value}",)
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str | None = None
    rules: JudgingRules = field(default_factory=VerdictRules)
    specifics: Mapping[str, Words] = field(default_factory=dict)
    parameters: Collection[str] = frozenset()
    anytime: bool = False
    _named: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)
    _composites: dict[str, Composite] = field(default_factory=dict, init=False, repr=False, compare=False)
    _kept: dict[int, tuple[Mapping[str, Any], Words]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ScenarioError("the target command is empty; write at least the program to run")
        for word in self.argv:
            if word not in {PARAMETERS, SPECIFICS}:
                self._take_in(word)
        _require_words(self.default_template, "the default parameter template")
        for name, template in self.templates.items():
            where = f"the template of parameter {name!r}"
            for words in template.values() if isinstance(template, Mapping) else (template,):
                _require_words(words, where)

    def _take_in(self, word: str) -> None:
        """Check an element of the command, and take it apart if it names parameters."""
        known = ARGUMENT_PLACEHOLDERS | set(self.parameters)
        names = set(_require_known(word, known, "the target command"))
        if named := names - ARGUMENT_PLACEHOLDERS:
            self._composites[word] = Composite.of(word)
            object.__setattr__(self, "_named", self._named | named)

    @property
    def reports_runtime(self) -> bool:
        """Whether the program's own figure is its runtime."""
        return self.rules.reports_runtime

    @property
    def reports_quality(self) -> bool:
        """Whether the program must report the quality of its solution."""
        return self.rules.reports_quality

    def check(self) -> None:
        """Raise a `TargetError` if the program does not exist or may not be executed."""
        if self.directory is not None and not is_folder(self.directory):
            raise TargetError(
                f"the directory {self.directory!r} to run the target in does not exist; create it"
            )
        program = self.argv[0].format()
        if os.sep in program:
            place = Path(self.directory or ".") / program
            if not is_file(place):
                raise TargetError(f"the target program {program!r} does not exist; correct the command")
            if not os.access(place, os.X_OK):
                raise TargetError(f"the target program {program!r} is not executable; run chmod +x on it")
        elif shutil.which(program, path=self.environment.get("PATH")) is None:
            raise TargetError(
                f"the target program {program!r} is not on the PATH; install it or write its full path"
            )

    def prepare(self, invocation: Invocation) -> Command:
        """Fill the placeholders in."""
        values = {
            "instance": invocation.instance,
            "seed": str(invocation.seed),
            "captime": written(invocation.captime_s),
            "whole_captime": _whole(invocation.captime_s),
        }
        if any("{instance_path}" in word for word in self.argv):
            values["instance_path"] = from_the_root(self.directory or ".", invocation.instance)
        if any("_id}" in word for word in self.argv):
            values["configuration_id"] = _identifier(*map(str, invocation.parameters.items()))
            values["instance_id"] = _identifier(invocation.instance)
        argv: list[str] = []
        for word in self.argv:
            if word == PARAMETERS:
                argv.extend(self._parameters_written(invocation.parameters))
            elif word == SPECIFICS:
                argv.extend(self._specific_words(invocation.instance))
            elif word in self._composites:
                argv.extend(self._composed(word, invocation.parameters, values))
            else:
                argv.append(word.format_map(values))
        trace = self.rules.trace if self.anytime and isinstance(self.rules, VerdictRules) else None
        return Command(tuple(argv), self.environment, self.directory, self.rules.watch, trace)

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Judge by exit code, output and known answers."""
        return self.rules.judge(invocation, raw)

    def solution(self, raw: RawResult) -> Solution:
        """What the output says of the solution."""
        return self.rules.solution(raw)

    def _specific_words(self, instance: str) -> Words:
        """The words of an instance; where they alone say which it is, an unknown one stands for itself."""
        named = any("{instance}" in word or "{instance_path}" in word for word in self.argv)
        return self.specifics.get(instance, self.specifics.get("", () if named else (instance,)))

    def _composed(self, word: str, parameters: Mapping[str, Any], values: Mapping[str, str]) -> Words:
        """An argument made from parameters, or none at all."""
        active = {name: written(value) for name, value in parameters.items() if name in self._named}
        made = self._composites[word].written({**active, **values}, ARGUMENT_PLACEHOLDERS)
        return () if made is None else (made,)

    def _parameters_written(self, parameters: Mapping[str, Any]) -> Words:
        """All parameters as arguments; kept if they cannot change, because a configuration runs many times.

        They are known again by identity: 1, 1.0 and True are equal, but not written alike.
        """
        known, words = self._kept.get(id(parameters), (None, ()))
        if known is parameters:
            return words
        words = tuple(
            word
            for name, value in parameters.items()
            if name not in self._named
            for word in self._parameter_words(name, written(value))
        )
        if isinstance(parameters, Hashable):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[id(parameters)] = (parameters, words)
        return words

    def _parameter_words(self, name: str, value: str) -> list[str]:
        template = self.templates.get(name, self.default_template)
        if not isinstance(template, tuple) and isinstance(template, Mapping):
            if value not in template:
                raise ScenarioError(
                    f"the template of parameter {name!r} has no entry for the value {value!r}; add one"
                )
            template = template[value]
        return [word.format(name=name, value=value) for word in template]


def written(value: Any) -> str:  # noqa: ANN401 (spaces hand over whatever values they hold)
    """A parameter value as programs expect it; numbers keep every digit they need.

    Example:
        >>> written(0.1), written(3), written(True), written("a b")
        ('0.1', '3', 'true', 'a b')
    """
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, int | float) and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)


def literal(text: str) -> str:
    """A text as a word of a command in which nothing is a placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


def from_the_root(directory: str | Path, name: str) -> str:
    """A file named from a folder, as an absolute path in its plainest form.

    A step up (``..``) is left out together with the folder before it, except where that folder is a link:
    there the shorter path would lead elsewhere.

    Example:
        >>> from_the_root("/data", "sub/..//./a.cnf")
        '/data/a.cnf'
    """
    path = Path(directory).absolute() / name
    plain = "/" + os.path.normpath(path).lstrip("/")
    elsewhere = ".." in path.parts and os.path.realpath(plain) != os.path.realpath(path)
    return str(path) if elsewhere else plain


def _whole(seconds: float) -> str:
    return str(math.ceil(seconds)) if math.isfinite(seconds) else written(seconds)


def _identifier(*parts: str) -> str:
    """A number that names something, for programs that put it into the names of their files."""
    return str(
        int.from_bytes(hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).digest()[:6])
    )


def _require_words(words: Words | str, where: str) -> None:
    if isinstance(words, str):
        raise ScenarioError(f"{where} must be a list of arguments, not the single text {words!r}")
    for word in words:
        _require_known(word, _TEMPLATE_PLACEHOLDERS, where)


def _require_known(word: str, known: Collection[str], where: str) -> list[str]:
    """Refuse a word with a placeholder that is not known; return those it has."""
    try:
        parts = list(string.Formatter().parse(word))
    except ValueError:
        raise ScenarioError(
            f"{where} has an unpaired brace in {word!r}; write {{{{ or }}}} for a brace that is meant"
        ) from None
    names = []
    for _, name, format_spec, conversion in parts:
        if name is None:
            continue
        if f"{{{name}}}" in {PARAMETERS, SPECIFICS}:
            raise ScenarioError(f"{where} has {{{name}}} inside {word!r}; make it a list element of its own")
        bare, otherwise, _ = name.partition("|")
        names.append(bare.strip())
        if names[-1] not in known or format_spec or conversion or (otherwise and bare in _EVERYWHERE):
            shown = (
                name + (f"!{conversion}" if conversion else "") + (f":{format_spec}" if format_spec else "")
            )
            near = did_you_mean(names[-1], known)
            hint = f"{near} (parameters are written by {PARAMETERS} and their templates)"
            raise ScenarioError(f"{where} has the unknown placeholder {{{shown}}} in {word!r}; {hint}")
    return names

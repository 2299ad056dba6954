"""The ``[target]`` table: a command, a Python function, or recorded runtimes."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from utilitune.errors import ScenarioError, did_you_mean
from utilitune.errors.outside import exists, is_file, is_folder
from utilitune.scenario.instances import program_path
from utilitune.scenario.model import CommandSpec, FunctionSpec, RecordedSpec, TargetSpec
from utilitune.scenario.source import Table, read_text
from utilitune.spaces import ChoiceParameter, ParameterSpace
from utilitune.targets.command import (
    ARGUMENT_PLACEHOLDERS,
    PARAMETERS,
    SPECIFICS,
    CommandTarget,
    Template,
    Words,
    written,
)
from utilitune.targets.composite import parameters_in
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("command", "function", "matrix")
_PATTERNS = tuple(field.name for field in fields(VerdictRules) if field.name.endswith("_pattern"))


def read_target(table: Table) -> TargetSpec:
    """The target of a scenario."""
    given = [kind for kind in KINDS if table.raw(kind) is not None]
    if not given:
        names = ", ".join(map(str, table.content))
        found = f"; this table has only {names}" if names else ""
        raise table.need("command", f"say what to run by one of command, function and matrix{found}")
    if len(given) > 1:
        raise table.problem(given[1], f"a target has only one of {' and '.join(given)}; remove the others")
    readers: dict[str, Callable[[Table], TargetSpec]] = {
        "command": _command,
        "function": _function,
        "matrix": _matrix,
    }
    target = readers[given[0]](table)
    table.finish()
    return target


def check_parameters_are_used(table: Table, target: TargetSpec, space: ParameterSpace) -> None:
    """Refuse a parameter whose value never reaches the program."""
    if not isinstance(target, CommandSpec):
        return
    named = _named_in_command(table, target, space)
    unused = [name for name in space.names if name not in named]
    if PARAMETERS not in target.argv and unused:
        names = ", ".join(unused[:3]) + (", …" if len(unused) > 3 else "")
        raise table.problem(
            "command",
            f'the parameters ({names}) are used nowhere in the command; add the element "{PARAMETERS}"',
        )
    templates = table.table("templates")
    for name, template in target.templates.items():
        if name not in space.parameters:
            hint = did_you_mean(name, space.names)
            raise templates.problem(name, f"there is a template for {name!r}, which is no parameter; {hint}")
        if name in named:
            reason = f"the command names {name!r} in {named[name]!r}, so its template is never used"
            raise templates.problem(name, f"{reason}; remove one of the two")
        _check_template(templates, name, template, space)
    if all(name in target.templates or name in named for name in space.names):
        return
    if not any("{value}" in word for word in target.default_template):
        raise table.problem("template", "the template does not use {value}, so no value reaches the program")


def named_in(target: CommandSpec) -> dict[str, str]:
    """What elements of the command name beside its placeholders, each with its element."""
    return parameters_in(
        [word for word in target.argv if word not in {PARAMETERS, SPECIFICS}], ARGUMENT_PLACEHOLDERS
    )


def _named_in_command(table: Table, target: CommandSpec, space: ParameterSpace) -> dict[str, str]:
    """The parameters that elements of the command name, each with its element; a slip is refused."""
    named = named_in(target)
    for name, word in named.items():
        if name not in space.parameters:
            hint = did_you_mean(name, [*space.names, *sorted(ARGUMENT_PLACEHOLDERS)])
            reason = f"the command has the unknown placeholder {{{name}}} in {word!r}"
            raise table.problem("command", f"{reason}, which is no parameter either; {hint}")
    return named


def _check_template(templates: Table, name: str, template: Template, space: ParameterSpace) -> None:
    if not isinstance(template, Mapping):
        if not any("{value}" in word for word in template):
            raise templates.problem(
                name, f"the parameter {name!r} is used nowhere, because its template does not use {{value}}"
            )
        return
    parameter = space.parameters[name]
    if not isinstance(parameter, ChoiceParameter):
        raise templates.problem(name, f"{name!r} is a number; write its template as one text with {{value}}")
    values = [written(choice) for choice in parameter.choices]
    for value in values:
        if value not in template:
            raise templates.problem(
                name, f"the template of {name!r} has no entry for its value {value!r}; add one"
            )
    for value in template:
        if value not in values:
            hint = did_you_mean(value, values)
            raise templates.problem(
                name, f"the template of {name!r} has an entry for {value!r}, no value of it; {hint}"
            )


def _command(table: Table) -> CommandSpec:
    whole = table.raw("command")
    if isinstance(whole, str):
        raise table.problem(
            "command", f"a command is a list of texts, one for each argument; write {_elements(whole)}"
        )
    argv = table.texts("command")
    if not argv:
        raise table.problem(
            "command", 'the command is empty; write it as ["program", "{instance}", "{parameters}"]'
        )
    if "{" in argv[0] or "}" in argv[0]:
        raise table.problem("command", f"the program {argv[0]!r} has braces; write its plain name or path")
    named = _located(table, "command", lambda: _perhaps_parameters(argv))
    _located(table, "command", lambda: CommandTarget(argv, parameters=named))
    _check_program(table, argv[0])
    default_template = _words(table, "template", table.raw("template")) or ("--{name}={value}",)
    _located(table, "template", lambda: CommandTarget(("x",), default_template=default_template))
    templates_table = table.table("templates")
    templates: dict[str, Template] = {}
    for name, value in templates_table.content.items():
        template = _template(templates_table, name, value)
        _located(
            templates_table,
            name,
            lambda name=name, template=template: CommandTarget(("x",), {name: template}),
        )
        templates[name] = template
    return CommandSpec(
        argv,
        default_template,
        templates,
        _environment(table),
        _rules(table) if table.raw("contract") is None else _wrapper_rules(table),
        _specifics(table),
    )


def _perhaps_parameters(argv: Words) -> set[str]:
    """Whatever the command names; whether it is a parameter shows once those are read."""
    try:
        return set(parameters_in([word for word in argv if word not in {PARAMETERS, SPECIFICS}], ()))
    except ValueError:
        return set()  # an unpaired brace, which the target complains of in its own words


def _located(table: Table, key: str, build: Any) -> Any:  # noqa: ANN401 - passes through what it builds
    """Build a part of the target; a complaint gets the line of its key."""
    try:
        return build()
    except ScenarioError as error:
        raise table.problem(key, str(error)) from None


def _check_program(table: Table, program: str) -> None:
    folder = table.source.path.parent
    if program_path(folder, program) is not None:
        return
    local = folder / program
    if is_folder(local):
        reason = f"the program {program!r} is a folder; write the path of the program inside it"
    elif is_file(local):
        reason = f"the program {program!r} is not executable; run chmod +x on it"
    elif program.split()[1:] and program_path(folder, program.split(maxsplit=1)[0]) is not None:
        reason = f"one element is one argument, and {program!r} are several; write {_elements(program)[1:-1]}"
    elif os.sep in program:
        reason = f"the program {program!r} does not exist relative to the scenario's folder; correct the path"
    else:
        reason = (
            f"the program {program!r} is neither in the scenario's folder nor on the PATH; "
            "install it or write its path"
        )
    raise table.problem("command", reason)


def _elements(line: str) -> str:
    """A line as one would type it, written as a list with one element for each argument."""
    try:
        return json.dumps(shlex.split(line), ensure_ascii=False)
    except ValueError:  # a quotation mark without its partner
        return json.dumps(line.split(), ensure_ascii=False)


def _words(table: Table, key: str, value: object) -> Words:
    """A template: one text is one argument, a list is several."""
    if value is None or value == []:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise table.problem(key, f"a template is a text or a list of texts, not {value!r}")


def _template(table: Table, name: str, value: object) -> Template:
    if isinstance(value, dict):
        return {choice: _words(table, name, words) for choice, words in value.items()}
    return _words(table, name, value)


def _environment(table: Table) -> dict[str, str]:
    environment = table.table("environment")
    return {name: environment.text(name) or "" for name in environment.content}


def _specifics(table: Table) -> dict[str, Words]:
    specifics = table.table("specifics")
    return {name: _words(specifics, name, value) for name, value in specifics.content.items()}


def _wrapper_rules(table: Table) -> WrapperRules:
    name = table.text("contract") or ""
    try:
        contract = Contract(name)
    except ValueError:
        raise table.problem(
            "contract",
            f"there is no wrapper contract {name!r}; {did_you_mean(name, [each.value for each in Contract])}",
        ) from None
    for key in (*_PATTERNS, "exit_codes", "answer_exit_codes", "answers"):
        if table.raw(key) is not None:
            raise table.problem(key, f"a wrapper is judged by the answer it prints; remove {key} or contract")
    return WrapperRules(contract, reports_runtime=table.boolean("reported_runtime") or False)


def _rules(table: Table) -> VerdictRules:
    patterns = {name: table.text(name) for name in _PATTERNS}
    for name, pattern in patterns.items():
        if pattern is not None:
            _located(table, name, lambda name=name, pattern=pattern: VerdictRules(**{name: pattern}))
    codes = table.raw("exit_codes")
    if codes is not None and not (
        isinstance(codes, list) and codes and all(type(code) is int for code in codes)
    ):
        raise table.problem(
            "exit_codes", f"exit_codes must be a list of whole numbers such as [0], not {codes!r}"
        )
    answers, answer_exit_codes = _answers(table), _answer_exit_codes(table)
    rules: VerdictRules = _located(
        table,
        "answers",
        lambda: VerdictRules(
            **patterns,
            exit_codes=None if codes is None else frozenset(codes),
            answer_exit_codes=answer_exit_codes,
            answers=answers,
        ),
    )
    return rules


def _answer_exit_codes(table: Table) -> dict[int, str]:
    given = table.table("answer_exit_codes")
    result = {}
    for code in given.content:
        if not code.isdecimal():
            raise given.problem(code, f"{code!r} is not an exit code; write a whole number")
        result[int(code)] = given.text(code) or ""
    return result


def _answers(table: Table) -> dict[str, str]:
    """Known answers, inline or from a file with ``instance<TAB or comma>answer`` per line."""
    value = table.raw("answers")
    if not isinstance(value, str):
        inline = table.table("answers")
        return {instance: inline.text(instance) or "" for instance in inline.content}
    path = table.source.path.parent / value
    if not is_file(path):
        raise table.problem("answers", f"the file of known answers {value!r} does not exist; check the path")
    return answers_file(path)


def answers_file(path: Path) -> dict[str, str]:
    """Known answers, one instance per line."""
    answers: dict[str, str] = {}
    for number, line in enumerate(read_text(path, "the file of known answers").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = "\t" if "\t" in line else ","
        instance, found, answer = line.rpartition(separator)
        if not found or not instance.strip():
            raise ScenarioError(
                "a line of known answers is an instance, a comma or tab, and its answer",
                path=path,
                line=number,
            )
        answers[instance.strip()] = answer.strip()
    return answers


def _function(table: Table) -> FunctionSpec:
    reference = table.text("function") or ""
    module, _, name = reference.partition(":")
    if not (all(part.isidentifier() for part in module.split(".")) and name.isidentifier()):
        raise table.problem("function", f'{reference!r} names no function; write it as "module:function"')
    package = module.partition(".")[0]
    if (
        PathFinder.find_spec(package, [str(table.source.path.parent)]) is None
        and PathFinder.find_spec(package) is None
    ):
        raise table.problem(
            "function",
            f"there is no module {package!r} in the scenario's folder, nor is one installed; check the name",
        )
    return FunctionSpec(reference, reports_runtime=table.boolean("reports_runtime") or False)


def _matrix(table: Table) -> RecordedSpec:
    matrix = table.text("matrix") or ""
    if not exists(table.source.path.parent / matrix):
        raise table.problem("matrix", f"the recorded runtimes {matrix!r} do not exist; check the path")
    return RecordedSpec(matrix)

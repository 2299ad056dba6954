"""The command reference: a page made from the commands themselves whenever the site is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer
from mkdocs.structure.files import File

from utilitune.cli import _GROUPS, _PANELS, build_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PAGE = "commands.md"
_HEAD = """# Commands

Every command explains itself with `--help`; this page is made of these texts. All commands that look after a
run take the run folder or the scenario file.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The page, in Markdown."""
    parts = [_HEAD]
    whole = typer.main.get_command(build_app())
    for panel, names in _PANELS.items():
        parts.append(f"## {panel}\n")
        for name in names:
            parts += _with_parts(f"utilitune {name}", whole.commands[name])
        for name, (where, _) in _GROUPS.items():
            if where == panel:
                group = typer.main.get_command(build_app([name])).commands[name]
                parts += _with_parts(f"utilitune {name}", group)
    return "\n".join(parts)


def _with_parts(name: str, command: click.Command) -> Iterator[str]:
    """A command, or the commands of a group."""
    below: dict[str, click.Command] = getattr(command, "commands", {})
    if not below or command.params[1:]:
        yield _described(name, command)
    for word, part in below.items():
        yield from _with_parts(f"{name} {word}", part)


def _described(name: str, command: click.Command) -> str:
    parameters = [
        each for each in command.params if each.name != "help" and not getattr(each, "hidden", False)
    ]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name == "option"]
    usage = " ".join([name, *map(_placeholder, arguments), *(["[OPTIONS]"] if options else [])])
    lines = [f"### {name}\n", f"```text\n{usage}\n```\n", _text(command.help or ""), ""]
    lines += _table("argument", ((f"`{_placeholder(each)}`", each) for each in arguments))
    lines += _table("option", ((_spelled(each), each) for each in options))
    return "\n".join(lines)


def _placeholder(argument: click.Parameter) -> str:
    word = (argument.metavar or argument.name or "").strip("[]").upper()
    word = f"{word} …" if argument.nargs == -1 and not word.endswith("...") else word
    return word if argument.required else f"[{word}]"


def _spelled(option: click.Parameter) -> str:
    value = (
        ""
        if getattr(option, "is_flag", False)
        else f" {option.metavar or (option.name or '').split('_')[-1].upper()}"
    )
    return ", ".join(f"`{name}{value}`" for name in [*option.opts, *option.secondary_opts])


def _table(kind: str, rows: Iterator[tuple[str, click.Parameter]]) -> list[str]:
    """A table of arguments or options, if there are any."""
    lines = [f"| {spelled} | {_cell(each)} |" for spelled, each in rows]
    return [f"| {kind} | what it means |\n|---|---|", *lines, ""] if lines else []


def _cell(parameter: click.Parameter) -> str:
    words = _text(getattr(parameter, "help", None) or "").replace("\n", " ")
    words = re.sub(r"\s*\[default: (.*?)\]", r" (usually: \1)", words)
    usual = parameter.default
    is_said = usual in (None, False, (), "") or callable(usual) or parameter.required or "(usually" in words
    return (words if is_said else f"{words} (usually: {usual})").replace("|", "\\|")


def _text(words: str) -> str:
    """Help text as Markdown: the markup of terminals is left out."""
    return re.sub(r"\[/?(?:bold|dim|italic|green|cyan)\]", "", words.replace("\b\n", "")).strip()

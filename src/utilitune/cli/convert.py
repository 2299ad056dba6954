"""``utilitune convert``: a scenario of another tool as one of ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.terminal import hand_over, say
from utilitune.errors.outside import shell_word

if TYPE_CHECKING:
    from utilitune.scenario import Understanding


def convert(
    scenario: Annotated[Path, typer.Argument(help="The scenario: of irace, SMAC, ParamILS, AClib, or ours.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write.  [default: the standard output]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Turn a scenario of irace, SMAC or AClib into a commented one of ours that means the same.

    Such scenarios also run as they are. In a file of ours everything can be changed that the other tool has
    no word for: the utility, what is promised, which runtime counts.

    For example:

    - `utilitune convert scenario.txt -o scenario.toml`
    """
    from utilitune.cli.texts import words
    from utilitune.cli.understanding import explanation
    from utilitune.errors import UsageError
    from utilitune.scenario import understand
    from utilitune.scenario.writer import write_scenario

    understanding = understand(scenario)
    lines = explanation(scenario, understanding)
    comments = [*_origin(scenario, output, understanding), *lines]
    head = "".join(f"# {line}".rstrip() + "\n" for line in comments)
    text = head + ("\n" if head else "") + write_scenario(understanding.scenario)
    if output is None:
        hand_over(text, end="")
        return
    directory = understanding.scenario.directory
    if output.resolve().parent != directory.resolve():
        raise UsageError(
            f"the program runs in {directory}, so the scenario must lie there, too: write it to "
            f"{directory / output.name}"
        )
    if output.exists() and not force:
        raise UsageError(f"{output} exists; name another file, or write over it with --force")
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}; name another file") from None
    for line in lines:
        words(stderr=True).print(line)
    say(f"Wrote {output}. Next: utilitune check {shell_word(str(output))}")


def _origin(path: Path, output: Path | None, understanding: Understanding) -> list[str]:
    """Where a converted file comes from and what to do with it; nothing for a file of ours."""
    from utilitune.cli.places import default_folder

    if understanding.dialect.value == "utilitune":
        return []
    directory, earlier = understanding.scenario.directory.resolve(), default_folder(path).resolve()
    if output is not None and default_folder(output).resolve() == earlier:
        option = ""
    else:
        option = f" --folder {shell_word(os.path.relpath(earlier, directory))} (as seen from this folder)"
    return [
        f"Written by 'utilitune convert' from {path.name}. In the folder {directory.name} it means the same:",
        f"unchanged, 'utilitune run'{option} goes on with the run in {earlier.name}.",
        "Change below what you like; docs/scenario.md describes every line.",
        "",
    ]

"""``utilitune verify``: check a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.terminal import say

_REFUTED = 1


def verify(
    file: Annotated[Path, typer.Argument(help="A certificate, as 'utilitune certify' writes it.")],
    commitment: Annotated[
        str | None, typer.Option(help="The commitment that was noted when the run began.")
    ] = None,
    files: Annotated[
        Path | None, typer.Option(help="The folder of the instances, to compare their content as well.")
    ] = None,
) -> None:
    """Check a certificate: recompute everything its promise rests on.

    Says VALID with what is proved, or names the first thing that does not hold and ends with exit code 1. No
    part of the procedure that made the promise is used for this, and nothing in the file is executed.
    """
    from utilitune.certificate import read_certificate
    from utilitune.certificate import verify as checked

    content = read_certificate(file)
    verdict = checked(content, commitment=commitment, files=files)
    for sentence in verdict.checked:
        say(f"  holds: {sentence}")
    if not verdict.valid:
        say(f"NOT VALID: {verdict.reason}.")
        raise typer.Exit(_REFUTED)
    say(f"{verdict.reason}.")
    if content["promise"].get("condition"):
        say(f"It rests on this condition: {content['promise']['condition']}")

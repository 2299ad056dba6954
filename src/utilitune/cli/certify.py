"""``utilitune certify``: everything that the promise of a run rests on, in a file that others can check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import say


def certify(
    folder: RunPlace,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write; compressed if it ends in .gz.")
    ] = Path("certificate.json.gz"),
) -> None:
    """Write a certificate: whoever has it can check the promise without this machine and without the runs.

    It holds the parameters, the utility, the names of the instances, every configuration and every runtime,
    but no output of your program and no environment. For example:

    - `utilitune certify scenario.run -o certificate.json.gz`
    - `utilitune verify certificate.json.gz`
    """
    import contextlib

    from utilitune.certificate.content import write_certificate
    from utilitune.certificate.issuing import certify as issued
    from utilitune.live.standing.card import counted
    from utilitune.store import read_run_folder

    with contextlib.closing(read_run_folder(folder)) as store:
        content = issued(store)
    write_certificate(content, output)
    say(content["promise"]["sentence"])
    say(f"Wrote the certificate of {counted(len(content['runs']['position']), 'run')} to {output}.")
    say(f"Its digest is {content['digest']}.")
    say(f"What was settled before the first run has the commitment {content['commitment']}.")

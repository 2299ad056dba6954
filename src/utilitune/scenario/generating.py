"""Running the command that makes an instance: within a time limit, and only while nobody asks for a stop."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

LONGEST_GENERATION_S = 600.0
"""How long the generator may take for one instance."""

_LOOK_EVERY_S = 0.1
_TAIL = 200


def generate(argv: Sequence[str], directory: Path, output: Path, stopping: Callable[[], bool]) -> bool:
    """Let a command write the file `output`; False if it was given up because a stop was asked for.

    The command has a session of its own: Ctrl-C reaches it only through `stopping` or a `KeyboardInterrupt`,
    and if it is given up its whole process group is killed.

    Raises:
        ScenarioError: It failed, wrote no file, or took too long.
    """
    deadline_s = time.monotonic() + LONGEST_GENERATION_S
    with _started(argv, directory) as process:
        while True:
            try:
                _, errors = process.communicate(timeout=_LOOK_EVERY_S)
                break
            except subprocess.TimeoutExpired:
                if stopping():
                    return False
                if time.monotonic() > deadline_s:
                    raise _too_slow(argv) from None
    if process.returncode == 0 and output.exists():
        return True
    why = f"exit code {process.returncode}" if process.returncode else "it wrote no file"
    tail = f": {errors.strip()[-_TAIL:]}" if errors.strip() else ""
    raise ScenarioError(f"the instance generator failed ({why}){tail}; try it by hand: {shlex.join(argv)}")


@contextlib.contextmanager
def _started(argv: Sequence[str], directory: Path) -> Iterator[subprocess.Popen[str]]:
    """The command at work; what is left of it at the end of the block is killed."""
    try:
        process = subprocess.Popen(
            argv,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ScenarioError(
            f"the instance generator cannot be started ({error.strerror}): {shlex.join(argv)}"
        ) from None
    with process:
        try:
            yield process
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


def _too_slow(argv: Sequence[str]) -> ScenarioError:
    limit = f"{LONGEST_GENERATION_S / 60:g} minutes"
    return ScenarioError(
        f"the instance generator did not end within {limit}: {shlex.join(argv)}; make it faster, or make the "
        "instances beforehand and list them in the scenario"
    )

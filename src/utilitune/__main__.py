"""``python -m utilitune`` is ``utilitune``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; a Ctrl-C while it is being loaded ends it without a word."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a command in the background of a script hears no Ctrl-C
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from utilitune.cli import main as run_command

    signal.signal(signal.SIGINT, before)
    run_command()


if __name__ == "__main__":
    main()

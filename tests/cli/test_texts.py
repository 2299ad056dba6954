"""Sentences on a screen and in a file."""

from __future__ import annotations

import io

from utilitune.cli.terminal import Terminal
from utilitune.cli.texts import prose

SENTENCE = (
    "With probability 95 % this configuration is within ε = 0.0499 of the best of all but a few [bold]."
)


def shown(*, terminal: bool) -> list[str]:
    file = io.StringIO()
    console = Terminal(
        file=file,
        force_terminal=terminal,
        width=30,
        soft_wrap=True,
        markup=False,
        highlight=False,
        color_system=None,
    )
    prose(console, SENTENCE, indent=2)
    return file.getvalue().splitlines()


def test_a_sentence_is_wrapped_between_words_and_stays_indented():
    lines = shown(terminal=True)
    assert len(lines) > 1
    assert all(line.startswith("  ") and len(line) <= 30 for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE


def test_in_a_file_it_is_one_line():
    assert shown(terminal=False) == [f"  {SENTENCE}"]

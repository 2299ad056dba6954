"""``utilitune reproduce`` from the command line."""

from __future__ import annotations

import pytest

from cli.live_runs import invoke
from utilitune.errors import UsageError

DATA = "synthetic:rows=8,columns=200,seed=2,spread=1.5,cutoff_s=900"


def test_a_figure_and_its_claims(tmp_path):
    options = ("--data", DATA, "-o", tmp_path, "--quick", "--workers", "1")
    result = invoke("reproduce", "6", *options)
    assert result.exit_code == 0
    assert "Figure 6: Doubling rules" in result.stdout
    assert "The new doubling rule is no slower for OUP: holds" in result.stdout
    assert (tmp_path / "fig6.png").is_file()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    again = invoke("reproduce", "fig6", *options)
    assert again.stdout == result.stdout
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept


def test_an_unknown_figure_is_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no figure '9'"):
        invoke("reproduce", "9", "--data", DATA, "-o", tmp_path)


def test_the_help_says_which_figures_have_seeds():
    shown = " ".join(invoke("reproduce", "--help").stdout.replace("│", " ").split())
    assert "Seeds of Figures 5 to 7." in shown

"""What the documentation makes when it is built: the command reference, formulas, curves."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from utilitune.cli import _PANELS
from utilitune.utility import FAMILIES

pytest.importorskip("mkdocs", reason="the documentation is built with the extra 'docs'")
ROOT = Path(__file__).resolve().parents[1]


def hook(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, ROOT / "site_hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def page(name: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=name))


def test_the_command_reference_has_every_command_and_option():
    text = hook("commands").page()
    for name in (name for names in _PANELS.values() for name in names):
        assert f"### utilitune {name}" in text
    run = text[text.index("### utilitune run\n") : text.index("### utilitune prove\n")]
    assert "`--max-wall-time TIME`" in run
    assert "utilitune run SCENARIO [OPTIONS]" in run
    assert "### utilitune datasets describe" in text


def test_every_formula_of_the_pages_can_be_typeset():
    pytest.importorskip("latex2mathml")
    formulas = hook("formulas")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        made = formulas.on_page_markdown(path.read_text(), page(path.name))
        assert "```math" not in made
        assert made.count("<math") == made.count("</math>")
        assert "<mi>&</mi>" not in made
    theory = formulas.on_page_markdown((ROOT / "docs" / "theory.md").read_text(), page("theory.md"))
    assert theory.count("<math") > 15
    assert "<i>X</i><sub>ij</sub> ≤ <i>v</i><sub>ij</sub>" in theory


def test_code_and_addresses_are_no_formulas():
    pytest.importorskip("latex2mathml")
    text = "`a_b` and [x_y](z_w.md)\n\n```text\nn_m\n```\n\n    i_j = k_l\n"
    assert "a_b" in (made := hook("formulas").on_page_markdown(text, page("theory.md")))
    assert [word for word in ("(z_w.md)", "n_m\n", "i_j = k_l") if word not in made] == []


def test_a_curve_of_every_family_is_drawn_and_shown():
    pytest.importorskip("matplotlib")
    pictures = hook("pictures")
    assert list(FAMILIES) == [name for name in FAMILIES if name in pictures.CURVES]
    drawn = pictures.curve("uniform(k0=60)")
    assert drawn == pictures.curve("uniform(k0=60)")
    assert drawn.startswith(b"<?xml")
    text = pictures.on_page_markdown((ROOT / "docs" / "utilities.md").read_text(), page("utilities.md"))
    assert len(re.findall(r"img/curves/[\w-]+\.svg", text)) == len(pictures.CURVES)

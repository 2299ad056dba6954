"""Run folders of the version before open and go on as that version would have gone on."""

from __future__ import annotations

import json
import shutil

import pytest

from live.earlier_folders import HALFWAY, HERE, PROCEDURES, SIZE, WHOLE, collect, go_on, made

EXPECTED = json.loads((HERE / "expected.json").read_text())


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_run_goes_on_with_the_runs_that_the_version_before_would_have_made(tmp_path, procedure):
    folder = tmp_path / "run"
    shutil.copytree(HERE / procedure, folder)
    assert len(made(folder)) == HALFWAY
    go_on(folder, procedure, WHOLE)
    assert made(folder) == EXPECTED[procedure]


def test_a_collection_finds_every_run_that_the_version_before_has_made(tmp_path):
    folder = tmp_path / "grid"
    shutil.copytree(HERE / "grid", folder)
    before = made(folder)
    assert collect(folder) == EXPECTED["grid"]
    assert made(folder) == before
    assert len(before) == SIZE.configurations * SIZE.instances

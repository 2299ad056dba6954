"""The report as a file: whole, small, and without a way for anything in it to run."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import json
import re
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from reports.dashboard.stored_runs import HOSTILE, Writer, small_run
from utilitune.errors import UsageError
from utilitune.live.use_of_time import UseOfTime
from utilitune.reports import page
from utilitune.reports.page import html_report, json_in_html
from utilitune.store import Snapshot, open_run_folder, read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def written(writer: Writer) -> str:
    with contextlib.closing(read_run_folder(writer.folder)) as store:
        return html_report(store, writer.folder)


def facts_in(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_nothing_from_outside_is_markup(tmp_path: Path):
    text = written(small_run(tmp_path, hostile=True))
    assert HOSTILE not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
    facts = facts_in(text)
    assert facts["name"] == HOSTILE
    assert HOSTILE in facts["configurations"]["parameters"]
    assert any(HOSTILE in each["output"] for each in facts["failures"])
    assert any(HOSTILE in name for name in facts["about"]["instances"])


def test_the_part_of_the_time_that_was_of_use_is_told_where_it_means_something(tmp_path: Path):
    writer = small_run(tmp_path)
    assert facts_in(written(writer))["progress"]["of_use"] == ""
    for use, told in ((UseOfTime(0.0, 4.0), ""), (UseOfTime(3.0, 4.0), "75 %")):
        snapshot = Snapshot(writer.scenario.snapshot(), writer.scenario.digest())
        with contextlib.closing(open_run_folder(writer.folder, snapshot)) as store:
            use.keep(store)
        assert facts_in(written(writer))["progress"]["of_use"] == told


def test_only_our_own_script_may_run(tmp_path: Path):
    text = written(small_run(tmp_path))
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for tag in ("script", "style"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        wanted = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{wanted}'" in policy


def test_nothing_is_loaded_from_anywhere(tmp_path: Path):
    text = written(small_run(tmp_path))
    known = {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= known
    assert "@import" not in text
    assert "url(" not in text.replace("url(#${clip})", "")


@pytest.mark.parametrize("name", page.PAGE_SCRIPTS)
def test_no_script_of_ours_makes_markup_from_text(name: str):
    for danger in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function"):
        assert danger not in page.asset(name)


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "\ud800", "\x00"])
def test_json_in_a_page_comes_back_and_ends_nothing(text: str):
    inside = json_in_html({text: [text]})
    assert not set("<>&") & set(inside)
    assert inside.isascii()
    assert json.loads(inside) == {text: [text]}


def test_a_large_run_makes_a_small_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page, "MOST_CONFIGURATIONS", 50)
    writer = Writer(tmp_path)
    writer.add_configurations(120)
    writer.add_runs(2)
    writer.add_runs(3, 2, range(60, 80))
    writer.add_trajectory()
    writer.end()
    facts = facts_in(written(writer))
    kept = [row[0] for row in facts["configurations"]["rows"]]
    assert len(kept) == 50
    assert {0, facts["answer"]["number"], *range(60, 80)} <= set(kept)
    assert facts["left_out"] == 70


def test_a_run_that_has_hardly_begun(tmp_path: Path):
    writer = Writer(tmp_path)
    writer.end()
    facts = facts_in(written(writer))
    assert facts["answer"] is None
    assert facts["heldout"] is None


def test_the_command_writes_beside_the_run(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    assert "Wrote" in invoke("report", toy.scenario).stdout
    text = toy.folder.with_suffix(".html").read_text(encoding="utf-8")
    assert len(text.encode()) < 3_000_000
    facts = facts_in(text)
    assert facts["promise"]["sentence"] == result.promise.sentence()
    assert facts["answer"]["forms"]["command"] == result.command
    assert set(facts["answer"]["forms"]) == {"command", "json", "toml", "irace", "smac"}


def test_it_does_so_for_somebody_who_stands_in_the_run_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It was a traceback: "." has no name that a suffix could be changed of."""
    toy = Toy.write(tmp_path)
    toy.run()
    monkeypatch.chdir(toy.folder)
    assert "Wrote" in invoke("report", ".").stdout
    assert toy.folder.with_suffix(".html").is_file()


@pytest.mark.parametrize("name", ["report.pdf", "nowhere/report.html"])
def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path, name: str):
    toy = Toy.write(tmp_path)
    toy.run()
    with pytest.raises(UsageError, match="cannot write"):
        invoke("report", toy.folder, "-o", tmp_path / name)

"""The report and the live page in a real browser.

Every test also checks that nothing was written to the console as an error, that no request left the machine,
and that no script from a name or an output ran.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from reports.dashboard.browsers import opened, started_browser  # noqa: F401 - a fixture
from reports.dashboard.servers import served
from reports.dashboard.stored_runs import Writer, small_run
from utilitune.reports.dashboard import working_out
from utilitune.reports.page import html_report
from utilitune.store import read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def report_of(writer: Writer) -> Path:
    with contextlib.closing(read_run_folder(writer.folder)) as store:
        text = html_report(store, writer.folder)
    path = writer.folder.parent / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_with_hostile_names(browser: Any, tmp_path: Path, scheme: str, width: int):
    path = report_of(small_run(tmp_path, hostile=True))
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    with opened(browser, path.as_uri(), **options) as view:
        view.page.goto(path.as_uri())
        view.page.wait_for_selector("#configurations tbody input")
        assert "With probability 95 %" in view.text(".promise")
        assert view.page.evaluate("document.documentElement.dataset.theme") == scheme
        assert "<script>" in view.text("header h1")
        view.page.get_by_role("tab", name="JSON").click()
        assert "parameter0" in view.text("#answer pre")
        view.check()


def test_a_report_can_be_sorted_filtered_and_compared(browser: Any, tmp_path: Path):
    path = report_of(small_run(tmp_path))
    with opened(browser, path.as_uri()) as view:
        view.page.goto(path.as_uri())
        table = view.page.locator("#configurations .scroll")
        table.get_by_role("button", name="runs", exact=True).click()
        table.get_by_role("button", name="#", exact=True).click()
        assert table.locator("tbody td:nth-child(2)").nth(0).inner_text() == "#0"
        table.get_by_role("button", name="#", exact=True).click()
        assert table.locator("tbody td:nth-child(2)").nth(0).inner_text() == "#29"
        view.page.get_by_label("Filter configurations").fill("heuristicsOnOff = off")
        view.wait("#configurations .bar", "!text.startsWith('30 of')")
        view.page.get_by_label("Filter configurations").fill("")
        view.page.get_by_label("Compare configuration 29").check()
        view.page.get_by_label("Compare configuration 28").check()
        assert "Configuration 29 against 28" in view.text("#configurations [aria-live]")
        shown = view.page.evaluate("[1234567, -1000000, 0.1234567, 2.5e7, 1e-9, 'text'].map(U.value)")
        assert shown == ["1234567", "-1000000", "0.12346", "25000000", "1e-9", "text"]
        assert view.page.evaluate("[1e6, 1.26e6, 2e-5, 12].map((each) => U.number(each))") == [
            "1e6",
            "1.3e6",
            "2e-5",
            "12",
        ]
        view.check()


def test_a_printed_report_has_light_colours_and_no_empty_pages(browser: Any, tmp_path: Path):
    path = report_of(small_run(tmp_path, configurations=600))
    with opened(browser, path.as_uri(), color_scheme="dark") as view:
        view.page.goto(path.as_uri())
        view.page.wait_for_selector("#configurations tbody input")
        view.page.evaluate("addEventListener('beforeprint', () => { window.printed = U.color('card'); })")
        pages = view.page.pdf().count(b"/Type /Page\n")
        assert view.page.evaluate("window.printed") == "#ffffff"
        assert 2 <= pages <= 9, "lines of the table that are not drawn must take no room on paper"
        assert view.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert "On paper: " not in view.text("#configurations")
        view.page.emulate_media(media="print")
        assert "of 600 configurations" in view.text("#configurations .onpaper")
        view.check()


def test_a_run_without_runs_and_one_of_a_single_configuration(browser: Any, tmp_path: Path):
    empty = Writer(tmp_path / "empty")
    empty.add_configurations(1)
    empty.end()
    path = report_of(empty)
    with opened(browser, path.as_uri()) as view:
        view.page.goto(path.as_uri())
        view.wait("#numbers", "text.includes('No answer yet: The wall-clock budget is spent.')")
        assert ".." not in view.text("#numbers")
        view.wait("#progress", "text.includes('Nothing is proved yet.')")
        view.wait("#distribution", "text.includes('No run has finished yet.')")
        assert "1 of 1 configuration" in view.text("#configurations .bar")
        view.check()
    path = report_of(small_run(tmp_path / "one", configurations=1))
    with opened(browser, path.as_uri()) as view:
        view.page.goto(path.as_uri())
        view.wait("#numbers", "text.includes('the answer is the default')")
        assert "answer\n" not in view.text("#distribution .legend")
        view.wait("#distribution .chart", "!text.includes('No run')")
        view.check()


def test_the_live_page_follows_a_run(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.wait_for_selector("#configurations tbody input")
        assert "at work" in view.text("header .badge")
        assert view.page.get_by_role("button", name="Stop", exact=True).count() == 0
        writer.add_runs(3, 8)
        writer.add_progress(0.011)
        view.wait("#numbers", "text.includes('0.011')")
        view.wait("#configurations tbody", "text.includes('11')")
        writer.end()
        view.wait("header .badge", "text === 'not at work'")
        view.check()


def test_a_page_that_nobody_sees_does_nothing_and_then_shows_all_news(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.add_init_script(
            "Object.defineProperty(document, 'hidden', {get: () => window.away === true})"
        )
        view.page.goto(server.home)
        view.page.wait_for_selector("#configurations tbody input")
        view.page.evaluate(
            "window.away = true; window.heard = ''; var more = new EventSource('/api/events');"
        )
        view.page.evaluate("more.onmessage = (news) => { window.heard += news.data; }; null")
        for first, epsilon in ((0, 0.0111), (5, 0.0107)):
            writer.add_runs(3 if not first else 2, 8, range(first, first + 5))
            writer.add_progress(epsilon)
            heard = f"() => window.heard.includes('\"epsilon\":{epsilon}')"
            view.page.wait_for_function(heard)
        assert "0.0111" not in view.text("#numbers")
        view.page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange')); null")
        view.wait("#numbers", "text.includes('0.0107')")
        for number, runs in ((3, 11), (7, 10)):
            view.page.get_by_label("Filter configurations").fill(str(number))
            view.wait(
                "#configurations tbody", f"text.includes('#{number}\\t') && text.includes('\\t{runs}\\t')"
            )
        writer.end()
        view.check()


def test_importance_is_worked_out_when_asked_for_and_when_no_run_is_at_work(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []

    def worked_out(space: object, rows: list[Any]) -> dict[str, Any]:
        asked.append(sum(runs for _, _, runs in rows))
        row = {"name": "parameter1", "share": 0.4, "low": 0.3, "high": 0.5}
        return {"rows": [row], "skill": 0.7, "note": ""}

    monkeypatch.setattr(working_out, "importance_apart", worked_out)
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.wait_for_selector("#importance")
        view.wait("#importance", "text.includes('Not worked out yet')")
        assert view.page.locator("#importance svg").count() == 0
        view.page.get_by_role("button", name="Work out now").focus()
        view.page.keyboard.press("Enter")
        view.page.wait_for_selector("#importance svg")
        assert "From 240 runs, just now." in view.text("#importance")
        assert view.page.locator("#importance button").count() == 0
        writer.add_runs(3, 8)
        writer.add_progress(0.011)
        view.page.get_by_role("button", name="Work out again").wait_for()
        assert "From 240 runs" in view.text("#importance")
        assert len(asked) == 1
        writer.end()
        view.wait("#importance", "text.includes('From 330 runs, just now.')")
        assert len(asked) == 2
        view.page.reload()
        view.page.wait_for_selector("#importance")
        view.wait("#importance", "text.includes('From 330 runs')")
        assert len(asked) == 2
        view.check()


def test_a_run_that_is_deleted_and_made_again_is_shown_anew(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.wait_for_selector("#configurations tbody input")
        writer.folder.rename(tmp_path / "old.run")
        view.wait("main", "text.includes('is no run folder')")
        small_run(tmp_path, configurations=5)
        view.page.wait_for_selector("#configurations tbody input")
        assert "5 of 5 configurations" in view.text("#configurations .bar")
        view.check()


def test_several_runs_side_by_side(browser: Any, tmp_path: Path):
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folders.append(small_run(tmp_path / name, hostile=name == "two").folder)
    with served(folders) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.wait_for_selector(".runcard:nth-child(2) svg")
        view.page.locator(".runcard").nth(1).click()
        view.page.wait_for_selector("#configurations tbody input")
        view.page.get_by_role("link", name="All runs").click()
        view.page.wait_for_selector(".runcard")
        view.check()


def test_the_keyboard_alone_will_do(browser: Any, tmp_path: Path):
    path = report_of(small_run(tmp_path))
    with opened(browser, path.as_uri()) as view:
        page = view.page
        page.goto(path.as_uri())
        page.wait_for_selector("#configurations tbody input")
        seen = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            seen.add(
                page.evaluate(
                    "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
                )
            )
        assert "Filter configurations" in seen
        assert any(str(name).startswith("Compare configuration") for name in seen)
        page.locator("#answer [role=tab]").first.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.innerText") == "JSON"
        chart = page.locator("#progress .chart")
        before = chart.inner_text()
        chart.focus()
        page.keyboard.press("+")
        page.keyboard.press("+")
        button = page.locator("#progress").get_by_role("button", name="Whole range")
        button.wait_for()
        assert chart.inner_text() != before
        page.keyboard.press("0")
        button.wait_for(state="hidden")
        assert chart.inner_text() == before
        view.check()


def test_a_chart_is_zoomed_by_dragging(browser: Any, tmp_path: Path):
    path = report_of(small_run(tmp_path))
    with opened(browser, path.as_uri()) as view:
        page = view.page
        page.goto(path.as_uri())
        chart = page.locator("#progress .chart")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        before = chart.locator("svg").text_content()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 80)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 80, steps=4)
        page.mouse.up()
        button = page.locator("#progress").get_by_role("button", name="Whole range")
        button.wait_for()
        button.click()
        button.wait_for(state="hidden")
        page.mouse.move(0, 0)
        assert chart.locator("svg").text_content() == before
        view.check()


def test_the_token_lets_one_stop_a_run(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.on("dialog", lambda dialog: dialog.accept())
        view.page.goto(f"{server.home}#token={server.token}")
        view.page.wait_for_selector("#configurations tbody input")
        assert server.token not in view.page.url
        view.page.get_by_role("button", name="Stop", exact=True).click()
        view.wait("#freshness", "text.length > 0")
        view.wait("header", "text.includes('Stopping')")
        assert writer.store.stop_requested()
        view.check()
    writer.end()


def test_two_configurations_are_compared_with_their_runs(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.wait_for_selector("#configurations tbody input")
        boxes = view.page.locator("#configurations tbody input")
        boxes.nth(0).check()
        boxes.nth(2).check()
        view.page.wait_for_selector("#configurations [aria-live] svg")
        assert "quicker on" in view.text("#configurations [aria-live]")
        view.check()

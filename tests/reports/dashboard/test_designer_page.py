"""The utility designer in a real browser, from the first question to the pasted line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from reports.dashboard.browsers import Page, opened, started_browser  # noqa: F401 - a fixture
from reports.dashboard.servers import served
from reports.dashboard.stored_runs import small_run
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "nightly batch, useless after 10 minutes, 0.05 per hour"


def line_of(view: Page) -> str:
    return str(view.page.locator("#line pre").inner_text())


def begun(view: Page, place: str = "designer") -> None:
    view.page.goto(view.home + place)
    view.page.wait_for_selector("#verdict:not(:empty)")


def judged(view: Page, utility: str) -> None:
    view.page.wait_for_function(f"() => document.documentElement.dataset.judged === {json.dumps(utility)}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_words_to_a_line(browser: Any, scheme: str, width: int):
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    with served([]) as server, opened(browser, server.home, **options) as view:
        begun(view)
        view.page.get_by_label("Say it in your own words").fill(WORDS)
        view.wait("#line pre", "text.includes('cost-per-hour')")
        assert line_of(view) == 'utility = "product(step(deadline=600), cost-per-hour(value=1, rate=0.05))"'
        assert "nightly batch" in view.text("#understood")
        view.page.get_by_label("the strictest counts").check()
        view.wait("#line pre", "text.includes('minimum(')")
        view.page.get_by_label("Say it in your own words").fill("useless after lunch")
        view.wait("#understood", "text.includes('with your own numbers')")
        assert view.page.evaluate("document.documentElement.dataset.theme") == scheme
        view.check()


def test_situations_are_ticked_and_filled_in(browser: Any):
    with served([]) as server, opened(browser, server.home) as view:
        begun(view)
        view.page.get_by_label("There is a deadline").check()
        view.wait("#line pre", "text.includes('step(deadline=600)')")
        view.page.get_by_label("An answer is useless after").fill("20 s")
        view.wait("#line pre", "text.includes('step(deadline=20)')")
        view.page.get_by_label("Waiting, or the machine").check()
        view.wait("#line pre", "text.includes('product(step(deadline=20), cost-per-hour')")
        view.page.get_by_label("There is a deadline").uncheck()
        view.wait("#line pre", "text.startsWith('utility = \"cost-per-hour')")
        view.check()


def test_from_the_first_question_to_the_pasted_line_with_the_keyboard_alone(browser: Any):
    options = {"viewport": {"width": 390, "height": 800}}
    with served([]) as server, opened(browser, server.home, **options) as view:
        page = view.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        begun(view)

        def reach(wanted: str) -> None:
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.innerText").strip().startswith(wanted):
                    return
            raise AssertionError(f"Tab does not reach {wanted!r}")

        reach("In words")
        page.keyboard.press("ArrowRight")
        reach("Begin")
        page.keyboard.press("Enter")
        page.wait_for_selector("#question")
        seen = []
        for turn in range(30):
            text = page.locator("#question").inner_text()
            seen.append(text)
            if turn % 3:  # the button of the last choice keeps the focus
                page.keyboard.press("Enter")
            elif turn % 2:
                page.keyboard.press("Shift+Tab")
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("Tab")
                page.keyboard.press("Enter")
            page.wait_for_function(
                f"() => document.querySelector('#question')?.innerText !== {json.dumps(text)}", timeout=30_000
            )
            if not page.locator("#question").count():
                break
        assert seen[0].startswith("Question 1 of 4, choice 1")
        assert any("Question 4 of 4" in text for text in seen)
        assert "Inconsistency" in view.text("#ways")
        assert page.locator("#ways .score").inner_text().startswith("0.")
        reach("Use this utility")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.innerText") == "Copy"
        page.keyboard.press("Enter")
        view.wait("#line button", "text === 'Copied'")
        pasted = page.evaluate("navigator.clipboard.readText()")
        assert pasted == line_of(view)
        parse_utility(pasted.removeprefix('utility = "').removesuffix('"'))
        view.check()


def test_points_are_moved_with_arrow_keys(browser: Any):
    with served([]) as server, opened(browser, server.home) as view:
        page = view.page
        begun(view)
        points = page.locator(".handle")
        count = points.count()
        points.nth(3).focus()
        assert points.nth(3).get_attribute("aria-valuetext") == "worth 0.5 after 60 s"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Shift+ArrowLeft")
        assert points.nth(3).get_attribute("aria-valuetext") == "worth 0.48 after 40 s"
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Point 4 of {count}"
        view.wait("#line pre", "text.includes(':0.48')")
        for _ in range(30):
            page.keyboard.press("Shift+ArrowUp")
        assert points.nth(3).get_attribute("aria-valuenow") == "0.800", "no later point is worth more"
        points.nth(count - 1).focus()
        for _ in range(12):  # out of what is shown: the axis follows, and the point keeps the focus
            page.keyboard.press("Shift+ArrowRight")
        assert points.count() == count
        page.wait_for_function(
            f"() => document.activeElement.getAttribute('aria-label') === 'Point {count} of {count}'"
        )
        points.nth(3).focus()
        page.keyboard.press("Delete")
        assert points.count() == count - 1
        page.keyboard.press("Insert")
        assert points.count() == count
        judged(view, line_of(view).removeprefix('utility = "').removesuffix('"'))
        page.get_by_role("button", name="Undo").click()
        page.wait_for_function(f"() => document.querySelectorAll('.handle').length === {count - 1}")
        view.check()


def test_the_curve_is_dragged_and_the_winner_follows(browser: Any):
    with served([]) as server, opened(browser, server.home) as view:
        page = view.page
        begun(view)
        ranking = page.locator("#contest .chart").first
        ranking.scroll_into_view_if_needed()
        before, drawn = line_of(view), ranking.locator("svg").text_content()
        page.locator(".handle").nth(3).scroll_into_view_if_needed()
        box = page.locator(".handle .dot").nth(3).bounding_box()
        page.mouse.move(box["x"] + 7, box["y"] + 7)
        page.mouse.down()
        page.mouse.move(box["x"] - 40, box["y"] + 40, steps=8)
        page.mouse.up()
        assert line_of(view) != before
        assert "piecewise(" in line_of(view)
        ranking.scroll_into_view_if_needed()
        page.wait_for_function(
            f"() => document.querySelector('#contest .chart svg').textContent !== {json.dumps(drawn)}"
        )
        page.get_by_role("tab", name="By hand").click()
        page.get_by_role("button", name="Take the nearest family").click()
        page.wait_for_function("() => !document.querySelector('#line pre').innerText.includes('piecewise')")
        parse_utility(line_of(view).removeprefix('utility = "').removesuffix('"'))
        view.check()


def test_a_run_with_hostile_names_is_tried(browser: Any, tmp_path: Path):
    writer = small_run(tmp_path, hostile=True)
    with served([writer.folder]) as server, opened(browser, server.home) as view:
        view.page.goto(server.home)
        view.page.get_by_role("link", name="Utility designer").click()
        view.page.wait_for_selector("#verdict:not(:empty)")
        assert "30" in view.text("#verdict")
        view.page.get_by_label("Tried on").select_option("shipped:kissat")
        view.wait("#verdict", "text.includes('100')")
        view.page.get_by_label("The utility as a formula").fill("<img src=x onerror=window.hacked=1>")
        view.page.wait_for_selector("#curve .note:not(.hidden)")
        assert view.page.locator("#line button").is_disabled(), "what is no utility is not pasted"
        view.page.goto(f"{server.home}designer#u=%3Cscript%3Ewindow.hacked=1%3C/script%3E")
        view.page.reload()
        view.page.wait_for_selector("#curve .note:not(.hidden)")
        view.check()

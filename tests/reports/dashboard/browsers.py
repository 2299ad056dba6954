"""A real browser for tests, and pages that remember what went wrong on them.

Every test ends with `Page.check`: nothing was written to the console as an error, no request left the
machine, no script from a name or an output ran, and nothing is wider than the window.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 60_000


@pytest.fixture(scope="module", name="browser")
def started_browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@dataclass
class Page:
    """A page that remembers what went wrong on it."""

    page: Any
    home: str
    problems: list[str]

    def check(self) -> None:
        assert self.problems == []
        assert self.page.evaluate("window.hacked") is None
        assert self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0

    def wait(self, selector: str, condition: str) -> None:
        """Until the text of an element fulfils a condition."""
        look = f"const text = document.querySelector({selector!r}).innerText; return {condition};"
        self.page.wait_for_function(f"() => {{ {look} }}")

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())


@contextlib.contextmanager
def opened(browser: Any, home: str, **options: Any) -> Iterator[Page]:
    page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
    page.set_default_timeout(PATIENCE_MS)
    found = Page(page, home, [])
    page.on(
        "console",
        lambda line: found.problems.append(line.text) if line.type in {"error", "warning"} else None,
    )
    page.on("pageerror", lambda error: found.problems.append(str(error)))
    local = (home, "data:", "about:")
    page.on(
        "request",
        lambda request: None if request.url.startswith(local) else found.problems.append(request.url),
    )
    try:
        yield found
    finally:
        page.close()

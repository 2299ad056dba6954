"""Pictures that the build makes itself: the curves of all utilities, and screens of a small run.

Curves are drawn whenever the site is built. Screens need a run and a browser, so they are made only where
`UTILITUNE_SCREENS` is set, as `make docs` does; else the committed pictures are shown.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File

from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

CURVES = {
    "log-laplace": "log-laplace(k0=60, alpha=1)",
    "generalised-log-laplace": "generalised-log-laplace(k0=60, alpha_below=2, alpha_above=1)",
    "uniform": "uniform(k0=60)",
    "exponential": "exponential(k0=60)",
    "pareto": "pareto(k0=10, alpha=1)",
    "polynomial": "polynomial(k0=60, alpha=2)",
    "step": "step(deadline=60)",
    "plateau": "plateau(start=10, end=60, power=1)",
    "cost-per-hour": "cost-per-hour(value=10, rate=300)",
    "piecewise": "piecewise(0s:1, 10s:0.8, 1m:0)",
    "product": "product(step(deadline=60), cost-per-hour(value=1, rate=30))",
    "minimum": "minimum(uniform(k0=60), log-laplace(k0=20, alpha=1))",
}
"""A curve of each family, all on the same axis of two minutes."""

_MARK = "<!-- the curves of all utilities -->"
_LOG = get_plugin_logger(__name__)
_REPORT = "img/report.png"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the curves, and screens where they can be made."""
    for name, expression in CURVES.items():
        files.append(File.generated(config, f"img/curves/{name}.svg", content=curve(expression)))
    if os.environ.get("UTILITUNE_SCREENS"):
        for place, picture in screens().items():
            if (old := files.get_file_from_path(place)) is not None:
                files.remove(old)
            files.append(File.generated(config, place, content=picture))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Put the curves where the page wants them."""
    up = "../" * page.file.src_uri.count("/")
    figures = "".join(
        f'<figure markdown="1">![worth against seconds]({up}img/curves/{name}.svg)\n'
        f"<figcaption><code>{expression}</code></figcaption></figure>\n"
        for name, expression in CURVES.items()
    )
    return markdown.replace(_MARK, f'<div class="curves" markdown="1">\n{figures}</div>')


def curve(expression: str) -> bytes:
    """A utility as an SVG that is the same in every build."""
    times_s = np.linspace(0.0, 120.0, 481)
    with mpl.rc_context({"svg.hashsalt": expression, "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(2.6, 1.7), layout="constrained")
        axes = figure.subplots()
        axes.plot(times_s, parse_utility(expression)(times_s), color="#00796b", linewidth=2)
        axes.set(xlim=(0, 120), ylim=(0, 1.03), xlabel="seconds", ylabel="worth")
        axes.spines[["top", "right"]].set_visible(False)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()


def screens() -> dict[str, bytes]:
    """The report of a small run, as a browser shows it; nothing without a browser."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        _LOG.info("no browser is installed: the committed pictures of the report are shown")
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _report(folder)
        picture = folder / "report.png"
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1500",
             f"--screenshot={picture}", (folder / "report.html").as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return {_REPORT: picture.read_bytes()}


def _report(folder: Path) -> None:
    """A run on recorded runtimes of kissat, which takes seconds, and its report."""
    scenario = folder / "scenario.toml"
    recorded = resources.files("utilitune.data").joinpath("shipped", "kissat-ordering.npz")
    scenario.write_text(
        'name = "kissat"\nutility = "log-laplace(k0=50ms)"\n'
        f'[target]\nmatrix = "{recorded}"\n[budget]\ncpu_time = "20s"\n'
    )
    for words in (["run", scenario.name, "--plain"], ["report", scenario.name, "-o", "report.html"]):
        subprocess.run(["utilitune", *words], cwd=folder, check=True, capture_output=True, timeout=600)

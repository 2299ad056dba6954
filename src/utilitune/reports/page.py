"""The report as one HTML file that needs nothing else: no network, no server, no other file.

Everything from outside (names of configurations, parameters and instances, output of programs) is data: it
stands in a block of JSON that no browser runs, and the scripts of the page put it there as text. A content
security policy allows only these very scripts and this very style sheet, by their SHA-256, and no request to
anywhere. What can be read without scripts, the promise and the answer, stands in the file as escaped text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from utilitune.errors.outside import storable
from utilitune.live.task import Task
from utilitune.reports.digest import RunDigest
from utilitune.reports.document import document

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.store.base import StoreReader

PAGE_SCRIPTS = ("core.js", "chart.js", "sections.js", "configurations.js", "report.js")
"""The scripts of the report, in their order."""

MOST_CONFIGURATIONS = 4_000
"""Configurations a report holds at most: the default, the answer and those with the most runs."""

_MOST_TIMELINE = 3_000

_HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>{static}</main>
<script type="application/json" id="facts">{facts}</script>
<script>{script}</script>
</body>
</html>
"""


def asset(name: str) -> str:
    """The text of one of our files for the browser."""
    return files("utilitune.reports").joinpath("assets", name).read_text(encoding="utf-8")


def html_report(store: StoreReader, folder: Path | None = None) -> str:
    """The report of a stored run.

    Args:
        store: The run.
        folder: Where it is kept; its evaluation on test instances is read from there.
    """
    task = Task.stored(store)
    digest = RunDigest(store, task)
    digest.read(store)
    return html_page(_bounded(document(store, folder, task, digest)))


def html_page(facts: dict[str, Any]) -> str:
    """A document as a page of its own."""
    style = asset("page.css")
    script = "\n".join(asset(name) for name in PAGE_SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _HTML.format(
        policy=html.escape(policy, quote=True),
        title=html.escape(storable(f"{facts['name']} – Utilitune report")),
        style=style,
        static=_static(facts),
        facts=json_in_html(facts),
        script=script,
    )


def json_in_html(value: object) -> str:
    """JSON that can stand in a page: no sign in it ends a script, opens a comment or starts a tag."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _static(facts: dict[str, Any]) -> str:
    """What is read where scripts do not run."""
    lines = [f"<h1>{_escaped(facts['name'])}</h1>"]
    if facts["answer"] is not None:
        lines += [
            f"<p>Mean utility: {_escaped(facts['standing']['utilities'])}</p>",
            f"<p>{_escaped(facts['promise']['sentence'])}</p>",
            f"<pre>{_escaped(facts['answer']['forms']['command'])}</pre>",
        ]
    lines.append(f"<p>{_escaped(facts['state'])}</p>")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return html.escape(storable(text))


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _bounded(facts: dict[str, Any]) -> dict[str, Any]:
    """A document that stays small however long the run was."""
    table = facts["configurations"]
    rows = table["rows"]
    if len(rows) > MOST_CONFIGURATIONS:
        answer = 0 if facts["answer"] is None else facts["answer"]["number"]
        order = sorted(rows, key=lambda row: (row[0] not in {0, answer}, -row[2], row[0]))
        kept = sorted(row[0] for row in order[:MOST_CONFIGURATIONS])
        table = {
            **table,
            "rows": [rows[number] for number in kept],
            "values": [table["values"][number] for number in kept],
        }
    timeline = {
        name: column[-_MOST_TIMELINE:] if isinstance(column, list) else column
        for name, column in facts["timeline"].items()
    }
    left_out = len(rows) - len(table["rows"])
    return {**facts, "configurations": table, "timeline": timeline, "left_out": left_out}

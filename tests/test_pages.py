"""Every command line in the pages is understood by the real command line, and many are run.

The tutorials are followed in `test_tutorials`, to the letter. Here are all other pages: an option that is
gone, a command that was renamed or a misspelt key of a scenario is found.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
import typer

from page_commands import PAGES, ROOT, Line, lines_of, toml_blocks
from reports.dashboard.stored_runs import small_run
from utilitune.cli import build_app, main, places
from utilitune.cli.mistakes import Misunderstood
from utilitune.scenario import read_scenario
from utilitune.scenario.cluster_reader import read_cluster
from utilitune.utility import parse_any_utility

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TYPED = [page for page in PAGES if lines_of(page)]
RUN_FOR_REAL = {
    "status",
    "best",
    "show",
    "report",
    "runs",
    "trajectory",
    "datasets list",
    "--version",
}
"""Quick commands that need nothing but a run folder."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def understood(line: Line, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The values that the command would be called with; the command itself is not called."""
    called: dict[str, Any] = {}
    command = typer.main.get_command(build_app(line.words))
    for leaf in leaves(command):
        monkeypatch.setattr(leaf, "callback", lambda **values: called.update(values))
    monkeypatch.setattr(places, "run_folder", lambda place: place)
    try:
        command(args=list(line.words), prog_name="utilitune", standalone_mode=False)
    except Misunderstood as error:
        if line.whole or not hasattr(error, "param_type"):  # a mention may leave an argument out
            raise
    return called


def leaves(command: Any) -> Iterator[Any]:
    below = getattr(command, "commands", {})
    if not below:
        yield command
    for part in below.values():
        yield from leaves(part)


@pytest.mark.parametrize("page", TYPED, ids=name_of)
def test_every_command_line_is_understood(page: Path, monkeypatch: pytest.MonkeyPatch):
    for line in lines_of(page):
        for name, value in understood(line, monkeypatch).items():
            if name in {"expression", "utility"} and isinstance(value, str) and value != "…":
                assert parse_any_utility(value) is not None


@pytest.mark.parametrize(
    "words",
    [("serv",), ("status", "RUN", "--wach"), ("best", "--form", "json"), ("run", "a", "b"), ("best",)],
)
def test_a_line_that_nobody_can_type_is_found(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(Exception, match=r"has no command|No such option|unexpected extra|Missing"):
        understood(Line(words, whole=True), monkeypatch)


@pytest.fixture(scope="module", name="kept")
def kept_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("kept")).folder


def is_run_for_real(line: Line) -> bool:
    return bool(line.words[1:] or line.words[:1] == ("--version",)) and bool(
        RUN_FOR_REAL & {line.words[0], " ".join(line.words[:2])}
    )


@pytest.mark.parametrize(
    "page", [page for page in TYPED if any(map(is_run_for_real, lines_of(page)))], ids=name_of
)
def test_lines_about_a_run_are_run(
    page: Path,
    kept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    for line in filter(is_run_for_real, lines_of(page)):
        words = [in_place(word, kept) for word in line.words]
        takes_a_run = line.words[0] not in {"--version", "datasets"}
        if takes_a_run and words == list(line.words) and not line.whole:
            words.append(str(kept))  # a mention that leaves the run out
        with pytest.raises(SystemExit) as ended:
            main(words)
        shown = capsys.readouterr()
        assert not ended.value.code, (words, shown.err)
        assert shown.out


def in_place(word: str, kept: Path) -> str:
    """A run or a number that a page only hints at."""
    if word in {"RUN", "FOLDER"} or word.endswith((".run", "/run")):
        return str(kept)
    return "3" if word == "N" else word


SCENARIOS = [
    pytest.param(block, id=f"{name_of(page)}:{number}")
    for page in PAGES
    if page.name not in {"scenario.md", "cluster.md"}  # read in test_scenario_reference and below
    for number, block in enumerate(toml_blocks(page), 1)
]
REST = {
    "[target]": '[target]\ncommand = ["./tsp", "{instance}", "{parameters}"]\n',
    "[parameters": '[parameters.step]\ntype = "float"\nrange = [0.0, 1.0]\ndefault = 0.5\n',
    "[instances]": '[instances]\ntraining = "train/*.cnf"\n',
}


@pytest.mark.parametrize("block", SCENARIOS)
def test_a_piece_of_a_scenario_is_read(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mysolver", "tsp", "script"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.cnf").write_text(name)
    (tmp_path / "best-known.csv").write_text("train/train.cnf,10\n")
    (tmp_path / "search.py").write_text("def search(configuration, instance, seed):\n    return 1.0\n")
    shutil.copy(tmp_path / "search.py", tmp_path / "solve.py")
    utility = "" if "utility = " in block else 'utility = "uniform(k0=1s)"\n'
    rest = "\n".join(text for table, text in REST.items() if table not in block)
    (tmp_path / "scenario.toml").write_text(f"{utility}{block}\n{rest}".replace('"mysolver"', '"./mysolver"'))
    assert read_scenario(tmp_path / "scenario.toml").space.names


def test_the_file_of_a_cluster_is_read(tmp_path: Path):
    for block in toml_blocks(ROOT / "docs" / "cluster.md"):
        (tmp_path / "slurm.toml").write_text(block)
        assert read_cluster(str(tmp_path / "slurm.toml"))

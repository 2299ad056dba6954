"""What shaped a nominee; and modules of a user that are found from every folder, by every entrance."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

import utilitune
from cli.live_runs import Toy, invoke
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.live.asker import Ended
from utilitune.live.hunting import Hunt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.search.base import WantedRun
from utilitune.spaces import Assignment

SEARCHER = """
class Draws:
    def __init__(self, task):
        self.space = task.space
    def suggest(self, pool, incumbent, generator):
        return self.space.sample(generator, 1)[0]
"""
WORTH = """
def worth(time_s):
    return 1.0 if time_s < 0.2 else 0.0
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """A scenario with a search and a utility of its user, seen from another folder."""
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    for module in ("searcher_beside_it", "worth_beside_it"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    place, elsewhere = tmp_path / "my task", tmp_path / "elsewhere"
    place.mkdir()
    elsewhere.mkdir()
    toy = Toy.write(place, runs=20)
    (place / "searcher_beside_it.py").write_text(SEARCHER)
    (place / "worth_beside_it.py").write_text(WORTH)
    text = toy.scenario.read_text().partition("[procedure]")[0]
    text = text.replace("uniform(k0=200ms)", "python:worth_beside_it:worth")
    toy.scenario.write_text(f'{text}[search]\nmethod = "searcher_beside_it:Draws"\n')
    monkeypatch.chdir(elsewhere)
    return toy


def test_by_the_command_line(toy: Toy):
    assert "Best configuration" in invoke("run", toy.scenario, "--workers", "1", "--plain").stdout
    again = invoke("run", toy.scenario, "--workers", "1", "--plain", "--max-runs", "25")
    assert "Best configuration" in again.stdout
    assert invoke("best", toy.folder).stdout


def test_by_python(toy: Toy, tmp_path: Path):
    result = utilitune.configure(scenario=toy.scenario, folder=tmp_path / "run", workers=1)
    assert result.best.keys() == {"alpha"}
    assert utilitune.load(tmp_path / "run").best == result.best


def test_by_asking_and_telling(toy: Toy):
    with utilitune.Tuner(toy.scenario) as tuner:
        while not tuner.done:
            for trial in tuner.ask():
                tuner.tell(trial, 0.01)
        assert tuner.best.keys() == {"alpha"}


class WantsThree:
    """A searcher that takes what is known first."""

    candidates = (Assignment({"x": 1}),)
    spent_s, until_s = 0.0, math.inf

    def __init__(self):
        self.left = [WantedRun(0, position, 1.0) for position in (4, 9, 2)]

    def wanted(self, count):
        return self.left[:count]

    def tell(self, run, seen):
        assert seen.time_s == 0.5
        self.left.remove(run)

    def nominee(self):
        return 0


def test_runs_that_were_overtaken_have_shaped_what_follows():
    """That position 9 was still unknown when position 2 was looked at says something of position 9."""
    hunt = Hunt(WantsThree(), LiveEvidence(utilitune.parse_utility("uniform(k0=1)"), 100), workers=4)
    hunt.number(WantsThree.candidates[0], 0)
    for position, frontier in ((4, 5), (2, 10)):
        hunt.hear(Ended(RunRequest(0, position, 1.0), RunOutcome(RunStatus.FINISHED, 0.5)))
        assert hunt.go_on() == ()
        assert hunt.frontier == frontier


def test_a_lead_is_told_in_standard_errors_on_shared_instances():
    """The differences are .1, .2, .3 and .4: a mean of .25 with a standard error of .0645, which is 3.87."""
    evidence = LiveEvidence(utilitune.parse_utility("uniform(k0=1)"), 100)
    hunt = Hunt(WantsThree(), evidence, workers=1)
    for position, ahead_s in enumerate((0.1, 0.2, 0.3, 0.4)):
        for configuration, time_s in ((0, 0.5), (1, 0.5 - ahead_s)):
            hunt.hear(Ended(RunRequest(configuration, position, 1.0), RunOutcome(RunStatus.FINISHED, time_s)))
    assert [hunt.is_ahead(1, 0, errors) for errors in (1.0, 3.86, 3.88)] == [True, True, False]
    assert not hunt.is_ahead(0, 1)

"""What shaped a nominee; and modules of a user that are found from every folder, by every entrance."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import utilitune
from cli.live_runs import Toy, invoke
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.errors import ScenarioError, UsageError
from utilitune.live.asker import Ended
from utilitune.live.hunting import Hunt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.rivals.packages import Smac
from utilitune.scenario import read_scenario
from utilitune.scenario.model import SearchRules
from utilitune.search.base import SearchTask, WantedRun
from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import RandomSuggester
from utilitune.spaces import Assignment, ParameterSpace

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def test_a_run_counts_as_looked_at_when_it_is_its_turn():
    """Which runs are told first depends on the machine; what is proved of them must not."""
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0], "default": 0.5}})
    utility = utilitune.parse_utility("uniform(k0=1)")
    search = RacingSearch(SearchTask(space, utility, 40, 2.0, workers=4), RandomSuggester())
    hunt = Hunt(search, LiveEvidence(utility, 40), workers=4)
    hunt.number(space.default(), 0)
    for position, counting in ((2, []), (0, [0]), (3, []), (1, [1, 2, 3])):
        hunt.hear(Ended(RunRequest(0, position, 2.0), RunOutcome(RunStatus.FINISHED, 0.5)))
        hunt.go_on()
        looks = hunt.new_looks()
        assert [(each.number, each.position) for each in looks] == [(0, each) for each in counting]


def test_a_lead_is_told_in_standard_errors_on_shared_instances():
    """The differences are .1, .2, .3 and .4: a mean of .25 with a standard error of .0645, which is 3.87."""
    evidence = LiveEvidence(utilitune.parse_utility("uniform(k0=1)"), 100)
    hunt = Hunt(WantsThree(), evidence, workers=1)
    for position, ahead_s in enumerate((0.1, 0.2, 0.3, 0.4)):
        for configuration, time_s in ((0, 0.5), (1, 0.5 - ahead_s)):
            hunt.hear(Ended(RunRequest(configuration, position, 1.0), RunOutcome(RunStatus.FINISHED, time_s)))
    assert [hunt.is_ahead(1, 0, errors) for errors in (1.0, 3.86, 3.88)] == [True, True, False]
    assert not hunt.is_ahead(0, 1)


def compared(differences: Iterable[float]) -> Hunt:
    """A search in which configuration 1 was better than the default by these differences."""
    evidence = LiveEvidence(utilitune.parse_utility("uniform(k0=1)"), 100)
    hunt = Hunt(WantsThree(), evidence, workers=1)
    for position, ahead_s in enumerate(differences):
        for configuration, time_s in ((0, 0.5), (1, 0.5 - ahead_s)):
            hunt.hear(Ended(RunRequest(configuration, position, 1.0), RunOutcome(RunStatus.FINISHED, time_s)))
    return hunt


@pytest.mark.parametrize(
    "differences",
    [
        (0.0, 0.1, 0.3, 0.02, 0.2),
        (0.1,) * 4,
        (0.0, 0.0, 0.0, 0.45, 0.45, 0.45),
        (0.02,) * 10,
    ],
    ids=["five lucky ones", "no chance to be seen", "all or nothing", "little to gain, losses may be rare"],
)
def test_what_luck_or_a_rare_loss_may_explain_is_not_surely_ahead(differences):
    """Each of them was better by 1.5 standard errors, which was enough once."""
    hunt = compared(differences)
    assert hunt.is_ahead(1, 0, 1.5)
    assert not hunt.is_surely_ahead(1, 0)


def test_what_many_instances_show_is_surely_ahead():
    assert compared([0.25, -0.05] * 12).is_surely_ahead(1, 0)
    assert compared([0.4] * 4).is_surely_ahead(1, 0)
    assert compared([0.02] * 40).is_surely_ahead(1, 0)


@pytest.mark.parametrize("differences", [(), (0.4,) * 3, (0.0,) * 60, (-0.1,) * 60, (0.25, -0.25) * 30])
def test_too_few_instances_ties_and_losses_are_not_surely_ahead(differences):
    assert not compared(differences).is_surely_ahead(1, 0)


def test_one_more_instance_with_a_rare_loss_is_added_before_the_test():
    """Four differences of x are enough if 4x − .15 is over t·(x + .15), with t = 2.132 for five instances."""
    enough = (1 + 2.1318) * 0.15 / (4 - 2.1318)
    assert compared([enough * 1.001] * 4).is_surely_ahead(1, 0)
    assert not compared([enough * 0.999] * 4).is_surely_ahead(1, 0)


BROKEN = """
number = 3
class Neither:
    def __init__(self, task): ...
class Failing:
    def __init__(self, task):
        raise KeyError("x")
class Deaf:
    def __init__(self, task): ...
    def wanted(self, count):
        return []
class TimedByAMethod:
    spent_s = 0.0
    def __init__(self, task):
        self.candidates = [task.space.default()]
    def wanted(self, count):
        return []
    def tell(self, run, seen): ...
    def nominee(self):
        return 0
    def default_run_s(self):
        return 1.0
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Nothing", "cannot be imported"),
        ("number", "is no class"),
        ("Neither", "has neither 'wanted' nor 'suggest'"),
        ("Failing", "KeyError"),
        ("Deaf", "has no method 'tell'"),
        ("TimedByAMethod", "write @property above it"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_class_that_cannot_search_is_refused_at_its_line_before_anything_is_written(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, command: str, name: str, says: str
):
    monkeypatch.delitem(sys.modules, "broken_beside_it", raising=False)
    (toy.scenario.parent / "broken_beside_it.py").write_text(BROKEN)
    toy.scenario.write_text(
        toy.scenario.read_text().replace("searcher_beside_it:Draws", f"broken_beside_it:{name}")
    )
    line = toy.scenario.read_text().splitlines().index(f'method = "broken_beside_it:{name}"') + 1
    with pytest.raises(ScenarioError, match=f"scenario.toml:{line}: .*{says}"):
        invoke(command, toy.scenario)
    assert not toy.folder.exists()


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_package_that_is_missing_is_named_at_its_line(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, command: str
):
    monkeypatch.setattr(Smac, "is_installed", classmethod(lambda _: False))
    toy.scenario.write_text(toy.scenario.read_text().replace("searcher_beside_it:Draws", "smac"))
    says = 'search.method = "smac" cannot be used here, because SMAC'
    with pytest.raises(ScenarioError, match=rf"scenario.toml:\d+: {says}"):
        invoke(command, toy.scenario)
    assert not toy.folder.exists()
    toy.scenario.write_text(toy.scenario.read_text().replace("[search]\n", "[search]\nshare = 0\n"))
    if command == "check":
        assert "Ready" in invoke(command, toy.scenario).stdout, "nobody searches"


@pytest.mark.parametrize(
    "begin",
    [lambda scenario, folder: utilitune.configure(scenario=scenario, folder=folder), utilitune.Tuner],
    ids=["configure", "Tuner"],
)
def test_python_refuses_it_too_before_anything_is_written(toy: Toy, tmp_path: Path, begin):
    scenario = replace(read_scenario(toy.scenario), search=SearchRules(0.5, "smca"))
    with pytest.raises(ScenarioError, match="did you mean 'smac'"):
        begin(scenario, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_begun_with_a_search_that_is_gone_says_so(toy: Toy, monkeypatch: pytest.MonkeyPatch):
    """A file that was corrected was once answered with the word that it no longer held, for ever."""
    invoke("run", toy.scenario, "--workers", "1", "--plain")
    toy.scenario.write_text(toy.scenario.read_text().replace("searcher_beside_it:Draws", "random"))
    (toy.scenario.parent / "searcher_beside_it.py").unlink()
    monkeypatch.delitem(sys.modules, "searcher_beside_it")
    begun = 'was begun with search.method = "searcher_beside_it:Draws" and can only go on with it, but'
    with pytest.raises(UsageError, match=f"{begun}.*cannot be imported.*--reuse"):
        invoke("run", toy.scenario, "--workers", "1", "--plain")


def test_a_resumed_run_says_that_it_searches_as_it_was_begun(toy: Toy):
    invoke("run", toy.scenario, "--workers", "1", "--plain")
    text = toy.scenario.read_text()
    toy.scenario.write_text(text.replace('method = "searcher_beside_it:Draws"', "share = 0.5"))
    for _ in range(2):
        told = invoke("run", toy.scenario, "--workers", "1", "--plain")
        said = " ".join((told.stdout + told.stderr).split())
        assert (
            'This run goes on with search.share = 0.25 and search.method = "searcher_beside_it:Draws", with '
            "which it was begun; to search differently, start in another folder."
        ) in said
    toy.scenario.write_text(text)
    fresh = invoke("run", toy.scenario, "--workers", "1", "--plain", "--folder", toy.folder.parent / "fresh")
    assert "goes on with" not in fresh.stdout + fresh.stderr

"""What a scenario file says of the quality of solutions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scenario.scenario_files import changed, write_files
from utilitune.domain import Objective
from utilitune.errors import ScenarioError
from utilitune.scenario import Scenario, build_target, read_scenario
from utilitune.scenario.model import QualityRules
from utilitune.scenario.writer import write_scenario
from utilitune.targets.base import Invocation
from utilitune.utility import Goal

if TYPE_CHECKING:
    from pathlib import Path

UTILITY = 'utility = "log-laplace(k0=60, alpha=1)"\n'
TARGET = "[target]\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def quality(path: Path, utility: str = "gap(best=0, worst=100)", head: str = "", target: str = "") -> Path:
    pattern = target or "quality_pattern = 'cost: (\\S+)'"
    return changed(
        path,
        (UTILITY, f'objective = "quality"\nutility = "{utility}"\n{head}\n'),
        (TARGET, f"{TARGET}{pattern}\n"),
    )


def test_a_scenario_about_quality(path: Path):
    scenario = read_scenario(quality(path, head='better = "smaller"'))
    assert scenario.quality == QualityRules(Objective.QUALITY, Goal.SMALLER, {})
    assert scenario.objective is Objective.QUALITY
    assert build_target(scenario).reports_quality
    assert scenario.limit_s == 10
    assert Scenario.from_snapshot(json.loads(json.dumps(scenario.snapshot()))) == scenario


def test_scenarios_about_runtime_are_stored_as_they_always_were(path: Path):
    scenario = read_scenario(path)
    snapshot = scenario.snapshot()
    assert "quality" not in snapshot
    assert not {"quality_pattern", "bound_pattern"} & set(snapshot["target"]["rules"])
    assert scenario.objective is Objective.RUNTIME


def test_a_scenario_without_a_limit_stops_runs_after_a_day(path: Path):
    changed(path, ("largest_captime = 10\n", ""))
    assert read_scenario(quality(path)).limit_s == 86400


def test_references_are_read_from_a_file_or_inline(path: Path):
    (path.parent / "known.csv").write_text(
        "instance,quality\n# best known\ntrain/one.cnf,7\ntrain/two words.cnf,8.5\ntrain/-three.cnf,-1\n"
    )
    scenario = read_scenario(quality(path, "relative-gap(known, 10%)", 'references = "known.csv"'))
    assert scenario.quality.references == {
        "train/one.cnf": 7,
        "train/two words.cnf": 8.5,
        "train/-three.cnf": -1,
    }
    assert Scenario.from_snapshot(scenario.snapshot()) == scenario
    again = path.parent / "again.toml"
    again.write_text(write_scenario(scenario))
    assert read_scenario(again).quality == scenario.quality


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"utility": "uniform(60)"}, "judges the time of a run alone"),
        ({"utility": "gap(100, 0)"}, "exchange the two numbers"),
        ({"utility": "relative-gap(known, 0.1)"}, "name a file with one per instance"),
        ({"utility": "relative-gap(bound, 0.1)"}, "a bound that no run reports; add target.bound_pattern"),
        (
            {"utility": "relative-gap(known, 0.1)", "head": 'references = { "train/one.cnf" = 3 }'},
            "references has no number for the instance 'train/",
        ),
        ({"head": 'references = "nowhere.csv"'}, "the file of references 'nowhere.csv' does not exist"),
        ({"head": 'references = { x = "y" }'}, "what references says of 'x' must be a number, not 'y'"),
        ({"head": 'better = "bigger"'}, "better is 'bigger', which is unknown"),
        (
            {"target": "exit_codes = [0]"},
            "target.quality_pattern is missing: say where the output has the quality",
        ),
    ],
)
def test_mistakes_get_one_sentence(path: Path, settings: dict[str, str], complaint: str):
    with pytest.raises(ScenarioError, match=r"scenario\.toml") as refused:
        read_scenario(quality(path, **settings))
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("pair", "complaint"),
    [
        ((UTILITY, f'{UTILITY}objective = "speed"\n'), "objective is 'speed', which is unknown"),
        ((UTILITY, f'{UTILITY}better = "larger"\n'), 'better is about qualities; set objective = "quality"'),
        ((UTILITY, f"{UTILITY}references = {{ x = 1 }}\n"), "references is about qualities"),
        ((TARGET, f"{TARGET}quality_pattern = '(.)'\n"), "quality_pattern has no use for runtimes"),
        ((UTILITY, 'utility = "gap(0, 1)"\n'), "judges the quality of a solution, but here only the time"),
        ((UTILITY, 'objective = "quality"\n'), "utility is missing: say what a solution is worth"),
    ],
)
def test_objectives_are_not_mixed(path: Path, pair: tuple[str, str], complaint: str):
    target = (
        (TARGET, f"{TARGET}quality_pattern = '(.)'\n") if 'objective = "quality"' in pair[1] else ("", "")
    )
    with pytest.raises(ScenarioError) as refused:
        read_scenario(changed(path, pair, target))
    assert complaint in str(refused.value)


def test_a_line_of_references_that_is_none_is_refused_with_its_line(path: Path):
    (path.parent / "known.csv").write_text("train/one.cnf,7\ntrain/two words.cnf;8\n")
    with pytest.raises(ScenarioError, match=r"known.csv:2: a line of references is an instance, a comma"):
        read_scenario(quality(path, "relative-gap(known, 10%)", 'references = "known.csv"'))


def anytime(path: Path, head: str = "", target: str = "") -> Path:
    return changed(
        quality(path, head=head, target=target), ('objective = "quality"', 'objective = "anytime"')
    )


def test_a_scenario_about_solutions_at_any_time(path: Path):
    target = "quality_pattern = 'cost: (\\S+)'\ntime_pattern = 'after (\\S+) s'"
    scenario = read_scenario(anytime(path, 'bounds = { "train/one.cnf" = 3 }', target))
    assert scenario.objective is Objective.ANYTIME
    assert scenario.quality.bounds == {"train/one.cnf": 3.0}
    assert scenario.captimes_s == (scenario.captime0_s, 10)
    assert scenario.looks_early
    built = build_target(scenario)
    assert built.prepare(Invocation({}, "x", 1, 1.0)).trace == ("cost: (\\S+)", None, "after (\\S+) s")
    assert Scenario.from_snapshot(json.loads(json.dumps(scenario.snapshot()))) == scenario
    path.write_text(write_scenario(scenario))
    assert read_scenario(path) == scenario


def test_the_procedures_of_the_paper_run_everything_to_the_limit(path: Path):
    changed(anytime(path), ("[limits]", '[procedure]\nname = "oup"\n[limits]'))
    assert read_scenario(path).captimes_s == (10, 10)


def test_what_cannot_tell_while_it_runs_is_refused(path: Path):
    with pytest.raises(ScenarioError, match="a wrapper prints its answer only when it ends; remove contract"):
        read_scenario(anytime(path, target="contract = 'irace'"))


def test_a_time_pattern_needs_a_trace(path: Path):
    target = "quality_pattern = 'cost: (\\S+)'\ntime_pattern = 'after (\\S+) s'"
    with pytest.raises(ScenarioError, match='only the end of a run counts; set objective = "anytime"'):
        read_scenario(quality(path, target=target))


def test_bounds_need_qualities(path: Path):
    changed(path, (UTILITY, UTILITY + 'bounds = { "train/one.cnf" = 3 }\n'))
    with pytest.raises(ScenarioError, match="bounds is about qualities"):
        read_scenario(path)

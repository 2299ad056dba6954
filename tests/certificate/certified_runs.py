"""Small whole runs on a virtual clock, and their certificates."""

from __future__ import annotations

import contextlib
import copy
from dataclasses import replace

from live import test_anytime_runs as anytime
from live import test_quality_runs as quality
from live.simulated_scenarios import backend, make_scenario
from utilitune.certificate.content import COLUMNS, VERSION, chain_of, commitment_of, sealed
from utilitune.certificate.issuing import certify
from utilitune.domain import Promise
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Population
from utilitune.scenario.model import NO_SEARCH, StopRules
from utilitune.store import read_run_folder

LISTED = ListedInstances(tuple(f"i{number}" for number in range(80)), files=False)


def by_time(directory, **changes):
    usual = {
        "procedure": "wager",
        "options": {"entropy": "test"},
        "population": Population.FINITE,
        "training": LISTED,
        "search": NO_SEARCH,
        "stop": StopRules(runs=400),
    }
    return make_scenario(directory, **(usual | changes))


def by_quality(directory, **changes):
    usual = {"procedure": "wager", "options": {}, "population": Population.FINITE, "training": LISTED}
    return quality.quality_scenario(directory, **(usual | {"stop": StopRules(runs=300)} | changes))


def by_best_moment(directory, **changes):
    usual = {"options": {}, "population": Population.FINITE, "training": LISTED}
    return anytime.anytime_scenario(directory, **(usual | {"stop": StopRules(runs=300)} | changes))


def made(scenario, folder, workers=2, stops=None, found=None):
    """The certificate of a run that is stopped after so many runs, and resumed."""
    behaviours = {"quality": quality.behaviour, "anytime": anytime.behaviour}
    for runs in stops or [scenario.stop.runs]:
        now = replace(scenario, stop=replace(scenario.stop, runs=runs))
        workers_now = backend(workers)
        if scenario.quality is not None:
            workers_now = SimulatedBackend(workers, behaviours[scenario.objective.value])
        settings = replace(settings_of(now), workers=workers, found=found)
        run_scenario(now, folder, settings, backend=workers_now)
    return certificate_in(folder)


def certificate_in(folder):
    with contextlib.closing(read_run_folder(folder)) as store:
        return certify(store)


def resealed(content, **changes):
    """What a forger writes who knows the format: with everything hashed anew."""
    forged = {**copy.deepcopy(content), **changes}
    if forged["objective"]["kind"] in COLUMNS:
        forged["chain"] = chain_of(forged["runs"], forged["objective"]["kind"])
    forged["commitment"] = commitment_of(forged, min(forged["version"], VERSION))
    return sealed(forged)


def as_format_5(content):
    """The same run, as the format before this one wrote it: without the given configurations."""
    return resealed({name: value for name, value in content.items() if name != "given"}, version=5)


def claiming(content, **changes):
    return resealed(content, promise={**content["promise"], **changes})


def sentence_of(content, **changes):
    """The promise with another claim, and the sentence that fits it."""
    claim = {**content["promise"], **changes}
    said = Promise(
        claim["epsilon"],
        content["delta"],
        claim["gamma"],
        len(content["configurations"]),
        content["population"],
        claim["condition"],
        gain=claim["gain"],
    )
    return {**claim, "sentence": said.sentence()}

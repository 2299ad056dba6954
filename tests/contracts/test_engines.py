"""Every engine passes the suite that people who write their own are given."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from utilitune import ProcedureSpec
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.procedures.growth import listed_schedule
from utilitune.procedures.naming import build_engine
from utilitune.testing import ContractError, EngineSuite

SCHEDULE = listed_schedule([0.9, 0.8, 0.7], [0.95, 0.8, 0.7])
SPECS = {
    "up": ProcedureSpec("up", delta=0.1, epsilon=0.7),
    "oup": ProcedureSpec("oup", delta=0.1, epsilon=0.7),
    "oup, restarts": ProcedureSpec("oup", delta=0.1, epsilon=0.7, accounting="restart"),
    "coup": ProcedureSpec("coup", delta=0.1, schedule=SCHEDULE),
    "naive": ProcedureSpec("naive", delta=0.1, epsilon=0.9, captime_s=64.0),
    **{
        f"wager, {growth}, {population}": ProcedureSpec(
            "wager", delta=0.1, epsilon=0.4, growth=growth, population=population, schedule=SCHEDULE
        )
        for growth in ("fixed", "adaptive", "phases")
        for population in ("infinite", "finite")
    },
}


class OurEngine(EngineSuite):
    def __init__(self, spec: ProcedureSpec):
        self.spec = replace(spec, captime_limit_s=self.captime_limit_s)
        if spec.name == "naive":  # it finishes a configuration in one step
            self.runs_per_step = self.positions

    def build(self, evidence, utility, configurations):
        return build_engine(self.spec, evidence, utility, configurations=configurations)


@pytest.mark.parametrize("check", EngineSuite.checks())
@pytest.mark.parametrize("name", SPECS)
def test_an_engine_keeps_its_contract(name: str, check: str):
    getattr(OurEngine(SPECS[name]), check)()


class _Altered:
    """An engine with one method that does not keep the contract."""

    def __init__(self, engine, **changed):
        self._engine = engine
        self._changed = changed

    def __getattr__(self, name):
        return self._changed.get(name, getattr(self._engine, name))


class Broken(OurEngine):
    def build(self, evidence, utility, configurations):
        engine = super().build(evidence, utility, configurations)
        return _Altered(engine, **self.alter(engine))


class Forgetful(Broken):
    def alter(self, engine):
        return {"needed": list}


class Unstoppable(Broken):
    def alter(self, engine):
        return {"advance": lambda pause: engine.advance(pause._replace(rounds=pause.rounds + 3))}


class Greedy(Broken):
    def alter(self, engine):
        return {"likely": lambda count, begun=(): engine.likely(count + 1, begun)}


class Restless(Broken):
    def alter(self, engine):
        def advance(pause: PauseAt) -> Halt:
            halt = engine.advance(pause)
            return Halt.PAUSED if halt is Halt.DONE and math.isinf(pause.total_time_s) else halt

        return {"advance": advance}


@pytest.mark.parametrize(
    ("kind", "check", "sentence"),
    [
        (Forgetful, "test_live_runs_in_any_order_lead_to_the_recorded_state", "needs runs but names none"),
        (Unstoppable, "test_a_pause_is_kept", "asked to pause at round 17"),
        (Greedy, "test_live_runs_in_any_order_lead_to_the_recorded_state", "likely runs"),
        (Restless, "test_done_stays_done_and_says_why", "not done after"),
    ],
)
def test_an_engine_that_breaks_the_contract_is_found(kind, check: str, sentence: str, monkeypatch):
    monkeypatch.setattr("utilitune.testing.engines._PATIENCE", 2000)
    with pytest.raises(ContractError, match=sentence):
        getattr(kind(SPECS["oup"]), check)()

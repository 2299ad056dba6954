from __future__ import annotations

import math

import pytest

from utilitune import ProcedureSpec, RuntimeMatrix, UtilituneError, parse_utility
from utilitune.errors import UsageError
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import listed_schedule
from utilitune.procedures.naive import NaiveEngine
from utilitune.procedures.naming import are_compiled, build_engine, specification_from_options, warm_up
from utilitune.procedures.paper.engine import PaperEngine

UTILITY = parse_utility("uniform(k0=4)")


def build(spec: ProcedureSpec) -> object:
    matrix = RuntimeMatrix.from_array([[1.0, 2.0]]).resample(500, seed=0)
    return build_engine(spec, RecordedEvidence(matrix, UTILITY), UTILITY, configurations=1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "oupp"}, "unknown procedure 'oupp'; did you mean 'oup'?"),
        ({"name": "xyz"}, "unknown procedure 'xyz'; known: "),
        ({"doubling": "nwe"}, "unknown doubling rule 'nwe'; did you mean 'new'?"),
        ({"accounting": "restrat"}, "unknown accounting 'restrat'; did you mean 'restart'?"),
        ({"schedule": "defualt"}, "unknown schedule 'defualt'; did you mean 'default'?"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, not 0.0"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1, not 1.0"),
        ({"delta": math.nan}, "delta must lie strictly between 0 and 1, not nan"),
        ({"delta": "0.1"}, "delta must lie strictly between 0 and 1, not 0.1"),
        ({"epsilon": -0.1}, "epsilon must lie strictly between 0 and 1, not -0.1"),
        ({"epsilon": 1.5}, "epsilon must lie strictly between 0 and 1, not 1.5"),
        ({"captime0_s": 0.0}, "the first captime must be a positive number, not 0.0"),
        ({"captime0_s": math.inf}, "the first captime must be a positive number, not inf"),
        ({"phases": 0}, "the number of phases must be at least 1, not 0"),
    ],
)
def test_a_wrong_setting_gets_one_sentence(arguments: dict[str, object], sentence: str):
    with pytest.raises(UtilituneError) as caught:
        ProcedureSpec(**arguments)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("arguments", [{"captime_s": 4.0}, {"epsilon": 0.5}, {}])
def test_naive_needs_a_captime_and_a_target(arguments: dict[str, float]):
    with pytest.raises(UtilituneError, match="Naive needs a captime"):
        build(ProcedureSpec("naive", **arguments))


@pytest.mark.parametrize("name", ["up", "oup", "coup"])
def test_names_become_compositions(name: str):
    assert isinstance(build(ProcedureSpec(name, delta=0.1)), PaperEngine)


def test_naive_becomes_the_baseline():
    assert isinstance(build(ProcedureSpec("naive", delta=0.1, epsilon=0.5, captime_s=4.0)), NaiveEngine)


def test_a_schedule_may_be_given_as_an_object():
    engine = build(ProcedureSpec("coup", delta=0.4, schedule=listed_schedule([0.5], [0.9])))
    assert engine.missing_configurations == 3


def test_a_schedule_of_ones_own_is_refused_where_it_cannot_be_stored():
    own = listed_schedule([0.5], [0.5])
    with pytest.raises(UsageError, match="schedule of procedure 'coup' must be the name of a schedule"):
        specification_from_options("coup", {"schedule": own})


@pytest.mark.parametrize("name", ["wager", "coup", "up", "oup", "naive"])
@pytest.mark.parametrize("delta", [1e-300, 5e-324])
def test_a_delta_too_small_to_be_split_is_refused(name, delta):
    """It once ended in a traceback, when the promise was to be shown."""
    with pytest.raises(UsageError, match="delta must be at least 1e-100"):
        ProcedureSpec(name=name, delta=delta)


@pytest.mark.parametrize("name", ["wager", "coup", "oup", "up", "naive"])
def test_rules_that_were_compiled_once_are_known_to_be(name):
    """A run whose rules are not compiled begins without them; each later one would if this were wrong."""
    warm_up(ProcedureSpec(name), UTILITY)
    assert are_compiled(ProcedureSpec(name))

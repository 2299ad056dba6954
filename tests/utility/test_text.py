from __future__ import annotations

from pathlib import Path

import pytest

from utilitune.errors import UtilityError
from utilitune.utility import (
    FAMILIES,
    GeneralisedLogLaplace,
    LogLaplace,
    Pareto,
    Plateau,
    Step,
    Utility,
    parse_utility,
)

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "utilities.md"


@pytest.mark.parametrize(
    ("text", "utility"),
    [
        ("log-laplace(k0=60, alpha=1)", LogLaplace(60, 1)),
        ("log-laplace(60)", LogLaplace(60, 1)),
        ("log-laplace(60,1,)", LogLaplace(60, 1)),
        ("LOG_LAPLACE( 1m , alpha = 2 )", LogLaplace(60, 2)),
        ("LogLaplace(alpha=0.5, K0=500ms)", LogLaplace(0.5, 0.5)),
        ("log laplace (k0=1h30m)", LogLaplace(5400)),
        ("generalized-log-laplace(60, alpha-above=1, alpha_below=2)", GeneralisedLogLaplace(60, 2, 1)),
        ("deadline(1d)", Step(86400)),
        ("plateau(0, 1m)", Plateau(0, 60)),
        ("pareto(10, 1e-1)", Pareto(10, 0.1)),
    ],
)
def test_understands_what_people_write(text: str, utility: Utility):
    assert parse_utility(text) == utility


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not a utility: write a name and its values"),
        ("(60)", "is not a utility: write a name and its values"),
        ("log-laplace(60", "is not a utility: write a name and its values"),
        ("uniform(60) x", "is not a utility: write a name and its values"),
        ("unifrom(60)", "there is no utility 'unifrom': did you mean 'uniform'?"),
        ("qqq(60)", "there is no utility 'qqq': known: compared, cost-per-hour, exponential"),
        ("uniform", r"uniform needs k0: write e.g. uniform\(k0=60\)"),
        ("cost-per-hour()", "cost-per-hour needs value and rate"),
        ("log-laplace(k0=60, alfa=1)", "log-laplace has no parameter 'alfa': did you mean 'alpha'?"),
        ("log-laplace(60, k0=60)", "got k0 twice"),
        ("log-laplace(alpha=1, 60)", "plain value after a named one"),
        ("step(1, 2)", "step takes no more than deadline"),
        ("uniform(-3)", "k0 of uniform must be a positive time such as 60 or 1m, not '-3'"),
        ("uniform(0)", "k0 of uniform must be a positive time such as 60 or 1m, not 0.0"),
        ("uniform(nan)", "k0 of uniform must be a positive time"),
        ("uniform(k0=)", "k0 of uniform must be a positive time"),
        (
            "log-laplace(60, alpha=1s)",
            "alpha of log-laplace must be a positive number such as 1 or 0.5, not '1s'",
        ),
        ("log-laplace(60, inf)", "alpha of log-laplace must be a positive number"),
        ("plateau(-1, 5)", "start of plateau must be a time from 0 up"),
    ],
)
def test_says_what_is_wrong_and_what_to_do(text: str, sentence: str):
    with pytest.raises(UtilityError, match=sentence):
        parse_utility(text)


def test_canonical_text_is_short_and_exact():
    assert str(parse_utility("log_laplace(1m)")) == "log-laplace(k0=60, alpha=1)"
    assert str(parse_utility("uniform(100ms)")) == "uniform(k0=0.1)"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_working_example_and_an_explanation(name: str):
    family = FAMILIES[name]
    utility = parse_utility(family.example)
    assert type(utility) is family
    assert family.name == name
    assert family.summary
    assert utility(0.0) == 1


@pytest.mark.parametrize("name", FAMILIES)
def test_the_guide_shows_every_family_by_an_example_that_works(name: str):
    assert f"`{FAMILIES[name].example}`" in GUIDE.read_text(encoding="utf-8")


def test_the_guide_python_example_holds():
    code = GUIDE.read_text(encoding="utf-8").split("## In Python")[1].split("```python")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, str(GUIDE), "exec"), names)  # its own assertions hold
    assert names["u"] == parse_utility("log-laplace(k0=60)")

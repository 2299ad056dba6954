from __future__ import annotations

import pytest

from utilitune import UtilituneError
from utilitune.rivals.ac_band import ACBand, Feedback
from utilitune.rivals.hyperband import Hyperband
from utilitune.rivals.impatient import ImpatientCapsAndRuns
from utilitune.rivals.naming import RIVALS, rival_named, settings_of, split_settings
from utilitune.rivals.rival import RankedBy


def test_words_become_settings():
    assert rival_named("hyperband", {"resource": "1h", "eta": "4", "objective": "runtime"}) == Hyperband(
        resource_s=3600.0, eta=4, objective=RankedBy.RUNTIME
    )
    assert rival_named("ac-band", {"race-size": "8", "alpha": "0.01", "feedback": "utility"}) == ACBand(
        race_size=8, alpha=0.01, feedback=Feedback.UTILITY
    )
    assert rival_named("icar", {"guess_best": "yes", "original_constants": "no"}) == ImpatientCapsAndRuns(
        guess_best=True
    )
    assert rival_named("ac-band") == ACBand()


def test_every_rival_says_its_settings():
    assert settings_of(RIVALS["successive-halving"]) == {
        "budget": "required",
        "captime": "",
        "objective": "utility",
    }
    assert settings_of(RIVALS["icar"])["guess_best"] == "no"
    assert all("captime" in settings_of(kind) for kind in RIVALS.values())


def test_settings_are_split_at_the_first_equals_sign():
    assert split_settings(["budget=10", " eta = 3 "]) == {"budget": "10", "eta": "3"}


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("hyperbant", {}, "unknown rival 'hyperbant'; did you mean 'hyperband'"),
        ("hyperband", {}, "hyperband needs a resource: add --set resource=VALUE"),
        ("hyperband", {"budgte": "3"}, "hyperband has no setting 'budgte'"),
        ("successive-halving", {"bugdet": "3"}, "did you mean 'budget'"),
        ("successive-halving", {"budget": "many"}, "budget must be a whole number, not 'many'"),
        ("successive-halving", {"budget": "9", "objective": "speed"}, "must be utility or runtime"),
        ("spc", {"multiplier": "two"}, "multiplier must be a number, not 'two'"),
        ("spc", {"captime": "soon"}, "not a duration"),
        ("icar", {"guess-best": "maybe"}, "must be yes or no, not 'maybe'"),
        ("ac-band", {"race_size": "2", "race-size": "3"}, "setting 'race_size' of ac-band is given twice"),
        ("car", {"delta": "1.5"}, "delta must lie strictly between 0 and 1"),
    ],
)
def test_bad_words_are_refused(name: str, settings: dict[str, str], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        rival_named(name, settings)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["budget"], "written name=value"),
        (["=3"], "written name=value"),
        (["eta=3", "eta=4"], "'eta' is given twice"),
    ],
)
def test_settings_that_are_none_are_refused(texts: list[str], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        split_settings(texts)

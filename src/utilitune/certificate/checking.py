"""Check a certificate: recompute everything that its promise rests on, and name the first thing that fails.

In this order: the file is whole; the instances stand in the order that follows from the seed; given
configurations are those that were settled; the random draws follow from the seed and the space, none left
out; every run is about a configuration and an instance that exist; what was settled before the first run
fits the configurations and the space; the shares of δ sum to δ; nominees come with the orders that follow
from the entropy; and the runs prove ε, γ and the gain.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.certificate.betting import PAIRED_WEIGHTS, lower_bound, paired_bound, refutes
from utilitune.certificate.content import (
    COLUMNS,
    FORMAT,
    SETTLED,
    VERSION,
    WITHOUT_GIVEN,
    chain_of,
    commitment_of,
    digest_of,
)
from utilitune.certificate.drawing import check_condition, check_draws
from utilitune.certificate.facts import Facts, RefutedError, number, require, whole
from utilitune.domain import Promise, probability_kept, rounded_up
from utilitune.errors import UtilituneError
from utilitune.errors.outside import is_file
from utilitune.errors.wording import counted
from utilitune.spaces import ParameterSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from utilitune.certificate.facts import AnswerRole
    from utilitune.spaces import Assignment

Cover = Sequence[tuple[float, int]]
"""Share and number of every draw that ε has to cover."""

_SLACK = 1e-7
_KEYS = {"format", "version", "configurations", "nominations", "runs", "chain"} | {
    "promise",
    "versions",
    "commitment",
    "digest",
}
_NOT_COMMITTED = (
    f"but a commitment of format {WITHOUT_GIVEN} leaves out the configurations that were given, so nobody "
    "can see whether random draws that did not please were called given ones afterwards"
)
_MALFORMED = (
    UtilituneError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of checking a certificate.

    Attributes:
        valid: Whether everything holds.
        reason: What is proved, or the first thing that does not hold.
        checked: What was recomputed, a sentence each.
    """

    valid: bool
    reason: str
    checked: tuple[str, ...] = ()


def verify(
    content: Mapping[str, Any], *, commitment: str | None = None, files: Path | None = None
) -> CheckResult:
    """Check a certificate as it was read from its file.

    Args:
        content: The certificate.
        commitment: The commitment that was noted when the run began, if there is one.
        files: The folder of the instances, to compare their content as well.
    """
    checked: list[str] = []
    try:
        for sentence in _steps(content, commitment, files):
            checked.append(sentence)  # noqa: PERF402 - one by one: what was checked before a failure counts
    except RefutedError as problem:
        return CheckResult(valid=False, reason=str(problem), checked=tuple(checked))
    except _MALFORMED as error:
        reason = f"the certificate is not of the form it should be ({type(error).__name__}: {error})"
        return CheckResult(valid=False, reason=reason, checked=tuple(checked))
    return CheckResult(valid=True, reason=checked.pop(), checked=tuple(checked))


def _steps(content: Mapping[str, Any], commitment: str | None, files: Path | None) -> Iterator[str]:
    yield _check_file(content)
    given_settled = content["version"] != WITHOUT_GIVEN
    if commitment is not None:
        given_settled = given_settled and commitment == content["commitment"]
        known = given_settled or commitment == commitment_of(content, WITHOUT_GIVEN)
        require(known, "what was settled is not what was committed to")
        yield "what was settled before the first run is what was committed to"
    yield _check_instances(content)
    if files is not None:
        yield _check_contents(content["instances"]["contents"], files)
    space = ParameterSpace.from_tables(**json.loads(content["space"]))
    yield check_draws(content, space)
    keys = [_key(space, each["values"], place) for place, each in enumerate(content["configurations"])]
    facts = Facts(content, keys, space.size)
    runs = counted(len(content["runs"]["position"]), "run")
    yield f"{runs}, each of a configuration and an instance that exist"
    yield _check_rules(facts, content["rules"])
    yield _check_shares(facts)
    claim = _check_claim(facts, content)
    yield claim if given_settled else f"{claim}; {_NOT_COMMITTED}"


# -- the file, the instances, the draws ----------------------------------------------------------------------


def _check_file(content: Mapping[str, Any]) -> str:
    require(digest_of(content) == content["digest"], "the certificate was changed: its digest does not fit")
    version = content["version"]
    require(
        content["format"] == FORMAT and version in (WITHOUT_GIVEN, VERSION), "this is no such certificate"
    )
    require(set(content) == {*_KEYS, *SETTLED[version]}, "the certificate has other entries than it should")
    runs, objective = content["runs"], content["objective"]["kind"]
    require(objective in COLUMNS, f"nobody knows the objective {objective!r}")
    require(set(runs) == {*COLUMNS[objective]}, "the log of runs has other columns than it should")
    require(len({len(column) for column in runs.values()}) == 1, "the log of runs has holes")
    require(chain_of(runs, objective) == content["chain"], "the log of runs was changed: its chain is broken")
    require(
        commitment_of(content, version) == content["commitment"], "what was settled was changed afterwards"
    )
    return "the file is whole, and so is the log of its runs"


def _hashed(seed: int, *purpose: str | int) -> bytes:
    text = "\0".join(map(str, (seed, *purpose)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _check_instances(content: Mapping[str, Any]) -> str:
    instances, seed = content["instances"], content["seed"]
    require(type(seed) is int, "the seed is no whole number")
    require(content["population"] in {"finite", "infinite"}, "nobody knows what the instances stand for")
    listed, order = instances["listed"], instances["order"]
    require(
        bool(listed) or content["population"] == "infinite", "the promise is about a list, but there is none"
    )
    if listed is None:
        return "the instances are made one after the other, each from the seed and its number"
    seen: Counter[str] = Counter()
    ranked = []
    for name in listed:
        occurrence = (name, seen[name]) if seen[name] else (name,)
        ranked.append((_hashed(seed, "training", "order", *occurrence), name))
        seen[name] += 1
    expected = [name for _, name in sorted(ranked)]
    require(order == expected, "the instances do not stand in the order that follows from the seed")
    once = content["population"] == "finite" or len(seen) == len(listed)
    require(once, "a sample of instances holds one of them twice")
    require(set(instances["contents"]) <= set(listed) or len(instances["contents"]) == 1, "unknown files")
    return f"{counted(len(order), 'instance')} in the order that follows from the seed"


def _check_contents(contents: Mapping[str, str], folder: Path) -> str:
    for name, digest in contents.items():
        require(is_file(folder / name), f"there is no file of the instance {name!r}")
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise RefutedError(f"the instance {name!r} cannot be read: {error.strerror}") from None
        require(found == digest, f"the instance {name!r} is not the one that was run")
    if not contents:
        return "no file of an instance was compared: the certificate holds the content of none"
    return f"{counted(len(contents), 'file')} with the content that was run"


def _key(space: ParameterSpace, values: Mapping[str, Any], place: int) -> Assignment:
    """A configuration in the one form that equal configurations share."""
    try:
        return space.validate(values)
    except UtilituneError as error:
        raise RefutedError(f"configuration {place} does not belong to the space: {error}") from None


# -- the claim -----------------------------------------------------------------------------------------------


def _check_rules(facts: Facts, rules: Mapping[str, Any]) -> str:
    """What was settled beforehand must fit what came of it."""
    names = {"fixed", "announced_gamma", "default", "given", "chosen", "space_size"}
    known = set(rules) - {"listed", "schedule", "undivided"}  # runs of earlier versions do not say
    require(known == names, "other things were settled than there are to settle")
    flags = [rules[name] for name in ("default", "given", "chosen")]
    require(all(type(flag) is bool for flag in flags), "something was settled neither with yes nor with no")
    require(rules["space_size"] == facts.space_size, "the space has another number of configurations")
    origins = {each["origin"] for each in facts.configurations}
    require(rules["default"] is ("default" in origins), "the default was settled otherwise")
    require(rules["default"] or not facts.compares, "runs are compared with the default, but there is none")
    chosen = bool(facts.nominations) or bool(origins & {"model", "nominee"})
    require(not facts.nominations or "model" not in origins, "a run has proposals or nominees, never both")
    if facts.shares.fixed:
        require(not chosen, "a fixed set has no place for configurations that were chosen by outcomes")
        require(
            len(facts.configurations) == facts.shares.fixed or _holds_the_whole_space(facts),
            "the fixed set has another number of configurations than was settled",
        )
    else:
        given = bool(origins & {"default", "user"})
        require(rules["given"] or not given, "configurations were given, but have no share of δ")
        require(
            rules["chosen"] or not chosen, "configurations were chosen by outcomes, but have no share of δ"
        )
    if facts.announced is not None:
        require(0.0 < number(facts.announced, "the announced γ") < 1.0, "the announced γ is no share")
    return "what was settled before the first run fits the configurations and the space"


def _holds_the_whole_space(facts: Facts) -> bool:
    """Whether a set has room for more, but every other configuration would repeat one of it."""
    known = facts.space_size is not None and len(set(facts.row)) >= facts.space_size
    return known and len(facts.configurations) <= facts.shares.fixed


def _check_shares(facts: Facts) -> str:
    shares = facts.shares
    total = sum(shares.part(kind) for kind in ("lower", "upper", "paired")) + 2.0 * shares.gain
    total += shares.for_gamma
    require(total <= facts.delta * (1.0 + 1e-9), "the shares sum to more than δ")
    return "the shares of all bounds sum to at most δ"


def _check_claim(facts: Facts, content: Mapping[str, Any]) -> str:
    claim = content["promise"]
    names = {"answer", "epsilon", "gamma", "gain", "condition", "sentence"}
    require(set(claim) == names, "the promise has other entries than it should")
    require(isinstance(claim["condition"], str), "the condition of the promise is no text")
    check_condition(content)
    answer, epsilon = whole(claim["answer"], "the answer"), number(claim["epsilon"], "ε")
    gamma = None if claim["gamma"] is None else number(claim["gamma"], "γ")
    gain = None if claim["gain"] is None else number(claim["gain"], "the gain")
    require(answer < len(facts.configurations), "the answer is no known configuration")
    require(epsilon >= 0.0 and (gamma is None or gamma >= 0.0), "ε and γ cannot be negative")
    require((gamma is None) == bool(facts.shares.fixed), "the promise is about another set than was settled")
    promise = Promise(
        epsilon,
        facts.delta,
        gamma,
        len(facts.configurations),
        population=content["population"],
        condition=claim["condition"],
        gain=gain,
    )
    require(claim["sentence"] == promise.sentence(), "the sentence says something else than the promise")
    roles = facts.roles(answer)
    if epsilon < 1.0 and (gamma is None or gamma < 1.0):
        _check_near(facts, answer, roles, epsilon, gamma)
    if gain is not None and facts.row[answer] != 0:
        require(
            any(_gains(facts, answer, role, gain - _SLACK) for role in roles),
            f"the runs do not prove a gain of {gain:.6g} over the default",
        )
    require(gain is None or facts.row[answer] != 0 or gain <= 0.0, "the default is no better than itself")
    return f"VALID: {_in_words(promise, facts)}"


def _check_near(
    facts: Facts, answer: int, roles: list[AnswerRole], epsilon: float, gamma: float | None
) -> None:
    covers = _covers(facts, gamma)
    require(bool(roles), "the answer has no share of δ, so nothing is proved of it")
    proved = any(
        _is_near(facts, answer, covered, epsilon + _SLACK)
        or _proves_by_default(facts, answer, covered, epsilon + _SLACK)
        for covered in covers
    )
    require(proved, f"the runs do not prove that the answer is within ε = {epsilon:.6g} of the best")


def _in_words(promise: Promise, facts: Facts) -> str:
    """What is proved, to six digits that are rounded to the safe side."""
    if promise.epsilon >= 1.0 or (promise.gamma is not None and promise.gamma >= 1.0):
        return "nothing is proved yet, and nothing is claimed"
    whom = f"all {len(facts.configurations)} configurations"
    if promise.gamma == 0:
        whom = "all configurations that can be set"
    elif promise.gamma is not None:
        whom = f"all but a fraction γ = {rounded_up(promise.gamma, 6)} of all configurations"
    sentence = (
        f"with probability {probability_kept(facts.delta)} the answer is within "
        f"ε = {rounded_up(promise.epsilon, 6)} of the best of {whom}"
    )
    if promise.gain is not None and promise.gain > 0:
        sentence += f", and at least {-float(rounded_up(-promise.gain, 6)):g} better than the default"
    return sentence


def _covers(facts: Facts, gamma: float | None) -> list[Cover]:
    """Whom ε has to cover: all draws of a set or a space that is known as a whole, or enough for γ."""
    draws = facts.draws
    if gamma is None:
        return [_cover_of(facts, draws, reached=True)]
    distinct = {facts.row[place] for place in draws}
    require(len(distinct) >= facts.shares.listed, "some configurations of the listed space were never drawn")
    whole_space = facts.space_size is not None and len(distinct) >= facts.space_size
    covers = [_cover_of(facts, draws, reached=True)] if whole_space else []
    count = facts.shares.draws_for(gamma, facts.announced, len(draws))
    if count is not None and not facts.shares.listed:
        covers.append(_cover_of(facts, draws[:count], reached=count >= facts.shares.announced))
    require(bool(covers), f"there are too few random draws for γ = {gamma:.6g}")
    return covers


def _cover_of(facts: Facts, draws: Sequence[int], *, reached: bool) -> Cover:
    """Share and number of each draw; repeated ones are never the best so far."""
    seen: set[int] = set()
    covered = []
    for rank, place in enumerate(draws, start=1):
        if facts.row[place] not in seen:
            seen.add(facts.row[place])
            covered.append((facts.shares.rank_weight(rank, reached=reached), place))
    return covered


def _low(facts: Facts, answer: int, role: AnswerRole) -> float:
    """A lower bound on what a possible answer is worth."""
    own = facts.own(answer, role)
    if role.ungauged:
        return float(own.sum() / facts.population) * (1.0 - 1e-12)
    return lower_bound(own, facts.population, facts.shares.part("lower") * role.weight)


def _proves(facts: Facts, answer: int, role: AnswerRole, covered: Cover, epsilon: float) -> bool:
    """Whether every draw is at most ε better than the answer: by its own bound, or by their difference."""
    shares, population, low = facts.shares, facts.population, _low(facts, answer, role)
    if low + epsilon >= 1.0:
        return True
    upper, paired = shares.part("upper"), shares.part("paired")
    for share, place in covered:
        if facts.row[place] == facts.row[answer]:
            continue
        if refutes(facts.losses(place), population, 1.0 - low - epsilon, upper * share):
            continue
        delta = paired * share * role.weight
        differences = facts.differences(place, answer, role)
        if role.ungauged or not refutes(
            differences, population, 1.0 - epsilon, delta, weights=PAIRED_WEIGHTS
        ):
            return False
    return True


def _proves_in_a_role(facts: Facts, answer: int, covered: Cover, epsilon: float) -> bool:
    """Whether the answer is within ε in any of its roles."""
    return any(_proves(facts, answer, role, covered, epsilon) for role in facts.roles(answer))


def _is_near(facts: Facts, answer: int, covered: Cover, epsilon: float) -> bool:
    """Whether the answer is within ε in any of its roles, or as one that cannot be far below such a one."""
    if _proves_in_a_role(facts, answer, covered, epsilon):
        return True
    if not facts.population:
        return False
    low = max(_low(facts, answer, role) for role in facts.roles(answer))
    left = {place: low + epsilon - facts.most(place) for place in facts.possible}
    others = sorted((place for place in left if left[place] >= 0.0), key=left.__getitem__, reverse=True)
    return any(
        _proves_in_a_role(facts, place, covered, left[place])
        or _proves_by_default(facts, place, covered, left[place], _proves_in_a_role)
        for place in others
    )


def _proves_by_default(
    facts: Facts,
    answer: int,
    covered: Cover,
    epsilon: float,
    near: Callable[[Facts, int, Cover, float], bool] = _is_near,
) -> bool:
    """Whether the default is the answer because another one, of which more is proved, is surely worse.

    Args:
        facts: What the runs tell.
        answer: The answer.
        covered: Whom ε has to cover.
        epsilon: What is claimed of it.
        near: How that other one may be proved to be near the best.
    """
    if not facts.shares.gain or facts.row[answer] != 0:
        return False
    for place in facts.possible:
        loss = max(_surely_behind(facts, place, role) for role in facts.roles(place))
        if loss > 0 and near(facts, place, covered, epsilon + loss):
            return True
    return False


def _surely_behind(facts: Facts, place: int, role: AnswerRole) -> float:
    """By how much a configuration is surely worse than the default; 0 if that is not proved."""
    values, share = facts.differences(place, 0, role), facts.shares.gain * role.weight
    if role.ungauged or not refutes(values, facts.population, 1.0, share, weights=PAIRED_WEIGHTS):
        return 0.0
    return max(0.0, paired_bound(values, facts.population, share) - 1.0)


def _gains(facts: Facts, answer: int, role: AnswerRole, gain: float) -> bool:
    """Whether the answer is surely better than the default by this much."""
    if not facts.shares.gain or role.ungauged:
        return False
    values = facts.differences(0, answer, role)
    share = facts.shares.gain * role.weight
    return refutes(values, facts.population, 1.0 + gain, share, weights=PAIRED_WEIGHTS)

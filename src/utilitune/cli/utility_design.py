"""``utilitune utility design``: find the utility function that is yours: in words, by questions, from points.

With options it asks nothing, so it can be scripted; without any it asks. Both ways call the same rules as the
page of ``utilitune serve``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from utilitune.cli.grouping import grouped
from utilitune.cli.terminal import is_terminal, say, say_json
from utilitune.cli.texts import prose, words
from utilitune.errors import UsageError, UtilituneError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from utilitune.reports.contest import Contest
    from utilitune.utility import Utility
    from utilitune.utility.designing import Answer, Fit, Interview, Question

_T = TypeVar("_T")
_TOGETHER = ("product", "minimum")


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignOptions:
    """How the utility is found."""

    say: Annotated[
        str | None,
        typer.Option(help="In words, such as 'nightly batch, useless after 10 minutes, 0.05 per hour'."),
    ] = None
    answer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GOOD|BAD=SURE",
            help="Two times to toss a coin for, and the sure time that is as good to you, e.g. '1s|1h=5m'; "
            "repeatable. The family that agrees best is taken.",
        ),
    ] = None
    point: Annotated[
        list[str] | None,
        typer.Option(metavar="TIME:WORTH", help="What a time is worth, such as 10s:0.8; repeatable."),
    ] = None
    smooth: Annotated[
        bool, typer.Option("--smooth", help="With points: take the nearest family, not straight lines.")
    ] = False
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR", help="Another utility that counts as well, such as 'step(10m)'; repeatable."
        ),
    ] = None
    together: Annotated[
        str, typer.Option(help="How several count together: product (each takes its share) or minimum.")
    ] = "product"


@dataclass(frozen=True, slots=True)
class _Found:
    """A utility, and what there is to say about how it was found."""

    utility: Utility
    told: tuple[str, ...] = ()
    fit: Fit | None = None
    answers: tuple[Answer, ...] = field(default=())


@grouped
def design(
    *,
    ways: DesignOptions,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="RUN|DATA",
            help="Who would win there: a run (folder or scenario), or recorded data such as shipped:kissat.  "
            "[default: data that come with Utilitune]",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Find the utility function that is yours, and the line for your scenario.

    Say it in words, answer a few questions, or give points. Without any option you are asked. It shows how
    well your answers agree, and at once who would win under your utility, on a finished run or on data that
    come with Utilitune. The same with a curve to drag: `utilitune serve`, then open /designer.

    For example:

    - `utilitune utility design`
    - `utilitune utility design --say 'useless after 10 minutes, 0.05 per hour'`
    - `utilitune utility design --answer '1s|1h=5m' --answer '1s|5m=1m' --on scenario.run`
    - `utilitune utility design --point 1s:1 --point 1m:0.5 --point 1h:0 --also 'step(10m)'`
    """
    found = _given(ways)
    if found is None and not is_terminal():
        raise UsageError(
            "say how to find the utility: --say 'useless after 10 minutes', --answer '1s|1h=5m' or "
            "--point 10s:0.8; in a terminal you are asked"
        )
    if found is None:
        found = _with_more(_asked())
    found = _combined(found, ways)
    source, contest = _contest(on, found.utility)
    if as_json:
        say_json(_plain(found, source, contest), allow_nan=False)
    else:
        _print(found, source, contest)


# -- by options ------------------------------------------------------------------------------------


def _given(ways: DesignOptions) -> _Found | None:
    chosen = [name for name in ("say", "answer", "point") if getattr(ways, name)]
    if len(chosen) > 1:
        raise UsageError(f"choose one way: --{chosen[0]} or --{chosen[1]}; --also adds another utility")
    if ways.smooth and not ways.point:
        raise UsageError("--smooth is about points: add --point 10s:0.8")
    if ways.say:
        return _from_words(ways.say)
    if ways.answer:
        from utilitune.utility.designing import parse_answer

        return _from_answers([parse_answer(text) for text in ways.answer])
    if ways.point:
        return _from_points(ways.point, smooth=ways.smooth)
    return None


def _from_words(text: str) -> _Found:
    from utilitune.utility.designing import understand

    said = understand(text)
    told = [f"{part.phrase}: {part.utility.describe()}" for part in said.parts]
    if said.names:
        told.append(f"taken as a name, without a meaning: {', '.join(said.names)}")
    return _Found(said.utility, tuple(told))


def _from_answers(answers: Sequence[Answer]) -> _Found:
    from utilitune.utility.designing import fit_answers

    fit = fit_answers(answers)
    return _Found(fit.utility, fit=fit, answers=tuple(answers))


def _from_points(texts: Sequence[str], *, smooth: bool) -> _Found:
    from utilitune.utility import PiecewiseLinear
    from utilitune.utility.designing import fit_points

    utility = PiecewiseLinear.from_arguments(texts)
    if not smooth:
        return _Found(utility)
    fit = fit_points(utility.points)
    return _Found(fit.utility, fit=fit)


def _combined(found: _Found, ways: DesignOptions) -> _Found:
    from utilitune.utility import Minimum, Product, parse_utility

    if ways.together not in _TOGETHER:
        raise UsageError(f"several utilities count together as product or minimum, not as {ways.together!r}")
    if not ways.also:
        return found
    kind = Minimum if ways.together == "minimum" else Product
    parts = (found.utility, *(parse_utility(text) for text in ways.also))
    return _Found(kind(parts), found.told, found.fit, found.answers)


# -- by asking -------------------------------------------------------------------------------------


def _asked() -> _Found:
    prose(words(), "What is an answer worth to you, after which time? There are three ways to find out:")
    say("  1  Say it in words")
    say("  2  Answer a few questions: a sure time, or a coin between two times")
    say("  3  Name what a few times are worth")
    ways = {"1": _asked_words, "2": _asked_questions, "3": _asked_points}

    def chosen(text: str) -> Callable[[], _Found]:
        if text not in ways:
            raise UsageError("write 1, 2 or 3")
        return ways[text]

    return _prompt("Which", "1", chosen)()


def _asked_words() -> _Found:
    from utilitune.utility.designing import SITUATIONS

    say("Say one or more of these, with your own numbers, separated by commas:")
    for situation in SITUATIONS:
        say(f"  {situation.filled(*(blank.usual for blank in situation.blanks)):<44} {situation.title}")
    return _prompt("An answer is", "useless after 10 min", _from_words)


def _asked_questions() -> _Found:
    from utilitune.utility import parse_duration
    from utilitune.utility.designing import Interview

    def begun(worst: str) -> Interview:
        return Interview(best_s, parse_duration(worst))

    best_s = _prompt("The quickest answer you hope for comes after", "1s", parse_duration)
    interview = _prompt("An answer is useless after", "1h", begun)
    prose(words(), "Which would you rather have? There is no right answer. b takes the last choice back.")
    while True:
        answers, question = interview.state()
        if question is None:
            return _from_answers(answers)
        interview = _answered(interview, question)


def _answered(interview: Interview, question: Question) -> Interview:
    """The interview after one more choice, or one less."""
    from dataclasses import replace

    from utilitune.utility import format_duration
    from utilitune.utility.designing.gambles import GAMBLE, QUESTIONS, SAME, SURE

    gamble = question.gamble
    say(f"\nQuestion {question.number} of {QUESTIONS}")
    say(f"  1  surely after {format_duration(question.sure_s)}")
    say(f"  2  a fair coin: {format_duration(gamble.good_s)} or {format_duration(gamble.bad_s)}")
    say("  3  they are the same to me")
    words = {"1": SURE, "2": GAMBLE, "3": SAME}

    def taken(text: str) -> Interview:
        if text.lower() == "b":
            return replace(interview, choices=interview.choices[:-1])
        after = interview.then(words.get(text, text))
        after.state()
        return after

    return _prompt("1, 2, 3, or a sure time as good as the coin", "3", taken)


def _asked_points() -> _Found:
    return _prompt(
        "Points time:worth, separated by commas",
        "1s:1, 1m:0.5, 1h:0",
        lambda text: _from_points([part.strip() for part in text.split(",")], smooth=False),
    )


def _with_more(found: _Found) -> _Found:
    """Whatever else counts, said in words."""
    from utilitune.utility import Product

    def added(text: str) -> _Found:
        if not text:
            return found
        more = _from_words(text)
        return _Found(
            Product((found.utility, more.utility)), (*found.told, *more.told), found.fit, found.answers
        )

    say()
    return _prompt("Does anything else count, in words (Enter for nothing)", "", added)


def _prompt(question: str, default: str, read: Callable[[str], _T]) -> _T:
    """Ask until the answer can be read."""
    while True:
        text = str(typer.prompt(question, default=default, show_default=bool(default))).strip()
        try:
            return read(text)
        except UtilituneError as error:
            prose(words(), str(error), indent=2)


# -- what comes of it ------------------------------------------------------------------------------


def _contest(on: str | None, utility: Utility) -> tuple[str, Contest]:
    from pathlib import Path

    from utilitune.live.places import default_folder
    from utilitune.reports.contest import SHIPPED, contest_of_data, contest_of_run, telling_data
    from utilitune.store.sqlite_errors import DATABASE_NAME

    source = telling_data(utility) if on is None else on
    if source in SHIPPED:
        return f"{source}: {SHIPPED[source]}", contest_of_data(source)
    for folder in (Path(source), default_folder(Path(source))) if ":" not in source else ():
        if (folder / DATABASE_NAME).exists():
            return source, contest_of_run(folder)
    return source, contest_of_data(source)


def _plain(found: _Found, source: str, contest: Contest) -> dict[str, Any]:
    from utilitune.reports.contest import stability_in_words
    from utilitune.utility.designing import line_to_paste

    shifts = contest.shifts(found.utility)
    return {
        "utility": str(found.utility),
        "line": line_to_paste(found.utility),
        "words": found.utility.describe(),
        "understood": list(found.told),
        "inconsistency": None if found.fit is None else found.fit.inconsistency,
        "agreement": None if found.fit is None else found.fit.words,
        "tried_on": source,
        **contest.ranking(found.utility),
        "shifts": shifts,
        "stability": stability_in_words(shifts),
    }


def _print(found: _Found, source: str, contest: Contest) -> None:
    from utilitune.cli.utility import plain_table, show_utility

    console, plain = words(), _plain(found, source, contest)
    console.print()
    show_utility(console, found.utility)
    for line in found.told:
        prose(console, line, indent=2)
    if found.answers:
        console.print(f"\n{plain_table(*_answers(found))}")
    if found.fit is not None:
        prose(console, f"\nInconsistency {found.fit.inconsistency:.3f}. {found.fit.words}")
    console.print(f"\nWho would win on {source}", style="bold")
    prose(console, plain["verdict"])
    rows = [
        (row["name"], f"{row['low']:.3f}", f"{row['high']:.3f}", str(row["runs"]))
        for row in plain["rows"][:5]
    ]
    console.print(plain_table(("configuration", "at least", "at most", "runs"), rows))
    prose(console, f"{plain['stability']} {plain['note']}")
    console.print("\nPaste this line into your scenario:", style="bold")
    console.print(plain["line"])


def _answers(found: _Found) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """What was answered, and what the curve says to the same questions."""
    from utilitune.utility import format_duration
    from utilitune.utility.designing.fitting import certain_time_s

    if found.fit is None:
        raise RuntimeError("answers come with their fit")
    rows: list[tuple[str, ...]] = [
        (
            f"{format_duration(answer.gamble.good_s)} or {format_duration(answer.gamble.bad_s)}",
            format_duration(answer.sure_s),
            format_duration(certain_time_s(found.fit.utility, answer)),
        )
        for answer in found.answers
    ]
    return ("a coin between", "you said", "the curve says"), rows

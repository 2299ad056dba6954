"""Every number of the rules of search that no formula dictates, with its unit and its effect.

They decide how soon something good is found, never whether a promise holds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The numbers; worths and gains are on the scale of utilities, from 0 to 1.

    Attributes:
        fewest_runs: Instances the default is run on before the first race.
        owed_share: Instances that are owed to the incumbent per default run spent.
        default_share: Instances that are owed to the default, as a share of the incumbent's.
        lead: The incumbent is nominated when it is ahead of the default by so many standard errors, and
            given up when it is as far behind.
        luck: How far a candidate must be ahead to become the incumbent, in s²/n: what is expected of the
            true differences beforehand, minus their mean over their variance, in 1/utility.
        stopped_factor: A stopped run counts as if it had ended at this many times its captime.
        leeway: A candidate is stopped where its worth is this much below the incumbent's on the instance.
        least_captime: Smallest captime, in half-lives of the utility.
        largest_captime: Largest captime, in half-lives of the utility.
        plausible_gain: What a run still to come may gain; a race that needs more than that is over.
        rejection: A rung is failed when the mean difference is below minus this many standard errors.
        first_rung: Instances of the first rung; every further rung has twice as many.
        first_deviation: Standard deviation of differences before any are known.
        again_every: Every so many races an earlier good candidate meets the incumbent again.
        window: Races that may be under way at once, per worker.
    """

    fewest_runs: int = 8
    owed_share: float = 0.06
    default_share: float = 1.0
    lead: float = 1.5
    luck: float = 4.0
    stopped_factor: float = 1.5
    leeway: float = 0.2
    least_captime: float = 0.02
    largest_captime: float = 10.0
    plausible_gain: float = 0.3
    rejection: float = 0.3
    first_rung: int = 1
    first_deviation: float = 0.2
    again_every: int = 20
    window: float = 1.5


@dataclass(frozen=True, slots=True)
class SuggestionSettings:
    """Where candidates come from.

    Attributes:
        model: Share of candidates that the model suggests.
        neighbour: Share that are one of the best with a few values changed.
        crossing: Share that take each value from one of two of the best; the rest is drawn at random.
        elites: How many of the best are varied.
        incumbent_share: How often the incumbent is the one that is varied.
        changes: Probabilities of changing one, two or three parameters.
        steps: Widths of the steps of numbers, as shares of their (log) range.
        uniform_share: How often a changed number is drawn anew instead.
        mutants: Neighbours the model looks at per suggestion.
        crossings: Crossings the model looks at per suggestion.
        randoms: Random draws the model looks at per suggestion.
        climbs: Rounds of hill climbing from the best of these.
        climbing: Neighbours per round.
        fewest_rows: Candidates with runs below which there is no model.
        refit_growth: Growth of their number after which the model is fitted anew.
        refit_growth_incumbent: The same where the incumbent is a new one.
        largest_ratio: A log time counts as at most this far from its instance's level.
        runs_half_weight: With so many runs a candidate has half the weight of one with endless runs.
        trees: Regression trees of the model.
        leaf: Fewest candidates in a leaf.
        feature_share: Share of the parameters that a split chooses from.
        most_rows: The model learns from at most so many candidates, the newest ones.
        parts: How often the model is asked by what each parameter adds, and not by the trees alone.
        rest_trees: Trees for what these parts leave unexplained.
        rest_leaf: Fewest candidates in a leaf of those.
        worths_half_weight: Runs that tell as much of a candidate's worth as the parts of its parameters do.
        leaps: Jumps to the best values that the model looks at per suggestion.
        most_leaps: Most parameters that such a jump changes.
    """

    model: float = 0.6
    neighbour: float = 0.24
    crossing: float = 0.08
    elites: int = 5
    incumbent_share: float = 0.6
    changes: tuple[float, ...] = (0.5, 0.3, 0.2)
    steps: tuple[float, ...] = (0.2, 0.06)
    uniform_share: float = 0.3
    mutants: int = 200
    crossings: int = 40
    randoms: int = 60
    climbs: int = 3
    climbing: int = 40
    fewest_rows: int = 10
    refit_growth: float = 1.15
    refit_growth_incumbent: float = 1.05
    largest_ratio: float = 3.0
    runs_half_weight: float = 2.0
    trees: int = 30
    leaf: int = 2
    feature_share: float = 0.6
    most_rows: int = 3000
    parts: float = 0.6
    rest_trees: int = 15
    rest_leaf: int = 5
    worths_half_weight: float = 20.0
    leaps: int = 60
    most_leaps: int = 6

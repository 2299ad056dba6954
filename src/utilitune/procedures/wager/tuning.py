"""The numbers in `wager` that nobody sets and no formula dictates, each with its unit and its effect.

They fall into two groups. **What the promise rests on** comes first: any other values would do as well,
if they keep to the condition that is named and are fixed before the first run. **What only costs or saves
time** follows: whatever these numbers are, every bound stays valid. `WagerSettings` has what a user can
set; the fractions and weights of the bets, on which the promise rests too, lie with the bound
(`utilitune.procedures.bounds.betting`).

A change of any number changes which runs are made. A run that is resumed under other numbers replays a
different game, so a change belongs in the CHANGELOG. Compiled rules keep the old number until they are
compiled anew: ``find src -name '*.nb[ic]' -delete`` removes them.
"""

from __future__ import annotations

import math

# -- What the promise rests on: how δ is shared (`shares`) ---------------------------------------------

FIXED_LOWER = 0.1
FIXED_UPPER = 0.8
FIXED_PAIRED = 0.1
"""Fixed set: the parts of δ for lower bounds, upper bounds and pairs. They must sum to at most 1.

A larger part makes its own kind of bound tighter and the others wider. Lower bounds and pairs are divided
by the number of configurations, so that their parts hardly matter any more where there are many; nearly all
time goes to configurations that are ruled out by their own upper bounds, which are not divided.
"""

FEW = 100
FEW_LOWER = 0.02
FEW_UPPER = 0.13
FEW_PAIRED = 0.85
"""The same three parts for a fixed set of at most `FEW` configurations, where nearly all time goes to pairs:
dividing by so few costs little, and pairs need fewer runs than two separate bounds."""

GROWING_LOWER = 0.2
GROWING_UPPER = 0.6
GROWING_PAIRED = 0.2
"""Growing set: the same three parts, of the half of δ that is not kept for γ. They must sum to at most 1.

A pair pays for both its numbers here, so most configurations are ruled out by their upper bounds.
"""

MOST_LISTED = 50
"""A space of at most so many configurations is listed: all of them are drawn before the first run, in random
order, and are a fixed set. In larger ones it takes long until the first promise about all is worth much."""

MOST_DIFFERENT = 0.9
"""On a list of instances with an announced γ, a space is listed if its draws would show this share of it."""

LISTED_CHOSEN_PART = 0.1
"""Listed space: the part of the weights w_b for proposals and nominees, where there may be any; below 1."""

PHASES_LATE = 0.5
"""Phases of a schedule: the part of what upper bounds may spend that goes to draw k in proportion to k, up to
`LEVEL_DRAWS`; 0 to 1. Later phases have most of the draws, so late draws are where most time is spent."""

GAIN = 0.02
"""The part of δ for what is said about the gain over the default, where there is one; below 1. The parts
above are of the rest. A larger part proves a gain a little sooner."""

GIVEN_PART = 0.1
CHOSEN_PART = 0.4
"""Growing set: the parts of the weights w_b for given configurations and for proposals and nominees, where
there may be any; random draws have the rest. They must sum to less than 1. Only the logarithm of a weight
costs runs."""

LEVEL_DRAWN_ANSWERS = 100.0
LEVEL_CHOSEN_ANSWERS = 20.0
"""K in w_b, a number of configurations, for random draws and for proposals and nominees; must be positive.
Configuration K of its kind still gets a quarter of the first one's share: a larger K serves late leaders
better and early ones worse."""

AT_ANNOUNCED = 0.6
BEFORE_ANNOUNCED = 0.3
"""Growing set with an announced γ: the parts of what upper bounds and pairs may spend that serve the moments
from its number of draws on, and those before; draws behind that number have the rest. They must be positive
and sum to less than 1, the first being the larger."""

LEVEL_DRAWS = 1000.0
"""R in r_k, a number of draws; must be at least 1. The first R draws share alike: a larger R serves late
draws better and takes a little, like 1/ln R, from all."""

# -- What the promise rests on: the grid n_1 < n_2 < … of adaptive growth (`growth`) ---------------------

FIRST_GAMMA = 0.5
"""The γ that the first stage reaches; between 0 and 1. A smaller one begins with more configurations."""

GROWTH_RATIO = 1.5
"""By what the number of draws grows from stage to stage; above 1. A smaller ratio follows ε + w·γ more
closely, but pays for more stages (1/v_p grows with their number p)."""

LEVEL_GAMMA = 10.0
"""K in v_p, a number of stages; must be positive. A larger K gives late stages a smaller γ and early ones a
larger one."""

ANNOUNCED_PART = 0.9
"""The part of δ/2 for the γ that was asked for at the first start; between 0 and 1. A larger one needs fewer
draws for it and leaves less for every other γ."""

# -- Time only: when to grow (`growth`, `engine`) --------------------------------------------------------

LEAST_WEIGHTED_GAMMA = 1e-3
"""The w·γ at which adaptive growth ends, in units of ε. A smaller one lets a perfect leader draw for
longer."""

PASSED_OVER = 0.6
"""From this share of the draws that an announced γ needs, no stage is played before that one; 0 to 1. A
smaller one reaches that γ sooner, and leaves out promises on the way there."""

STAGE_FOCUS = 0.6
"""f in ε·(f + (1 − f)·ε), the ε that a stage is planned for which ends at ε; 0 to 1. At 1 captimes suit
this stage alone; a smaller f plans longer ones, which later stages need anyway."""

# -- Time only: the captime grid and the estimate of runtimes (`captimes`) ---------------------------------

CAPTIME_RATIO = math.sqrt(2.0)
"""Each captime over the one before; above 1. A finer grid fits captimes better and makes planning
slower."""

FIRST_CAPTIME_DIVISOR = 60.0
"""The shortest captime is the utility's half-life divided by this. A larger number allows for
configurations that are far quicker than the half-life, with two more captimes for each doubling."""

MOST_LEVELS = 100
"""Most captimes in the grid; at most 255, because the level of a run is kept in one byte, and one more number
stands for "not run"."""

WORTHLESS = 1e-4
"""The grid ends where an answer is worth at most this (in utility) more than none."""

POOLED_WEIGHT = 4.0
"""With how many runs the hazards of all configurations count in the estimate for one. More makes new
configurations look average for longer."""

PRIOR_RISK = 4.0
PRIOR_HAZARD = 0.1
"""The prior of the pooled hazards: this many runs (`PRIOR_RISK`), of which this share (`PRIOR_HAZARD`)
finishes between one captime and the next. It matters for the first few runs only."""

# -- Time only: how often things are computed (`capital`, `planning`, `strategy`) --------------------------

STALE_SHARE = 64
"""A bound is recomputed when a configuration's runs have grown by a 64th. More often costs computing;
less often lets bounds lag behind by that share."""

REPLAN_SHARE = 6
"""A captime is planned anew when a configuration's runs have grown by a sixth."""

AIM_SHARE = 4
FEWEST_AIM_ROUNDS = 4
MOST_AIM_ROUNDS = 32
"""The aim is set anew when rounds have grown by a quarter (`AIM_SHARE`); after `FEWEST_AIM_ROUNDS` rounds
at the soonest, and after `MOST_AIM_ROUNDS` (or a quarter of the configurations, as it looks at all) at
the latest."""

# -- Time only: who leads and who is tried (`leader`, `rounds`) ------------------------------------------

CAUTION = 0.02
"""A leader is rated by X̄ − sqrt(CAUTION/m), in squared utility per run. More caution prefers a leader
with many runs; less switches to lucky newcomers."""

HOPE = 0.12
"""A configuration outside of ε is tried while X̄ + sqrt(HOPE/m) exceeds the leader's mean, in squared
utility per run. More hope spends more runs on proposals."""

SWITCH_MARGIN = 0.1
"""A new leader must be rated better by this share of ε. A smaller one switches more often, and each
switch voids all pairs."""

TRIAL_EVERY = 4
NOMINEE_EVERY = 2
"""Every how many rounds a configuration outside of ε may run, and every how many a nominee of search, who is
likely to lead; the first must be a multiple of the second. A smaller number finds a better leader sooner and
proves ε of the present one later."""

COMPARE_EVERY = 16
"""Every how many rounds the default may run where the leader was run, to show what is gained over it. A
smaller number proves a gain sooner and ε later."""

LEADER_LEAST = 8
"""Fewest runs of a leader before its challengers run on."""

SWEEP_STEP = 2
"""By how many captime levels capped runs are raised when they are repeated, once instances have run
out."""

FEWEST_TESTED_PAIRS = 4
"""Fewest observations of a pair for which its bound is computed at all."""

# -- Time only: captimes by growth per second (`planning`) -----------------------------------------------

PLANNED_SHARE = 0.25
MOST_PLANNED_EPSILON = 0.25
"""Without a target, captimes are planned for this share of the ε that is proved, and for
`MOST_PLANNED_EPSILON` (a utility) at the most. A smaller share plans longer captimes."""

LARGEST_BET = 0.95
"""The largest fraction of the capital that is assumed to be bet: the largest one of `bounds.betting`."""

MIXTURE = 3.0
"""By what the capital must exceed the threshold, since several bets share it: an estimate of runs
needed."""

FEWEST_PLANNED_PAIRS = 8
"""Fewest runs on common instances for which a captime is planned by pairs."""

MOST_REPLAYED = 128
"""How many of the latest common runs are replayed to plan a pair. More is steadier and slower to
compute."""

QUICK_GROWTH = 0.05
"""Growth of the log-capital per run at which a challenger with few pairs is planned for its own bound
already."""

GUARD_RUNS = 64.0
"""From this number m of runs on, captimes are at least (half-life)·sqrt(m/64). Without this, runs that
are always capped could keep a configuration from ever being measured."""

INTERVAL_PATIENCE = 16.0
"""Where a run tells something at every captime, the largest captime divided by this takes the place of the
half-life in the guard above. More patience allows for shorter runs."""

FIRST_WORTH = 1.5
MOST_FIRST_WORTH = 0.5
"""A configuration nobody has run is first capped where an answer is worth this multiple of the planned ε,
and `MOST_FIRST_WORTH` (a utility) at the most. A smaller multiple begins with longer runs."""

LEAST_LOWER_HYPOTHESIS = 1e-3
LEAST_UPPER_HYPOTHESIS = 0.02
"""The smallest means (utilities) that plans for a lower and an upper bound are made against: growth is
measured relative to them, and would be without bound at 0."""

# -- Time only: the leader's own bound against its challengers' (`strategy`) -------------------------------

AIMS = 8
"""How many values between the leader's lower bound and its mean are compared as aims. More compute
longer."""

PRIOR_RUNS = 3.0
"""With how many runs of an average configuration the estimate for one begins."""

DOUBT = 0.05
"""Variance (squared utility) added to estimates from m runs, divided by m: nothing is certain after a few
runs."""

PAIRED_VARIANCE = 0.5
"""Variance of a difference as a share of the sum of both variances, where no pair is known. Instances
that are hard for all make it small."""

LEADER_SHARE = 0.1
GROWING_LEADER_SHARE = 0.3
"""Most seconds for raising the leader's own bound, as a share of those spent on all others; more in a
growing set, where pairs are dearer as they pay for two numbers."""

SHORTCUT = 8.0
"""The leader may spend this many average runs per serious challenger to prove that nobody can be
better."""

LEAST_STEP = 1.1
"""An aim above what is proved is assumed to take at least this multiple of the leader's runs so far."""

LEAST_PRICED_HYPOTHESIS = 1e-3
"""The smallest mean (a utility) that the price of an upper bound is estimated for."""

HOPELESS_RUNS = 1e9
"""The number of runs that stands for "never"."""

# -- What is said when somebody asks (`claims`) ----------------------------------------------------------

MOST_PAIRS_ASKED = 200
"""With how many draws an answer that does not lead is compared at most, each time somebody asks what is
proved of it. A pair takes some 50 µs; the other draws count with their own upper bounds."""

# -- Memory only (`state`, `engine`) ---------------------------------------------------------------------

FIRST_BLOCK = 16
"""Captime levels, one byte each, that a configuration first has room for; the room doubles when it is
full."""

FIRST_ARENA = 1 << 12
"""Bytes for the captime levels of all runs at first; they double when they are full."""

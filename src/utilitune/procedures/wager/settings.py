"""What a user can set of `wager`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from utilitune.domain import require_delta, require_positive, require_probability
from utilitune.errors import UsageError
from utilitune.procedures.wager.growth import Adaptive

if TYPE_CHECKING:
    from utilitune.procedures.growth import FixedSet, Phases


@dataclass(frozen=True, slots=True)
class WagerSettings:
    """Settings of `wager`; only `delta`, `finite_population` and `growth` matter for what is promised.

    Attributes:
        delta: Probability with which the promise may fail.
        epsilon: Stop once this is proved (and γ is small enough); None to run on.
        gamma: Stop growing once the promise covers all but this fraction; None for no such limit.
        captime0_s: The shortest captime; None for a sixtieth of the utility's half-life.
        captime_limit_s: Largest captime that may be asked for.
        resume: Whether repeating a capped run pays only the extra seconds.
        finite_population: Whether the instances are all there is, drawn without replacement.
        growth: A fixed set, phases of a schedule, or adaptive growth.
        announced_gamma: The γ asked for at the first start of the run, before anything was seen; None if
            there was none. Fewer draws are needed for it, whatever γ is asked for later.
        undivided: Whether the draws that the announced γ needs have shares of their own for the moments from
            their number on; not so in runs that an earlier version began.
        default: Whether the first configuration that is given is the default, to compare the answer with.
        given: Whether configurations may be given.
        chosen: Whether configurations may be proposed or nominated.
        space_size: How many configurations the space has; None where nobody knows, or without end.
        listed: Whether the random draws are the whole space, each configuration once, all drawn before the
            first run; for adaptive growth in a space whose size is known.
    """

    delta: float
    epsilon: float | None = None
    gamma: float | None = None
    captime0_s: float | None = None
    captime_limit_s: float = math.inf
    resume: bool = False
    finite_population: bool = False
    growth: FixedSet | Phases | Adaptive = field(default_factory=Adaptive)
    announced_gamma: float | None = None
    undivided: bool = True
    default: bool = False
    given: bool = True
    chosen: bool = True
    space_size: int | None = None
    listed: bool = False

    def __post_init__(self) -> None:
        require_delta(self.delta)
        if self.epsilon is not None:
            require_probability("epsilon", self.epsilon)
        if self.gamma is not None:
            require_probability("gamma", self.gamma)
        if self.announced_gamma is not None:
            require_probability("the announced gamma", self.announced_gamma)
        if self.captime0_s is not None:
            require_positive("the first captime", self.captime0_s)
        if self.listed and (self.space_size is None or not isinstance(self.growth, Adaptive)):
            raise UsageError("only a space of known size can be listed, and only with adaptive growth")

"""Hypothesis strategies for utilities of every family, over the whole range of floats."""

from __future__ import annotations

from hypothesis import strategies as st

from utilitune.utility import (
    CostPerHour,
    Exponential,
    GeneralisedLogLaplace,
    LogLaplace,
    Minimum,
    Pareto,
    PiecewiseLinear,
    Plateau,
    Polynomial,
    Product,
    Step,
    Uniform,
    Utility,
)

positive = st.floats(0, exclude_min=True, allow_infinity=False, allow_subnormal=True)
times = st.floats(0, allow_infinity=True, allow_subnormal=True)


@st.composite
def _plateaus(draw: st.DrawFn) -> Plateau:
    start, end = sorted(
        draw(st.lists(st.floats(0, allow_infinity=False), min_size=2, max_size=2, unique=True))
    )
    return Plateau(start, end, draw(positive))


@st.composite
def _piecewise(draw: st.DrawFn) -> PiecewiseLinear:
    nanoseconds = draw(st.lists(st.integers(0, 10**13), min_size=1, max_size=6, unique=True))
    worths = draw(st.lists(st.floats(0, 1), min_size=len(nanoseconds), max_size=len(nanoseconds)))
    times_s = [each / 2**10 for each in sorted(nanoseconds)]
    return PiecewiseLinear(tuple(zip(times_s, sorted(worths, reverse=True), strict=True)))


@st.composite
def _costs(draw: st.DrawFn) -> CostPerHour:
    amount = st.floats(1e-100, 1e100)
    return CostPerHour(draw(amount), draw(amount))


_simple: st.SearchStrategy[Utility] = st.one_of(
    st.builds(LogLaplace, positive, positive),
    st.builds(GeneralisedLogLaplace, positive, positive, positive),
    st.builds(Uniform, positive),
    st.builds(Exponential, positive),
    st.builds(Pareto, positive, positive),
    st.builds(Polynomial, positive, positive),
    st.builds(Step, positive),
    _plateaus(),
    _costs(),
    _piecewise(),
)
utilities: st.SearchStrategy[Utility] = st.recursive(
    _simple,
    lambda inner: st.one_of(
        st.builds(Product, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Minimum, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)

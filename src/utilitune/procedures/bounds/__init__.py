"""Confidence bounds on expected utility, each a small set of compiled formulas.

- `hoeffding`: the paper's bounds, with unions over samples and captimes.
- `betting`: time-uniform bounds by betting on censored observations.
- `interval`: a proved interval for the mean of independent values, by betting from both sides.
- `paired`: the same for the difference of two configurations on the same instances.
- `every_utility`: a band on the whole runtime distribution, for all utility functions at once.
"""

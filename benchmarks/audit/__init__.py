"""Does every promise hold as often as it says? Thousands of searches with known truths, counted.

- `worlds`: unkind populations of runs whose truth is known;
- `searches`: one search of each kind on recorded runs, by the engines themselves;
- `nominating`: searches with a default, repeated draws and nominees;
- `solutions`: searches where the quality of solutions counts, at the end or while runs go on;
- `drivers`: one search of each kind as users make it: live on a virtual clock, resumed, reused, ask and tell;
- `cells`: which procedure meets which setting, with how many searches;
- `verdict`: what one search tells;
- `footprints`: which code a count rests on;
- `counting`: counts that are kept piece by piece, so that an audit goes on where it was;
- `page`: docs/audit.md.

A search fails if at any moment that is looked at the answer is farther from the best than the promise says.
``python -m benchmarks.audit`` counts and writes the page; see its ``--help``.
"""

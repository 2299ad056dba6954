"""Finding good configurations; whether they are good is proved elsewhere, on orders nobody could have fitted.

- `base`: the seams (`Searcher`, `Suggester`) and the values that cross them;
- `naming`: the names of search methods;
- `settings`: every number of the rules, with its effect;
- `pool`: the candidates and what is known of their runs;
- `captimes`: how long a run may last before it has told enough;
- `race`: one candidate against the incumbent on shared instances;
- `racing`: races in a fixed order, the incumbent, the answer;
- `suggesting`: which candidate to race next: a model, neighbours and crossings of the best, chance;
- `own`: the same by somebody else, checked;
- `moves`: steps in a parameter space, many at once;
- `forest`: the regression trees of the model;
- `proposers`: the same question for a proof: where its configurations come from.

A searcher is pure: outcomes of runs in, wanted runs out; no clock, no files, and random numbers that follow
from a seed. For a given seed and number of workers it is the same search whatever the timing, because every
decision follows from outcomes that are looked at in a fixed order. A resumed search is the same search again.
"""

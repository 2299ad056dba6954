"""A live run: somebody decides what to run, and everything else is the same for all.

- `task`: a scenario resolved once: utility, instances, target, rules;
- `asker`: the seam between a live run and whoever decides: events in, instructions out;
- `live_run`: what is the same for every asker: store, spending, failures, budget, runs under way, stop;
- `driver`: the loop that has the wanted runs made by a backend;
- `proof`: the asker behind ``run``, ``configure`` and ask and tell: a procedure with its configurations;
  `proved` says where it stands, `entrants` who takes part, `nominating` how nominees of a search join;
- `exploring`: the asker that searches, too (`hunting`), and `choosing`: which configuration is its answer;
- `grid`: the asker behind ``collect``, ``evaluate`` and peers: runs that are given;
- `running`: from a scenario and a folder to a run and its result; `configuring` the same as one call;
- `ask_tell`: for people who make the runs themselves;
- `collecting`, `evaluation`: a matrix of runtimes; the answer against the default;
- `supply`: configurations by number; `reusing`: runs of an earlier run folder that count in a new one;
- `places`, `rows`, `progress_line`: where a run is kept; its runs as rows; one line of how far it is;
- `standing`: how a run stands, in numbers a user can act on;
- `above`: what results are asked for and reports make;
- `spending`, `failures`, `events`, `result`: what a run costs, when a target is broken, what listeners hear,
  what a run found.
"""

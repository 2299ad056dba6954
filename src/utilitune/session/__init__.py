"""A live run: a procedure, a backend and a store, wired together.

- `coordinator`: the loop that asks the procedure, makes the runs and keeps every outcome before it counts;
- `books`: what was spent, over every start of a run;
- `supply`: configurations by number;
- `events`: what happens in a run, for listeners;
- `reusing`: runs of an earlier run folder that count in a new one;
- `failures`: when a target that keeps failing ends the run;
- `opening`: from a scenario and a folder to a coordinator, started or resumed;
- `making`: runs that are kept as soon as they end;
- `grid`: runs of given configurations on given instances, made once and found again;
- `result`: what a run found, read back from its store.
"""

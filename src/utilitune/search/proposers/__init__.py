"""Where new configurations come from besides the user: chance, and a model that has seen the runs so far.

- `base`: the seam (`Proposer`), what a proposer learns from (`Runs`), and whose turn it is (`Turns`);
- `random`: independent uniform draws, each fixed by its number;
- `forest`: a regression forest from parameters to utility, learnt from capped runs;
- `censoring`: the values capped runs may have, and how the runs become the rows a forest is fitted to;
- `model_guided`: proposals from a parameter space that maximise the forest's upper confidence bound;
- `rows`: the same for recorded runtimes, where the rows are all there is to propose;
- `fitting`: proposals at the moment they are asked for, from a model refitted now and then;
- `background`: the same with fits in a thread of their own, while a live run goes on;
- `instance_features`: the file in which a user describes the instances.

Only random draws give credit for γ, and a proposal's evidence begins on instances that nothing which shaped
it has looked at; see docs/proposals.md. Nothing here is needed for a promise to hold: proposals make the
answer better, sooner.
"""

"""Runs on other machines: the same supervisors, at work inside the workers of a Dask cluster.

The coordinator decides, keeps the store and speaks with the cluster (`backend`, `link`); it makes no run
itself. Every slot of a Dask worker has a supervisor of its own, the one that makes runs on this machine, so
limits, metering and killing are the same everywhere (`making`). A job goes to a worker as a Dask task that is
bound to it, and its result comes back as an event, which is quicker than a task's result.

What must hold when something dies:

* **a worker**: its supervisors see that it has gone and end their runs. The coordinator hears of it from the
  scheduler and gives the runs to others. A result that arrives late carries an old ticket and is dropped, so
  a run is made again but counted once.
* **the coordinator**: the scheduler drops its tasks, each worker hears that and cancels the runs.
* **the scheduler**: workers end themselves, with their runs. The coordinator ends with one sentence; started
  again, it goes on from its store.

`places` describes clusters, `starting` opens them, `files` sends programs and instances, `calibration`
compares the speed of workers. Nothing here is imported before somebody asks for a cluster.
"""

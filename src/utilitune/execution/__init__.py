"""How things are run: processes, clocks, limits, and the death of everything that was started.

`backend` holds the seam: a `Backend` takes jobs and gives back raw results. `local` runs them on this
machine, `simulated` on a virtual clock. `runs` joins a target with its limits: it writes the job for a
run and turns the raw result into the outcome that counts.

On this machine every worker slot is a small supervisor process (`worker`) that starts one run at a time
(`launching`, and `forkserver` for Python functions), reads what the whole process tree consumes
(`metering`), collects its output within bounds (`output`), and speaks with the coordinator over a
socket (`wire`). The supervisor imports nothing but the standard library, so it starts in milliseconds.
"""

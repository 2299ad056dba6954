"""What is run: descriptions of the program under configuration, free of processes and clocks.

`base` holds the seam. A `Target` turns an `Invocation` (parameter values, instance, seed, captime)
into something that can be run, a `Command` or a `Call`, and judges the `RawResult` that comes back.
`command` describes a program by its argument list, `function` a Python function by its name, and
`verdict` holds the rules by which a program's exit code and output are judged, `wrappers` those for scripts
that were written for other configurators.
"""

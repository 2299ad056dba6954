"""The live page: what a report shows, kept up to date while runs are at work.

`watching` reads run folders in a thread of its own, read-only, a second apart. `application` answers the
browser: pages, facts as JSON, and server-sent events. `guarding` refuses whom it should: other hosts and
origins, and whoever wants to change something without the token. `designing` answers the utility designer,
`working_out` what takes long and is only made when asked for. `serving` starts it all.
"""

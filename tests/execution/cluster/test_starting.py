"""Workers on this machine that we start ourselves."""

from __future__ import annotations

import os
import secrets
import signal

from execution.cluster.on_loopback import collect, until
from execution.running import alive, limits, nasty_command
from utilitune.execution.backend import Job
from utilitune.execution.cluster.backend import DaskBackend
from utilitune.execution.cluster.places import Cluster, LocalWorkers
from utilitune.targets.base import Ending


def test_a_local_worker_that_is_killed_is_replaced_and_all_end_with_us(needs_dask, recwarn):
    mark = secrets.token_hex(8)
    with DaskBackend(Cluster("local:2", LocalWorkers(2))) as backend:
        assert (backend.free_slots, backend.slots) == (2, 2)
        first, second = backend.local_workers
        backend.submit(0, Job(nasty_command("family_forever", mark=mark), limits(captime_s=0.5)))
        backend.submit(1, Job(nasty_command("nap"), limits()))
        os.kill(first, signal.SIGKILL)
        ended = dict(collect(backend, 2))
        assert (ended[0].ending, ended[1].exit_code) == (Ending.CAPTIME, 0)
        until(lambda: backend.free_slots == 2)
        assert first not in backend.local_workers
        pids = (*backend.local_workers, second)
    assert alive(mark) == []
    assert not any(_is_there(pid) for pid in pids)
    assert not recwarn.list


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

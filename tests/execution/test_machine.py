from __future__ import annotations

import json
import os
import socket

from utilitune.execution.machine import available_cores, oversubscribed
from utilitune.store.facts import machine


def test_facts_name_the_hardware_and_not_the_host():
    facts = machine().facts
    assert set(facts) == {"processor", "cores", "memory_bytes", "system"}
    assert facts["cores"] >= 1
    assert facts["memory_bytes"] > 1 << 20
    assert json.loads(json.dumps(facts)) == facts
    assert len(socket.gethostname()) < 4 or socket.gethostname() not in json.dumps(facts)


def test_a_machine_is_oversubscribed_by_workers_or_by_load(monkeypatch):
    cores = available_cores()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 9.0, 9.0))
    assert not oversubscribed(workers=cores)
    assert oversubscribed(workers=cores + 1)
    monkeypatch.setattr(os, "getloadavg", lambda: (cores + 1.0, 0.0, 0.0))
    assert oversubscribed(workers=1)

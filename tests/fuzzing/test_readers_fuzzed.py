"""Every reader and every judge of answers, with inputs that are spoiled at random; `make fuzz` tries more."""

from __future__ import annotations

import signal
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing import hunting
from fuzzing.subjects import CONFIGSPACE, NPY, SUBJECTS, make_seeds
from scenario.scenario_files import SCENARIO

INPUTS = 150
NO_SIDE = b"{'descr': '<i8', 'fortran_order': False, 'shape': (18446744073709551616, 0)}\n"

FINDS = {
    "npy": [
        b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8',",
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}  \n",
        NPY[0][:8] + struct.pack("<H", len(NO_SIDE)) + NO_SIDE,
    ],
    "pickle": [
        b"\x80\x04K\x01r\xff\xff\xff\x7f.",
        b"\x80\x04K\x01\x85\x94" + b"".join(b"h%ch%c\x86\x94" % (k, k) for k in range(45)) + b"K\x01s.",
        b"\x80\x04](" + b"]" * 50_000 + b"e.",
    ],
    "pcs": [
        b"a [1, " + b"9" * 5000 + b"] [1]i\n",
        b"a [1, " + b"9" * 400 + b"] [1]i\n",
        b"a real [0, 1e400] [1]\n",
    ],
    "irace-parameters": [b'a "" i (1, ' + b"9" * 5000 + b")\n", b'a "" r (1, 1e400)\n'],
    "configspace": [
        b"[" * 9000,
        b'{"hyperparameters": [' + b"9" * 5000 + b"]}",
        CONFIGSPACE.replace(b'"name": "a"', b'"name": 0.5', 1),
    ],
    "scenario-toml": [
        SCENARIO.replace('type = "', "type = [1, 9] # ", 1).encode(),
        b"a = " + b"[" * 5000,
        b"a = " + b"9" * 5000,
        b"workers = " + b"9" * 400,
    ],
    "scenario-irace": [
        b"trainInstancesD" + b"9" * 30_000 + b"a = 1",
        b'trainInstancesDir = "' + b"a" * 5000 + b'"\nmaxTime = 1',
    ],
    "scenario-smac": [
        b"algo = ./" + b"a" * 5000 + b"\nparamfile = params.pcs\n",
        b"paramfile = a\0b\nalgo = x\n",
    ],
    "csv": [b"a,b\nc,1_5\n", b"a,b\nc," + b"9" * 200_000 + b"x\n", b"a,b\nc,\xd9\xa3\n"],
    "utility": [b"1" * 60_000, b"111111111m" * 9 + b"x", b"product(" * 9000],
    "answers": [b"3", b"[1]", b'{"status": ' + b"[" * 5000],
    "configuration": [b'{"alpha": 1' + b"0" * 400 + b"}"],
    "feature-output": [b"a" * 200_000],
    "feature-table": [b"a" * 200_000],
    "aslib": [b"@DATA\n-----\nalgorithm_cutoff_time: " + b"9" * 5000],
}
"""What was found before."""


@pytest.fixture
def watched():
    previous = signal.getsignal(signal.SIGPROF)
    signal.signal(signal.SIGPROF, hunting._ring)
    make_seeds()
    yield
    signal.signal(signal.SIGPROF, previous)


@pytest.mark.parametrize("name", SUBJECTS)
def test_spoiled_inputs_are_read_or_refused_in_a_sentence(name, tmp_path, watched):
    tried, found = hunting.hunt(name, 0, INPUTS, tmp_path)
    assert tried == INPUTS
    assert found == {}


@pytest.mark.parametrize(
    ("name", "content"), [(name, one) for name, all_of in FINDS.items() for one in all_of]
)
def test_what_was_found_before_stays_mended(name, content, tmp_path, watched):
    SUBJECTS[name].prepare(tmp_path)
    assert hunting.attempt(SUBJECTS[name], content, tmp_path) == ""


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name not in {"run-folder", "certificate"}])
def test_any_bytes_are_read_or_refused_in_a_sentence(name, tmp_path, watched):
    SUBJECTS[name].prepare(tmp_path)

    @given(st.binary(max_size=200))
    @settings(max_examples=30)
    def reads(content):
        assert hunting.attempt(SUBJECTS[name], content, tmp_path) == ""

    reads()

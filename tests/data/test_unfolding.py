"""Small files that hold too much are refused before they take the memory."""

from __future__ import annotations

import gzip
import io
import pickle
import resource
import zipfile
import zlib

import numpy as np
import pytest

from utilitune.data import unfolding
from utilitune.data.arrays import RUNTIMES_KEY
from utilitune.data.pickle_scan import LEFT_TO_THE_READER, NOT_PLAIN, PLAIN, scan
from utilitune.data.reading import read_matrix
from utilitune.errors import DataError

MUCH = 100 << 20


def header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (118 - len(text) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def refused(path, content: bytes, most_bytes: int = MUCH) -> str:
    path.write_bytes(content)
    before = peak_bytes()
    with pytest.raises(DataError) as caught:
        read_matrix(path)
    assert peak_bytes() - before < most_bytes
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def nested_tuples(levels: int) -> bytes:
    """A dictionary with one key: a tuple of two equal tuples, of two equal tuples, and so on."""
    body = b"".join(b"h%ch%c\x86\x94" % (level + 1, level + 1) for level in range(levels))
    return b"\x80\x04}\x94K\x01\x85\x94" + body + b"]s."


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04K\x01r\xff\xff\xff\x7f.",  # a memo number that asks for 32 GB of room
        b"(K\x01p2000000000\n.",
        b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little") + b".",
        nested_tuples(45),
        b"\x80\x04](" + b"]" * 3_000_000 + b"e.",
        b"\x80\x04](" + b"}" * 3_000_000 + b"e.",
        b"\x80\x04X\x00\x00\x10\x00" + b"a" * (1 << 20) + b"\x94}(" + b"h\x00K\x01\x86K\x01" * 500 + b"u.",
    ],
)
def test_pickles_that_would_fill_the_memory_or_never_end(tmp_path, content):
    assert refused(tmp_path / "measurements.dump", content).startswith(str(tmp_path))


@pytest.mark.long
def test_a_pickle_that_unpacks_to_much(tmp_path):
    content = gzip.compress(bytes(unfolding.ALWAYS_FINE + (1 << 20)), 9)
    text = refused(tmp_path / "measurements.dump.gz", content, unfolding.ALWAYS_FINE + MUCH)
    assert "larger than" in text


@pytest.mark.parametrize("shape", ["(1000000, 1000000)", "(2**62,)", f"({2**62}, 4)", "(-1, 5)", "(10, 10)"])
def test_an_array_that_says_it_is_larger_than_its_file(tmp_path, shape):
    assert "m.npy" in refused(tmp_path / "m.npy", header(shape) + bytes(80))


@pytest.mark.parametrize("kind", ["|O", "<U99999999", "|V8", "<M8[s]", "<c16"])
def test_an_array_of_something_else(tmp_path, kind):
    assert "m.npy" in refused(tmp_path / "m.npy", header("(2, 2)", kind) + bytes(64))


def archive_of(data: bytes, size: int) -> bytes:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{RUNTIMES_KEY}.npy", "w", force_zip64=True) as member,
    ):
        member.write(data)
        for _ in range(size >> 20):
            member.write(bytes(1 << 20))
    return stream.getvalue()


@pytest.mark.long
def test_an_archive_that_unpacks_to_much(tmp_path):
    size = unfolding.ALWAYS_FINE + (8 << 20)
    text = refused(tmp_path / "m.npz", archive_of(header(f"({size // 8 // 1024}, 1024)"), size))
    assert "more than" in text


def test_an_archive_whose_array_is_larger_than_its_member(tmp_path):
    text = refused(tmp_path / "m.npz", archive_of(header("(1000000, 1000000)"), 1 << 20))
    assert "m.npz" in text


@pytest.mark.parametrize("damage", range(12))
def test_a_damaged_archive(tmp_path, damage):
    content = bytearray(archive_of(header("(4, 4)"), 0))
    content[damage * len(content) // 12] ^= 0xFF
    path = tmp_path / "m.npz"
    path.write_bytes(content)
    with pytest.raises(DataError):
        read_matrix(path)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value",
    [
        {"-a 1": [1.0, 2.5], "-a 2": [3.0, 900.0]},
        [[1.0, 2.0], [3, 4]],
        {("a", "é"): {"i": 1.0}},
        {"a": [2**70, -1, True, None]},
        {f"c{k}": list(map(float, range(50))) for k in range(300)},
    ],
)
def test_plain_data_is_known_as_such(protocol, value):
    found, taken_bytes = scan(pickle.dumps(value, protocol))
    assert found == PLAIN
    assert taken_bytes > 0


def test_classes_are_left_to_the_reader_that_names_them():
    assert scan(pickle.dumps(zlib.compress))[0] == LEFT_TO_THE_READER
    assert scan(b"garos\nsystem\n")[0] in {NOT_PLAIN, LEFT_TO_THE_READER}


def test_the_estimate_is_no_less_than_what_numbers_take():
    rows = [[float(k) for k in range(1000)] for _ in range(20)]
    _, taken_bytes = scan(pickle.dumps(rows, 4))
    assert taken_bytes > 20 * 1000 * (24 + 8)


def test_room_is_half_of_what_is_free(monkeypatch):
    monkeypatch.setattr(unfolding, "free_bytes", lambda: 1000)
    unfolding.require_room(500, "x")
    with pytest.raises(DataError, match="smaller"):
        unfolding.require_room(501, "x")
    assert unfolding.most_unfolded(10**9) == 500


def test_a_large_array_in_fortran_order_is_read_as_it_is(tmp_path):
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.save(tmp_path / "m.npy", array)
    assert read_matrix(tmp_path / "m.npy").runtimes_s.tolist() == array.tolist()

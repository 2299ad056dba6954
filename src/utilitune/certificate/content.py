"""A certificate as a file: JSON, compressed, with three hashes.

- The **digest** tells whether anything was changed since it was written.
- The **chain** is the same for the log of runs alone: the link of run i is the SHA-256 of the link before it
  and of the run, so that its last link stands for all of them in their order.
- The **commitment** covers all that was settled before the first run. It never changes while a run goes on,
  so who noted it at the start knows later that nothing of this was chosen by looking at the outcomes.

None of them proves who wrote it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import zlib
from typing import TYPE_CHECKING, Any

from utilitune.data.unfolding import require_room
from utilitune.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FORMAT = "utilitune-certificate"
VERSION = 6
LARGEST_BYTES = 512 * 2**20
"""A certificate that is larger when it is unpacked is refused."""

ALWAYS_FINE, LARGEST_RATIO = 16 * 2**20, 100
"""So is one that unpacks to more than the first, and to more times its size than the second."""

MOST_LISTS = 4_000_000
"""And one with more lists and tables: 250 MB if they are empty. A real one has a few for each run."""

COLUMNS = {
    "runtime": ("configuration", "position", "captime_s", "status", "runtime_s"),
    "quality": ("configuration", "position", "captime_s", "status", "runtime_s", "quality", "bound"),
    "anytime": ("configuration", "position", "captime_s", "status", "runtime_s", "quality", "bound", "trace"),
}
"""What is kept of every run, by what it is configured for."""

WITHOUT_GIVEN = 5
"""The earlier format that is still checked: its commitment leaves out the configurations that were given."""

_SETTLED_THEN = (
    "scenario",
    "seed",
    "delta",
    "objective",
    "utility",
    "population",
    "space",
    "instances",
    "rules",
    "entropy",
)
SETTLED = {WITHOUT_GIVEN: _SETTLED_THEN, VERSION: (*_SETTLED_THEN, "given")}
"""What was settled before the first run, by format."""

_DEEPEST = 40
_AS_VALUES = 16  # bytes that a character of numbers and short texts takes as a value
_PIECE = 1 << 20


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: Any) -> bytes:  # noqa: ANN401 - any plain value
    """The one spelling of a plain value that is hashed: JSON with sorted keys and no spaces."""
    return _CANONICAL.encode(value).encode("ascii")


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(canonical(rest)).hexdigest()


def chain_of(runs: Mapping[str, Sequence[Any]], objective: str) -> str:
    """The last link of the chain over all runs."""
    link = hashlib.sha256(FORMAT.encode()).digest()
    for run in zip(*(runs[name] for name in COLUMNS[objective]), strict=True):
        link = hashlib.sha256(link + canonical(run)).digest()
    return link.hex()


def commitment_of(content: Mapping[str, Any], version: int = VERSION) -> str:
    """SHA-256 of what was settled before the first run, as far as a format holds it."""
    return hashlib.sha256(canonical({name: content[name] for name in SETTLED[version]})).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its digest."""
    return {**content, "digest": digest_of(content)}


def write_certificate(content: Mapping[str, Any], path: Path) -> None:
    """Write a certificate; the same content gives the same bytes."""
    data = gzip.compress(canonical(content), mtime=0) if path.suffix == ".gz" else canonical(content)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise DataError(f"the certificate cannot be written: {error.strerror}", path=path) from None


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate, compressed or not; nothing in it is believed yet.

    Raises:
        DataError: There is none, or it is damaged or too large.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"the certificate cannot be read: {error.strerror}", path=path) from None
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(data, path)
    _require_room(data, path)
    try:
        content = json.loads(data.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise DataError("this is no certificate: it holds no valid JSON", path=path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or _too_deep(content):
        raise DataError("this is no certificate of Utilitune", path=path)
    version = content.get("version")
    if version not in (WITHOUT_GIVEN, VERSION):
        earlier = isinstance(version, int) and version < VERSION
        raise DataError(
            f"this certificate has the format {version!r}, and only {WITHOUT_GIVEN} and {VERSION} are known "
            "here: "
            + (
                "certify the run again, or check it with the version that made it"
                if earlier
                else "check it with a newer version"
            ),
            path=path,
        )
    return content


def _unpacked(data: bytes, path: Path) -> bytes:
    reader, parts, size = zlib.decompressobj(wbits=31), [], 0
    most = min(LARGEST_BYTES, max(ALWAYS_FINE, LARGEST_RATIO * len(data)))
    try:
        while not reader.eof:
            part = reader.decompress(data, _PIECE)
            data = reader.unconsumed_tail
            size += len(part)
            if size > most:
                raise DataError(
                    f"this certificate unpacks to more than {most >> 20} MiB: no real one of its size does",
                    path=path,
                )
            if not part and not data:
                break
            parts.append(part)
    except zlib.error:
        raise DataError("this certificate is damaged: it cannot be unpacked", path=path) from None
    if not reader.eof:
        raise DataError("this certificate is cut off: get the whole file", path=path)
    if reader.unused_data:
        raise DataError("something stands behind the end of this certificate: get the file anew", path=path)
    return b"".join(parts)


def _require_room(data: bytes, path: Path) -> None:
    """Refuse what would take much memory as values: an empty list of two characters takes sixty bytes."""
    lists = data.count(b"[") + data.count(b"{")
    if lists > MOST_LISTS:
        raise DataError(f"this file holds {lists} lists and tables: no real certificate does", path=path)
    require_room(_AS_VALUES * len(data), str(path))


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table whose keys are all different: of two alike, every reader would take another one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _too_deep(value: Any, depth: int = 0) -> bool:  # noqa: ANN401 - whatever the file holds
    if depth > _DEEPEST:
        return True
    if isinstance(value, dict):
        return any(_too_deep(part, depth + 1) for part in value.values())
    if isinstance(value, list):
        return any(_too_deep(part, depth + 1) for part in value if isinstance(part, dict | list))
    return False


def number_or_none(value: float) -> float | None:
    """A number as JSON has it: infinity, which it lacks, is None."""
    return value if math.isfinite(value) else None

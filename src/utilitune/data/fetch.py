"""Downloading an archive: resumable, checked for its size, and never half there.

The bytes go to a file with the suffix ``.part`` beside the destination. A download that was cut off is
continued from there with an HTTP range request; only a complete file gets its final name.
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from utilitune.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from utilitune.data.catalogue import Archive

    Progress = Callable[[int, int | None], None]

_CHUNK_BYTES = 1 << 18
_PATIENCE_S = 30.0  # a server that is silent for longer is given up
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)$")


def fetch(archive: Archive, folder: Path, progress: Progress | None = None) -> Path:
    """Download an archive into a folder, unless it is there already, and return its path.

    Args:
        archive: What to download.
        folder: Where to; it is created if need be.
        progress: Called with the bytes so far and the bytes in all (None where the server does not say).
    """
    path = folder / archive.filename
    if path.exists():
        return path
    part = path.with_name(path.name + ".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        offset = part.stat().st_size if part.exists() else 0
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", path=folder) from error
    try:
        total = _receive(archive, part, offset, progress or _silent)
    except (http.client.HTTPException, OSError) as error:
        raise _failure(archive, part, error) from error
    _check_size(part, total, archive)
    part.replace(path)
    return path


def _receive(archive: Archive, part: Path, offset: int, progress: Progress) -> int | None:
    """Append what is missing to the part file; the answer is the full size where the server states it."""
    if not archive.url.startswith(("https://", "http://")):
        raise DataError(f"{archive.url} is not a web address")
    request = urllib.request.Request(archive.url, headers={"User-Agent": "utilitune"})  # noqa: S310 - checked above
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        response = urllib.request.urlopen(request, timeout=_PATIENCE_S)  # noqa: S310 - checked above
    except urllib.error.HTTPError as error:
        with error:
            if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not offset:
                raise
            if _range(error.headers.get("Content-Range"))[1] == offset:
                return offset
        part.unlink()
        return _receive(archive, part, 0, progress)
    with response:
        begin, total = _range(response.headers.get("Content-Range"))
        if response.status != http.client.PARTIAL_CONTENT or begin != offset:
            offset = 0
            length = response.headers.get("Content-Length")
            total = int(length) if length else None
        _refuse_other_size(archive, total, part)
        with part.open("ab" if offset else "wb") as stream:
            progress(offset, total)
            while chunk := response.read(_CHUNK_BYTES):
                stream.write(chunk)
                offset += len(chunk)
                progress(offset, total)
    return total


def _range(header: str | None) -> tuple[int | None, int | None]:
    """First byte and full size of a ``Content-Range`` header, None where it does not say."""
    match = _CONTENT_RANGE.match(header or "")
    if match is None:
        return None, None
    return None if match[1] is None else int(match[1]), int(match[2])


def _refuse_other_size(archive: Archive, total: int | None, part: Path) -> None:
    if archive.size_bytes is not None and total is not None and total != archive.size_bytes:
        part.unlink(missing_ok=True)
        raise DataError(
            f"{archive.url} now has {total:,} bytes where {archive.size_bytes:,} were expected; nothing was"
            " downloaded, since the published data seem to have changed"
        )


def _check_size(part: Path, total: int | None, archive: Archive) -> None:
    wanted = archive.size_bytes if archive.size_bytes is not None else total
    size = part.stat().st_size
    if wanted is not None and size < wanted:
        raise DataError(
            f"the connection ended after {size:,} of {wanted:,} bytes; run the same command again to continue"
        )
    if wanted is not None and size > wanted:
        part.unlink()
        raise DataError(f"received {size:,} bytes where {wanted:,} were expected; run the same command again")


def _failure(archive: Archive, part: Path, error: Exception) -> DataError:
    """One sentence for a download that failed, and what to do."""
    if isinstance(error, urllib.error.HTTPError):
        return DataError(
            f"the server answered {error.code} ({error.reason}) for {archive.url}; try again later"
        )
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    again = "run the same command again to continue" if part.exists() else "run the same command again"
    return DataError(
        f"could not download {archive.url} ({reason}); check the connection to the internet and {again}"
    )


def _silent(_done: int, _total: int | None) -> None:
    """Report to nobody."""

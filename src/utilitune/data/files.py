"""Reading text and writing files without surprises.

Reading turns every way a file can be unreadable into one sentence. Writing is all or nothing: the new
content grows in a temporary file beside the target, which takes its place only when it is complete.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from utilitune.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("this is not a text file in UTF-8", path=path) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path | str, error: OSError) -> DataError:
    """The error for a file that the system will not give us."""
    return DataError(f"cannot be read ({error.strerror or error})", path=path)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file that becomes `path` on success and vanishes on any error."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", path=path) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", path=path) from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions new files are denied here; temporary files are private unless told otherwise."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Functions that another process cannot import: those of a notebook, a script or ``python -c``, and lambdas.

A run of a function is made in a fresh process, which finds the function by the name of its module. One that
has no such name is written, by value, into a small module of its own in a temporary folder that lies on the
module search path, and is found there like any other. The folder goes when this process ends. The name of the
module follows from the name of the function, so that a run that was started from a script is found to be the
same one when the script is started again.
"""

from __future__ import annotations

import atexit
import base64
import importlib
import os
import re
import shutil
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PREFIX = "utilitune_carried_"
"""How the names of such modules begin."""

_SCRIPTS = ("__main__", "__mp_main__")
"""What a script is called in its own process, and in processes that Python's multiprocessing has started."""

_ONE_AT_A_TIME = threading.Lock()
_LARGEST_BYTES = 64 * 2**20
_MODULE = """# Written by Utilitune for as long as the process lives that started it.
import base64

import cloudpickle

{name} = cloudpickle.loads(base64.b64decode("{content}"))
"""


def place_of(function: Callable[..., Any]) -> tuple[str, str]:
    """The module and the name under which any process of this user can import a function.

    Raises:
        UsageError: The function holds something that cannot be handed to another process.
    """
    module = getattr(function, "__module__", None) or "__main__"
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if _is_found(module, name, function):
        return module, name
    return _carry(function, name)


def make_importable(folder: Path) -> None:
    """Let modules that lie in a folder be imported from now on, whatever the working folder is."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()


def imported(module: str) -> ModuleType:
    """A module that a user wrote.

    Raises:
        ModuleNotFoundError: There is none of this name.
        ImportError: Something else went wrong in it; a module may even end the program while it is imported.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise
    except SystemExit as ended:
        raise ImportError(
            f"it ends the program while it is imported (SystemExit: {ended.code}); put what a script does "
            'below if __name__ == "__main__":'
        ) from ended
    except Exception as error:
        raise ImportError(f"{type(error).__name__}: {error}") from error


def _is_found(module: str, name: str, function: Callable[..., Any]) -> bool:
    """Whether importing the name elsewhere gives this very function."""
    if module in _SCRIPTS or not name.isidentifier():
        return False
    return getattr(sys.modules.get(module), name, None) is function


def _carry(function: Callable[..., Any], name: str) -> tuple[str, str]:
    import cloudpickle

    if (script := sys.modules.get(_SCRIPTS[1])) is not None:
        cloudpickle.register_pickle_by_value(script)  # no other process could import it
    try:
        content = cloudpickle.dumps(function)
    except Exception as error:
        raise UsageError(
            f"the function {name} cannot be handed to another process ({type(error).__name__}: {error}): "
            "move it to a module of its own and import it from there"
        ) from error
    if len(content) > _LARGEST_BYTES:
        raise UsageError(
            f"the function {name} brings {len(content) / 2**20:.0f} MB of values with it, and every process "
            "would have to load them: let it read them from a file"
        )
    plain = re.sub(r"\W+", "_", name.replace("<lambda>", "a_lambda")).strip("_") or "function"
    plain = plain if plain.isidentifier() else f"f_{plain}"
    with _ONE_AT_A_TIME:
        return _written(plain, base64.b64encode(content).decode("ascii")), plain


def _written(name: str, content: str) -> str:
    """The module that holds the content: one that was written before, or the next one of this name."""
    text = _MODULE.format(name=name, content=content)
    number = 1
    while True:
        module = f"{PREFIX}{name}" + (f"_{number}" if number > 1 else "")
        file = Path(_folder()) / f"{module}.py"
        if not file.exists():
            file.write_text(text, encoding="ascii")
            importlib.invalidate_caches()
            return module
        if file.read_text(encoding="ascii") == text:
            return module
        number += 1


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="utilitune-carried-")
    sys.path.append(folder)
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    """Remove the folder when the process ends that made it; one that was forked from it may end sooner."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)

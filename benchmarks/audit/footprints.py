"""Which code a count rests on, so that a change elsewhere does not set the count aside.

A search is watched while it works: every module of ours in which a Python function is called belongs to its
footprint. So does every module from which one of these takes something that is used without a call that could
be seen: compiled rules, constants, enumerations, named tuples, modules. A count holds as long as no module of
its footprint has changed. A search that would use other code than before must have got there by a change in
one of the modules that it used before, so nothing that matters goes unnoticed. Comments, docstrings and
layout do not count.
"""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import importlib.util
import inspect
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType, ModuleType

T = TypeVar("T")
_OURS = ("utilitune", "benchmarks")


def watched(work: Callable[[], T]) -> tuple[T, frozenset[str]]:
    """What some work gives, and the modules of ours that it rests on."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        found = work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found, _closed(name for name in called if _is_ours(name))


def digest_of(modules: Iterable[str]) -> str:
    """Names the present code of some modules; one that is gone has none."""
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(f"{name} {_module_digest(name)}\n".encode())
    return digest.hexdigest()[:12]


def forget() -> None:
    """Read the files anew."""
    for known in (_taken_from, _tree, _module_digest):
        known.cache_clear()
    importlib.invalidate_caches()


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in _OURS


def _closed(names: Iterable[str]) -> frozenset[str]:
    """These modules, and those of which they use something without a call."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _taken_from(name)
    return frozenset(found)


@functools.cache
def _taken_from(name: str) -> frozenset[str]:
    """The modules whose compiled rules, constants, enumerations or tuples a module names."""
    found = set()
    for node in _imports(name):
        source = importlib.util.resolve_name("." * node.level + (node.module or ""), _package(name))
        module = sys.modules.get(source)
        if module is None or not _is_ours(source):
            continue
        for alias in node.names:
            thing = getattr(module, alias.name, None)
            if inspect.ismodule(thing):
                here = node.col_offset == 0  # else in a function, which calls what it came for
                found |= _named_of(name, alias.asname or alias.name, thing) if here else set()
            elif not _is_seen_when_used(thing):
                found.add(source)
    return frozenset(found)


def _named_of(name: str, called: str, module: ModuleType) -> set[str]:
    """A module that is imported as such, if one of its things is named that is used without a call."""
    if not _is_ours(module.__name__):
        return set()
    named = (
        node.attr
        for node in ast.walk(_tree(name))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == called
    )
    things = (getattr(module, attribute, None) for attribute in named)
    return set() if all(map(_is_seen_when_used, things)) else {module.__name__}


def _is_seen_when_used(thing: object) -> bool:
    """Whether whatever uses it calls a Python function of its module."""
    if inspect.isclass(thing):
        return not issubclass(thing, enum.Enum | tuple)
    return inspect.isfunction(thing)


def _imports(name: str) -> list[ast.ImportFrom]:
    """What a module imports, but for types."""
    found, waiting = [], [_tree(name)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            found.append(node)
        waiting += ast.iter_child_nodes(node)
    return found


def _package(name: str) -> str:
    module = sys.modules[name]
    return getattr(module, "__package__", None) or name.rpartition(".")[0]


@functools.cache
def _tree(name: str) -> ast.AST:
    source = source_of(name)
    return ast.parse(source.read_bytes()) if source is not None else ast.Module([], [])


def source_of(name: str) -> Path | None:
    """The file of a module; None if there is no such module, or under another name by now."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None or not Path(found.origin).is_file():
        return None
    return Path(found.origin)


@functools.cache
def _module_digest(name: str) -> str:
    if source_of(name) is None:
        return "gone"
    tree = _tree(name)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            body[:] = body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )

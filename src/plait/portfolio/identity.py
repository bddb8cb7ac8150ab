"""What a verdict depends on, as one number: the program, the question, the options, and plait.

The program counts as the model that the front end has made of it, down to the last name and place:
what macros, headers and their order in the search path have done is in there. Every other field of
the options counts too, unless it is listed here as one that cannot change an answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plait
from plait.data import fields, is_dataclass
from plait.portfolio.options import Options

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

FORMAT = 2

# How long it may take, and what comes with a proof (plait.portfolio.cache looks whether it does).
_WITHOUT_EFFECT = frozenset(
    {"timeout", "memory_limit", "jobs", "cache", "certificate", "proof", "invariants"}
)
_WITHOUT_EFFECT_IN_ENVIRONMENT = frozenset({"PLAIT_CACHE_DIR", "PLAIT_TRACEBACK"})

# Whose answers plait relies on, by the names of their modules and of their distributions.
_BELOW = {
    "pysat": ("python_sat-",),
    "z3": ("z3_solver-",),
    "clang": ("libclang_ng-", "libclang-"),
}

Questions = Iterable[tuple["Specification", "Program"]]


def identity(options: Options, questions: Questions) -> str:
    digest = sha256()
    for part in (_tool(), _asked(options), tuple(questions)):
        for token in tokens(part):
            digest.update(token.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def subject_identity(options: Options, properties: Iterable[str], entry: str) -> str:
    """What stays the same under an edit: the names of the files, and what is asked about them."""
    files = [os.path.abspath(path) for path in options.programs]
    compiled = options.compile_commands
    if compiled is not None:
        files.append(os.path.abspath(compiled))
    about = (entry, options.data_model, options.args, options.monitor, options.memory_model)
    parts = (FORMAT, files, sorted(properties), *about)
    return sha256("\n".join(tokens(parts)).encode("utf-8", "surrogatepass")).hexdigest()


def _asked(options: Options) -> list[tuple[str, Any]]:
    return [
        (item.name, getattr(options, item.name))
        for item in fields(options)
        if item.name not in _WITHOUT_EFFECT
    ]


def _tool() -> list[Any]:
    """plait itself, also where somebody is working on it, and what it stands on."""
    settings = {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith("PLAIT_") and name not in _WITHOUT_EFFECT_IN_ENVIRONMENT
    }
    own = list(_files(str(Path(plait.__file__).parent), ""))
    return [FORMAT, plait.__version__, own, sys.version, settings, list(_versions())]


def _files(folder: str, name: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            inner = f"{name}/{entry.name}"
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path, inner)
            else:
                found = entry.stat()
                yield inner, found.st_size, found.st_mtime_ns


def _versions() -> Iterator[tuple[str, str]]:
    """The folders of metadata beside a module have its version in their names. (To ask
    importlib.metadata takes twenty milliseconds.)"""
    from importlib.util import find_spec

    for module, prefixes in _BELOW.items():
        found = find_spec(module)
        if found is None or found.origin is None:
            yield module, "missing"
            continue
        site = Path(found.origin).parent.parent
        names = [name for name in os.listdir(site) if name.startswith(prefixes)]
        yield module, " ".join([str(site), *sorted(names)])


def tokens(root: Any) -> Iterator[str]:
    """A text for a value made of dataclasses, enumerations, collections and plain values, which
    differs for any two values that differ. A dataclass that was met before is referred to by its
    number, so that circles end. TypeError for anything else."""
    numbers: dict[int, int] = {}
    pending = [root]
    while pending:
        value = pending.pop()
        kind = type(value)
        if value is None or kind in (int, str, bool, bytes, float):
            yield f"{kind.__name__} {value!r}"
        elif kind in (tuple, list):
            yield f"[ {len(value)}"
            pending.extend(reversed(value))
        elif kind is dict:
            yield f"{{ {len(value)}"
            pending.extend(item for pair in reversed(value.items()) for item in reversed(pair))
        elif isinstance(value, Enum):
            yield f"{kind.__name__}.{value.name}"
        elif kind in (set, frozenset):
            yield f"set {len(value)}"
            pending.extend(sorted(value, key=_order))
        elif is_dataclass(kind):
            number = numbers.get(id(value))
            if number is not None:
                yield f"@ {number}"
                continue
            numbers[id(value)] = len(numbers)
            yield f"= {kind.__name__}"
            pending.extend(getattr(value, name) for name in _names(kind))
        else:
            raise TypeError(f"a {kind.__name__} has no identity")


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The last field first."""
    return tuple(item.name for item in reversed(fields(kind)))


def _order(value: Any) -> tuple[str, str]:
    """Of elements of a set; others than these have none that is the same in every process."""
    if isinstance(value, Enum):
        return type(value).__name__, value.name
    if type(value) in (str, int, bytes):
        return type(value).__name__, repr(value)
    raise TypeError(f"a set of {type(value).__name__} has no order")

"""The tasks of a suite: BenchExec task definitions, found in folders or named one by one.

A suite holds much that is no task: definitions of properties, of sets, tasks for other tools. A
folder is searched for what is one; what looks like a task and is broken becomes a `Flaw`, which
stops nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from plait.errors import InputError
from plait.model.properties import from_prp
from plait.portfolio.subject import Subject, read_text
from plait.portfolio.tasks import SUFFIXES, entry_of, files_of, read_task, wrong_task

_DATA_MODELS = ("ILP32", "LP64")
_MARK = "input_files"  # in every task definition


@dataclass(frozen=True, slots=True)
class Task:
    """One program and one property. `name` is that of its definition with the folder in front, the
    same wherever the suite is; `expected` is None where nobody knows; `subproperty` is the part of
    a property that an erroneous program violates, where the definition says so; `fingerprint` tells
    whether definition, program or property have changed."""

    name: str
    path: str
    files: tuple[str, ...]
    property_name: str
    property_file: str
    data_model: str
    expected: bool | None
    fingerprint: str
    subproperty: str | None = None

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Flaw:
    """A file that should be a task and is not."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Suite:
    tasks: list[Task]
    flaws: list[Flaw]


def find_tasks(places: Sequence[str], properties: Iterable[str] = ()) -> Suite:
    """The tasks in folders, and those that are named themselves, in the order of their names; only
    those about `properties`, if there are any."""
    wanted = frozenset(properties)
    tasks: dict[tuple[str, str], Task] = {}
    flaws: list[Flaw] = []
    for path, name, is_named in _definitions(places):
        try:
            found = list(_tasks_of(path, name, is_named))
        except InputError as error:
            flaws.append(Flaw(path, str(error)))
            continue
        for task in found:
            if not wanted or task.property_name in wanted:
                tasks.setdefault((task.name, task.property_name), task)
    return Suite([tasks[key] for key in sorted(tasks)], flaws)


def _definitions(places: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Path, stable name, and whether the user has named the file itself; every file once."""
    taken: dict[str, str] = {}
    known: set[str] = set()
    for place in places:
        path = Path(place)
        if path.is_dir():
            files = sorted(_files_below(path))
            root = _root(path, files)
            found = [(file, Path(os.path.relpath(file, root)).as_posix()) for file in files]
        elif path.is_file():
            full = path.resolve()
            found = [(str(path), f"{full.parent.name}/{full.name}")]
        else:
            raise InputError(f"{place}: there is no such file or folder")
        for file, name in found:
            real = os.path.realpath(file)
            if real in known:
                continue
            known.add(real)
            if taken.setdefault(name, real) != real:
                name = real.lstrip("/")
            yield file, name, not path.is_dir()


def _files_below(folder: Path) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(where, name) for name in names if name.endswith(SUFFIXES))


def _root(folder: Path, files: list[str]) -> Path:
    """What names are relative to: tasks are called `pthread/x.yml`, whether the folder `pthread`
    was given or the one around it."""
    full = folder.resolve()
    is_leaf = any(Path(file).resolve().parent == full for file in files)
    return full.parent if is_leaf else full


def _tasks_of(path: str, name: str, is_named: bool) -> Iterator[Task]:
    if not is_named and _MARK not in read_text(path):
        return
    data = read_task(path)
    folder = Path(path).parent
    files = tuple(str(folder / item) for item in files_of(data, path))
    data_model = _data_model(data, path)
    rows = entry_of(data, "properties", list, [], path)
    if not rows and is_named:
        raise wrong_task(path, "no property in it")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("property_file"), str):
            raise wrong_task(path, "properties: each one needs a 'property_file'")
        expected = row.get("expected_verdict")
        if expected is not None and not isinstance(expected, bool):
            raise wrong_task(path, "expected_verdict: true or false expected")
        if expected is None and not is_named:
            continue
        property_file = str(folder / row["property_file"])
        about = _property(property_file)
        if about is None:
            continue
        subproperty = row.get("subproperty")
        yield Task(
            name,
            path,
            files,
            about,
            property_file,
            data_model,
            expected,
            _fingerprint([path, property_file, *files]),
            subproperty if isinstance(subproperty, str) else None,
        )


def _data_model(data: dict[str, Any], path: str) -> str:
    model = entry_of(data, "options", dict, {}, path).get("data_model", Subject().data_model)
    if model not in _DATA_MODELS:
        known = " and ".join(_DATA_MODELS)
        raise wrong_task(path, f"data model '{str(model)[:40]}': {known} are known")
    return str(model)


def _property(path: str) -> str | None:
    """By what is in the file; None for a property that plait does not know."""
    text = read_text(path)
    try:
        return str(from_prp(text, path)[0])
    except InputError:
        return None


def _fingerprint(paths: Iterable[str]) -> str:
    digest = sha256()
    for path in paths:
        try:
            digest.update(Path(path).read_bytes())
        except OSError:
            pass  # verifying it will say so
        digest.update(b"\0")
    return digest.hexdigest()[:16]

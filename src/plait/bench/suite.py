"""The tasks of a suite: BenchExec task definitions, found in folders or named one by one.

A suite holds much that is no task: definitions of properties, of sets, tasks for other tools. A
folder is searched for what is one; what looks like a task and is broken becomes a `Flaw`, and what
plait cannot be asked is `LeftOut`. Neither stops anything, and neither gets lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import Any

from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.model.properties import from_prp
from plait.portfolio.subject import Subject, read_text
from plait.portfolio.tasks import SUFFIXES, entry_of, files_of, read_task, wrong_task

_DATA_MODELS = ("ILP32", "LP64")
_MARK = "input_files"  # in every task definition
_SOURCES = (".c", ".i", ".h")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_NO_ASCII_TEXT = re.compile("[^\t\n\r\x20-\x7e]")


@cache
def _no_text() -> re.Pattern[str]:
    """YAML 1.1, production [1]. To compile it takes 10 ms, and most texts are ASCII."""
    return re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Definition:
    """A program, and properties that it may have, as yet unread. `is_named`: by the user, and not
    found in a folder."""

    path: str
    name: str
    is_named: bool
    files: tuple[str, ...]
    required: tuple[str, ...]
    data_model: str
    properties: list[Any]


@dataclass(frozen=True, slots=True)
class Task:
    """One program and one property. `name` is that of its definition with the folder in front, the
    same wherever the suite is; `expected` is None where nobody knows; `subproperty` is the part of
    a property that an erroneous program violates, where the definition says so; `required` are the
    files that the program includes, by what the definition and the sources say; `fingerprint` tells
    whether definition, program, property or these have changed."""

    name: str
    path: str
    files: tuple[str, ...]
    property_name: str
    property_file: str
    data_model: str
    expected: bool | None
    fingerprint: str
    subproperty: str | None = None
    required: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Flaw:
    """A file that should be a task and is not."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A property of a task that plait does not know, or a task without any."""

    path: str
    reason: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class Suite:
    """`unjudged` are tasks of folders that nobody has said the verdict of; those that are named are
    among `tasks`."""

    tasks: list[Task]
    unjudged: list[Task]
    left_out: list[LeftOut]
    flaws: list[Flaw]

    @property
    def all_tasks(self) -> list[Task]:
        return sorted(self.tasks + self.unjudged, key=_order)


def find_tasks(
    places: Sequence[str],
    properties: Iterable[str] = (),
    data_model: str = Subject().data_model,
) -> Suite:
    """The tasks in folders, and those that are named themselves, in the order of their names; only
    those about `properties`, if there are any. `data_model` is for definitions that have none."""
    wanted = frozenset(properties)
    definitions, flaws = find_definitions(places, data_model)
    suite = Suite([], [], [], flaws)
    for definition in definitions:
        try:
            found = list(_tasks_of(definition, wanted))
        except InputError as error:
            flaws.append(Flaw(definition.path, str(error)))
            continue
        for item in found:
            if isinstance(item, LeftOut):
                suite.left_out.append(item)
            elif item.expected is None and not definition.is_named:
                suite.unjudged.append(item)
            else:
                suite.tasks.append(item)
    suite.tasks.sort(key=_order)
    suite.unjudged.sort(key=_order)
    return suite


def _order(task: Task) -> tuple[str, str]:
    return task.name, task.property_name


def find_definitions(
    places: Sequence[str], data_model: str = Subject().data_model
) -> tuple[list[Definition], list[Flaw]]:
    """Of all tasks, whatever they are about, in the order of their names."""
    definitions: list[Definition] = []
    flaws: list[Flaw] = []
    for path, name, is_named in _definitions(places):
        try:
            found = _definition(path, name, is_named, data_model)
        except InputError as error:
            flaws.append(Flaw(path, str(error)))
            continue
        if found is not None:
            definitions.append(found)
    return sorted(definitions, key=lambda item: item.name), flaws


def _definitions(places: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Path, stable name, and whether the user has named the file itself; every file once."""
    taken: dict[str, str] = {}
    known: set[str] = set()
    for place in places:
        path = Path(place)
        if path.is_dir():
            files = sorted(_files_below(path))
            root = _root(path, [file for file in files if file.endswith(SUFFIXES)])
            found = [(file, Path(os.path.relpath(file, root)).as_posix()) for file in files]
        elif path.suffix in _SOURCES:
            raise InputError(f"{place}: a source file; sources and tasks (.yml) do not mix")
        elif path.exists():
            full = path.resolve()
            found = [(str(path), f"{full.parent.name}/{full.name}")]
        else:
            raise InputError(f"{place}: there is no such file or folder")
        for file, name in found:
            # Not the file behind a link: the names in it are those of the folder that it is in.
            real = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
            if real in known:
                continue
            known.add(real)
            if taken.setdefault(name, real) != real:
                name = real.lstrip("/")
            yield file, name, not path.is_dir()


def _files_below(folder: Path) -> Iterator[str]:
    """Also behind links, but no folder twice; and folders that cannot be read, to be told of."""
    unreadable: list[str] = []
    seen: set[str] = set()
    walk = os.walk(
        folder, onerror=lambda error: unreadable.append(error.filename), followlinks=True
    )
    for where, folders, names in walk:
        real = os.path.realpath(where)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(where, name) for name in names if name.endswith(SUFFIXES))
    yield from unreadable


def _root(folder: Path, files: list[str]) -> Path:
    """What names are relative to: tasks are called `pthread/x.yml`, whether the folder `pthread`
    was given or the one around it."""
    full = folder.resolve()
    is_leaf = any(Path(file).resolve().parent == full for file in files)
    return full.parent if is_leaf else full


def _definition(path: str, name: str, is_named: bool, data_model: str) -> Definition | None:
    """None for a file of a folder that is none."""
    if os.path.isdir(path):
        raise wrong_task(path, "the folder cannot be read")
    _check_regular(path, path)
    text = read_text(path)
    if not is_named and _MARK not in text:
        return None
    strange = (_NO_ASCII_TEXT if text.isascii() else _no_text()).search(text)
    if strange is not None:
        line = text.count("\n", 0, strange.start()) + 1
        raise InputError(Diagnostic("no task definition: not a text file", path, line))
    data = read_task(path)
    folder = Path(path).parent
    files = tuple(str(folder / item) for item in files_of(data, path))
    required = _included_files([*files, *_required_files(data, path)])[len(files) :]
    model = _data_model(data, path, data_model)
    rows = entry_of(data, "properties", list, [], path)
    named = [row.get("property_file") for row in rows if isinstance(row, dict)]
    properties = [str(folder / item) for item in named if isinstance(item, str)]
    for file in (*files, *required, *properties):
        _check_regular(file, path)
    return Definition(path, name, is_named, files, required, model, rows)


def _required_files(data: dict[str, Any], path: str) -> tuple[str, ...]:
    """What a program needs beside its sources: files, folders of them, or patterns of both."""
    named = data.get("required_files", [])
    named = [named] if isinstance(named, str) else named
    if not isinstance(named, list) or not all(isinstance(item, str) for item in named):
        raise wrong_task(path, "required_files: one file or a list of files expected")
    found: dict[str, None] = {}
    for item in named:
        place = str(Path(path).parent / item)
        for match in sorted(glob(place)) or [place]:
            found.update(dict.fromkeys(_inside(match) if os.path.isdir(match) else [match]))
    return tuple(found)


def _included_files(paths: list[str]) -> tuple[str, ...]:
    """The files, and those that they include by names relative to them, as far as the text says."""
    found = dict.fromkeys(paths)
    pending = list(paths)
    while pending:
        path = pending.pop()
        try:
            text = read_regular(path)
        except OSError:
            continue
        for name in _INCLUDE.findall(text):
            place = os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(name)))
            if place not in found and os.path.isfile(place):
                found[place] = None
                pending.append(place)
    return tuple(found)


def _inside(folder: str) -> list[str]:
    return sorted(
        os.path.join(where, name) for where, _, names in os.walk(folder) for name in names
    )


def _check_regular(file: str, path: str) -> None:
    """Reading a pipe may never end. What is not there, and folders, are told by those who read."""
    if os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file):
        raise wrong_task(path, "not a regular file" if file == path else f"{file}: no regular file")


def _tasks_of(definition: Definition, wanted: frozenset[str]) -> Iterator[Task | LeftOut]:
    path, is_named = definition.path, definition.is_named
    if not definition.properties and is_named:
        raise wrong_task(path, "no property in it")
    if not definition.properties and not wanted:
        yield LeftOut(path, f"{path}: no property in it", is_named)
    names: dict[str, str] = {}
    for row in definition.properties:
        if not isinstance(row, dict) or not isinstance(row.get("property_file"), str):
            raise wrong_task(path, "properties: each one needs a 'property_file'")
        expected = row.get("expected_verdict")
        if expected is not None and not isinstance(expected, bool):
            raise wrong_task(path, "expected_verdict: true or false expected")
        property_file = str(Path(path).parent / row["property_file"])
        about = _property(property_file)
        if wanted and about not in wanted:
            continue
        if about is None:
            yield LeftOut(path, f"{path}: {property_file}: no property that plait knows", is_named)
            continue
        if property_file in names.values():
            continue
        if about in names:  # the same property of other functions, or parts of it
            about = f"{about} ({row['property_file']})"
        names[about] = property_file
        subproperty = row.get("subproperty")
        yield Task(
            definition.name,
            path,
            definition.files,
            about,
            property_file,
            definition.data_model,
            expected,
            _fingerprint([path, property_file, *definition.files, *definition.required]),
            subproperty if isinstance(subproperty, str) else None,
            definition.required,
        )


def _data_model(data: dict[str, Any], path: str, default: str) -> str:
    model = entry_of(data, "options", dict, {}, path).get("data_model", default)
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
            digest.update(read_regular(path))
        except OSError:
            pass  # verifying it will say so
        digest.update(b"\0")
    return digest.hexdigest()[:16]

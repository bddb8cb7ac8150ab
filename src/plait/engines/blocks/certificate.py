"""A complete tree of labelled locations as a document (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plait.data import dataclass
from plait.logic.operators import NAMES, VARIABLE
from plait.logic.terms import Terms
from plait.model.properties import Specification
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location, Thread

Document = dict[str, Any]
# With the first pages and sizes of its objects from alloca, which may differ between places.
_SizedThread = tuple[Thread, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A node; others are named by their places in the list of all, in which parents come first.
    `thread` and `persistent` are 0 if there is none."""

    parent: int | None
    thread: int  # whose step led here
    location: Location
    label: Iterable[int]
    cover: int | None = None
    expanded: tuple[int, ...] = ()
    persistent: int = 0


def write(
    engine: str,
    knowledge: Knowledge,
    executor: Executor,
    terms: Terms,
    specification: Specification,
    rows: list[Row],
) -> Document:
    table, index_of = table_of(terms, {term for row in rows for term in row.label}, _name)
    # Locations and threads are written once: most nodes differ in few of them.
    locations: dict[Location, int] = {}
    threads: dict[_SizedThread, int] = {}
    for row in rows:
        locations.setdefault(row.location, len(locations))
        for thread in _threads(row.location):
            threads.setdefault(thread, len(threads))
    return {
        **header(engine, knowledge, executor, specification),
        "locks": [_cell(lock) for lock in sorted(executor.locks)],
        "terms": table,
        "threads": [_thread(thread, dict(sizes)) for thread, sizes in threads],
        "locations": [_location(location, threads) for location in locations],
        "nodes": [_node(row, locations, index_of) for row in rows],
    }


def header(
    engine: str, knowledge: Knowledge, executor: Executor, specification: Specification
) -> Document:
    """What certificates of all kinds have."""
    return {
        "format": "plait-certificate",
        "version": 1,
        "engine": engine,
        "properties": sorted(item.value for item in specification.properties),
        "error_functions": sorted(specification.error_functions),
        "switch_points": {
            name: [place for place, is_switch in enumerate(shape.is_switch) if is_switch]
            for name, shape in sorted(knowledge.shapes.items())
        },
        "initial": {
            _cell(cell): value for cell, value in sorted(executor.memory.initially_known.items())
        },
    }


def table_of(
    terms: Terms,
    roots: Iterable[int],
    name: Callable[[str], str],
    is_address: Callable[[int], bool] = lambda term: False,
) -> tuple[list[list[Any]], dict[int, int]]:
    """The terms that some consist of, and at which place in the table each is. `name` makes the
    name of a variable in a certificate; constants may be addresses that are variables there."""
    used = sorted(terms.parts(set(roots)))
    index_of = {term: index for index, term in enumerate(used)}
    table = []
    for term in used:
        if is_address(term):
            table.append([NAMES[VARIABLE], terms.width[term], [], 0, f"a{terms.value(term)}"])
            continue
        operands = [index_of[part] for part in terms.operands[term]]
        row: list[Any] = [NAMES[terms.operator[term]], terms.width[term], operands]
        row.append(terms.parameter[term])
        row.append(name(terms.name[term]) if terms.operator[term] == VARIABLE else "")
        table.append(row)
    return table, index_of


def _name(variable: str) -> str:
    return variable.split(":")[0]


def _cell(cell: tuple[int, int]) -> str:
    return f"{cell[0]}.{cell[1]}"


def _node(row: Row, locations: dict[Location, int], index_of: dict[int, int]) -> Document:
    return {
        "parent": row.parent,
        "thread": row.thread or None,
        "location": locations[row.location],
        "label": sorted(index_of[term] for term in row.label),
        "cover": row.cover,
        "expanded": list(row.expanded),
        "persistent": row.persistent or None,
    }


def _threads(location: Location) -> list[_SizedThread]:
    stacks = {item.page: item.size for item in location.heap if item.storage == "stack"}
    return [
        (thread, tuple((page, stacks[page]) for frame in thread.frames for page in frame.allocated))
        for thread in location.threads
    ]


def _location(location: Location, threads: dict[_SizedThread, int]) -> Document:
    return {
        "threads": [threads[thread] for thread in _threads(location)],
        **memory_of(location),
    }


def memory_of(location: Location) -> Document:
    """The objects that live at a location, and the cells with known values."""
    return {
        "heap": {
            str(item.page): [item.size, item.storage]
            for item in location.heap
            if item.storage != "stack"
        },
        "cells": {_cell(cell): value for cell, value in location.cells},
    }


def thread_of(location: Location, number: int) -> Document:
    """One thread by itself."""
    thread, sizes = _threads(location)[number - 1]
    return _thread(thread, dict(sizes))


def _thread(thread: Thread, stacks: dict[int, int]) -> Document:
    return {
        "status": thread.status.value,
        "depth": thread.depth,
        "lock": None if thread.lock is None else _cell(thread.lock),
        "heap_page": thread.heap_page,
        "stack_page": thread.stack_page,
        "frames": [
            {
                "function": frame.function,
                "location": frame.location,
                "base": frame.base,
                "allocated": [[page, stacks[page]] for page in frame.allocated],
                "registers": {str(index): value for index, value in frame.registers},
                "slots": {str(index): address for index, address in frame.slots},
            }
            for frame in thread.frames
        ],
    }

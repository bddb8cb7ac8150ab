"""The proof that a complete tree is, as a document (docs/certificates.md)."""

from __future__ import annotations

from typing import Any

from plait.engines.impact.tree import Node, Place
from plait.logic.operators import NAMES, VARIABLE
from plait.logic.terms import Terms
from plait.model.properties import Specification
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location, Thread

Document = dict[str, Any]
# With the first pages and sizes of its objects from alloca, which may differ between places.
_SizedThread = tuple[Thread, tuple[tuple[int, int], ...]]


def write(
    knowledge: Knowledge,
    executor: Executor,
    terms: Terms,
    specification: Specification,
    nodes: list[Node],
) -> Document:
    """Only what the argument needs: nodes that can be reached without going below a cover."""
    kept = reachable(nodes[0])
    number = {node: index for index, node in enumerate(kept)}
    used = sorted(terms.parts({term for node in kept for term in node.label}))
    index_of = {term: index for index, term in enumerate(used)}
    # Places and threads are written once: most nodes differ in few of them.
    places: dict[Place, int] = {}
    threads: dict[_SizedThread, int] = {}
    for node in kept:
        assert node.place is not None
        places.setdefault(node.place, len(places))
        for thread in _threads(node.place.location):
            threads.setdefault(thread, len(threads))
    return {
        "format": "plait-certificate",
        "version": 1,
        "engine": "impact",
        "properties": sorted(item.value for item in specification.properties),
        "error_functions": sorted(specification.error_functions),
        "switch_points": {
            name: [place for place, is_switch in enumerate(shape.is_switch) if is_switch]
            for name, shape in sorted(knowledge.shapes.items())
        },
        "locks": [_cell(lock) for lock in sorted(executor.locks)],
        "terms": [_term(terms, term, index_of) for term in used],
        "initial": {
            _cell(cell): value for cell, value in sorted(executor.memory.initially_known.items())
        },
        "threads": [_thread(thread, dict(sizes)) for thread, sizes in threads],
        "locations": [_location(place.location, threads) for place in places],
        "nodes": [_node(node, number, places, index_of) for node in kept],
    }


def reachable(root: Node) -> list[Node]:
    """The nodes that the argument needs."""
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.place is None:
            continue
        found.append(node)
        if node.cover is None and not node.is_false:
            pending += node.children
    found.sort(key=lambda node: node.number)
    return found


def _term(terms: Terms, term: int, index_of: dict[int, int]) -> list[Any]:
    operands = [index_of[part] for part in terms.operands[term]]
    row: list[Any] = [NAMES[terms.operator[term]], terms.width[term], operands]
    row.append(terms.parameter[term])
    row.append(terms.name[term].split(":")[0] if terms.operator[term] == VARIABLE else "")
    return row


def _cell(cell: tuple[int, int]) -> str:
    return f"{cell[0]}.{cell[1]}"


def _node(
    node: Node, number: dict[Node, int], places: dict[Place, int], index_of: dict[int, int]
) -> Document:
    assert node.place is not None
    is_leaf = node.cover is not None or node.is_false
    return {
        "parent": None if node.parent is None else number[node.parent],
        "thread": node.thread or None,
        "location": places[node.place],
        "label": sorted(index_of[term] for term in node.label),
        "cover": None if node.cover is None else number[node.cover],
        "expanded": [] if is_leaf else sorted(node.expanded),
        "persistent": None if is_leaf or node.persistent <= 0 else node.persistent,
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
        "heap": {
            str(item.page): [item.size, item.storage]
            for item in location.heap
            if item.storage != "stack"
        },
        "cells": {_cell(cell): value for cell, value in location.cells},
    }


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

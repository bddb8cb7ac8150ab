"""Certificates for tests: a naive builder that keeps every value it can, and their JSON.

It explores location by location, expands all threads and covers a node by an earlier one with the
same location. It ends for programs with few values only, and writes no labels: tests put those in.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from pathlib import Path
from typing import Any

from plait.c import FrontEndOptions, load
from plait.certificates.check import check
from plait.certificates.decide import Decider
from plait.certificates.document import Cell, Frame, Location, Status, Thread
from plait.certificates.execute import Executor
from plait.certificates.fingerprint import fingerprint
from plait.certificates.memory import Cells
from plait.certificates.outcomes import Outcome
from plait.certificates.reading import read
from plait.certificates.state import ActiveFrame, Situation
from plait.certificates.verdicts import Verdict
from plait.certificates.world import World, contents
from plait.logic.terms import Terms
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.dataflow import live_registers
from plait.model.program import Program
from plait.model.properties import Property, Specification

Document = dict[str, Any]
ASSERTIONS = Specification()
MOST_NODES = 3000


def program_of(folder: Path, text: str, specification: Specification = ASSERTIONS) -> Program:
    source = folder / "program.c"
    source.write_text(text)
    return load([str(source)], FrontEndOptions(), specification)


def verdict_on(program: Program, document: Document) -> Verdict:
    return check(program, read(json.dumps(document)))


def changed(document: Document) -> Document:
    return copy.deepcopy(document)


def all_accesses(program: Program, *, library: bool = True) -> dict[str, list[int]]:
    """Switch points at every access to memory: always enough."""
    return {
        function.name: [
            edge.source
            for edge in function.all_edges()
            if isinstance(edge.action, (Load, Store, ReadModifyWrite))
            and (library or not function.library)
        ]
        for function in program.functions.values()
    }


class Builder:
    """`forgotten`: registers (function, number) and cells that are variables everywhere."""

    def __init__(
        self,
        program: Program,
        switch_points: dict[str, list[int]] | None = None,
        forgotten: frozenset[object] = frozenset(),
        specification: Specification = ASSERTIONS,
    ) -> None:
        self.program = program
        self.world = World(program)
        self.specification = specification
        self.switch_points = all_accesses(program) if switch_points is None else switch_points
        self.forgotten = forgotten
        self.terms = Terms()
        self.decider = Decider(self.terms)
        self.executor = Executor(
            self.world,
            specification,
            {name: frozenset(places) for name, places in self.switch_points.items()},
            self.decider,
            most_values=16,
        )
        self._live = {name: live_registers(item) for name, item in program.functions.items()}
        self.cells: set[Cell] = set()
        self._bytes: set[int] = set()
        self._cuts: set[int] = set()

    def document(self) -> Document:
        while True:
            nodes = self._explore()
            if nodes is not None:
                return self._written(nodes)

    def _initial(self) -> dict[Cell, int]:
        found = {}
        for item in self.program.objects:
            start, data = self.program.address_of(item), contents(item)
            for cell in self.cells:
                offset = cell.address - start
                if 0 <= offset and offset + cell.size <= len(data) and not item.indeterminate:
                    found[cell] = int.from_bytes(data[offset : offset + cell.size], "little")
        return {cell: value for cell, value in found.items() if cell not in self.forgotten}

    def _root(self) -> Location:
        first, top = self.world.arena(1)
        entry = self.program.functions[self.program.entry]
        frame = Frame(entry.name, 0, top, (), {}, {})
        stack_page = top - self.world.layout(entry).pages
        return Location((Thread(Status.RUNNING, 0, first, stack_page, (frame,)),), {}, {})

    def _explore(self) -> list[Document] | None:
        """The nodes; None if a cell was met that had no name yet."""
        before = self.cells
        initial = self._initial()
        cells = Cells(tuple(sorted(self.cells)))
        nodes: list[Document] = []
        seen: dict[str, int] = {}
        pending: deque[tuple[Location, int | None, int | None]] = deque([(self._root(), None, None)])
        while pending:
            location, parent, thread = pending.popleft()
            assert len(nodes) < MOST_NODES, "the program is too large for the naive builder"
            number = len(nodes)
            row = location_row(location)
            key = json.dumps(row, sort_keys=True)
            cover = seen.setdefault(key, number)
            node = {
                "parent": parent,
                "thread": thread,
                "location": row,
                "label": [],
                "cover": None if cover == number else cover,
                "expanded": [] if cover != number else location.movable,
            }
            nodes.append(node)
            for mover in node["expanded"]:
                situation = Situation(self.world, self.terms, cells, location, initial)
                facts = self.decider.facts(situation.truths_of_types())
                assert facts is not None
                step = self.executor.step(situation, mover, facts)
                known: set[str] = set()
                for outcome in step.outcomes:
                    self._learn_cells(outcome)
                if self.cells is not before:
                    return None
                for outcome in step.moves:
                    after = self._after(situation, outcome, cells, initial)
                    text = json.dumps(location_row(after), sort_keys=True)
                    if text not in known:
                        known.add(text)
                        pending.append((after, number, mover))
        return nodes

    def _learn_cells(self, outcome: Outcome) -> None:
        for access in outcome.path.accesses:
            if access.end - access.start > 16:
                continue
            new = set(range(access.start, access.end)) - self._bytes
            if new or not {access.start, access.end} <= self._cuts:
                self._bytes |= new
                self._cuts |= {access.start, access.end}
                self.cells = self._divided()

    def _divided(self) -> set[Cell]:
        """Cells that no access goes through in the middle."""
        found: set[Cell] = set()
        start = end = -1
        for address in [*sorted(self._bytes), -1]:
            if address != end or address in self._cuts:
                if end > start:
                    found.add(Cell(start, end - start))
                start = address
            end = address + 1
        return found

    def _after(
        self, situation: Situation, outcome: Outcome, cells: Cells, initial: dict[Cell, int]
    ) -> Location:
        path = outcome.path
        threads = []
        shapes = path.shape(self.world)[0]
        before = situation.location.threads
        for number, (status, depth, heap_page, stack_page, _) in enumerate(shapes, 1):
            frames: tuple[Frame, ...] = ()
            if status is Status.RUNNING and number == path.thread:
                active = path.frames
                frames = tuple(self._frame(item, item is active[-1]) for item in active)
            elif number > len(before):
                frames = (self._frame(path.spawned[number - len(before) - 1], True),)
            elif status is Status.RUNNING:
                frames = before[number - 1].frames
            threads.append(Thread(status, depth, heap_page, stack_page, frames))
        known: dict[Cell, int | None] = {}
        for cell in sorted(self.cells):
            value = self.terms.value(path.memory.read(cell.address, cell.size))
            if cell in self.forgotten:
                value = None
            if value != initial.get(cell):
                known[cell] = value
        return Location(tuple(threads), path.heap.copy(), known)

    def _frame(self, frame: ActiveFrame, is_innermost: bool) -> Frame:
        function = frame.function
        live = self._live[function.name]
        if is_innermost:
            mask = live[frame.location]
        else:
            edge = function.edges[frame.location][0]
            mask = live[edge.target]
            target = getattr(edge.action, "target", None)
            mask &= ~(1 << target.index) if target is not None else -1
        registers = {}
        for index in range(len(function.registers)):
            value = self.terms.value(frame.registers[index]) if mask >> index & 1 else None
            if value is not None and (function.name, index) not in self.forgotten:
                registers[index] = value
        return Frame(
            function.name, frame.location, frame.base, frame.allocated, registers, frame.slots.copy()
        )

    def _written(self, nodes: list[Document]) -> Document:
        initial = self._initial()
        return {
            "format": "plait-certificate",
            "version": 1,
            "engine": "tests",
            "front_end": {},
            "fingerprint": fingerprint(self.program),
            "properties": sorted(item.value for item in self.specification.properties),
            "error_functions": sorted(self.specification.error_functions),
            "switch_points": self.switch_points,
            "terms": [],
            "initial": {f"{cell.address}.{cell.size}": value for cell, value in initial.items()},
            "nodes": nodes,
        }


def location_row(location: Location) -> Document:
    return {
        "threads": [
            {
                "status": thread.status.value,
                "depth": thread.depth,
                "heap_page": thread.heap_page,
                "stack_page": thread.stack_page,
                "frames": [
                    {
                        "function": frame.function,
                        "location": frame.location,
                        "base": frame.base,
                        "allocated": [list(item) for item in frame.allocated],
                        "registers": {str(key): value for key, value in frame.registers.items()},
                        "slots": {str(key): value for key, value in frame.slots.items()},
                    }
                    for frame in thread.frames
                ],
            }
            for thread in location.threads
        ],
        "heap": {str(page): list(item) for page, item in location.heap.items()},
        "cells": {
            f"{cell.address}.{cell.size}": value for cell, value in sorted(location.cells.items())
        },
    }


UNREACH = Specification(frozenset({Property.UNREACH_CALL}), frozenset({"reach_error"}))

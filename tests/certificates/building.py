"""Certificates for tests: a naive builder that keeps every value it can, and their JSON.

It explores location by location and expands only what the rules ask for: a thread is left out
where its step is independent of the one before, a node is covered by an earlier one with the same
location. It ends for programs with few values only, writes no labels (tests put those in), and
takes no notice of violations: for a program that has one, the certificate must be rejected.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

from plait.c import FrontEndOptions, load
from plait.certificates.check import check
from plait.certificates.decide import Decider, Facts
from plait.certificates.document import Cell, Frame, Location, Status, Thread
from plait.certificates.execute import Executor
from plait.certificates.fingerprint import fingerprint
from plait.certificates.independence import Footprint, Move, are_independent
from plait.certificates.memory import Cells
from plait.certificates.outcomes import Ending, Step, StepOutcome
from plait.certificates.reading import read
from plait.certificates.state import ActiveFrame, Situation
from plait.certificates.verdicts import Verdict
from plait.certificates.world import World
from plait.logic.terms import Terms
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.dataflow import live_registers
from plait.model.program import Program
from plait.model.properties import Specification

Document = dict[str, Any]
ASSERTIONS = Specification()


class TooLarge(Exception):
    """The program has too many values for the naive builder."""


def program_of(folder: Path, text: str, specification: Specification = ASSERTIONS) -> Program:
    source = folder / "program.c"
    source.write_text(text)
    return load([str(source)], FrontEndOptions(), specification)


def verdict_on(program: Program, document: Document) -> Verdict:
    return check(program, ASSERTIONS, read(json.dumps(document)))


def changed(document: Document) -> Document:
    return copy.deepcopy(document)


def all_accesses(program: Program) -> dict[str, list[int]]:
    """Switch points at every access to memory: always enough."""
    return {
        function.name: [
            edge.source
            for edge in function.all_edges()
            if isinstance(edge.action, (Load, Store, ReadModifyWrite))
        ]
        for function in program.functions.values()
    }


class _Node:
    def __init__(
        self, number: int, location: Location, parent: _Node | None, thread: int | None
    ) -> None:
        self.number = number
        self.location = location
        self.parent = parent
        self.thread = thread
        self.cover: int | None = None
        self.expanded: list[int] = []
        self.persistent: int | None = None
        self.moves: list[Move] = []
        self.steps: dict[int, Step] = {}

    def row(self) -> Document:
        return {
            "parent": None if self.parent is None else self.parent.number,
            "thread": self.thread,
            "location": location_row(self.location),
            "label": [],
            "cover": self.cover,
            "expanded": self.expanded,
            "persistent": self.persistent,
        }


class _AllCells(frozenset[Cell]):
    def __contains__(self, item: object) -> bool:
        return True


class Builder:
    """`reduce`: leave out what the rules allow to leave out. `forgotten` cells are never known.
    `seed` chooses in which order nodes are looked at. `guesses`: whatever looks like a lock is
    taken for one, some threads are taken for persistent sets (`ahead` is how often), and those that
    are stopped by an assumption for such that have not moved; whether that is right is left to the
    checker. `passed_over` conditions of rule V are not looked at."""

    def __init__(
        self,
        program: Program,
        switch_points: dict[str, list[int]] | None = None,
        *,
        reduce: bool = True,
        forgotten: frozenset[Cell] = frozenset(),
        specification: Specification = ASSERTIONS,
        seed: int | None = None,
        most_nodes: int = 3000,
        guesses: int | None = None,
        ahead: float = 0.6,
        passed_over: frozenset[str] = frozenset(),
    ) -> None:
        self.passed_over = passed_over
        self.ahead = ahead
        self.guesses = None if guesses is None else Random(guesses)
        self.locks: set[Cell] = set()
        self.program = program
        self.world = World(program)
        self.specification = specification
        self.switch_points = all_accesses(program) if switch_points is None else switch_points
        self.reduce = reduce
        self.forgotten = forgotten
        self.seed = seed
        self.most_nodes = most_nodes
        self.terms = Terms()
        self.decider = Decider(self.terms)
        self.executor = Executor(
            self.world,
            specification,
            {name: frozenset(places) for name, places in self.switch_points.items()},
            self.decider,
            most_values=16,
            locks=_AllCells() if guesses is not None else frozenset(),
        )
        self._live = {name: live_registers(item) for name, item in program.functions.items()}
        self.cells: set[Cell] = set()
        self._bytes: set[int] = set()
        self._cuts: set[int] = set()
        self._initial: dict[Cell, int] = {}
        self._named = Cells(())
        self.nodes: list[_Node] = []

    def document(self) -> Document:
        while not self._explored():
            pass
        return self._written()

    # --- exploration

    def _explored(self) -> bool:
        """False if a cell was met that had no name yet."""
        before = self.cells
        self._initial = self._initial_values()
        self._named = Cells(tuple(sorted(self.cells)))
        self.nodes = []
        generator = None if self.seed is None else Random(self.seed)
        seen: dict[str, _Node] = {}
        pending = [self._new(self._root(), None, None)]
        while pending:
            node = pending.pop(0 if generator is None else generator.randrange(len(pending)))
            key = json.dumps(location_row(node.location), sort_keys=True)
            known = seen.setdefault(key, node)
            wanted = [
                thread
                for thread in node.location.movable
                if not (self.reduce and self._is_skipped(node, thread))
            ]
            if known is not node:
                node.cover = known.number
            if self.guesses is not None:
                self._guess_persistent(known, wanted)
            if known.persistent is not None:
                wanted = [known.persistent]
            for thread in wanted:
                if thread not in known.expanded:
                    pending += self._expand(known, thread)
            if self.cells is not before:
                return False
        return True

    def _guess_persistent(self, node: _Node, wanted: list[int]) -> None:
        """Perhaps let one thread go ahead of the others."""
        assert self.guesses is not None
        if node.expanded or len(wanted) < 2 or self.guesses.random() >= self.ahead:
            return
        thread = self.guesses.choice(wanted)
        outcomes = self._step(node, thread).outcomes
        if all(
            outcome.ending is Ending.MOVED
            and not outcome.path.spawned
            and not outcome.path.is_inside
            for outcome in outcomes
        ):
            node.persistent = thread

    def _new(self, location: Location, parent: _Node | None, thread: int | None) -> _Node:
        if len(self.nodes) >= self.most_nodes:
            raise TooLarge
        self.nodes.append(_Node(len(self.nodes), location, parent, thread))
        return self.nodes[-1]

    def _expand(self, node: _Node, thread: int) -> list[_Node]:
        node.expanded.append(thread)
        children: dict[str, _Node] = {}
        for outcome in self._step(node, thread).outcomes:
            self._learn_cells(outcome)
        for outcome in self._step(node, thread).moves:
            if outcome.path.is_halted and self.guesses is not None and not node.persistent:
                continue
            after = self._after(self._situation(node), outcome)
            text = json.dumps(location_row(after), sort_keys=True)
            if text not in children:
                children[text] = self._new(after, node, thread)
            path = outcome.path
            children[text].moves.append(Move(path.facts, path.accesses, bool(path.spawned)))
        return list(children.values())

    def _step(self, node: _Node, thread: int) -> Step:
        if thread not in node.steps:
            situation = self._situation(node)
            node.steps[thread] = self.executor.step(situation, thread, self._facts(situation))
        return node.steps[thread]

    def _situation(self, node: _Node) -> Situation:
        return Situation(self.world, self.terms, self._named, node.location, self._initial)

    def _facts(self, situation: Situation) -> Facts:
        facts = self.decider.facts(situation.truths_of_types())
        assert facts is not None
        return facts

    def _is_skipped(self, node: _Node, thread: int) -> bool:
        parent = node.parent
        if parent is None or node.thread is None or thread == node.thread:
            return False
        if thread > node.thread and "smaller" not in self.passed_over:
            return False
        if not parent.location.is_running(thread) or parent.persistent is not None:
            return False
        in_sections = {parent.location.in_section, node.location.in_section}
        if in_sections != {None} and "section" not in self.passed_over:
            return False
        footprint = Footprint.of(self._step(parent, thread))
        return not footprint.is_lost and are_independent(footprint, node.moves)

    # --- values

    def _initial_values(self) -> dict[Cell, int]:
        found = {}
        for item in self.program.objects:
            start, data = self.program.address_of(item), item.contents
            for cell in self.cells - self.forgotten:
                offset = cell.address - start
                if 0 <= offset and offset + cell.size <= len(data) and not item.indeterminate:
                    found[cell] = int.from_bytes(data[offset : offset + cell.size], "little")
        return found

    def _learn_cells(self, outcome: StepOutcome) -> None:
        self.locks.update(lock for lock, _ in outcome.path.held)
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

    # --- locations

    def _root(self) -> Location:
        first, top = self.world.space.arena(1)
        entry = self.program.functions[self.program.entry]
        frame = Frame(entry.name, 0, top, (), {}, {})
        stack_page = top - self.world.space.frame_layout(entry).pages
        return Location((Thread(Status.RUNNING, 0, first, stack_page, (frame,)),), {}, {})

    def _after(self, situation: Situation, outcome: StepOutcome) -> Location:
        path = outcome.path
        threads = []
        before = situation.location.threads
        for number, shape in enumerate(path.shape(self.world)[0], 1):
            status, depth, lock, heap_page, stack_page, _ = shape
            frames: tuple[Frame, ...] = ()
            if status is Status.RUNNING and number == path.thread:
                frames = tuple(self._frame(item, item is path.frame) for item in path.frames)
            elif number > len(before):
                frames = (self._frame(path.spawned[number - len(before) - 1], True),)
            elif status is Status.RUNNING:
                frames = before[number - 1].frames
            threads.append(Thread(status, depth, heap_page, stack_page, frames, lock))
        known: dict[Cell, int | None] = {}
        for cell in sorted(self.cells):
            value = self.terms.value(path.memory.read(cell.address, cell.size))
            if cell in self.forgotten:
                value = None
            if value != self._initial.get(cell):
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
            if value is not None:
                registers[index] = value
        slots = frame.slots.copy()
        return Frame(function.name, frame.location, frame.base, frame.allocated, registers, slots)

    def _written(self) -> Document:
        return {
            "format": "plait-certificate",
            "version": 1,
            "engine": "tests",
            "options": [],
            "fingerprint": fingerprint(self.program),
            "properties": sorted(item.value for item in self.specification.properties),
            "error_functions": sorted(self.specification.error_functions),
            "switch_points": self.switch_points,
            "locks": [f"{lock.address}.{lock.size}" for lock in sorted(self.locks)],
            "terms": [],
            "initial": {
                f"{cell.address}.{cell.size}": value for cell, value in self._initial.items()
            },
            "nodes": [node.row() for node in self.nodes],
        }


def location_row(location: Location) -> Document:
    return {
        "threads": [
            {
                "status": thread.status.value,
                "depth": thread.depth,
                "lock": None
                if thread.lock is None
                else f"{thread.lock.address}.{thread.lock.size}",
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

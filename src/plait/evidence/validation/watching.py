"""The reference interpreter, noting which waypoints of a witness a step passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plait.evidence.validation.expressions import (
    RESULT,
    CannotEvaluate,
    Expression,
    Typed,
)
from plait.evidence.validation.places import Key
from plait.model.actions import Call, Guard, Input, Return, Spawn
from plait.model.layout import Layout, cells
from plait.model.program import Edge, Program, StaticObject
from plait.model.properties import Specification
from plait.semantics.actions import Actions
from plait.semantics.compile import Block, Code, Compiler
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.machine import Machine
from plait.semantics.outcome import StepEnds
from plait.semantics.scalars import from_bits
from plait.semantics.state import Frame
from plait.semantics.visibility import conservative


class Passed(NamedTuple):
    """Waypoints, by number, that a thread passes at one moment. `created` is the thread that it
    creates there, or 0."""

    thread: int
    waypoints: tuple[int, ...]
    created: int = 0


@dataclass(slots=True, eq=False)
class Watched:
    """The waypoints at each place, by number. `constraints` has those that are expressions."""

    assumptions: dict[Key, list[int]] = field(default_factory=dict)
    branches: dict[Key, list[tuple[int, bool]]] = field(default_factory=dict)
    calls: dict[Key, list[int]] = field(default_factory=dict)
    creations: dict[Key, list[int]] = field(default_factory=dict)
    returns: dict[Key, list[int]] = field(default_factory=dict)
    constraints: dict[int, Expression] = field(default_factory=dict)

    @property
    def reads_variables(self) -> bool:
        return any(item.names - {RESULT} for item in self.constraints.values())

    def functions(self) -> set[str]:
        tables = (self.assumptions, self.branches, self.calls, self.creations, self.returns)
        return {key[0] for table in tables for key in table}


class WatchingMachine(Machine):
    """`passed` collects what the current step passes, in order; `doubts` are the waypoints whose
    constraint could not be evaluated at some time, with the reason."""

    def __init__(self, program: Program, specification: Specification, watched: Watched) -> None:
        super().__init__(program, specification)
        if watched.reads_variables:
            # A variable is part of the state as long as a constraint may read it.
            self.compiler = Compiler(program, conservative(), keep_variables=True)
        self.watched = watched
        self.passed: list[Passed] = []
        self.doubts: dict[int, str] = {}
        self._watched_functions = watched.functions() | {
            function.name
            for function in program.functions.values()
            if any(isinstance(edge.action, Spawn) for edge in function.all_edges())
        }
        self._globals = _globals(program)

    def _blocks(self, code: Code) -> list[Block | None]:
        function = code.function
        if function.name not in self._watched_functions and not self.watched.returns:
            return code.blocks
        if code.singles is None:
            blocks, code.single_lines = self.compiler.singles(function)
            code.singles = [
                None if block is None else self._watching(code, location, block)
                for location, block in enumerate(blocks)
            ]
        return code.singles

    def _single(self, code: Code, location: int) -> Block:
        self._blocks(code)
        return super()._single(code, location)

    def _watching(self, code: Code, location: int, block: Block) -> Block:
        """The block, noting what is passed there; the block itself if nothing can be."""
        leaving = code.function.edges[location]
        action = leaving[0].action if leaving else None
        key = (code.function.name, location)
        watched = self.watched
        if isinstance(action, Spawn):
            return self._watching_spawn(block)
        if isinstance(action, Return) and watched.returns:
            block = self._watching_return(block)
        if key in watched.branches:
            block = self._watching_branch(block, leaving, watched.branches[key])
        if isinstance(action, Input) and (key in watched.returns or key in watched.calls):
            block = self._watching_input(block, key, action)
        elif isinstance(action, Call) and key in watched.calls:
            calls = tuple(watched.calls[key])
            block = self._noting_before(block, lambda r: calls)
        if key in watched.assumptions:
            numbers = watched.assumptions[key]
            block = self._noting_before(block, lambda r: self._holding(numbers, code, r))
        return block

    def _noting_before(
        self, block: Block, find: Callable[[list[Any]], tuple[int, ...]]
    ) -> Block:
        """What is passed counts if the action is executed, also if it ends the step; not if it
        is to be executed again, after an indeterminate value was chosen."""

        def run(machine: Actions, r: list[Any]) -> int:
            found = find(r)
            count = len(self.passed)
            if found:
                self.passed.append(Passed(self.number, found))
            try:
                return block(machine, r)
            except StepEnds:
                raise
            except BaseException:
                del self.passed[count:]
                raise

        return run

    def _watching_spawn(self, block: Block) -> Block:
        def run(machine: Actions, r: list[Any]) -> int:
            target = block(machine, r)
            key = _call_site(self.caller)
            found = self.watched.creations.get(key, []) if key is not None else []
            if found:
                self.passed.append(Passed(self.number, tuple(found), len(self.threads)))
            return target

        return run

    def _watching_return(self, block: Block) -> Block:
        def run(machine: Actions, r: list[Any]) -> int:
            frame = self.caller
            target = block(machine, r)
            if frame is None or frame.code.function.library:
                return target
            numbers = self.watched.returns.get((frame.code.function.name, frame.site.edge.source))
            if numbers:
                typed: Typed | None = None
                if frame.site.target >= 0 and frame.site.type is not None:
                    value = self.values[frame.site.target]
                    if value.__class__ is not Indeterminate:
                        typed = value, frame.site.type
                self._note_return(numbers, typed, frame.code, self.values)
            return target

        return run

    def _watching_input(self, block: Block, key: Key, action: Input) -> Block:
        calls = self.watched.calls.get(key, [])
        returns = self.watched.returns.get(key, [])

        def run(machine: Actions, r: list[Any]) -> int:
            if calls:
                self.passed.append(Passed(self.number, tuple(calls)))
            code = self.code
            assert code is not None
            target = block(machine, r)
            if returns:
                typed = r[action.target.index], action.target.type
                self._note_return(returns, typed, code, r)
            return target

        return run

    def _note_return(
        self, numbers: list[int], typed: Typed | None, code: Code, r: list[Any]
    ) -> None:
        found = self._holding(numbers, code, r, typed)
        if found:
            self.passed.append(Passed(self.number, found))

    def _watching_branch(
        self, block: Block, leaving: list[Edge], branches: list[tuple[int, bool]]
    ) -> Block:
        decided: dict[int, tuple[int, ...]] = {}
        for edge in leaving:
            if isinstance(edge.action, Guard):
                way = edge.action.decides
                decided[edge.target] = tuple(n for n, value in branches if value is way)

        def run(machine: Actions, r: list[Any]) -> int:
            target = block(machine, r)
            found = decided.get(target)
            if found:
                self.passed.append(Passed(self.number, found))
            return target

        return run

    # --- constraints

    def _holding(
        self, numbers: list[int], code: Code, r: list[Any], result: Typed | None = None
    ) -> tuple[int, ...]:
        found = []
        for number in numbers:
            constraint = self.watched.constraints.get(number)
            if constraint is None:
                found.append(number)
                continue
            try:
                if constraint.holds(lambda name: self._lookup(name, code, r, result)):
                    found.append(number)
            except CannotEvaluate as reason:
                self.doubts[number] = str(reason)
        return tuple(found)

    def _lookup(self, name: str, code: Code, r: list[Any], result: Typed | None) -> Typed:
        if name == RESULT:
            if result is None:
                raise CannotEvaluate("there is no result")
            return result
        end = min((name.find(sign) for sign in ".[" if sign in name), default=len(name))
        base, path = name[:end], name[end:]
        function = code.function
        registers = [i for i, item in enumerate(function.registers) if item.name == base]
        slots = [item for item in function.slots if item.name == base]
        if len(registers) + len(slots) > 1:
            raise CannotEvaluate(f"'{base}' has several meanings in {function.display}")
        if registers and not path:
            value = r[registers[0]]
            if value.__class__ is Indeterminate:
                raise CannotEvaluate(f"'{name}' is not initialised")
            return value, function.registers[registers[0]].type
        if slots:
            address = r[len(function.registers) + slots[0].index]
            if not address:
                raise CannotEvaluate(f"'{name}' is not alive")
            return self._in_memory(address >> self.page_bits, slots[0].layout, path, name)
        item = self._globals.get(base)
        if item is None:
            raise CannotEvaluate(f"'{base}' is not known in {function.display}")
        return self._in_memory(item.page, item.layout, path, name)

    def _in_memory(self, page: int, layout: Layout, path: str, name: str) -> Typed:
        cell = next((item for item in cells(layout) if item.path == path), None)
        data = self.memory.get(page, self.constants.get(page))
        if cell is None or data is None:
            raise CannotEvaluate(f"'{name}' is no scalar that is known")
        begin, end = cell.offset, cell.offset + cell.scalar.size
        if any(self.undefined.get(page, b"")[begin:end]):
            raise CannotEvaluate(f"'{name}' is not initialised")
        return from_bits(int.from_bytes(data[begin:end], "little"), cell.scalar), cell.scalar


def _call_site(frame: Frame | None) -> Key | None:
    """The call, outside of the library, that is being executed."""
    while frame is not None:
        if not frame.code.function.library:
            return frame.code.function.name, frame.site.edge.source
        frame = frame.caller
    return None


def _globals(program: Program) -> dict[str, StaticObject]:
    found: dict[str, StaticObject] = {}
    several: set[str] = set()
    for item in program.objects:
        if not item.library and not item.thread_local:
            if item.name in found:
                several.add(item.name)
            found[item.name] = item
    return {name: item for name, item in found.items() if name not in several}

"""The reference interpreter, noting which waypoints of a witness a step passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.data import dataclass, field
from plait.evidence.validation.expressions import (
    RESULT,
    CannotEvaluate,
    Expression,
    Typed,
)
from plait.evidence.validation.following import Locals, Moment
from plait.evidence.validation.places import Key
from plait.model.actions import Call, Guard, Input, Return, Spawn
from plait.model.layout import Layout, cells
from plait.model.program import Edge, Program, StaticObject
from plait.model.properties import Specification
from plait.semantics.actions import Actions
from plait.semantics.compile import VISIBLE, Code, Compiler, Fragment
from plait.semantics.indeterminate import Indeterminate, UsedIndeterminate
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, StepOutcome
from plait.semantics.scalars import Number, from_bits
from plait.semantics.state import Frame, State
from plait.semantics.visibility import conservative


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
    """`now` has the moments of the last step that belong to its visible action, `later` those of
    what its threads do after that, by thread. `doubts` are the waypoints whose constraint could not
    be evaluated at some time, with the reason. `sites` are sets of waypoints."""

    def __init__(self, program: Program, specification: Specification, watched: Watched) -> None:
        super().__init__(program, specification)
        if watched.reads_variables:
            # A variable is part of the state as long as a constraint may read it.
            self.compiler = Compiler(program, conservative(), keep_variables=True)
        self.watched = watched
        self.now: list[Moment] = []
        self.later: dict[int, list[Moment]] = {}
        self.doubts: dict[int, str] = {}
        self.sites: list[frozenset[int]] = []
        self._site_numbers: dict[tuple[int, ...], int] = {}
        self._watching_fragments: dict[Code, list[Fragment | None]] = {}
        # Where a step begins, if that is a visible action: its statement was come to before.
        self._begins_at: tuple[int, str, int] | None = None
        self._globals = _globals(program)
        self._watched_functions = watched.functions() | {
            function.name
            for function in program.functions.values()
            if any(isinstance(edge.action, Spawn) for edge in function.all_edges())
        }

    # --- steps

    def begins_visibly(self, number: int) -> bool:
        """Whether a thread stands before a visible action, or has only paused."""
        thread = self.threads[number - 1]
        return thread.code is not None and thread.code.stops[thread.location] == VISIBLE

    def watch(self, number: int, choices: Sequence[Number]) -> StepOutcome:
        """Take a step, and note what it passes."""
        self.now, self.later = [], {}
        self._begins_at = None
        code, location = self.threads[number - 1].code, self.threads[number - 1].location
        if self.begins_visibly(number) and code is not None:
            self._begins_at = number, code.function.name, location
        outcome = self.step(number, choices)
        if outcome.ending not in (Ending.BLOCKED, Ending.NEEDS_INPUT, Ending.VIOLATION):
            for moved in (number, *self.spawned):
                self._note_arrival(moved)
        return outcome

    def state_of_others(self) -> State:
        """After a step that a violation has ended: the thread goes no further, the others may."""
        self._halt(Ending.LIMIT)
        return self.state()

    def _note_arrival(self, number: int) -> None:
        thread = self.threads[number - 1]
        if thread.code is None or not self.begins_visibly(number):
            return
        numbers = self.watched.assumptions.get((thread.code.function.name, thread.location))
        if numbers:
            found = self._moment(numbers, thread.code, thread.values)
            self.later.setdefault(number, []).append(found)

    def _note(self, moment: Moment) -> None:
        if self.depth:
            self.now.append(moment)
        else:
            self.later.setdefault(self.number, []).append(moment)

    def _fragments(self, code: Code) -> list[Fragment | None]:
        function = code.function
        if function.name not in self._watched_functions and not self.watched.returns:
            return super()._fragments(code)
        found = self._watching_fragments.get(code)
        if found is None:
            found = self._watching_fragments[code] = [
                None if fragment is None else self._watching(code, location, fragment)
                for location, fragment in enumerate(self.compiler.singles(code))
            ]
        return found

    def _watching(self, code: Code, location: int, fragment: Fragment) -> Fragment:
        """The fragment, noting what is passed there; the fragment itself if nothing can be."""
        leaving = code.function.edges[location]
        action = leaving[0].action if leaving else None
        key = (code.function.name, location)
        watched = self.watched
        if isinstance(action, Spawn):
            return self._watching_spawn(fragment)
        if isinstance(action, Return) and watched.returns:
            fragment = self._watching_return(fragment)
        if key in watched.branches:
            fragment = self._watching_branch(fragment, leaving, watched.branches[key])
        if isinstance(action, Input) and (key in watched.returns or key in watched.calls):
            fragment = self._watching_input(fragment, key, action)
        elif isinstance(action, Call) and key in watched.calls:
            fragment = self._noting_before(fragment, code, location, watched.calls[key])
        if key in watched.assumptions:
            fragment = self._noting_before(fragment, code, location, watched.assumptions[key])
        return fragment

    def _noting_before(
        self, fragment: Fragment, code: Code, location: int, numbers: list[int]
    ) -> Fragment:
        """What is passed counts if the action is executed, also if it ends the step; not if it
        is to be executed again, after an indeterminate value was chosen."""
        here = code.function.name, location

        def run(machine: Actions, r: list[Any]) -> int:
            if self._begins_at == (self.number, *here):
                return fragment(machine, r)
            moment = self._moment(numbers, code, r)
            lengths = len(self.now), {n: len(items) for n, items in self.later.items()}
            self._note(moment)
            try:
                return fragment(machine, r)
            except UsedIndeterminate:
                del self.now[lengths[0] :]
                for number, items in self.later.items():
                    del items[lengths[1].get(number, 0) :]
                raise

        return run

    def _watching_spawn(self, fragment: Fragment) -> Fragment:
        def run(machine: Actions, r: list[Any]) -> int:
            target = fragment(machine, r)
            key = _call_site(self.caller)
            numbers = self.watched.creations.get(key) if key is not None else None
            if numbers:
                moment = Moment(self._site(tuple(numbers)), created=len(self.threads))
                self.now.append(moment)
            return target

        return run

    def _watching_return(self, fragment: Fragment) -> Fragment:
        def run(machine: Actions, r: list[Any]) -> int:
            frame = self.caller
            target = fragment(machine, r)
            if frame is None or frame.code.function.library:
                return target
            numbers = self.watched.returns.get((frame.code.function.name, frame.site.edge.source))
            if numbers:
                typed: Typed | None = None
                if frame.site.target >= 0 and frame.site.type is not None:
                    value = self.values[frame.site.target]
                    if value.__class__ is not Indeterminate:
                        typed = value, frame.site.type
                self._note(self._moment(numbers, frame.code, self.values, typed))
            return target

        return run

    def _watching_input(self, fragment: Fragment, key: Key, action: Input) -> Fragment:
        calls = self.watched.calls.get(key, [])
        returns = self.watched.returns.get(key, [])

        def run(machine: Actions, r: list[Any]) -> int:
            code = self.code
            assert code is not None
            if calls:
                self._note(self._moment(calls, code, r))
            target = fragment(machine, r)
            if returns:
                typed = r[action.target.index], action.target.type
                self._note(self._moment(returns, code, r, typed))
            return target

        return run

    def _watching_branch(
        self, fragment: Fragment, leaving: list[Edge], branches: list[tuple[int, bool]]
    ) -> Fragment:
        decided: dict[int, Moment] = {}
        for edge in leaving:
            if isinstance(edge.action, Guard):
                numbers = tuple(n for n, value in branches if value is edge.action.decides)
                if numbers:
                    decided[edge.target] = Moment(self._site(numbers))

        def run(machine: Actions, r: list[Any]) -> int:
            target = fragment(machine, r)
            moment = decided.get(target)
            if moment is not None:
                self._note(moment)
            return target

        return run

    # --- constraints

    def _site(self, numbers: tuple[int, ...]) -> int:
        found = self._site_numbers.get(numbers)
        if found is None:
            found = self._site_numbers[numbers] = len(self.sites)
            self.sites.append(frozenset(numbers))
        return found

    def _moment(
        self, numbers: list[int], code: Code, r: list[Any], result: Typed | None = None
    ) -> Moment:
        """Constraints are looked at when the moment is put into the order: the values of locals
        are kept for that. In an atomic section that is now."""
        constraints = self.watched.constraints
        names = {name for n in numbers if n in constraints for name in constraints[n].names}
        values: list[tuple[str, Typed]] = []
        for name in sorted(names):
            try:
                typed = result if name == RESULT else self._local(name, code, r)
            except CannotEvaluate as reason:
                self.doubts.update({n: str(reason) for n in numbers if n in constraints})
                continue
            if typed is not None:
                values.append((name, typed))
        kept = tuple(values)
        if self.depth and names:
            return Moment(self._site(tuple(n for n in numbers if self.holds(n, kept))), kept)
        return Moment(self._site(tuple(numbers)), kept)

    def holds(self, number: int, values: Locals) -> bool:
        """Whether a waypoint's constraint holds in the current state."""
        constraint = self.watched.constraints.get(number)
        if constraint is None:
            return True
        known = dict(values)

        def lookup(name: str) -> Typed:
            found = known.get(name)
            return self._global(name) if found is None else found

        try:
            return constraint.holds(lookup)
        except CannotEvaluate as reason:
            self.doubts[number] = str(reason)
            return False

    def _local(self, name: str, code: Code, r: list[Any]) -> Typed | None:
        """None if there is no local of that name."""
        base, path = _split(name)
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
        return None

    def _global(self, name: str) -> Typed:
        base, path = _split(name)
        item = self._globals.get(base)
        if item is None:
            raise CannotEvaluate(f"'{base}' is not known there")
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


def _split(name: str) -> tuple[str, str]:
    """A variable, and the part of it that is meant."""
    end = min((name.find(sign) for sign in ".[" if sign in name), default=len(name))
    return name[:end], name[end:]


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

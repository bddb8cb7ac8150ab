"""Two runs that stand at the same place as one: values become choices, conditions a disjunction.

Runs are merged where the explicit part agrees, which is what the location behind them will have:
the shape of frames and heap, the constant values of pointers and of what else is explicit. Where it
does not they lead to different locations, and are kept apart. If that makes too many of them, what
is explicit without being an address is given up for the sake of merging.

Two runs of a block never hold together: they have taken different edges of a branch somewhere. So
one condition tells them apart, and mostly it is the one of that branch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from plait.logic.terms import Terms
from plait.model.types import Kind as TypeKind
from plait.symbolic.blocks import InputUse
from plait.symbolic.locations import Cell
from plait.symbolic.memory import Memory
from plait.symbolic.run import OpenFrame, Run


def shape_of(run: Run) -> Hashable:
    """What runs must have in common to be merged, beside explicit values."""
    return (
        run.stack,
        run.location,
        len(run.suspended),
        run.depth,
        run.lock,
        run.is_acquiring,
        run.heap_page,
        run.stack_page,
        run.is_alone,
        run.has_changed,
        tuple(map(_frame_shape, run.frames)),
        tuple((new.heap_page, new.stack_page, _frame_shape(new.frame)) for new in run.spawned),
        frozenset(run.ended.items()),
        frozenset(run.begun.values()),
        frozenset(run.allocated.values()),
        frozenset(run.freed),
    )


def _frame_shape(frame: OpenFrame) -> Hashable:
    slots = tuple(sorted(frame.slots.items()))
    name = frame.shape.function.name
    return name, frame.base, tuple(frame.allocated), slots, frame.call


class Merger:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms

    def merged(self, one: Run, other: Run, *, by_force: bool) -> Run | None:
        """Both runs, which have the same shape; None if they cannot be one. By force, what is
        explicit but no address may differ."""
        if not self._agree(one, other, by_force):
            return None
        run, left, right = one.copy(), one.copy(), other.copy()
        paths = _Paths(self._terms, one, other)
        for new, a, b in zip(_frames(run), _frames(left), _frames(right), strict=True):
            new.laps = max(a.laps, b.laps)
            new.registers = {}
            for index in _live(run, new):
                if index in a.registers or index in b.registers:
                    new.registers[index] = paths.choice(
                        self._assigned(left, a, index), self._assigned(right, b, index)
                    )
        run.memory = {cell: paths.choice(*values) for cell, values in self._cells(one, other)}
        run.noticed_writes = one.noticed_writes | other.noticed_writes
        run.actions = max(one.actions, other.actions)
        paths.unite(run, left, right)
        return run

    def merged_ends(self, one: Run, other: Run) -> Run:
        """Both runs where nothing happens behind them, so that only how to get there counts."""
        run = one.copy()
        _Paths(self._terms, one, other).unite(run, one, other)
        return run

    def _assigned(self, run: Run, frame: OpenFrame, index: int) -> int:
        """The value of a register that the other run has one for, too."""
        found = frame.registers.get(index)
        if found is None:
            bits = frame.shape.function.registers[index].type.bits
            found = run.input(self._terms, "uninitialised", bits)
        return found

    def _cells(self, one: Run, other: Run) -> Iterator[tuple[Cell, tuple[int, int]]]:
        """What either run has written, with the values in both."""
        for cell in dict.fromkeys((*one.memory, *other.memory)):
            a, b = self._memory.value(one, cell), self._memory.value(other, cell)
            if a is not None and b is not None:
                yield cell, (a, b)

    # --- the explicit part

    def _agree(self, one: Run, other: Run, by_force: bool) -> bool:
        for a, b in zip(_frames(one), _frames(other), strict=True):
            function = a.shape.function
            for index in _live(one, a):
                values = a.registers.get(index), b.registers.get(index)
                if values[0] == values[1]:
                    continue
                type_ = function.registers[index].type
                is_pointer = type_.kind is TypeKind.POINTER
                is_explicit = is_pointer or (
                    not by_force
                    and self._knowledge.is_explicit_register(function.name, index, type_)
                )
                if type_.kind is TypeKind.FLOAT and not is_explicit:
                    continue
                if any(self._has_to_stay(one, term, is_explicit, by_force) for term in values):
                    return False
        for cell, values in self._cells(one, other):
            if values[0] != values[1]:
                if one.lock is not None and one.lock[0] <= cell[0] < sum(one.lock):
                    return False
                is_explicit = not by_force and self._memory.is_explicit(one, cell)
                if self._memory.is_floating(one, cell) and not is_explicit:
                    continue
                if any(self._has_to_stay(one, term, is_explicit, by_force) for term in values):
                    return False
        return True

    def _has_to_stay(self, run: Run, term: int | None, is_explicit: bool, by_force: bool) -> bool:
        """Whether the value that one of the runs has is a constant that must not be lost."""
        value = None if term is None else self._terms.value(term)
        if term is None or value is None:
            return False
        if is_explicit:
            return True
        if not self._knowledge.is_address(value, self._terms.width[term]):
            return False
        # A large number looks like an address, but there is nothing.
        return not by_force or self._leads_somewhere(run, value)

    def _leads_somewhere(self, run: Run, address: int) -> bool:
        is_function = address in self._knowledge.functions
        return is_function or self._memory.objects.at(run, address) is not None


def _frames(run: Run) -> list[OpenFrame]:
    return [*run.frames, *(new.frame for new in run.spawned)]


def _live(run: Run, frame: OpenFrame) -> Iterator[int]:
    """The registers of a frame that matter from here on."""
    if frame.call is not None:
        live = frame.live_while_waiting
    else:
        location = run.location if run.frames and frame is run.frame else 0
        live = frame.shape.live[location]
    for index in range(len(frame.shape.function.registers)):
        if live >> index & 1:
            yield index


class _Paths:
    """The conditions of two runs that exclude each other: what they have in common, and what tells
    one from the other."""

    def __init__(self, terms: Terms, one: Run, other: Run) -> None:
        self._terms = terms
        in_one, in_other = set(one.conditions), set(other.conditions)
        self._common = [item for item in one.conditions if item in in_other]
        rest = [item for item in one.conditions if item not in in_other]
        other_rest = [item for item in other.conditions if item not in in_one]
        negated = set(map(terms.not_, other_rest))
        opposite = next((item for item in rest if item in negated), None)
        if opposite is not None:
            self.is_one = opposite
            self._rest = self._implied(opposite, rest)
            self._rest += self._implied(terms.not_(opposite), other_rest)
        else:
            self.is_one = terms.all_of(rest)
            self._rest = [terms.or_(self.is_one, terms.all_of(other_rest))]

    def _implied(self, premise: int, conditions: Iterable[int]) -> list[int]:
        terms = self._terms
        return [terms.implies(premise, item) for item in conditions if item != premise]

    def choice(self, one: int, other: int) -> int:
        return one if one == other else self._terms.ite(self.is_one, one, other)

    def unite(self, run: Run, one: Run, other: Run) -> None:
        """What the merged run has gone through."""
        run.conditions = self._common[:]
        for condition in self._rest:
            run.assume(condition, self._terms)
        run.accesses = list(dict.fromkeys((*one.accesses, *other.accesses)))
        run.inputs = self._inputs(one.inputs, other.inputs)

    def _inputs(self, one: list[InputUse], other: list[InputUse]) -> list[InputUse]:
        """Those that both have asked for come first: on every path they are from before the runs
        have parted. Of the rest a path asks only for those of one run, in the order of that."""
        terms = self._terms
        of_one = {use.variable: use.when for use in one}
        of_other = {use.variable: use.when for use in other}
        is_other = terms.not_(self.is_one)
        common = [
            use
            if use.when == of_other[use.variable]
            else use._replace(when=self._when(use.when, of_other[use.variable]))
            for use in one
            if use.variable in of_other
        ]
        return [
            *common,
            *(_guarded(terms, use, self.is_one) for use in one if use.variable not in of_other),
            *(_guarded(terms, use, is_other) for use in other if use.variable not in of_one),
        ]

    def _when(self, one: int | None, other: int | None) -> int:
        always = self._terms.true
        return self.choice(always if one is None else one, always if other is None else other)


def _guarded(terms: Terms, use: InputUse, condition: int) -> InputUse:
    when = condition if use.when is None else terms.and_(condition, use.when)
    return use._replace(when=when)

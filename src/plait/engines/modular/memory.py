"""Accesses to memory: which cells they touch, and what a thread may rely on.

A thread knows a cell of its own: of memory that no other thread writes (or none at all touches).
While it is alone, in an atomic section, or holds a lock that protects the cell, it knows a cell of
shared memory too. All others have the values that the table of invariants gives them. What a
thread changes in shared memory goes into the table before another thread can see it: at once where
readers need no lock, at the end of a section, and when a lock that protects it is released.
"""

from __future__ import annotations

from plait.engines.modular.invariants import Invariants, Thread
from plait.engines.modular.objects import Kind, Object, Objects, cut
from plait.engines.modular.outcome import GaveUp
from plait.engines.modular.races import Access
from plait.engines.modular.state import Cell, Lock, State
from plait.engines.modular.values import ZERO, Place, Value, converted, join, may_be_zero
from plait.model.types import Scalar

_OFFSETS = 64  # that one access may have


class Memory:
    """`complaints` are what keeps the engine from saying that the program is right."""

    def __init__(self, objects: Objects, invariants: Invariants) -> None:
        self.objects = objects
        self.invariants = invariants
        self.thread = Thread(0)
        self.thread_numbers: Value = None
        self.complaints: dict[str, None] = {}
        self.accesses: dict[Access, None] = {}
        self.touched: set[int] = set()

    # --- places

    def places(
        self, state: State, address: Value, size: int, writes: bool, where: str
    ) -> list[Place]:
        """The places of a valid access; executions with an invalid one end here."""
        if address is None or (
            address[0] <= address[1] and not (0 <= address[0] and address[1] < self.objects.page)
        ):
            raise GaveUp(f"{where}: an access through an address of unknown origin")
        if address[0] <= address[1]:
            self.complain(f"{where}: a pointer that may be null")
        found = []
        for place in address[2]:
            item = self.objects[place[0]]
            if item.kind is Kind.FUNCTION or (
                writes and item.static is not None and item.static.read_only
            ):
                self.complain(f"{where}: an access to {item.name}")
                continue
            inside = place
            if item.size is None:
                self.complain(f"{where}: an access to an object of unknown size")
            else:
                kept = cut(place, item.size - size)
                if kept != place:
                    self.complain(f"{where}: an access that may be outside of {item.name}")
                if kept is None:
                    continue
                inside = kept
            self._require_life(state, item, where)
            found.append(inside)
        return found

    def _require_life(self, state: State, item: Object, where: str) -> None:
        if item.kind is Kind.LOCAL:
            if item.owner == self.thread.number:
                if item.number not in state.living or item.number in state.dead:
                    raise GaveUp(f"{where}: {item.name} may be used after its life")
                if item.is_shared and self.thread.is_many:
                    self.touched.add(item.number)  # it may be that of another such thread
            else:
                self.touched.add(item.number)
        elif item.kind is Kind.THREAD_LOCAL:
            if item.is_shared:
                raise GaveUp(f"{where}: {item.name} of a thread that is not known")
        elif item.kind is Kind.STACK:
            raise GaveUp(f"{where}: memory from alloca")
        elif item.kind is Kind.HEAP:
            self.touched.add(item.number)

    def complain(self, text: str) -> None:
        self.complaints[text] = None

    def note_access(
        self, state: State, place: Place, size: int, is_write: bool, is_atomic: bool, where: str
    ) -> None:
        number, low, high, _ = place
        if self.objects[number].is_shared and not state.is_alone and number not in state.fresh:
            access = Access(
                self.thread.number, number, low, high + size, is_write,
                is_atomic or state.depth > 0, state.written, state.read, state.alive, where,
            )  # fmt: skip
            self.accesses[access] = None

    # --- cells

    def cells(self, place: Place, size: int) -> list[Cell] | None:
        """The cells of an access; None if they are too many or overlap."""
        number, low, high, step = place
        item = self.objects[number]
        if step and (high - low) // step >= _OFFSETS:
            self.invariants.make_opaque(number)
            return None
        found = []
        for offset in range(low, high + 1, step) if step else (low,):
            cell = self.invariants.cell(item, offset, size)
            if cell is None:
                return None
            found.append(cell)
        return found

    def is_own(self, state: State, cell: Cell) -> bool:
        """Whether nobody else writes the cell now, nor reads it before this thread publishes it."""
        item = self.objects[cell[0]]
        if not item.is_shared or item.number in state.fresh:
            return True
        if item.kind is not Kind.STATIC:
            return (
                (state.is_alone or self._has_one_writer(item, cell))
                and item.owner == self.thread.number
                and self.objects.is_one(item.number)
            )
        return state.is_alone or state.depth > 0 or self._is_protected(state, cell)

    def _has_one_writer(self, item: Object, cell: Cell) -> bool:
        """Whether only this thread ever writes the cell, of an object of the library: say, the mark
        that a thread was joined. Who else reads it finds in the table what it is given."""
        return (
            item.is_of_library
            and not self.thread.is_many
            and self.invariants.writing_threads.get(cell, set()) <= {self.thread.number}
        )

    def _is_protected(self, state: State, cell: Cell) -> bool:
        locks = self.invariants.protection.get(cell)
        return bool(locks) and not (locks or frozenset()).isdisjoint(state.written | state.read)

    def fetch(self, state: State, cell: Cell) -> Value:
        """What is in a cell, and remember it where the thread may rely on it."""
        if cell in state.cells:
            return state.cells[cell]
        item = self.objects[cell[0]]
        table = self.invariants.values
        if item.is_shared:
            if item.kind is Kind.STATIC and self._is_protected(state, cell):
                table = self.invariants.settled
            value = table[cell] if cell in table else self.initial(cell)
            if self.is_own(state, cell):
                state.cells[cell] = value
            return value
        is_made_here = item.owner == self.thread.number or item.kind is Kind.THREAD_LOCAL
        if not is_made_here and not (item.kind is Kind.STATIC and self.thread.number == 1):
            return table[cell] if cell in table else self.initial(cell)
        return self.initial(cell)

    def initial(self, cell: Cell) -> Value:
        return self.objects.initial(self.objects[cell[0]], cell[1], cell[2])

    def load(self, state: State, places: list[Place], scalar: Scalar) -> Value:
        """None: it may be that nobody has stored a value there."""
        result = self._load(state, places, scalar)
        # What memory points to is not fresh: it is an earlier object of the same name.
        self.expose(state, result)
        return result

    def _load(self, state: State, places: list[Place], scalar: Scalar) -> Value:
        result: Value = (1, 0, ())
        for place in places:
            cells = self.cells(place, scalar.size)
            if cells is None:
                item = self.objects[place[0]]
                if item.static is None or item.static.indeterminate:
                    return None
                result = join(result, converted(None, scalar))
                continue
            for cell in cells:
                value = self.fetch(state, cell)
                if value is None:
                    return None
                result = join(result, converted(value, scalar))
        return result

    def store(
        self, state: State, places: list[Place], size: int, value: Value, is_certain: bool = True
    ) -> None:
        """`is_certain`: it does happen, if not always at the same place."""
        self.expose(state, value)
        is_sure = is_certain and len(places) == 1 and places[0][1] == places[0][2]
        for place in places:
            item = self.objects[place[0]]
            cells = self.cells(place, size)
            for cell in cells or ():
                self._store(state, item, cell, value, is_sure and self.is_strong(state, item))

    def is_strong(self, state: State, item: Object) -> bool:
        """Whether an access to the object means one object only."""
        if not item.is_shared and item.kind in (Kind.LOCAL, Kind.THREAD_LOCAL):
            return True  # of all the others with this name none is alive, or none is this thread's
        if item.owner == self.thread.number:
            if item.number in state.fresh or (item.is_single and not item.is_shared):
                return True
        return self.objects.is_one(item.number)

    def _store(self, state: State, item: Object, cell: Cell, value: Value, replaces: bool) -> None:
        invariants = self.invariants
        if item.kind is Kind.STATIC:
            invariants.note(cell, value)
        state.forget_copies_of(cell)
        self._note_change(state, item, cell, value)
        if item.is_shared and not state.is_alone and item.kind is Kind.STATIC:
            invariants.protect(cell, state.written)
        if not self.is_own(state, cell):
            if cell in state.cells:
                state.remove(cell)
            invariants.publish(cell, value)
            invariants.settle(cell, value)
            return
        if not replaces:
            value = join(self.fetch(state, cell), value)
        state.cells[cell] = value
        if item.is_shared and not state.is_alone:
            state.dirty.add(cell)
            if state.depth == 0:
                invariants.publish(cell, value)

    # --- cells that are locks

    def _note_change(self, state: State, item: Object, cell: Cell, value: Value) -> None:
        if item.kind is not Kind.STATIC or not item.is_shared:
            return
        if state.depth == 0:
            self._turn(state, cell, None, value)
        elif cell not in state.before:
            state.before[cell] = self.fetch(state, cell)

    def _turn(self, state: State, cell: Cell, before: Value, after: Value) -> None:
        """A cell changes in one step. Who changes it from 0 to another value holds it as a lock
        until it makes it 0 again: that works if nobody else ever does. For then, by induction, a
        cell that somebody holds is not 0, so that nobody else comes to hold it."""
        lock = Lock(cell[0], cell[1], "cell")
        if may_be_zero(after):
            state.tries = {r: held for r, held in state.tries.items() if held[0] != lock}
            if lock in state.written:
                self.release(state, lock)
            elif not state.is_alone:
                self.invariants.clear(lock)
        elif before == ZERO and self.invariants.is_trusted(lock):
            self.acquire(state, lock, True)

    # --- what others get to see

    def expose(self, state: State, value: Value) -> None:
        """The address of what the value points to is put where others may find it."""
        if value is not None and state.fresh:
            for place in value[2]:
                if place[0] in state.fresh:
                    self.spread(state, frozenset({place[0]}))

    def spread(self, state: State, numbers: frozenset[int]) -> None:
        """These objects are no longer fresh."""
        state.fresh -= numbers
        for cell in [item for item in state.cells if item[0] in numbers]:
            is_own = self.is_own(state, cell)
            if not is_own or not state.is_alone:
                self.invariants.publish(cell, state.cells[cell])
                self.invariants.settle(cell, state.cells[cell])
            if not is_own:
                state.remove(cell)

    def publish_all(self, state: State) -> None:
        """Before a thread starts: it may read all that there is."""
        for cell, value in state.cells.items():
            self.invariants.publish(cell, value)
            self.invariants.settle(cell, value)
        state.dirty.clear()

    def end_section(self, state: State) -> None:
        if state.depth == 0:
            turns = [(cell, was, state.cells[cell]) for cell, was in state.before.items()]
            state.before.clear()
            for cell, was, now in turns:
                self._turn(state, cell, was, now)
        if state.depth == 0 and not state.is_alone:
            for cell in state.dirty:
                self.invariants.publish(cell, state.cells[cell])
            self.give_back(state)

    def give_back(self, state: State) -> None:
        """Stop relying on cells that others may write from now on."""
        if state.is_alone:
            return
        for cell in [item for item in state.cells if not self.is_own(state, item)]:
            if cell in state.dirty:
                self.invariants.publish(cell, state.cells[cell])
                self.invariants.settle(cell, state.cells[cell])
            state.remove(cell)

    def release(self, state: State, lock: Lock) -> None:
        for cell in list(state.dirty):
            if lock in self.invariants.protection.get(cell, ()):
                self.invariants.settle(cell, state.cells[cell])
        state.written -= {lock}
        state.read -= {lock}
        self.give_back(state)

    def acquire(self, state: State, lock: Lock, writes: bool) -> None:
        if writes:
            state.written |= {lock}
        else:
            state.read |= {lock}

"""What is known of memory at all times, of the threads and of the locks: the fixpoint's table.

Every pass over all threads reads the table and adds to it. A pass that adds nothing has shown that
what the table says holds in all executions: by induction over the steps of an execution, each step
keeps the state of its thread and of shared memory within what that pass has seen.
"""

from __future__ import annotations

from plait.data import dataclass, field
from plait.engines.modular.objects import Kind, Object, Objects
from plait.engines.modular.state import Cell, Lock
from plait.engines.modular.values import Thresholds, Value, join

_GROWS = 1  # how often a value may grow before it is widened
_CELLS_OF_AN_OBJECT = 64
_MOST_THREADS = (1 << 31) - 1

# Those that write what a thread finds in its block: before it exists, or as its first action.
HANDING = frozenset(
    {"pthread_create", "thrd_create", "__plait_run_thread", "__plait_run_c11_thread"}
)
# The bytes that the library's functions write in a lock.
EXTENT = {"mutex": 8, "spin": 4, "rwlock": 8}


@dataclass(slots=True, eq=False)
class Thread:
    """All threads that start at one place. `block` is the object that pthread_join knows them by,
    `beside` the threads that may run when one of these starts (None: any). `handed` is what is in
    the block when they start."""

    number: int
    functions: set[str] = field(default_factory=set)
    argument: Value = (1, 0, ())
    block: int | None = None
    children: set[int] = field(default_factory=set)
    beside: frozenset[int] | None = frozenset()
    is_many: bool = False
    handed: dict[Cell, Value] = field(default_factory=dict)


class Invariants:
    """`values`: what a cell of shared memory holds at any time; `settled`: the same, at times when
    no thread holds the locks that protect it; `ever`: all that was ever in a static cell."""

    def __init__(self, objects: Objects, thresholds: Thresholds) -> None:
        self.objects = objects
        self.thresholds = thresholds
        self.values: dict[Cell, Value] = {}
        self.settled: dict[Cell, Value] = {}
        self.ever: dict[Cell, Value] = {}
        self.protection: dict[Cell, frozenset[Lock]] = {}
        self.shapes: dict[int, dict[int, int]] = {}
        self.opaque: set[int] = set()
        self.threads: dict[object, Thread] = {}
        self.locks: set[Lock] = set()
        self.distrusted: set[Lock] = set()
        self.freed: set[int] = set()
        self.unsized: set[int] = set()  # allocated in sizes that are not known
        self.outlived: set[int] = set()  # locals that other threads may use after their life
        self.stray: set[tuple[int, int, int]] = set()  # writes that are not by lock functions
        self.writers: dict[Cell, set[str]] = {}  # of objects of the library: functions
        self.writing_threads: dict[Cell, set[int]] = {}  # the same, threads
        self.has_changed = False
        self._growth: dict[tuple[int, Cell], int] = {}

    # --- values

    def publish(self, cell: Cell, value: Value) -> None:
        self._grow(0, self.values, cell, value)

    def settle(self, cell: Cell, value: Value) -> None:
        self._grow(1, self.settled, cell, value)

    def hand(self, thread: Thread, cell: Cell, value: Value) -> None:
        """What a new thread finds in its block."""
        old = thread.handed.get(cell, value)
        new = self.thresholds.widened(old, join(old, value))
        if cell not in thread.handed or new != old:
            thread.handed[cell] = new
            self.has_changed = True

    def note_writer(self, cell: Cell, function: str, thread: Thread) -> None:
        functions = self.writers.setdefault(cell, set())
        threads = self.writing_threads.setdefault(cell, set())
        if function not in functions or thread.number not in threads:
            functions.add(function)
            threads.add(thread.number)
            self.has_changed = True

    def is_handed(self, cell: Cell) -> bool:
        """Whether only who makes the thread, before it does, and the thread itself write it."""
        return self.writers.get(cell, set()) <= HANDING

    def note(self, cell: Cell, value: Value) -> None:
        self._grow(2, self.ever, cell, value)

    def _grow(self, kind: int, table: dict[Cell, Value], cell: Cell, value: Value) -> None:
        if kind == 0 and value is not None:
            for place in value[2]:
                if self.objects[place[0]].kind is Kind.LOCAL:
                    self.add(self.objects.exposed, place[0])
        if cell not in table:
            table[cell] = value
            self.has_changed = True
            return
        old = table[cell]
        new = join(old, value)
        if new == old:
            return
        grown = self._growth[kind, cell] = self._growth.get((kind, cell), 0) + 1
        table[cell] = new if grown <= _GROWS else self.thresholds.widened(old, new)
        self.has_changed = True

    # --- the shape of objects

    def cell(self, item: Object, offset: int, size: int) -> Cell | None:
        """The cell of an access; None where accesses overlap, or are too many, to tell apart."""
        if item.number in self.opaque:
            return None
        shape = self.shapes.setdefault(item.number, {})
        known = shape.get(offset)
        if known == size:
            return item.number, offset, size
        overlaps = known is not None or any(
            start < offset + size and offset < start + extent for start, extent in shape.items()
        )
        if overlaps or len(shape) >= _CELLS_OF_AN_OBJECT:
            self.make_opaque(item.number)
            return None
        shape[offset] = size
        self.has_changed = True
        return item.number, offset, size

    def make_opaque(self, number: int) -> None:
        if number not in self.opaque:
            self.opaque.add(number)
            self.has_changed = True

    def cells_of(self, number: int) -> list[Cell]:
        if number in self.opaque:
            return []
        return [(number, offset, size) for offset, size in self.shapes.get(number, {}).items()]

    # --- locks

    def is_trusted(self, lock: Lock) -> bool:
        if lock not in self.locks:
            self.locks.add(lock)
            self.has_changed = True
        return lock not in self.distrusted

    def distrust(self, lock: Lock) -> None:
        if lock not in self.distrusted:
            self.distrusted.add(lock)
            self.has_changed = True

    def clear(self, lock: Lock) -> None:
        """A thread that may not hold the lock may make it free."""
        if lock in self.locks:
            self.distrust(lock)
        else:
            self.distrusted.add(lock)

    def protect(self, cell: Cell, held: frozenset[Lock]) -> None:
        """A write of the cell while these locks are held."""
        old = self.protection.get(cell)
        new = held if old is None else old & held
        if new != old:
            self.protection[cell] = new
            self.has_changed = True

    def distrust_overwritten(self) -> None:
        """A lock into which others write than the functions for it, or as another lock too."""
        for lock in self.locks:
            if lock.family == "cell":
                continue
            end = lock.offset + EXTENT[lock.family]
            written = any(
                number == lock.object and low < end and lock.offset < high
                for number, low, high in self.stray
            )
            overlapped = any(
                other != lock
                and other.family != "cell"
                and other.object == lock.object
                and other.offset < end
                and lock.offset < other.offset + EXTENT[other.family]
                for other in self.locks
            )
            if written or overlapped or not self._begins_free(lock, end):
                self.distrust(lock)

    def _begins_free(self, lock: Lock, end: int) -> bool:
        static = self.objects[lock.object].static
        if static is None:
            return True
        return not static.indeterminate and not any(static.initial[lock.offset : end])

    # --- threads

    def descendants(self, thread: Thread) -> frozenset[int]:
        by_number = {item.number: item for item in self.threads.values()}
        found = {thread.number}
        pending = [thread.number]
        while pending:
            new = by_number[pending.pop()].children - found
            found |= new
            pending += new
        return frozenset(found)

    def numbers_of(self, thread: Thread) -> Value:
        """The numbers that threads of this kind may have: in the order in which they start."""
        if thread.number == 1:
            return 1, 1, ()
        return 2, _MOST_THREADS if self.objects.many else len(self.threads), ()

    def may_overlap(self, one: Thread, other: Thread) -> bool:
        """Whether two created threads may run at the same time."""
        if one is other:
            return one.is_many
        if one.beside is None or other.beside is None:
            return True
        return one.number in other.beside or other.number in one.beside

    def add(self, table: set[int], number: int) -> None:
        if number not in table:
            table.add(number)
            self.has_changed = True

"""What is known of one thread at one point of its run."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.engines.modular.values import Value

Cell = tuple[int, int, int]  # an object, an offset in it, a number of bytes


@dataclass(slots=True, frozen=True)
class Lock:
    """A lock: where it is, of which family. A "cell" is what a program makes a lock of itself."""

    object: int
    offset: int
    family: str


@dataclass(slots=True, eq=False)
class State:
    """`registers` are those of the running frame, and `copies` says which of them hold what is now
    in a cell of `cells`. `tries` has registers that are 0 if and only if a lock has been taken.

    `cells` is memory that no other thread writes at this time; what it says of shared memory and
    has changed while others run is `dirty`. `written` and `read` are the locks that are surely held
    to write and to read. `alive` are threads that may run beside this one (None: any). `living` are
    the locals that are surely alive, `dead` shared ones that may no longer be. `fresh` are objects
    that this thread has allocated and of which it has not yet put the address anywhere. `before`
    has, of cells that the running atomic section has changed, what was in them when it began.
    """

    registers: list[Value]
    copies: dict[int, Cell]
    tries: dict[int, tuple[Lock, bool]]
    cells: dict[Cell, Value]
    dirty: set[Cell]
    written: frozenset[Lock]
    read: frozenset[Lock]
    depth: int
    alive: frozenset[int] | None
    living: frozenset[int]
    dead: frozenset[int]
    fresh: frozenset[int] = frozenset()
    before: dict[Cell, Value] = field(default_factory=dict)

    @property
    def is_alone(self) -> bool:
        return self.alive is not None and not self.alive

    def copy(self) -> State:
        return State(
            self.registers[:],
            dict(self.copies),
            dict(self.tries),
            dict(self.cells),
            set(self.dirty),
            self.written,
            self.read,
            self.depth,
            self.alive,
            self.living,
            self.dead,
            self.fresh,
            dict(self.before),
        )

    def assign(self, register: int, value: Value) -> None:
        self.registers[register] = value
        self.copies.pop(register, None)
        self.tries.pop(register, None)

    def forget_copies_of(self, cell: Cell) -> None:
        for register in [item for item, held in self.copies.items() if held == cell]:
            del self.copies[register]

    def remove(self, cell: Cell) -> None:
        del self.cells[cell]
        self.dirty.discard(cell)
        self.forget_copies_of(cell)

    def equals(self, other: State) -> bool:
        return (
            self.registers == other.registers
            and self.cells == other.cells
            and self.copies == other.copies
            and self.tries == other.tries
            and self.dirty == other.dirty
            and self.written == other.written
            and self.read == other.read
            and self.alive == other.alive
            and self.living == other.living
            and self.dead == other.dead
            and self.fresh == other.fresh
            and self.before == other.before
        )

"""What an unrolling learns about memory too late, for the next one.

How an access to shared memory becomes events depends on all other accesses to the same places: a
cell that others access in parts must be in parts itself, and a place that one access reaches by a
symbolic address belongs to a region for all. Which places a pointer may point to depends on what
threads write that are unrolled later. So the program is unrolled again with what was learned, until
an unrolling learns nothing new.

An unrolling that learns nothing new is sound whatever it knew. Parts that are smaller, regions that
are larger and pointers with more targets than necessary cost time only. What is missing is noticed
at its end (cells that overlap, objects that are freed), or makes an access one to no known object,
which leaves the verdict open.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from plait.engines.orders.control_flow import Shape, shape_of
from plait.engines.orders.objects import Instance, Objects
from plait.engines.orders.unrolling import UnsetBytes
from plait.model.memory_model import MemoryModel
from plait.model.program import Function, Program

Cell = tuple[int, int]  # an address and a size in bytes

MOST_ROUNDS = 12
ROUNDS_FOR_POINTERS = 6


class Knowledge:
    """Shared by the unrollings of one program with one bound."""

    def __init__(
        self,
        program: Program,
        deadline: float | None = None,
        finds_races: bool = False,
        checks_memory: bool = False,
        checks_lives: bool = False,
        assumes_defined: bool = False,
        memory_model: MemoryModel = MemoryModel.SC,
    ) -> None:
        self.finds_races = finds_races
        self.checks_memory = checks_memory
        self.assumes_defined = assumes_defined
        self.checks_lives = checks_memory or checks_lives
        self.memory_model = memory_model
        self.objects = Objects(
            program,
            checks_memory=checks_memory,
            checks_lives=checks_lives,
            sees_beginnings=memory_model is MemoryModel.C11,
        )
        self._program = program
        self._shapes: dict[str, Shape] = {}
        self._deadline = deadline
        self.layout = Layout()
        self.pointers = Pointers()
        self.lives = Lives()
        self.unset_bytes: UnsetBytes = {}  # facts of one unrolling speak of them in the next
        self._rounds = 0

    @property
    def is_weak(self) -> bool:
        return self.memory_model is not MemoryModel.SC

    def shape(self, function: Function) -> Shape:
        found = self._shapes.get(function.name)
        if found is None:
            found = self._shapes[function.name] = shape_of(self._program, function)
        return found

    def is_out_of_time(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def begin(self) -> None:
        self._rounds += 1
        self.objects.begin()
        self.layout.begin()
        self.pointers.begin()
        self.lives.begin()

    def is_settled(self) -> bool:
        """Whether unrolling again would tell nothing new, or only of more and more pointers:
        without them the accesses that need them have no known target."""
        is_known = self.layout.is_settled() and not self.lives.has_grown
        is_enough = self._rounds >= ROUNDS_FOR_POINTERS
        has_grown = self.pointers.has_grown or self.objects.has_grown
        return is_known and (is_enough or not has_grown)

    def settle(self) -> None:
        """Facts about all accesses will be drawn: pointers get no more targets than they have."""
        self.pointers.settle()
        self.objects.settle()


class Layout:
    """How shared memory is divided: where cells are cut, and which of them form a region."""

    def __init__(self) -> None:
        self._cuts: set[int] = set()
        self._parent: dict[Cell, Cell] = {}
        self._members: dict[Cell, list[int]] = {}
        self._used: set[Cell] = set()
        self._has_grown = False

    def begin(self) -> None:
        self._used.clear()
        self._has_grown = False

    def parts(self, places: Iterable[int], size: int) -> list[tuple[int, int]]:
        """The offsets and sizes of the parts of an access to one of these places."""
        if not self._cuts:
            return [(0, size)]
        offsets = {
            offset for place in places for offset in range(1, size) if place + offset in self._cuts
        }
        ends = [*sorted(offsets), size]
        return list(
            zip([0, *sorted(offsets)], (end - start for start, end in zip([0, *ends], ends)))
        )

    def use(self, cells: Iterable[Cell]) -> None:
        self._used.update(cells)

    def root(self, cell: Cell) -> Cell | None:
        """The cell that stands for the region of a cell; None if it is a cell of its own."""
        if cell not in self._parent:
            return None
        while self._parent[cell] != cell:
            cell = self._parent[cell]
        return cell

    def members(self, root: Cell) -> list[int]:
        """The addresses of a region's cells."""
        return self._members[root]

    def join(self, cells: list[Cell]) -> None:
        """One access reaches all these cells by a symbolic address: they form a region."""
        found = {self.root(cell) for cell in cells}
        roots = [root for root in found if root is not None]
        if len(found) == len(roots) == 1:
            return
        self._has_grown = True
        new = min([cells[0], *roots])
        members = {address for root in roots for address in self._members[root]}
        members.update(address for address, _ in cells)
        for cell in [*cells, *roots]:
            self._parent[cell] = new
        self._parent[new] = new
        self._members[new] = sorted(members)

    def is_settled(self) -> bool:
        """Whether the cells that were used are all equal or apart, and the regions were known from
        the start. If not, the cells that overlap will be cut at each other's ends."""
        ordered = sorted(self._used)
        cuts: set[int] = set()
        reach, widest = -1, (0, 0)
        for address, size in ordered:
            if address < reach:
                cuts.update((address, address + size, widest[0], sum(widest)))
            if address + size > reach:
                reach, widest = address + size, (address, size)
        grown = self._has_grown
        if cuts - self._cuts:
            self._cuts |= cuts
            # Regions of cells that no longer exist as such are found again.
            self._parent.clear()
            self._members.clear()
            grown = True
        elif cuts:
            raise AssertionError("cells overlap although they were cut")
        return not grown


class Lives:
    """Objects of which accesses must check that they are still alive."""

    def __init__(self) -> None:
        self._watched: set[int] = set()
        self.has_grown = False

    def begin(self) -> None:
        self.has_grown = False

    def is_watched(self, instance: Instance) -> bool:
        return instance.address in self._watched

    def watch(self, instance: Instance) -> None:
        if instance.address not in self._watched:
            self._watched.add(instance.address)
            self.has_grown = True


class Pointers:
    """Values that threads write to cells from which others take pointers."""

    def __init__(self) -> None:
        self._values: dict[Cell, set[int]] = {}
        self._vague: set[Cell] = set()
        self._has_grown = False
        self._is_final = False
        self._before: tuple[dict[Cell, set[int]], set[Cell]] = ({}, set())

    def begin(self) -> None:
        self._has_grown = False
        if not self._is_final:
            values = {cell: set(known) for cell, known in self._values.items()}
            self._before = values, set(self._vague)

    def settle(self) -> None:
        """From here on, what was known when the last unrolling began, and no more."""
        self._values, self._vague = self._before
        self._is_final = True
        self._has_grown = False

    def values(self, cell: Cell) -> set[int]:
        return self._values.get(cell, set())

    def is_vague(self, cell: Cell) -> bool:
        """Whether something is written there of which the values are not known."""
        return cell in self._vague

    def learn(self, cell: Cell, values: list[int] | None) -> None:
        if self._is_final:
            return
        if values is None:
            self._has_grown |= cell not in self._vague
            self._vague.add(cell)
            return
        known = self._values.setdefault(cell, set())
        self._has_grown |= not known.issuperset(values)
        known.update(values)

    @property
    def has_grown(self) -> bool:
        return self._has_grown

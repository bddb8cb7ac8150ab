"""Abstract objects: static ones, and one for each local or allocation in each calling context.

A context is the way of calls that led to a frame, with the rounds of loops on it as far as they are
told apart. So a context stands for at most one frame of a thread, unless a loop has
been summarised on the way: then what is made there is not single.
"""

from __future__ import annotations

from enum import Enum

from plait.analysis.objects import ObjectKind
from plait.analysis.sharing import Sharing
from plait.data import dataclass
from plait.engines.modular.values import Place, Value, constant, pointer
from plait.model.machine import LARGEST_ALLOCATION
from plait.model.program import Edge, FrameSlot, Program, StaticObject

Context = tuple[object, ...]


class Kind(Enum):
    STATIC = "static"
    THREAD_LOCAL = "thread-local"
    LOCAL = "local"
    STACK = "stack"  # from alloca
    HEAP = "heap"
    FUNCTION = "function"


@dataclass(slots=True, eq=False)
class Object:
    """`is_shared`: several threads may access it while there are several, and one may write.
    A thread-local one is shared if its address gets anywhere.
    `owner` is the number of the thread in whose context it is made, 0 for static ones.
    `is_single`: a thread makes at most one (or has its own one)."""

    number: int
    kind: Kind
    name: str
    size: int | None
    is_shared: bool
    is_single: bool
    owner: int = 0
    static: StaticObject | None = None
    function: str = ""
    is_zeroed: bool = False
    is_of_library: bool = False


class Objects:
    """All objects met so far. `many` are the numbers of threads that stand for several, `exposed`
    are locals to which pointers are in the table: also after their life, and in the next one."""

    def __init__(self, program: Program, sharing: Sharing) -> None:
        self.page_bits = program.data_model.page_bits
        self.page = 1 << self.page_bits
        self._pages_of = program.data_model.pages_of
        self.pointer_bits = program.data_model.pointer.bits
        self._program = program
        self.all: list[Object] = []
        self.many: set[int] = set()
        self.exposed: set[int] = set()
        self._numbers: dict[object, int] = {}
        # What the analysis of sharing has not met counts as shared, in case it is reachable.
        self._known: set[int] = set()
        self._shared: set[int] = set()
        for item in sharing.points_to.objects:
            made_by = item.static or item.slot or item.edge
            if made_by is not None:
                self._known.add(id(made_by))
                # Whose thread-local it is that a pointer leads to is not told apart.
                is_lent = item.kind is ObjectKind.THREAD_LOCAL and sharing.has_escaped(item)
                if is_lent or sharing.is_shared(item):
                    self._shared.add(id(made_by))

    def __getitem__(self, number: int) -> Object:
        return self.all[number]

    def static(self, item: StaticObject) -> int:
        number = self._numbers.get(id(item))
        if number is None:
            kind = Kind.THREAD_LOCAL if item.thread_local else Kind.STATIC
            shared = self._is_shared(item)
            made = Object(len(self.all), kind, item.name, item.size, shared, True, static=item)
            number = self._add(id(item), made)
        return number

    def local(self, slot: FrameSlot, context: Context, owner: int, is_single: bool) -> int:
        number = self._numbers.get((id(slot), context))
        if number is None:
            name = slot.name or "a local"
            shared = self._is_shared(slot)
            made = Object(len(self.all), Kind.LOCAL, name, slot.size, shared, is_single, owner)
            number = self._add((id(slot), context), made)
        self.all[number].is_single &= is_single
        return number

    def allocated(
        self,
        edge: Edge,
        context: Context,
        owner: int,
        is_single: bool,
        size: int | None,
        like: Object,
    ) -> int:
        """What an edge allocates; `like` says of which kind that is."""
        number = self._numbers.get((id(edge), context))
        if number is None:
            made = Object(
                len(self.all), like.kind, like.name, size, self._is_shared(edge), is_single, owner,
                is_zeroed=like.is_zeroed, is_of_library=like.is_of_library,
            )  # fmt: skip
            number = self._add((id(edge), context), made)
        elif self.all[number].size != size:
            self.all[number].size = None
        self.all[number].is_single &= is_single
        return number

    def function(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            made = Object(len(self.all), Kind.FUNCTION, name, 0, False, True, function=name)
            number = self._add(name, made)
        return number

    def _add(self, key: object, made: Object) -> int:
        self._numbers[key] = made.number
        self.all.append(made)
        return made.number

    def _is_shared(self, made_by: object) -> bool:
        return id(made_by) in self._shared or id(made_by) not in self._known

    # --- addresses

    def is_one(self, number: int) -> bool:
        """Whether all executions have at most one such object."""
        item = self.all[number]
        return item.is_single and item.kind is not Kind.THREAD_LOCAL and item.owner not in self.many

    def is_same(self, number: int) -> bool:
        """Whether all pointers to it are to the same object."""
        return self.is_one(number) and number not in self.exposed

    def may_meet(self, one: int, other: int) -> bool:
        """Whether two objects may have a common address: pages of locals are used again."""
        kinds = {self.all[one].kind, self.all[other].kind}
        if not kinds & {Kind.LOCAL, Kind.STACK}:
            return False
        return not kinds & {Kind.STATIC, Kind.FUNCTION}

    def inside(self, place: Place) -> Place | None:
        """The part of a place that is in the pages of its object."""
        size = self.all[place[0]].size
        size = LARGEST_ALLOCATION if size is None else size
        return cut(place, (self._pages_of(size) << self.page_bits) - 1)

    # --- contents before anything is stored

    def initial(self, item: Object, offset: int, size: int) -> Value:
        if item.static is None:
            return constant(0) if item.is_zeroed else None
        static = item.static
        if static.indeterminate:
            return None
        for relocation in static.relocations:
            end = relocation.offset + self.pointer_bits // 8
            if relocation.offset < offset + size and offset < end:
                if relocation.offset != offset or size * 8 != self.pointer_bits:
                    return None
                target = relocation.target
                if isinstance(target, str):
                    return pointer(self.function(target)) if relocation.addend == 0 else None
                place = self.inside((self.static(target), relocation.addend, relocation.addend, 0))
                return None if place is None else (1, 0, (place,))
        data = static.initial[offset : offset + size].ljust(size, b"\0")
        return constant(int.from_bytes(data, "little"))


def cut(place: Place, last: int) -> Place | None:
    """The offsets of a place from 0 to `last`."""
    number, low, high, step = place
    if low < 0:
        low += -(low // step) * step if step else 0
    high = min(high, last)
    if step:
        high -= (high - low) % step
    if low < 0 or low > high:
        return None
    return number, low, high, step if low < high else 0

"""What a block sees of the location it begins at, beside its own thread, and what it changes there.

Whatever the execution of a block wants to know of the objects, the known values and the other
threads of its location, it asks here, and what it has asked is recorded: the block is the same at
all locations that give the same answers.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum
from functools import cached_property
from typing import Any

from plait.data import dataclass
from plait.model.program import StaticObject
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Cell, HeapObject, Location, Status, Thread
from plait.symbolic.precision import Maker


class Initially(Enum):
    """A location says nothing of a cell: what is known of it is its initial value, if anything."""

    INITIALLY = "initially"


INITIALLY = Initially.INITIALLY
# A known value; None if the value is not known any more.
Known = int | None | Initially

# What is asked, and of what.
Question = tuple[str, Any]
Answer = object


@dataclass(slots=True, frozen=True)
class Item:
    """A live object."""

    maker: Maker
    address: int
    size: int
    read_only: bool = False
    contents: bytes | None = None  # of a static object, initially


class View:
    """What there is at a location, without static objects, which always live."""

    def __init__(self, lives: Lives, location: Location) -> None:
        self._lives = lives
        self.location = location

    @cached_property
    def _known_values(self) -> dict[Cell, int | None]:
        return dict(self.location.cells)

    @cached_property
    def _heap(self) -> dict[int, HeapObject]:
        return {item.page: item for item in self.location.heap}

    @cached_property
    def _items(self) -> dict[int, Item]:
        return self._lives.at(self.location)

    @cached_property
    def _largest(self) -> int:
        pages_of = self._lives.pages_of
        return max((pages_of(item.size) for item in self._items.values()), default=0)

    def known_value(self, cell: Cell) -> Known:
        return self._known_values.get(cell, INITIALLY)

    def object_at(self, page: int) -> Item | None:
        """The object that has a page."""
        for back in range(self._largest):
            found = self._items.get(page - back)
            if found is not None:
                return found if back < self._lives.pages_of(found.size) else None
        return None

    def made_by(self, maker: Maker) -> tuple[Item, ...]:
        return tuple(item for item in self._items.values() if item.maker is maker)

    def heap_object(self, page: int) -> HeapObject | None:
        return self._heap.get(page)

    @cached_property
    def running_threads(self) -> int:
        return sum(thread.status is Status.RUNNING for thread in self.location.threads)

    def thread_count(self) -> int:
        return len(self.location.threads)

    def answer(self, question: Question) -> Answer:
        match question:
            case "known value", cell:
                return self.known_value(cell)
            case "object", page:
                return self.object_at(page)
            case "made by", maker:
                return self.made_by(maker)
            case "heap object", page:
                return self.heap_object(page)
            case "is alone", _:
                return self.running_threads == 1
        return self.thread_count()


class Surroundings:
    """Of the block of one thread. `asked` has all that the execution has wanted to know, in order:
    at a location with the same thread and the same answers it would do the same."""

    def __init__(self, view: View, number: int) -> None:
        self.number = number
        self.thread = view.location.threads[number - 1]
        self.asked: dict[Question, Answer] = {}
        self._view = view

    def known_value(self, cell: Cell) -> Known:
        value = self._view.known_value(cell)
        self.asked.setdefault(("known value", cell), value)
        return value

    def object_at(self, page: int) -> Item | None:
        item = self._view.object_at(page)
        self.asked.setdefault(("object", page), item)
        return item

    def made_by(self, maker: Maker) -> tuple[Item, ...]:
        items = self._view.made_by(maker)
        self.asked.setdefault(("made by", maker), items)
        return items

    def heap_object(self, page: int) -> HeapObject | None:
        item = self._view.heap_object(page)
        self.asked.setdefault(("heap object", page), item)
        return item

    def is_alone(self) -> bool:
        """Whether no other thread is running."""
        is_alone = self._view.running_threads == 1
        self.asked.setdefault(("is alone", None), is_alone)
        return is_alone

    def thread_count(self) -> int:
        count = self._view.thread_count()
        self.asked.setdefault(("thread count", None), count)
        return count


def address_of_static(knowledge: Knowledge, item: StaticObject, number: int) -> int:
    """Of a thread-local object: of this thread's."""
    if not item.thread_local or number == 1:
        return item.page << knowledge.page_bits
    pages = dict(knowledge.space.thread_local_copies(number))
    return pages[item] << knowledge.page_bits


class Lives:
    """The objects that live at locations by their first pages, without static ones. Most locations
    have most threads in common."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.pages_of = knowledge.pages_of
        self._knowledge = knowledge
        self._known: dict[tuple[int, Thread], dict[int, Item]] = {}

    def at(self, location: Location) -> dict[int, Item]:
        found: dict[int, Item] = {}
        for number, thread in enumerate(location.threads, 1):
            found.update(self._of(number, thread))
        bits = self._knowledge.page_bits
        for made in location.heap:
            found[made.page] = Item(made.edge, made.page << bits, made.size)
        return found

    def _of(self, number: int, thread: Thread) -> dict[int, Item]:
        """Locals, and copies of thread-local objects."""
        found = self._known.get((number, thread))
        if found is not None:
            return found
        knowledge = self._knowledge
        bits = knowledge.page_bits
        found = self._known[number, thread] = {}
        for frame in thread.frames:
            slots = knowledge.shape(frame.function).function.slots
            for index, address in frame.slots:
                slot = slots[index]
                found[address >> bits] = Item(slot, address, slot.size)
        if number > 1 and thread.status is not Status.ENDED:
            for item in knowledge.space.thread_locals:
                address = address_of_static(knowledge, item, number)
                found[address >> bits] = Item(item, address, item.size)
        return found


@dataclass(slots=True, frozen=True)
class Change:
    """What a way through a block changes of a location: its own thread, threads and heap objects
    that are new, objects that have ended (addresses and sizes), and known values."""

    thread: Thread
    spawned: tuple[Thread, ...]
    ended: tuple[tuple[int, int], ...]
    cells: tuple[tuple[Cell, Known], ...]
    freed: frozenset[int]
    allocated: tuple[HeapObject, ...]

    def applied_to(self, location: Location, number: int) -> Location:
        threads = (
            *location.threads[: number - 1],
            self.thread,
            *location.threads[number:],
            *self.spawned,
        )
        return Location(threads, self._heap(location), self._cells(location))

    def _heap(self, location: Location) -> tuple[HeapObject, ...]:
        if not self.freed and not self.allocated:
            return location.heap
        kept = [item for item in location.heap if item.page not in self.freed]
        return tuple(sorted((*kept, *self.allocated), key=lambda item: item.page))

    def _cells(self, location: Location) -> tuple[tuple[Cell, int | None], ...]:
        if not self.ended and not self.cells:
            return location.cells
        found = list(location.cells)
        for address, size in self.ended:
            first = bisect_left(found, (address, 0), key=_cell)
            del found[first : bisect_left(found, (address + max(size, 1), 0), key=_cell)]
        for cell, value in self.cells:
            place = bisect_left(found, cell, key=_cell)
            behind = place + (place < len(found) and found[place][0] == cell)
            found[place:behind] = [] if isinstance(value, Initially) else [(cell, value)]
        return tuple(found)


def _cell(known: tuple[Cell, int | None]) -> Cell:
    return known[0]

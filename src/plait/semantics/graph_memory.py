"""C11: memory is a graph of events that grows, and each read chooses the write it reads from.

Sets of events that are closed under program order and reads-from are consistent if the whole graph
is (no axiom of RC11 is about what is missing), and NO-THIN-AIR lets each consistent graph be built
event by event along program order and reads-from. So threads take steps as under sequential
consistency; a step adds its event with every reads-from and every place in modification order that
leaves the graph consistent, and what is explored are all consistent graphs.

What the library's sections access (a mutex, the block of a thread) stays in the machine's
memory. Sections synchronise by the fences in them: what a section has read before an acquire
fence it acquires, and it happens after those that have released what it reads there: an unlock
and the next lock of a mutex, the end of a thread and its join. What sections write is in one
order, that in which they happen. Each writes what it has read, or its thread has read what it
writes over, so that it is part of program order and reads-from, and these steps build all graphs
too. A section that only reads may see what was there before, like any atomic read: the library has
a case of its own for that (`begin_inner_section`).

A value at the beginning of an object's life is no event: it comes before all writes there, and an
access that does not happen after the object was made is a race.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.model.actions import (
    AtomicBegin,
    Fence,
    Load,
    Order,
    Origin,
    ReadModifyWrite,
    Store,
)
from plait.model.memory_model import (
    ACQUIRES,
    HAVE_A_MEANING_IN_C11,
    LOOKS_BACK,
    LOOKS_FAR_BACK,
    RELEASES,
    MemoryModel,
    order_of_read,
    order_of_write,
)
from plait.model.program import StaticObject
from plait.model.properties import Property
from plait.model.rc11 import ExecutionGraph, happens_before, is_consistent
from plait.model.types import I32
from plait.semantics.compile import Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.outcome import AccessKind, Ending, StepEnds, StepOutcome
from plait.semantics.scalars import Reader, Writer
from plait.semantics.state import Thread
from plait.semantics.weak import COMES_AFTER, READS_FROM, WeakMemory

if TYPE_CHECKING:
    from plait.semantics.actions import Actions

MOST_EVENTS = 60  # of one thread

Ref = tuple[int, int]  # a thread, and the number of its event
Made = tuple[int, Ref]  # an object: the page that it begins at, and the event it was made behind
_INITIAL: Ref = (0, 0)


class Location(NamedTuple):
    """A scalar in memory: of the object that begins at a page and that the event `made` of a thread
    came after (thread 0: it is there from the start)."""

    page: int
    made: Ref
    offset: int
    size: int

    @property
    def object(self) -> Made:
        return self.page, self.made

    def overlaps(self, other: Location) -> bool:
        return (
            self.object == other.object
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


class GraphEvent(NamedTuple):
    """`location` is None for fences, sections and the end of objects. `source`: of a read, the
    write that it reads. `of_update`: the write of the update whose read is the event before it.
    `after`: of a section, those it happens after; `touched`: the objects that it accesses.
    `standing`: of what only reads, where its thread was before it."""

    order: Order
    site: Site
    location: Location | None = None
    data: bytes = b""
    source: Ref | None = None
    is_fence: bool = False
    of_update: bool = False
    after: tuple[Ref, ...] = ()
    touched: tuple[Made, ...] = ()
    standing: Hashable = None

    @property
    def is_write(self) -> bool:
        return self.location is not None and self.source is None


class GraphMemory(WeakMemory):
    def __init__(self, machine: Actions) -> None:
        super().__init__(machine)
        assert machine.program.memory_model is MemoryModel.C11, "the library has no fences"
        self._events: dict[int, tuple[GraphEvent, ...]] = {}
        self._modifications: dict[Location, tuple[Ref, ...]] = {}
        self._made: dict[int, Ref] = {}  # of pages: behind which event
        # Of bytes: the last section that wrote there; the sections with which a section that reads
        # there can synchronise.
        self._writers: dict[int, Ref] = {}
        self._released: dict[int, tuple[Ref, ...]] = {}
        self._section: Site | None = None
        self._is_updating = False
        self._read_in_section: set[int] = set()
        self._acquired_in_section: set[Ref] = set()
        self._releases = False
        self._written_in_section: set[int] = set()
        self._touched_in_section: set[Made] = set()

    # --- accesses

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        machine = self.machine
        if machine.depth or self._is_of_library(address):
            return self._load_in_section(address, read, size, site)
        location = self._location(address, size, site, AccessKind.READ)
        return self._read(location, read, site, site_order(site), address, is_update=False)

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        machine = self.machine
        if machine.depth or self._is_of_library(address):
            self._note_written(address, size, site)
            machine.store_shared(address, write, size, value, site)
            return
        location = self._location(address, size, site, AccessKind.WRITE)
        event = GraphEvent(site_order(site), site, location, self._bytes(write, size, value, site))
        writes = self._modifications.get(location, ())
        ref = self._add(event)
        places = []
        for place in range(len(writes) + 1) if writes else ():
            self._modifications[location] = (*writes[:place], ref, *writes[place:])
            if is_consistent(self._graph()):
                places.append(place)
        self.offered = tuple(writes[place - 1] if place else _INITIAL for place in places)
        place = self._choose(COMES_AFTER, places or [0], site)
        self._modifications[location] = (*writes[:place], ref, *writes[place:])
        machine.accessed(address, size, value, site, is_read=False)
        self._check_race(ref)

    def load_of_update(self, address: int, read: Reader, size: int, site: Site) -> Any:
        if self.machine.depth or self._is_of_library(address):
            return self._load_in_section(address, read, size, site)
        location = self._location(address, size, site, AccessKind.WRITE)
        if self._is_updating:  # executed again, because a value that nobody has set was used
            number = self.machine.number
            self._events[number] = self._events[number][:-1]
        self._is_updating = True
        return self._read(location, read, site, _failure_order(site), address, is_update=True)

    def store_of_update(
        self, address: int, write: Writer, size: int, value: Any, site: Site
    ) -> None:
        """The update reads what it comes right after in modification order."""
        machine = self.machine
        if machine.depth or self._is_of_library(address):
            self._note_written(address, size, site)
            machine.store_shared(address, write, size, value, site)
            return
        number = machine.number
        order = site_order(site)
        own = self._events[number]
        read = own[-1]._replace(order=order_of_read(order))
        self._events[number] = (*own[:-1], read)
        location = read.location
        assert location is not None and read.source is not None
        data = self._bytes(write, size, value, site)
        event = GraphEvent(order_of_write(order), site, location, data, of_update=True)
        ref = self._add(event)
        writes = self._modifications.get(location, ())
        place = 0 if read.source == _INITIAL else writes.index(read.source) + 1
        self._modifications[location] = (*writes[:place], ref, *writes[place:])
        machine.accessed(address, size, value, site, is_read=False)
        self.end_update()
        self._check_race(ref)

    def end_update(self) -> None:
        """What an update may read depends on whether it writes, so that this is looked at last."""
        self._is_updating = False
        if self.machine.depth or is_consistent(self._graph()):
            return
        what = "the update cannot read this write"
        number = self.machine.number
        raise StepEnds(StepOutcome(Ending.PRUNED, what, thread=number, in_section=True))

    def fence(self, site: Site) -> None:
        """It can come after everything that there is: nothing is ordered behind it yet."""
        if self.machine.depth:
            self._fence_in_section(site_order(site))
            return
        self._keep_limit(site)
        self._add(GraphEvent(site_order(site), site, is_fence=True))

    # --- synchronisation

    def begin_section(self, site: Site) -> None:
        if not site.function.library or site.function.name not in HAVE_A_MEANING_IN_C11:
            what = "an atomic section"
            if site.function.library:
                what = f"'{site.function.display}'"
            what += " has no meaning under the memory model c11"
            self.machine.stop(Ending.UNSUPPORTED, what, self.machine.user_origin(site.origin))
        self._keep_limit(site)
        self._section = site
        self._read_in_section = set()
        self._acquired_in_section = set()
        self._releases = False
        self._written_in_section = set()
        self._touched_in_section = set()

    def end_section(self) -> None:
        assert self._section is not None
        after = tuple(sorted(self._acquired_in_section))
        touched = tuple(sorted(self._touched_in_section))
        standing = None if self._written_in_section else self._standing(self.machine.number)
        event = GraphEvent(
            Order.ACQ_REL, self._section, after=after, touched=touched, standing=standing
        )
        ref = self._add(event)
        own = self._events[ref[0]]
        known = {one for event in own for one in event.after} if self._releases else set()
        for byte in self._written_in_section:
            released = {ref} if self._releases else set()
            if byte in self._read_in_section:  # an update goes on with a release sequence
                sequence = self._released.get(byte, ())
                released |= {
                    one
                    for one in sequence
                    if not (self._releases and (one[0] == ref[0] or one in known))
                }
            self._writers[byte] = ref
            self._released[byte] = tuple(sorted(released))

    def _fence_in_section(self, order: Order) -> None:
        """What the section has read is acquired; what it writes is released."""
        if order in ACQUIRES:
            for byte in self._read_in_section:
                self._acquired_in_section.update(self._released.get(byte, ()))
        if order in RELEASES:
            self._releases = True

    def begin_inner_section(self, site: Site) -> None:
        """A section that only reads may see what was there before the last section that wrote, if
        that one does not happen before it."""
        if site.function.name not in (LOOKS_BACK, LOOKS_FAR_BACK):
            return
        read = self._read_in_section & self._writers.keys()
        writers = {self._writers[byte] for byte in read}
        others = {ref for ref in writers if ref[0] != self.machine.number}
        if others <= self._before_here(others):
            number, what = self.machine.number, "no earlier state can be seen"
            raise StepEnds(StepOutcome(Ending.PRUNED, what, thread=number, in_section=True))
        if site.function.name == LOOKS_FAR_BACK:
            what = "a call that may not see several others, under the memory model c11"
            self.machine.stop(Ending.LIMIT, what, self.machine.user_origin(site.origin))

    def synchronise(self) -> None:
        pass

    def free(self, address: int, site: Site) -> None:
        """To end an object is to write it: what does not happen before it is a race."""
        machine = self.machine
        if machine.depth or not address:
            return
        page = machine.first_page(address >> machine.page_bits)
        made = self._made.get(page, _INITIAL)
        self._add(GraphEvent(Order.PLAIN, site))
        self._check_end((page, made), "free", site.origin)
        if made[0] not in (0, machine.number) and not self._is_known(made):
            what = "free of an object that is not known to exist there (a data race)"
            self._end_in_race(what, site.origin)

    # --- objects

    def created(self, page: int) -> None:
        number = self.machine.number
        self._made[page] = number, len(self._events.get(number, ()))

    def destroyed(self, page: int) -> None:
        """As with `free`; what comes behind it is an access to a dead object."""
        made = self._made.pop(page, _INITIAL)
        machine = self.machine
        if page not in machine.heap and machine.code is not None:
            slot = machine.slot_of_page.get(page)
            origin = machine.code.function.origin if slot is None else slot.origin
            self._check_end((page, made), "end of the life", origin)

    # --- states

    def accesses_of(self, thread: int) -> list[tuple[Ref, Location]]:
        """What a thread has read and written so far, except in sections."""
        return [
            ((thread, index), event.location)
            for index, event in enumerate(self._events.get(thread, ()))
            if event.location is not None
        ]

    def all_accesses(self) -> list[tuple[Ref, GraphEvent]]:
        return [(ref, event) for ref, event in self._all() if event.location is not None]

    def orders_of_modification(self) -> list[tuple[Ref, ...]]:
        return list(self._modifications.values())

    def rank(self, write: Ref) -> int:
        """From 1, in modification order."""
        location = self._event(write).location
        assert location is not None
        return self._modifications[location].index(write) + 1

    def frozen(self) -> Hashable:
        return (
            tuple(sorted(self._events.items())),
            tuple(sorted(self._modifications.items())),
            tuple(sorted(self._made.items())),
            tuple(sorted(self._writers.items())),
            tuple(sorted(self._released.items())),
        )

    def restore(self, frozen: Any) -> None:
        self._section = None
        self._is_updating = False
        events, modifications, made, writers, released = map(dict, frozen)
        self._events, self._modifications, self._made = events, modifications, made
        self._writers, self._released = writers, released

    def goes_first(self, thread: int) -> bool:
        """A thread that is to write, to fence, to start, end or join a thread: its event reads
        nothing that is not there yet, and whatever others do is consistent with it or without it.
        So the others can wait: the graphs in which they are first are those in which they are
        second. Nor does a read that is not atomic read what is not there yet, unless they race."""
        return _reads_nothing_new(self.machine.threads[thread - 1])

    def has_come_back(self, thread: int) -> bool:
        """A thread that has done nothing that matters since it was where it is now: it has read
        or fenced, also in sections of the library that write nothing, it has made updates that
        write what they read, and it has written to objects of its own that no other thread
        accesses, which have their values again. Without these events the graph is as consistent (no
        axiom is about what is missing; who has read from such an update reads from what the update
        has read, and a write that is left out had no other readers), with no more order. What the
        thread does from here on, it can do from there."""
        here: Hashable = None
        own = self._events.get(thread, ())
        for place in range(len(own) - 1, -1, -1):
            event = own[place]
            if event.is_fence:
                continue
            if event.is_write:
                is_idle = event.of_update and event.data == own[place - 1].data
                if not is_idle and not self._is_private(event.location, thread):
                    return False
                continue
            if event.standing is None:
                return False
            here = here or self._standing(thread)
            if event.standing == here:
                return True
        return False

    def _is_private(self, location: Location | None, thread: int) -> bool:
        """Whether it is in an object of the thread, which nobody else has accessed."""
        if location is None:
            return False
        first, end = self.machine.arena(thread)
        return first <= location.page < end and not any(
            ref[0] != thread and event.location is not None and event.location.overlaps(location)
            for ref, event in self._all()
        )

    def _standing(self, thread: int) -> Hashable:
        """All that is a thread's own: where it is, its registers, the contents of its objects. Not
        known of a thread that is not part of a state."""
        machine = self.machine
        identity = machine.threads[thread - 1].identity
        if not identity:
            return None
        first, end = machine.arena(thread)
        own = [(page, bytes(data)) for page, data in machine.memory.items() if first <= page < end]
        last = [
            (location, self._event(writes[-1]).data)
            for location, writes in self._modifications.items()
            if first <= location.page < end
        ]
        return identity, tuple(sorted(own)), tuple(sorted(last))

    # --- parts

    def _choose(self, name: str, places: list[int], site: Site) -> int:
        if len(places) == 1:
            return places[0]
        return places[int(self.machine.choose(name, I32, len(places), site.origin))]

    def _read(
        self,
        location: Location,
        read: Reader,
        site: Site,
        order: Order,
        address: int,
        *,
        is_update: bool,
    ) -> Any:
        machine = self.machine
        number = machine.number
        before = self._events.get(number, ())
        writes = (_INITIAL, *self._modifications.get(location, ()))
        possible = []
        for source in writes if len(writes) > 1 else ():
            self._events[number] = (*before, GraphEvent(order, site, location, source=source))
            if is_consistent(self._graph()):
                possible.append(source)
        self._events[number] = before
        sources = possible or [_INITIAL]
        source = sources[0]
        if len(sources) > 1:
            self.offered = tuple(sources)
            source = sources[int(machine.choose(READS_FROM, I32, len(sources), site.origin))]
        data = self._initial(location, site) if source == _INITIAL else self._event(source).data
        event = GraphEvent(order, site, location, data, source, standing=self._standing(number))
        ref = self._add(event)
        value = read(data, 0)[0]
        told = self._told(location, source)
        machine.accessed(address, location.size, value, site, is_read=True, source=told)
        self._check_race(ref)
        return value

    def _told(self, location: Location, source: Ref) -> str:
        """Where a value is from that is not the last one, for people."""
        writes = self._modifications.get(location, ())
        if not writes or source == writes[-1]:
            return ""
        if source == _INITIAL:
            return "its initial value"
        origin = self._event(source).site.origin
        return f"from line {origin.line} of thread {source[0]}"

    def _initial(self, location: Location, site: Site) -> bytes:
        """What the object began with: nothing is written to the machine's memory since."""
        machine = self.machine
        end = location.offset + location.size
        page = location.page
        if page in machine.undefined and any(machine.undefined[page][location.offset : end]):
            what = "a value that nobody has set is read, under the memory model c11"
            machine.stop(Ending.LIMIT, what, site.origin)
        data = machine.memory.get(page)
        return bytes((machine.constants[page] if data is None else data)[location.offset : end])

    def _location(self, address: int, size: int, site: Site, kind: AccessKind) -> Location:
        self._keep_limit(site)
        machine = self.machine
        page, offset, _ = machine.find(address, size, site, kind)
        location = Location(page, self._made.get(page, _INITIAL), offset, size)
        if any(address + byte in self._writers for byte in range(size)):
            what = "memory of the library's is accessed by the program, under the memory model c11"
            machine.stop(Ending.UNSUPPORTED, what, site.origin)
        return location

    def _bytes(self, write: Writer, size: int, value: Any, site: Site) -> bytes:
        if value.__class__ is Indeterminate:
            what = "a store of a value that nobody has set, under the memory model c11"
            self.machine.stop(Ending.LIMIT, what, site.origin)
        data = bytearray(size)
        write(data, 0, value)
        return bytes(data)

    def _is_of_library(self, address: int) -> bool:
        machine = self.machine
        page = machine.first_page(address >> machine.page_bits)
        item = machine.static_pages.get(page) or machine.thread_local_at(page)
        if isinstance(item, StaticObject):
            return item.library
        return machine.heap.get(page) == "library"

    def _load_in_section(self, address: int, read: Reader, size: int, site: Site) -> Any:
        self._check_section_memory(address, size, site)
        self._read_in_section.update(
            byte for byte in range(address, address + size) if byte not in self._written_in_section
        )
        return self.machine.load_shared(address, read, size, site)

    def _note_written(self, address: int, size: int, site: Site) -> None:
        self._check_section_memory(address, size, site)
        if self.machine.depth:
            self._written_in_section.update(range(address, address + size))

    def _check_section_memory(self, address: int, size: int, site: Site) -> None:
        machine = self.machine
        page = machine.first_page(address >> machine.page_bits)
        offset = address - (page << machine.page_bits)
        here = Location(page, self._made.get(page, _INITIAL), offset, size)
        if machine.depth:
            self._touched_in_section.add(here.object)
        if any(here.overlaps(other) for other in self._modifications):
            what = "memory of the program's is accessed by the library, under the memory model c11"
            origin = machine.user_origin(site.origin)
            machine.stop(Ending.UNSUPPORTED, what, origin)

    def _event(self, ref: Ref) -> GraphEvent:
        return self._events[ref[0]][ref[1]]

    def _all(self) -> list[tuple[Ref, GraphEvent]]:
        return [
            ((thread, index), event)
            for thread, own in sorted(self._events.items())
            for index, event in enumerate(own)
        ]

    def _add(self, event: GraphEvent) -> Ref:
        number = self.machine.number
        own = self._events.get(number, ())
        self._events[number] = (*own, event)
        return number, len(own)

    def _keep_limit(self, site: Site) -> None:
        """Before a step has done anything: what it has done would stay."""
        if len(self._events.get(self.machine.number, ())) >= MOST_EVENTS:
            what = f"more than {MOST_EVENTS} events in a thread, under the memory model c11"
            self.machine.stop(Ending.LIMIT, what, self.machine.user_origin(site.origin))

    # --- the graph as RC11 has it

    def _graph(self) -> ExecutionGraph:
        return self._numbered()[0]

    def _numbered(self) -> tuple[ExecutionGraph, dict[Ref, int]]:
        events = self._all()
        numbers = {ref: number for number, (ref, _) in enumerate(events)}
        locations: dict[Location, int] = {}
        graph = ExecutionGraph([], [], [], [], {}, [], {}, [])
        for number, (ref, event) in enumerate(events):
            graph.orders.append(event.order)
            graph.is_fence.append(event.is_fence)
            place = -1
            if event.location is not None:
                place = locations.setdefault(event.location, len(locations))
            graph.locations.append(place)
            last = len(self._events[ref[0]]) - ref[1] - 1
            graph.thread_before.append(((1 << last) - 1) << number + 1)
            if event.source is not None:
                graph.reads_from[number] = numbers.get(event.source, -1)
            if event.of_update:
                graph.update_of[number] = number - 1
            graph.synchronised += [(numbers[other], number) for other in event.after]
        graph.modifications = [
            [numbers[ref] for ref in writes] for writes in self._modifications.values()
        ]
        return graph, numbers

    # --- races

    def _check_race(self, ref: Ref) -> None:
        """Whether the new event conflicts with one that does not happen before it, and not both are
        atomic; or with the beginning of its object."""
        event = self._event(ref)
        location = event.location
        assert location is not None
        conflicting = []
        for other, theirs in self._all():
            if theirs.location is None or not location.overlaps(theirs.location):
                continue
            if theirs.location != location:
                what = "accesses of different sizes to the same bytes, under the memory model c11"
                self.machine.stop(Ending.UNSUPPORTED, what, event.site.origin)
            is_conflict = other[0] != ref[0] and (event.is_write or theirs.is_write)
            if is_conflict and not (event.order.is_atomic and theirs.order.is_atomic):
                conflicting.append(other)
        is_foreign = location.made[0] not in (0, ref[0])
        if not conflicting and not is_foreign:
            return
        graph, numbers = self._numbered()
        hb = happens_before(graph)
        own = numbers[ref]
        for other in conflicting:
            if not hb[numbers[other]] >> own & 1:
                kind = "write" if event.is_write else "read"
                self._report_race(ref, other, kind, event.site, self._event(other).site)
        if is_foreign and not self._is_known(location.made):
            what = "an access to an object that is not known to exist there (a data race)"
            self._end_in_race(what, event.site.origin)

    def _is_known(self, made: Ref) -> bool:
        """Whether the event behind which an object was made happens before where the thread is."""
        return made in self._before_here([made])

    def _before_here(self, refs: Iterable[Ref]) -> set[Ref]:
        """Which of these events of other threads happen before where the running thread is: before
        the last event of its own, as its own are in order."""
        number = self.machine.number
        own = self._events.get(number, ())
        if not own:
            return set()
        graph, numbers = self._numbered()
        hb = happens_before(graph)
        last = numbers[number, len(own) - 1]
        return {ref for ref in refs if ref in numbers and hb[numbers[ref]] >> last & 1}

    def _check_end(self, ended: Made, what: str, origin: Origin) -> None:
        """What others have accessed of an object has to happen before it ends."""
        number = self.machine.number
        foreign = [
            (ref, event)
            for ref, event in self._all()
            if ref[0] != number
            and (
                ended in event.touched
                or (event.location is not None and event.location.object == ended)
            )
        ]
        before = self._before_here(ref for ref, _ in foreign) if foreign else set()
        for ref, event in foreign:
            if ref in before:
                continue
            kind = "write" if event.is_write else "use" if event.location is None else "read"
            place = self.machine.program.user_place(event.site.origin)
            name = self.machine.name_of(ended[0] << self.machine.page_bits)
            self._end_in_race(
                f"{what} of {name} in thread {number}: the {kind} by thread {ref[0]} at {place}"
                " does not happen before it",
                origin,
            )

    def _report_race(self, ref: Ref, other: Ref, kind: str, mine: Site, theirs: Site) -> None:
        machine = self.machine
        location = self._event(other).location
        assert location is not None
        address = (location.page << machine.page_bits) + location.offset
        name = machine.name_of(address, location.size)
        their_kind = "write" if self._event(other).is_write else "read"
        place = machine.program.place
        what = (
            f"{kind} of {name} by thread {ref[0]} at {place(machine.user_origin(mine.origin))} and"
            f" {their_kind} by thread {other[0]} at {place(theirs.origin)}: neither happens before"
            " the other"
        )
        self._end_in_race(what, mine.origin)

    def _end_in_race(self, what: str, origin: Origin) -> None:
        """A race is undefined in C11: a violation of its own, or of no-undefined."""
        machine = self.machine
        for violated in (Property.NO_DATA_RACE, Property.NO_UNDEFINED):
            if violated in machine.specification:
                kind, number = violated.value, machine.number
                text = what if violated is Property.NO_DATA_RACE else f"data race: {what}"
                raise StepEnds(StepOutcome(Ending.VIOLATION, text, origin, kind, number))
        machine.stop_undefined(f"data race: {what}", origin)


def site_order(site: Site) -> Order:
    order = getattr(site.edge.action, "order", Order.PLAIN)
    assert isinstance(order, Order)
    return order


def _failure_order(site: Site) -> Order:
    action = site.edge.action
    assert isinstance(action, ReadModifyWrite)
    return action.failure_order if action.guard is not None else order_of_read(action.order)


def _reads_nothing_new(thread: Thread) -> bool:
    code = thread.code
    if code is None:
        return False
    leaving = code.function.edges[thread.location]
    if not leaving:
        return False
    action = leaving[0].action
    if isinstance(action, AtomicBegin):
        return code.function.name in _STARTS_AND_ENDS
    if isinstance(action, Load):
        return not action.order.is_atomic
    return isinstance(action, (Store, Fence))


# Sections with which nobody else's conflict: each is about one thread, which starts or ends there
# (to join a thread twice is wrong in either order).
_STARTS_AND_ENDS = (
    "__plait_run_thread",
    "__plait_run_c11_thread",
    "pthread_create",
    "thrd_create",
    "pthread_exit",
    "pthread_join",
)

"""TSO and PSO: each thread has a buffer of stores that others do not see yet.

This is the abstract machine of x86-TSO (Owens, Sarkar, Sewell 2009): a store goes to the end of its
thread's buffer; a load takes each byte from the last store in the thread's own buffer that has it,
or from memory; at any moment a store may leave a buffer and become visible to all. Under TSO that
is the oldest one; under PSO any one that no older store to the same place and no fence for stores
is before. A full fence, an update, an atomic section (a primitive of the library) and the end
of a thread come after all stores of the thread have become visible. That they make all visible at
once is no restriction: before them, each store may become visible on its own.

While a program has one thread only, its stores are visible at once: there is nobody to notice.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.model.actions import Fence
from plait.model.memory_model import TABLE, MemoryModel, R, W
from plait.model.types import I32
from plait.semantics.compile import Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.outcome import AccessKind, Ending
from plait.semantics.scalars import Reader, Writer
from plait.semantics.weak import BECOMES_VISIBLE, WeakMemory

if TYPE_CHECKING:
    from plait.semantics.actions import Actions

MOST_STORES = 200  # in one buffer
_DEAD = "an object dies while another thread's store to it is not visible yet"


class Entry(NamedTuple):
    """A store that is not visible to others yet: `data` at an offset of an object."""

    page: int
    offset: int
    data: bytes
    site: Site

    def overlaps(self, page: int, offset: int, size: int) -> bool:
        end = self.offset + len(self.data)
        return self.page == page and self.offset < offset + size and offset < end


# None is a fence that stores do not pass.
Buffer = tuple[Entry | None, ...]


class StoreBuffers(WeakMemory):
    def __init__(self, machine: Actions, model: MemoryModel) -> None:
        super().__init__(machine)
        self._ordering = TABLE[model]
        self._buffers: dict[int, Buffer] = {}  # those that are not empty

    # --- accesses

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        machine = self.machine
        buffer = () if machine.depth else self._buffers.get(machine.number, ())
        if not buffer:
            return machine.load_shared(address, read, size, site)
        page, offset, data = machine.find(address, size, site, AccessKind.READ)
        own = [item for item in buffer if item is not None and item.overlaps(page, offset, size)]
        if not own:
            return machine.load_shared(address, read, size, site)
        found = bytearray(data[offset : offset + size])
        unset = bytearray(machine.undefined.get(page, bytes(len(data)))[offset : offset + size])
        for entry in own:
            for place, byte in enumerate(entry.data, entry.offset - offset):
                if 0 <= place < size:
                    found[place] = byte
                    unset[place] = 0
        if any(unset):
            what = "a value of which the thread itself has stored only a part is used"
            machine.stop(Ending.LIMIT, what, site.origin)
        value = read(found, 0)[0]
        if machine.accesses is not None:
            machine.note_access(address, size, AccessKind.READ, site)
        machine.accessed(address, size, value, site, is_read=True)
        return value

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        machine = self.machine
        if machine.depth or len(machine.threads) == 1:
            machine.store_shared(address, write, size, value, site)
            return
        page, offset, _ = machine.find(address, size, site, AccessKind.WRITE)
        if value.__class__ is Indeterminate:
            what = "a store of a value that nobody has set, under a weak memory model"
            machine.stop(Ending.LIMIT, what, site.origin)
        data = bytearray(size)
        write(data, 0, value)
        buffer = self._buffers.get(machine.number, ())
        if len(buffer) >= MOST_STORES:
            what = f"more than {MOST_STORES} stores of a thread wait to become visible"
            machine.stop(Ending.LIMIT, what, site.origin)
        self._buffers[machine.number] = (*buffer, Entry(page, offset, bytes(data), site))
        if machine.accesses is not None:
            machine.note_access(address, size, AccessKind.WRITE, site)
        machine.accessed(address, size, value, site, is_read=False)

    def load_of_update(self, address: int, read: Reader, size: int, site: Site) -> Any:
        self._drain()
        return self.machine.load_shared(address, read, size, site)

    def store_of_update(
        self, address: int, write: Writer, size: int, value: Any, site: Site
    ) -> None:
        self.machine.store_shared(address, write, size, value, site)

    def end_update(self) -> None:
        pass

    def fence(self, site: Site) -> None:
        action = site.edge.action
        assert isinstance(action, Fence)
        pairs = self._ordering.fences[action.order]
        if (W, R) in pairs:
            self._drain()
        elif (W, W) in pairs and not self._ordering.is_fifo:
            number = self.machine.number
            buffer = self._buffers.get(number, ())
            if buffer and buffer[-1] is not None:
                self._buffers[number] = (*buffer, None)

    # --- synchronisation

    def begin_section(self, site: Site) -> None:
        self._drain()

    def begin_inner_section(self, site: Site) -> None:
        pass

    def end_section(self) -> None:
        pass

    def synchronise(self) -> None:
        self._drain()

    def free(self, address: int, site: Site) -> None:
        self._drain()

    # --- objects

    def created(self, page: int) -> None:
        pass

    def destroyed(self, page: int) -> None:
        """What the thread itself has stored there cannot be noticed any more."""
        for thread, buffer in list(self._buffers.items()):
            if all(item is None or item.page != page for item in buffer):
                continue
            if thread != self.machine.number:
                place = next(item.site for item in buffer if item is not None and item.page == page)
                self.machine.stop(Ending.LIMIT, _DEAD, place.origin)
            kept = tuple(item for item in buffer if item is None or item.page != page)
            self._set(thread, kept)

    # --- what becomes visible

    def pending(self) -> tuple[int, ...]:
        return tuple(sorted(self._buffers))

    def waiting(self, thread: int) -> tuple[Entry, ...]:
        """A thread's stores that are not visible to others yet, in the order of the program."""
        return tuple(item for item in self._buffers.get(thread, ()) if item is not None)

    def flush(self, thread: int) -> None:
        buffer = self._buffers[thread]
        places = self._first_places(buffer)
        place = places[0]
        if len(places) > 1:
            entry = buffer[place]
            assert entry is not None
            self.offered = tuple(buffer[one] for one in places)
            chosen = self.machine.choose(BECOMES_VISIBLE, I32, len(places), entry.site.origin)
            place = places[int(chosen)]
        entry = buffer[place]
        assert entry is not None
        self._make_visible(entry)
        self._set(thread, (*buffer[:place], *buffer[place + 1 :]))
        self.machine.became_visible(entry.page, entry.offset, entry.data, thread, entry.site)

    def _first_places(self, buffer: Buffer) -> list[int]:
        """The stores that may become visible next."""
        if self._ordering.is_fifo:
            return [0]
        found: list[int] = []
        older: list[Entry] = []
        for place, entry in enumerate(buffer):
            if entry is None:
                break
            if not any(item.overlaps(entry.page, entry.offset, len(entry.data)) for item in older):
                found.append(place)
            older.append(entry)
        return found

    def _drain(self) -> None:
        number = self.machine.number
        for entry in self._buffers.pop(number, ()):
            if entry is not None:
                self._make_visible(entry)
                self.machine.became_visible(
                    entry.page, entry.offset, entry.data, number, entry.site
                )

    def _make_visible(self, entry: Entry) -> None:
        if entry.page not in self.machine.memory:  # who has ended the object goes no further
            self.machine.stop(Ending.LIMIT, _DEAD, entry.site.origin)
        self.machine.put(entry.page, entry.offset, entry.data)

    def _set(self, thread: int, buffer: Buffer) -> None:
        first = next((place for place, item in enumerate(buffer) if item is not None), len(buffer))
        if first == len(buffer):
            self._buffers.pop(thread, None)
        else:
            self._buffers[thread] = buffer[first:]

    # --- states

    def frozen(self) -> Hashable:
        return tuple(sorted(self._buffers.items(), key=lambda item: item[0]))

    def restore(self, frozen: Any) -> None:
        self._buffers = dict(frozen)

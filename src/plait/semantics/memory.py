"""Memory of the running state: bytes by page, with a journal that takes a step back.

`memory` maps the first page of each live, writable object to its contents. Contents of type
`bytes` are part of a remembered state; the first write in a step replaces them by a `bytearray`
and notes the old contents in the journal. Objects that nobody can write are in `constants`, apart
from the state. `undefined` has a mask for objects that are not fully initialised (see indeterminate
for what its bytes mean); masks are thawed in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from plait.model.actions import Origin
from plait.model.layout import path_at
from plait.model.machine import may_end
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject
from plait.model.properties import Specification
from plait.model.types import U8, Scalar
from plait.model.unset import Unset
from plait.semantics.compile import Site
from plait.semantics.indeterminate import COPIED, UNKNOWN, Indeterminate, fresh
from plait.semantics.outcome import Access, AccessKind, Ending, StepEnds, StepOutcome
from plait.semantics.scalars import Buffer, Number, Reader, Writer, from_bits, to_bits
from plait.semantics.unset_names import UnsetNames

if TYPE_CHECKING:
    from plait.semantics.weak import WeakMemory

HEAP, STACK, THREAD_LOCAL = "heap", "stack", "thread-local"
# Whose an allocated object is that cannot be freed as it is tried.
_OWNERS = {
    HEAP: "the program",
    "given": "the environment",
    "library": "the library (a thread's)",
    "directory": "the library (opendir)",
    "addresses": "the library (getaddrinfo)",
    "mapping": "the system (mmap)",
}


class Memory:
    """Loads, stores and lifetimes. Whatever ends a step early is raised as StepEnds."""

    def __init__(self, program: Program, specification: Specification) -> None:
        self.program = program
        self.specification = specification
        self.page_bits = program.data_model.page_bits
        self.pages_of = program.data_model.pages_of
        self.pages_taken = program.data_model.pages_taken
        self.last_page = program.data_model.last_page
        self.page_mask = (1 << self.page_bits) - 1
        self.pointer_mask = (1 << program.data_model.pointer.bits) - 1
        self.checks_accesses = specification.checks_accesses
        self.finds_leaks = specification.finds_leaks
        # So that a dangling pointer never points into a new local.
        self.keeps_dead_locals = specification.checks_accesses and not specification.reuses_locals
        self.constants: dict[int, bytes] = {}
        self.static_pages: dict[int, StaticObject | Function] = {}
        # What was made there last, for names and replays only; of alloca if there is no slot.
        self.slot_of_page: dict[int, FrameSlot] = {}
        self.alloca_of_page: dict[int, Edge] = {}
        self._largest_pages = 1
        self.memory: dict[int, Buffer] = {}
        self.undefined: dict[int, Buffer] = {}
        self.heap: dict[int, str] = {}
        self.memory_before: dict[int, bytes | None] = {}
        self.undefined_before: dict[int, Buffer | None] = {}
        self.heap_before: dict[int, str | None] = {}
        self.reshaped = False
        self.accesses: list[Access] | None = None
        self.unset_names: UnsetNames | None = None
        self.weak: WeakMemory | None = None  # None: memory is sequentially consistent
        self.number = 0
        self.depth = 0
        for item in program.objects:
            self._largest_pages = max(self._largest_pages, self.pages_of(item.size))
            self.static_pages[item.page] = item
            if item.read_only:
                self.constants[item.page] = item.contents
        for function in program.functions.values():
            self.static_pages[function.page] = function

    # --- accesses

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        page = address >> self.page_bits
        offset = address & self.page_mask
        data = self.memory.get(page)
        if data is None or offset + size > len(data):
            page, offset, data = self.find(address, size, site, AccessKind.READ)
        if page in self.undefined and any(self.undefined[page][offset : offset + size]):
            return self._load_undefined(page, offset, size, site)
        return read(data, offset)[0]

    def _load_undefined(self, page: int, offset: int, size: int, site: Site) -> Any:
        """A copy takes the bytes as they are; any other load determines them."""
        data = bytes(self.memory[page][offset : offset + size])
        mask = bytes(self.undefined[page][offset : offset + size])
        assert site.type is not None
        if site.passes_on:
            if UNKNOWN in mask:
                self._note_change(page, offset, size)
                mask = mask.replace(UNKNOWN, COPIED)
                self._thaw_mask(page)[offset : offset + size] = mask
            return fresh(self.registers(), data, mask, f"memory {site.edge.source}")
        unset = None if self.unset_names is None else self.unset_names.at(page)
        name = self._name_of_unset(page, offset, size)
        value = self.determined(data, mask, site.type, name, site.origin, unset, offset)
        self._note_change(page, offset, size)
        self._thaw(page)[offset : offset + size] = to_bits(value, site.type).to_bytes(
            size, "little"
        )
        self._define(page, offset, size)
        return value

    def _name_of_unset(self, page: int, offset: int, size: int) -> str:
        item = self.static_pages.get(page) or self.slot_of_page.get(page)
        if page in self.heap or item is None:
            return "uninitialised memory"
        return f"uninitialised {self.name_of((page << self.page_bits) + offset, size)}"

    def determined(
        self,
        data: bytes,
        mask: bytes,
        scalar: Scalar,
        name: str,
        origin: Origin,
        unset: Unset | None,
        offset: int = 0,
    ) -> Number:
        """A value chosen for a scalar; if only parts are missing, byte by byte. It is the one that
        begins at an `offset` of what was not set."""
        if COPIED in mask:
            self.stop(Ending.LIMIT, "a copy of an uninitialised value is used", origin)
        if 0 not in mask:
            value: Number = self.choose(name, scalar, None, origin, unset, offset)
            return value
        chosen = bytes(
            self.choose(name, U8, None, origin, unset, place) if unknown else byte
            for place, (byte, unknown) in enumerate(zip(data, mask, strict=True), offset)
        )
        return from_bits(int.from_bytes(chosen, "little"), scalar)

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        page = address >> self.page_bits
        offset = address & self.page_mask
        data = self.memory.get(page)
        if data is None or offset + size > len(data):
            page, offset, data = self.find(address, size, site, AccessKind.WRITE)
        if type(data) is bytes:
            self.memory_before.setdefault(page, data)
            data = self.memory[page] = bytearray(data)
        if value.__class__ is Indeterminate:
            self._store_undefined(page, offset, size, value)
            return
        write(data, offset, value)  # type: ignore[arg-type]
        if page in self.undefined:
            self._define(page, offset, size)

    def _store_undefined(self, page: int, offset: int, size: int, value: Indeterminate) -> None:
        assert len(value.mask) == size
        self._thaw(page)[offset : offset + size] = value.data
        self._thaw_mask(page)[offset : offset + size] = value.mask

    def _thaw(self, page: int) -> bytearray:
        data = self.memory[page]
        if isinstance(data, bytes):
            self.memory_before.setdefault(page, data)
            data = self.memory[page] = bytearray(data)
        return data

    def load_shared(self, address: int, read: Reader, size: int, site: Site) -> Any:
        if self.accesses is not None:
            self.note_access(address, size, AccessKind.READ, site)
        return self.load(address, read, size, site)

    def store_shared(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        if self.accesses is not None:
            self.note_access(address, size, AccessKind.WRITE, site)
        self.store(address, write, size, value, site)

    def note_access(self, address: int, size: int, kind: AccessKind, site: Site) -> None:
        origin = self.user_origin(site.origin) if site.function.library else site.origin
        assert self.accesses is not None
        is_atomic = site.is_atomic or self.depth > 0
        self.accesses.append(Access(address, size, kind, is_atomic, origin))

    def put(self, page: int, offset: int, data: bytes) -> None:
        """What a thread has stored before becomes visible: the access was when it stored it."""
        self._note_change(page, offset, len(data))
        self._thaw(page)[offset : offset + len(data)] = data
        if page in self.undefined:
            self._define(page, offset, len(data))

    def find(
        self, address: int, size: int, site: Site, kind: AccessKind
    ) -> tuple[int, int, Buffer]:
        """The first page of the object that the access is in, the offset in it, its contents."""
        page = self.first_page(address >> self.page_bits)
        data: Buffer | None = self.memory.get(page)
        is_constant = data is None
        if data is None:
            data = self.constants.get(page)
        offset = address - (page << self.page_bits)
        if data is None or offset + size > len(data):
            self._stop_beyond_model(page, site)
            what = self._why_invalid(address, size)
        elif is_constant and kind is AccessKind.WRITE:
            what = f"write to read-only {self.name_of(address)}"
        else:
            return page, offset, data
        self.invalid("valid-deref", what, site.origin)

    def first_page(self, page: int) -> int:
        """The first page of the live object that has this page; the page itself if none has."""
        for back in range(self._largest_pages):
            data = self.memory.get(page - back)
            if data is None:
                data = self.constants.get(page - back)
            if data is not None:
                return page - back if back < self.pages_of(len(data)) else page
        return page

    def move_pointer(self, base: int, offset: int, site: Site) -> int:
        """Pointer arithmetic. Beyond the pages of its object a pointer would come to look like a
        pointer to something else, so an execution that does that gets no verdict. Page 0 and the
        last one have plain numbers."""
        result = (base + offset) & self.pointer_mask
        if (base ^ result) >> self.page_bits + 1 and 0 < base >> self.page_bits < self.last_page:
            first = self.first_page(base >> self.page_bits | 1)
            data = self.memory.get(first, self.constants.get(first))
            pages = 1 if data is None else self.pages_of(len(data))
            if not first - 1 <= result >> self.page_bits < first + pages:
                what = f"pointer arithmetic leaves its object ({self.name_of(base)})"
                self.stop(Ending.LIMIT, what, site.origin)
        return result

    def string_at(self, address: int) -> bytes:
        """The characters up to the terminating zero, as far as they are valid; for output only."""
        page = self.first_page(address >> self.page_bits)
        data = self.memory.get(page, self.constants.get(page, b""))
        offset = address - (page << self.page_bits)
        end = data.find(b"\0", offset)
        return bytes(data[offset : end if end >= 0 else len(data)])

    def accessed(
        self, address: int, size: int, value: Any, site: Site, *, is_read: bool, source: str = ""
    ) -> None:
        """For those who watch: an access that did not go through `load` or `store`; of a read,
        where its value is from."""

    def became_visible(self, page: int, offset: int, data: bytes, thread: int, site: Site) -> None:
        """For those who watch: a store of a thread that others see from now on."""

    # --- lifetimes

    def create(self, page: int, size: int, *, is_defined: bool, contents: bytes = b"") -> None:
        self.reshaped = True
        self._largest_pages = max(self._largest_pages, self.pages_of(size))
        self.memory_before.setdefault(page, self._frozen(page))
        self.memory[page] = bytearray(contents or size)
        if self.weak is not None:
            self.weak.created(page)
        if not is_defined and size:
            self._note_undefined(page)
            self.undefined[page] = bytearray(UNKNOWN * size)
        self._note_lifetime(page, size)

    def destroy(self, page: int) -> None:
        self.reshaped = True
        self.memory_before.setdefault(page, self._frozen(page))
        data = self.memory.pop(page)
        if self.weak is not None:
            self.weak.destroyed(page)
        if page in self.undefined:
            self._note_undefined(page)
            del self.undefined[page]
        self._note_lifetime(page, len(data))

    def set_storage(self, page: int, storage: str | None) -> None:
        self.heap_before.setdefault(page, self.heap.get(page))
        if storage is None:
            self.heap.pop(page, None)
        else:
            self.heap[page] = storage

    def is_own(self, page: int) -> bool:
        """Whether an object is the program's, and not one of the library."""
        return self.heap.get(page, HEAP) == HEAP

    def free(self, address: int, storage: str, site: Site) -> None:
        if address == 0:
            return
        page, size = self._allocated(address, storage, site)
        if self.accesses is not None:
            self.note_access(address, size, AccessKind.WRITE, site)
        self.destroy(page)
        self.set_storage(page, None)

    def object_size(self, address: int, storage: str, site: Site) -> int:
        page, size = self._allocated(address, storage, site)
        self._note_lifetime(page, size)  # it depends on the object's life, but reads none of it
        return size

    def _allocated(self, address: int, storage: str, site: Site) -> tuple[int, int]:
        page = address >> self.page_bits
        made_as = self.heap.get(page)
        if address & self.page_mask or made_as is None or not may_end(storage, made_as):
            first = self.first_page(page)
            of_its_own = self.heap.get(first)
            if of_its_own is not None and not may_end(storage, of_its_own):
                what = f"free of memory that belongs to {_OWNERS[of_its_own]}"
            elif of_its_own is not None and first in self.memory:
                what = f"free of a pointer into the middle of {self.name_of(address)}"
            elif first in self.memory or first in self.static_pages:
                what = f"free of {self.name_of(address)}, which is not from malloc"
            else:
                what = "free of a pointer to no live object (freed before?)"
            self.invalid("valid-free", what, site.origin)
        return page, len(self.memory[page])

    # --- the journal

    def undo_memory(self) -> None:
        """Back to the last `commit_memory`."""
        for page, data in self.memory_before.items():
            if data is None:
                self.memory.pop(page, None)
            else:
                self.memory[page] = data
        for page, mask in self.undefined_before.items():
            if mask is None:
                self.undefined.pop(page, None)
            else:
                self.undefined[page] = mask
        for page, storage in self.heap_before.items():
            if storage is None:
                self.heap.pop(page, None)
            else:
                self.heap[page] = storage
        self.forget_journal()

    def commit_memory(self) -> None:
        self.freeze()
        self.forget_journal()

    def forget_journal(self) -> None:
        self.memory_before.clear()
        if self.undefined_before:
            self.undefined_before.clear()
        if self.heap_before:
            self.heap_before.clear()
        self.reshaped = False

    def freeze(self) -> None:
        """Make all contents `bytes`, and forget masks of objects that are fully defined now."""
        memory = self.memory
        for page in self.memory_before:
            data = memory.get(page)
            if type(data) is bytearray:
                memory[page] = bytes(data)
        for page in self.undefined_before:
            mask = self.undefined.get(page)
            if type(mask) is bytearray:
                if any(mask):
                    self.undefined[page] = bytes(mask)
                else:
                    del self.undefined[page]

    def _frozen(self, page: int) -> bytes | None:
        data = self.memory.get(page)
        return None if data is None else bytes(data)

    def _note_undefined(self, page: int) -> None:
        if page not in self.undefined_before:
            mask = self.undefined.get(page)
            self.undefined_before[page] = None if mask is None else bytes(mask)

    def _note_lifetime(self, page: int, size: int) -> None:
        self._note_change(page, 0, max(size, 1))

    def _note_change(self, page: int, offset: int, size: int) -> None:
        """For the order of steps it is as good as a write, but in C it is no access: an object's
        life begins or ends, or bytes without a value get one or are copied."""
        if self.accesses is not None:
            address = (page << self.page_bits) + offset
            self.accesses.append(Access(address, size, AccessKind.LIFETIME, True, _NO_ORIGIN))

    def _define(self, page: int, offset: int, size: int) -> None:
        self._thaw_mask(page)[offset : offset + size] = bytes(size)

    def _thaw_mask(self, page: int) -> bytearray:
        mask = self.undefined.get(page)
        if not isinstance(mask, bytearray):
            self._note_undefined(page)
            mask = bytearray(mask or bytes(len(self.memory[page])))
            self.undefined[page] = mask
        return mask

    # --- what can go wrong

    def _stop_beyond_model(self, page: int, site: Site) -> None:
        """What is behind the end of an object that the program has more of is not known."""
        item = self.static_pages.get(page)
        if isinstance(item, StaticObject) and item.ends_early:
            what = f"access to more of {self.name_of(page << self.page_bits)} than is examined"
            in_section = self.depth > 0
            outcome = StepOutcome(
                Ending.LIMIT, what, site.origin, thread=self.number, in_section=in_section
            )
            outcome.beyond = item.name
            raise StepEnds(outcome)

    def _why_invalid(self, address: int, size: int) -> str:
        if address >> self.page_bits == 0:
            return f"access through a null pointer (address {address:#x})"
        page = self.first_page(address >> self.page_bits | 1)
        data = self.memory.get(page, self.constants.get(page))
        if data is None:
            if page in self.static_pages:
                return f"access to {self.name_of(address)}, which is a function"
            return f"access to no live object (address {address:#x})"
        offset = address - (page << self.page_bits)
        return (
            f"access of {size} bytes at offset {offset} of {self.name_of(page << self.page_bits)}"
            f", which has {len(data)}"
        )

    def name_of(self, address: int, size: int = 0) -> str:
        """The object an address is in, for people; with a size, the part of it."""
        page = self.first_page(address >> self.page_bits)
        if page not in self.memory and page not in self.constants:
            page = self.first_page(page | 1)  # in front of an object
        item = self.static_pages.get(page) or self.slot_of_page.get(page)
        if item is None:
            return f"a {self.heap.get(page, 'local')} object" if page else "no object"
        if size == 0 or isinstance(item, Function):
            return f"'{item.name}'"
        return f"'{item.name}{path_at(item.layout, address - (page << self.page_bits), size)}'"

    def invalid(self, kind: str, what: str, origin: Origin) -> NoReturn:
        """An access or a free that C does not define."""
        if self.checks_accesses:
            raise StepEnds(StepOutcome(Ending.VIOLATION, what, origin, kind, self.number))
        self.stop_undefined(what, origin)

    def stop_undefined(self, what: str, origin: Origin) -> NoReturn:
        is_excluded = self.specification.assumes_defined
        self.stop(Ending.PRUNED if is_excluded else Ending.UNDEFINED, what, origin)

    def stop(self, ending: Ending, what: str, origin: Origin) -> NoReturn:
        in_section = self.depth > 0
        raise StepEnds(StepOutcome(ending, what, origin, thread=self.number, in_section=in_section))

    def registers(self) -> list[Any]:
        """Of the running frame."""
        raise NotImplementedError

    def choose(
        self,
        name: str,
        scalar: Scalar,
        count: int | None,
        origin: Origin,
        unset: Unset | None = None,
        offset: int = 0,
    ) -> Any:
        raise NotImplementedError

    def user_origin(self, origin: Origin) -> Origin:
        raise NotImplementedError


_NO_ORIGIN = Origin(-1, 0, 0, 0, 0)

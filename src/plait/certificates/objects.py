"""Memory as actions see it: accesses to live objects, and where lives begin and end.

Every access is noted, before it turns out whether it is valid: that depends on the life of the
object too. The beginning and the end of a life count as writes of the whole object.
"""

from __future__ import annotations

from plait.certificates.evaluate import Evaluator
from plait.certificates.outcomes import Trouble
from plait.certificates.state import Access, ActiveFrame, Path
from plait.logic.translate import is_not_zero
from plait.model.actions import NOWHERE, Allocate, Order
from plait.model.machine import LARGEST_ALLOCATION, may_end
from plait.model.types import Scalar


class Objects(Evaluator):
    # --- accesses

    def _load(self, path: Path, address: int, scalar: Scalar) -> int:
        self._note(path, address, scalar.size, is_write=False, is_access=True)
        page = self._object_of(path, address, scalar.size)
        constant = self._world.constants.get(page)
        if constant is None:
            value = path.memory.read(address, scalar.size)
        else:
            offset = address - (page << self._world.page_bits)
            data = constant[offset : offset + scalar.size]
            value = self._terms.constant(int.from_bytes(data, "little"), scalar.bits)
        return self._canonical(value, scalar)

    def _store(self, path: Path, address: int, value: int) -> None:
        size = self._terms.width[value] // 8
        self._note(path, address, size, is_write=True, is_access=True)
        if self._object_of(path, address, size) in self._world.constants:
            raise Trouble("write to a read-only object")
        path.memory.write(address, value)
        path.wrote = True

    def _object_of(self, path: Path, address: int, size: int) -> int:
        """The first page of the live object in which all accessed bytes are."""
        world = self._world
        page = world.first_page(path.live, address >> world.page_bits)
        if page is not None:
            room = path.live.get(page)
            assert room is not None
            if address - (page << world.page_bits) + size <= room:
                return page
        if address >> world.page_bits == 0:
            raise Trouble("access through a null pointer")
        raise Trouble(f"access to {size} bytes at {address:#x}, which is in no live object")

    def _note(
        self, path: Path, address: int, size: int, *, is_write: bool, is_access: bool = False
    ) -> None:
        edges = path.frame.function.edges[path.frame.location] if path.frames else []
        origin = edges[0].action.origin if edges else NOWHERE
        is_atomic = None
        if is_access:
            order = getattr(edges[0].action, "order", Order.PLAIN)
            is_atomic = path.depth > 0 or order.is_atomic
        end, local = address + max(size, 1), not path.is_free
        path.accesses.append(
            Access(address, end, is_write, local, path.facts, origin, path.lock, is_atomic)
        )

    def _canonical(self, value: int, scalar: Scalar) -> int:
        """A value of a type, given its bits: a _Bool is 0 or 1, whatever they are."""
        if scalar.is_bool:
            return self._terms.zero_extend(is_not_zero(self._terms, value), scalar.bits)
        return value

    def _arbitrary(self, scalar: Scalar, name: str) -> int:
        if scalar.is_bool:
            return self._terms.zero_extend(self._terms.fresh(name, 1), scalar.bits)
        return self._terms.fresh(name, scalar.bits)

    # --- lifetimes

    def _create(self, path: Path, page: int, size: int, data: bytes | None) -> None:
        """`data` is None where the contents are arbitrary; zeros follow it."""
        path.live.create(page, size)
        path.memory.create(page << self._world.page_bits, size, data)
        self._note(path, page << self._world.page_bits, size, is_write=True)
        path.wrote = True

    def _destroy(self, path: Path, page: int) -> None:
        size = path.live.get(page)
        self._note(path, page << self._world.page_bits, size or 0, is_write=True)
        if size is None:
            raise Trouble("the life of an object ends that does not live")
        path.live.destroy(page)
        path.wrote = True

    def _enter_scope(self, path: Path, slots: tuple[int, ...]) -> None:
        frame = path.frame
        layout = self._world.space.frame_layout(frame.function)
        for index in slots:
            self._destroy_slot(path, frame, index)
            page = frame.base - layout.pages + layout.slots[index]
            self._create(path, page, frame.function.slots[index].size, None)
            frame.slots[index] = page << self._world.page_bits

    def _destroy_slot(self, path: Path, frame: ActiveFrame, index: int) -> None:
        address = frame.slots.pop(index, None)
        if address is not None:
            self._destroy(path, address >> self._world.page_bits)

    def _destroy_locals(self, path: Path, frame: ActiveFrame) -> None:
        for address in frame.slots.values():
            self._destroy(path, address >> self._world.page_bits)
        for page, _ in frame.allocated:
            self._destroy(path, page)

    def _take_stack(self, path: Path, pages: int) -> None:
        path.stack_page -= pages
        if path.stack_page < path.heap_page:
            raise Trouble("the thread's address space is used up")

    def _allocate(self, path: Path, action: Allocate, size: int) -> None:
        world = self._world
        scalar = action.size.type
        if scalar.signed and size >> (scalar.bits - 1):
            size -= 1 << scalar.bits
        if not 0 <= size <= LARGEST_ALLOCATION:
            raise Trouble(f"allocation of {size} bytes")
        if action.storage != "stack":
            page = path.heap_page
            path.heap_page += world.pages_taken(size)
            self._take_stack(path, 0)
            path.heap[page] = size, action.storage
        else:
            self._take_stack(path, world.pages_taken(size))
            page = path.stack_page
            path.frame.allocated = (*path.frame.allocated, (page, size))
        self._create(path, page, size, b"" if action.zeroed else None)
        address = self._terms.constant(page << world.page_bits, action.target.type.bits)
        path.frame.registers[action.target.index] = address

    def _allocated(
        self, path: Path, address: int, ending: str, *, is_write: bool
    ) -> tuple[int, int]:
        """The page and the size of the object that begins at an address and that what ends objects
        of a storage may end."""
        page = address >> self._world.page_bits
        size, storage = path.heap.get(page, (0, ""))
        self._note(path, address, size, is_write=is_write)
        if page << self._world.page_bits != address or not may_end(ending, storage):
            raise Trouble("free of a pointer that is not the start of a live object to be freed so")
        return page, size

    def _free(self, path: Path, address: int, ending: str) -> None:
        page, _ = self._allocated(path, address, ending, is_write=True)
        self._destroy(path, page)
        del path.heap[page]

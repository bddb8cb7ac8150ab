"""Objects that are allocated: malloc, alloca, free."""

from __future__ import annotations

from plait.model.actions import Allocate, Free, ObjectSize, Origin
from plait.model.expressions import Expr
from plait.model.machine import LARGEST_ALLOCATION
from plait.model.program import Edge
from plait.symbolic.blocks import Access
from plait.symbolic.locations import HeapObject
from plait.symbolic.memory import Memory
from plait.symbolic.run import Run, Trouble
from plait.symbolic.values import Values


class Heap:
    def __init__(self, memory: Memory, values: Values) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._values = values

    def allocate(self, run: Run, edge: Edge, action: Allocate) -> None:
        size = self._terms.value(self._values.checked(run, action.size, edge))
        if size is None:
            raise Trouble("an allocation of unknown size", action.origin)
        if action.size.type.signed and size >> (action.size.type.bits - 1):
            raise Trouble("an allocation of negative size", action.origin)
        if size > LARGEST_ALLOCATION:
            raise Trouble(f"an allocation of {size} bytes", action.origin)
        pages = self._knowledge.pages_of(size)
        if action.storage == "stack":
            run.stack_page -= pages
            page = run.stack_page
            run.frame.allocated.append(page)
        else:
            page = run.heap_page
            run.heap_page += pages
        if run.stack_page < run.heap_page:
            raise Trouble("the thread's address space is used up", action.origin)
        run.allocated[page] = HeapObject(page, size, action.storage, edge)
        address = page << self._knowledge.page_bits
        contents = bytes(size) if action.zeroed else None
        self._memory.begin_life(run, address, size, edge, contents, action.origin)
        bits = action.target.type.bits
        run.frame.registers[action.target.index] = self._terms.constant(address, bits)

    def free(self, run: Run, edge: Edge, action: Free) -> None:
        if self._terms.value(self._values.checked(run, action.address, edge)) == 0:
            return
        self.end(run, self._object(run, edge, action.address, action.origin).page)

    def object_size(self, run: Run, edge: Edge, action: ObjectSize) -> None:
        item = self._object(run, edge, action.address, action.origin)
        address = item.page << self._knowledge.page_bits
        run.accesses.append(Access(address, max(item.size, 1), False, None))
        bits = action.target.type.bits
        run.frame.registers[action.target.index] = self._terms.constant(item.size, bits)

    def end(self, run: Run, page: int) -> None:
        item = run.heap_object(page)
        assert item is not None
        if run.allocated.pop(page, None) is None:
            run.freed.add(page)
        self._memory.end_life(run, page << self._knowledge.page_bits, item.size)

    def _object(self, run: Run, edge: Edge, expr: Expr, origin: Origin) -> HeapObject:
        value = self._terms.value(self._values.checked(run, expr, edge))
        if value is None:
            raise Trouble("free of a pointer that is not known", origin)
        item = run.heap_object(value >> self._knowledge.page_bits)
        if item is None or value & self._knowledge.page_mask or item.storage == "stack":
            raise Trouble("free of a pointer that is not from malloc", origin)
        return item

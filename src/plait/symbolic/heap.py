"""Objects that are allocated: malloc, alloca, free."""

from __future__ import annotations

from plait.logic.progression import Progressions
from plait.model.actions import Allocate, Free, ObjectSize
from plait.model.machine import LARGEST_ALLOCATION, may_end
from plait.model.program import Edge
from plait.model.unset import made_at
from plait.symbolic.blocks import Access
from plait.symbolic.ends import Ends
from plait.symbolic.locations import HeapObject
from plait.symbolic.memory import Memory
from plait.symbolic.run import Run, Trouble
from plait.symbolic.values import Values

# Of one allocation whose size is not constant: each is a way of its own.
_MOST_SIZES = 8


class Heap:
    def __init__(self, memory: Memory, values: Values, ends: Ends) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._progressions = Progressions(memory.terms)
        self._values = values
        self._ends = ends

    def allocate(self, run: Run, edge: Edge, action: Allocate) -> None:
        """The sizes of objects are explicit: if that of a new one is not constant, there is a fork
        for each of the smallest sizes, and trouble for all others."""
        terms = self._terms
        term = self._values.checked(run, action.size, edge)
        size = terms.value(term)
        if size is not None:
            self._make(run, edge, action, size)
            return
        self._knowledge.has_open_sizes = True
        *others, size = self._progressions.smallest(term, _MOST_SIZES, LARGEST_ALLOCATION)
        is_size = {item: terms.eq(term, terms.constant(item, terms.width[term])) for item in others}
        for item, condition in is_size.items():
            if condition == terms.false or terms.not_(condition) in run.conditions:
                continue
            fork = run.copy()
            fork.assume(condition, terms)
            try:
                self._make(fork, edge, action, item)
            except Trouble as trouble:
                self._ends.trouble(fork, trouble.message, trouble.origin)
                continue
            fork.follow(edge)
            self._ends.frontier.add(fork)
        last = terms.eq(term, terms.constant(size, terms.width[term]))
        for condition in is_size.values():
            run.assume(terms.not_(condition), terms)
        message = f"an allocation whose size is none of the first {len(others) + 1} that are tried"
        self._ends.require(run, last, message, action.origin)
        self._make(run, edge, action, size)

    def _make(self, run: Run, edge: Edge, action: Allocate, size: int) -> None:
        if action.size.type.signed and size >> (action.size.type.bits - 1):
            raise Trouble("an allocation of negative size", action.origin)
        if size > LARGEST_ALLOCATION:
            raise Trouble(f"an allocation of {size} bytes", action.origin)
        pages = self._knowledge.pages_taken(size)
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
        name = run.frame.shape.function.name
        contents = bytes(size) if action.zeroed else made_at(name, edge.source)
        self._memory.begin_life(run, address, size, edge, contents, action.origin)
        bits = action.target.type.bits
        run.frame.registers[action.target.index] = self._terms.constant(address, bits)

    def free(self, run: Run, edge: Edge, action: Free) -> None:
        if self._terms.value(self._values.checked(run, action.address, edge)) == 0:
            return
        self.end(run, self._object(run, edge, action).page)

    def object_size(self, run: Run, edge: Edge, action: ObjectSize) -> None:
        item = self._object(run, edge, action)
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

    def _object(self, run: Run, edge: Edge, action: Free | ObjectSize) -> HeapObject:
        value = self._terms.value(self._values.checked(run, action.address, edge))
        if value is None:
            raise Trouble("free of a pointer that is not known", action.origin)
        item = run.heap_object(value >> self._knowledge.page_bits)
        is_start = item is not None and not value & self._knowledge.page_mask
        if item is None or not is_start or not may_end(action.storage, item.storage):
            raise Trouble("free of a pointer that is not from malloc", action.origin)
        return item

"""What is the same in all states of a program: its address space, static objects, functions."""

from __future__ import annotations

from typing import Protocol

from plait.model.machine import LARGEST_ALLOCATION, AddressSpace
from plait.model.program import Program


class Sizes(Protocol):
    """Sizes of the objects that live, by their first pages."""

    def get(self, page: int) -> int | None: ...


class World:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.page_bits = program.data_model.page_bits
        self.pointer_bits = program.data_model.pointer.bits
        self.pages_of = program.data_model.pages_of
        self.pages_taken = program.data_model.pages_taken
        self.last_page = program.data_model.last_page
        self.space = AddressSpace(program)
        self.static_sizes = {item.page: item.size for item in program.objects}
        self.constants = {item.page: item.contents for item in program.objects if item.read_only}
        self.functions = program.functions_by_address()
        self._most_pages = max(map(self.pages_of, self.static_sizes.values()), default=1)
        self._most_pages = max(self._most_pages, self.pages_of(LARGEST_ALLOCATION))
        for function in program.functions.values():
            for slot in function.slots:
                self._most_pages = max(self._most_pages, self.pages_of(slot.size))

    def first_page(self, live: Sizes, page: int) -> int | None:
        """The first page of the live object that has this page."""
        for back in range(self._most_pages):
            size = live.get(page - back)
            if size is not None:
                return page - back if back < self.pages_of(size) else None
        return None

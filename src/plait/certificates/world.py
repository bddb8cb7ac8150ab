"""What is the same in all states of a program: static objects, pages, the layout of frames.

Pages are numbered as the reference interpreter does (docs/certificates.md). An address is a page
and an offset; each thread takes pages for its heap from the bottom of its arena upwards and for
its stack from the top downwards.
"""

from __future__ import annotations

from typing import Protocol

from plait.data import dataclass
from plait.model.program import Function, Program, StaticObject
from plait.model.types import DataModel

LARGEST_ALLOCATION = 1 << 26


class Sizes(Protocol):
    """Sizes of the objects that live, by their first pages."""

    def get(self, page: int) -> int | None: ...


@dataclass(slots=True, eq=False)
class FrameLayout:
    """How many pages a frame takes, and where in them each slot begins."""

    pages: int
    slots: tuple[int, ...]


class World:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.page_bits = program.data_model.page_bits
        self.pointer_bits = program.data_model.pointer.bits
        self.arena_pages, self.most_threads = _arenas(program)
        self.static_sizes = {item.page: item.size for item in program.objects}
        self.constants = {item.page: contents(item) for item in program.objects if item.read_only}
        self.functions = {
            program.address_of(function): function for function in program.functions.values()
        }
        self.per_thread = [item for item in program.objects if item.thread_local]
        self._layouts: dict[str, FrameLayout] = {}
        self._most_pages = max(map(self.pages_of, self.static_sizes.values()), default=1)
        self._most_pages = max(self._most_pages, self.pages_of(LARGEST_ALLOCATION))
        for function in program.functions.values():
            for slot in function.slots:
                self._most_pages = max(self._most_pages, self.pages_of(slot.size))

    def pages_of(self, size: int) -> int:
        return (size >> self.page_bits) + 1

    def layout(self, function: Function) -> FrameLayout:
        found = self._layouts.get(function.name)
        if found is None:
            pages = 0
            places = []
            for slot in function.slots:
                places.append(pages)
                pages += self.pages_of(slot.size)
            found = self._layouts[function.name] = FrameLayout(pages, tuple(places))
        return found

    def arena(self, number: int) -> tuple[int, int]:
        """The first page of a thread's arena and the one behind its last."""
        first = self.program.first_free_page + (number - 1) * self.arena_pages
        return first, first + self.arena_pages

    def thread_locals(self, number: int) -> list[tuple[StaticObject, int]]:
        """The thread's copies of thread-local objects, by their pages."""
        if number == 1:
            return [(item, item.page) for item in self.per_thread]
        page, _ = self.arena(number)
        found = []
        for item in self.per_thread:
            found.append((item, page))
            page += self.pages_of(item.size)
        return found

    def thread_local_pages(self) -> int:
        return sum(self.pages_of(item.size) for item in self.per_thread)

    def first_page(self, live: Sizes, page: int) -> int | None:
        """The first page of the live object that has this page."""
        for back in range(self._most_pages):
            size = live.get(page - back)
            if size is not None:
                return page - back if back < self.pages_of(size) else None
        return None


def contents(item: StaticObject) -> bytes:
    return item.initial.ljust(item.size, b"\0")


def _arenas(program: Program) -> tuple[int, int]:
    """Pages per thread, and how many threads there can be."""
    if program.data_model is DataModel.LP64:
        pages = 1 << 20
        return pages, min(2000, ((1 << 32) - program.first_free_page) // pages)
    return ((1 << 18) - program.first_free_page) // 64, 64

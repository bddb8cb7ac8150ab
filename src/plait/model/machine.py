"""The abstract machine on which programs run, as far as it is data: its limits, the numbers of its
pages, the actions at which its threads are interleaved.

The interpreter, the engines and the checker of certificates all speak of this machine. An address
is a page and an offset. Static objects and functions have their pages from the linker; behind them
each thread has an arena: its copies of thread-local objects and then its heap grow from the bottom
upwards, its stack from the top downwards. All of these pages are odd (see DataModel).
"""

from __future__ import annotations

from plait.data import dataclass
from plait.model.actions import (
    AtomicBegin,
    EndProcess,
    EndThread,
    Free,
    ObjectSize,
    Spawn,
    Wait,
)
from plait.model.program import Function, Program, StaticObject
from plait.model.types import DataModel

LARGEST_ALLOCATION = 1 << 26  # bytes; an execution that asks for more gets no verdict
FIRST_PAGE = 3  # of all objects: pages 0 and 1 have numbers, 2 is the one in front of page 3

# What objects are allocated as. "heap": from malloc, ended by free, and lost if nothing leads to
# them. "stack": from alloca. The others are never lost. "given": from an environment that hands out
# objects, which may be from malloc. The library's own: the blocks of threads ("library"), and what
# opendir, getaddrinfo and mmap return, ended only by the function that belongs to each.
STORAGES = ("heap", "stack", "given", "library", "directory", "addresses", "mapping")


def may_end(ending: str, storage: str) -> bool:
    """Whether what ends objects of one storage may end one of another."""
    return ending == storage or (ending == "heap" and storage == "given")


# Actions that interact with other threads whatever memory they can reach. Free is among them
# because another thread's access before and after it differ, ObjectSize because it depends on
# whether another thread has freed the object.
ALWAYS_VISIBLE = (AtomicBegin, Wait, Spawn, EndThread, EndProcess, Free, ObjectSize)


@dataclass(slots=True, eq=False)
class FrameLayout:
    """How many pages a frame takes, and where in them each slot begins."""

    pages: int
    slots: tuple[int, ...]


class AddressSpace:
    def __init__(self, program: Program) -> None:
        self._first_arena = program.first_free_page
        self._pages_taken = program.data_model.pages_taken
        free_pages = program.data_model.last_page - self._first_arena
        if program.data_model is DataModel.LP64:
            self.arena_pages = 1 << 20
            self.most_threads = min(2000, free_pages // self.arena_pages)
        else:
            self.arena_pages = free_pages // 64 & ~1
            self.most_threads = 64
        self.thread_locals = tuple(item for item in program.objects if item.thread_local)
        self.thread_local_pages = sum(self._pages_taken(item.size) for item in self.thread_locals)
        self._frame_layouts: dict[str, FrameLayout] = {}

    def arena(self, thread: int) -> tuple[int, int]:
        """The first page of a thread's arena and the one behind its last."""
        first = self._first_arena + (thread - 1) * self.arena_pages
        return first, first + self.arena_pages

    def heap_start(self, thread: int) -> int:
        """The page of the first object that a thread allocates."""
        own_copies = self.thread_local_pages if thread > 1 else 0
        return self.arena(thread)[0] + own_copies

    def thread_local_copies(self, thread: int) -> list[tuple[StaticObject, int]]:
        """A thread's copies of the thread-local objects, with their first pages; those of the
        initial thread have theirs from the linker."""
        if thread == 1:
            return [(item, item.page) for item in self.thread_locals]
        page, _ = self.arena(thread)
        found = []
        for item in self.thread_locals:
            found.append((item, page))
            page += self._pages_taken(item.size)
        return found

    def frame_layout(self, function: Function) -> FrameLayout:
        found = self._frame_layouts.get(function.name)
        if found is None:
            pages = 0
            slots = []
            for slot in function.slots:
                slots.append(pages)
                pages += self._pages_taken(slot.size)
            found = self._frame_layouts[function.name] = FrameLayout(pages, tuple(slots))
        return found

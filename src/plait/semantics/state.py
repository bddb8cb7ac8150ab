"""States between steps: immutable, hashable, and equal exactly if they have the same futures.

Threads and suspended frames are interned by the machine's StateTable, so that a state refers to
them by identity and hashing is shallow (the idea of COLLAPSE compression in SPIN, Holzmann 1997).
Values of registers that are dead at a frame's location are not part of a state.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable
from enum import Enum
from typing import Any, NamedTuple

from plait.semantics.compile import Code, Site


class Status(Enum):
    RUNNING = "running"
    ENDED = "ended"
    # Takes no more steps because its execution goes on outside of what is explored: undefined
    # behaviour, a limit. The other threads may still overtake it there.
    HALTED = "halted"
    # The same after a failed assumption: its execution does not go on at all.
    PRUNED = "pruned"


class Frame:
    """A suspended frame. It is never changed: who returns to it copies its values."""

    __slots__ = ("allocated", "base", "caller", "code", "depth", "identity", "site", "values")

    def __init__(
        self,
        code: Code,
        site: Site,
        values: list[Any],
        base: int,
        allocated: tuple[int, ...],
        caller: Frame | None,
    ) -> None:
        self.code = code
        self.site = site  # the call it waits for
        self.values = values
        self.base = base  # the stack page to go back to when it returns
        self.allocated = allocated  # pages of its alloca objects
        self.caller = caller
        self.depth: int = 1 if caller is None else caller.depth + 1
        self.identity = 0


class Thread:
    """A thread between two steps. It is never changed: a step makes a new one."""

    __slots__ = (
        "allocated",
        "base",
        "caller",
        "code",
        "heap_page",
        "identity",
        "location",
        "stack_page",
        "status",
        "values",
    )

    def __init__(
        self,
        status: Status,
        code: Code | None,
        location: int,
        values: list[Any],
        base: int,
        allocated: tuple[int, ...],
        caller: Frame | None,
        heap_page: int,
        stack_page: int,
    ) -> None:
        self.status = status
        self.code = code
        self.location = location
        self.values = values
        self.base = base
        self.allocated = allocated
        self.caller = caller
        self.heap_page = heap_page  # the next page for an object from malloc, counted upwards
        self.stack_page = stack_page  # the last page in use for locals, counted downwards
        self.identity = 0


ENDED = Thread(Status.ENDED, None, 0, [], 0, (), None, 0, 0)


class State(NamedTuple):
    """`contents[i]` are the bytes of the object at `pages[i]`; thread n is `threads[n - 1]`."""

    pages: tuple[int, ...]
    contents: tuple[bytes, ...]
    undefined: tuple[tuple[int, bytes], ...]
    heap: tuple[tuple[int, str], ...]
    threads: tuple[Thread, ...]
    exit: tuple[int, str] | None  # status and how, once the process has ended
    weak: Hashable = None  # what a weak memory model adds
    pending: tuple[int, ...] = ()  # threads whose stores are not all visible to others


def runnable(state: State) -> list[int]:
    """The numbers of the threads that have not ended; some may be blocked. -n stands for the store
    buffer of thread n: it moves when a store becomes visible."""
    if state.exit is not None:
        return []
    running = Status.RUNNING
    threads = [number for number, item in enumerate(state.threads, 1) if item.status is running]
    return [*threads, *[-number for number in state.pending]] if state.pending else threads


class StateTable:
    """The one representative of each thread and frame."""

    def __init__(self) -> None:
        self._threads: dict[tuple[object, ...], Thread] = {}
        self._frames: dict[tuple[object, ...], Frame] = {}

    def thread(self, thread: Thread) -> Thread:
        code = thread.code
        if code is None or thread.identity:
            return thread
        caller = None if thread.caller is None else self._frame(thread.caller)
        if thread.status is Status.RUNNING:
            kept = code.kept[thread.location]
            picked = code.pick[thread.location](thread.values)
        else:
            # It stands somewhere after the location, and is kept only for where it points to.
            kept = tuple(range(len(thread.values)))
            picked = tuple(thread.values)
        key = (
            code.function.name,
            thread.location,
            _exact(code, kept, picked) if code.floats else picked,
            thread.base,
            thread.allocated,
            0 if caller is None else caller.identity,
            thread.heap_page,
            thread.stack_page,
            thread.status,
        )
        found = self._threads.get(key)
        if found is None:
            found = Thread(
                thread.status,
                code,
                thread.location,
                _with_blanks(code, kept, picked),
                thread.base,
                thread.allocated,
                caller,
                thread.heap_page,
                thread.stack_page,
            )
            found.identity = len(self._threads) + 1
            self._threads[key] = found
        return found

    def _frame(self, frame: Frame) -> Frame:
        new: list[Frame] = []
        caller: Frame | None = frame
        while caller is not None and not caller.identity:
            new.append(caller)
            caller = caller.caller
        for item in reversed(new):
            code = item.code
            kept = code.kept[item.site.edge.target]
            picked = picked_of_frame(item)
            key = (
                code.function.name,
                item.site.edge.source,
                _exact(code, kept, picked) if code.floats else picked,
                item.base,
                item.allocated,
                0 if caller is None else caller.identity,
            )
            found = self._frames.get(key)
            if found is None:
                values = _with_blanks(code, kept, picked)
                found = Frame(code, item.site, values, item.base, item.allocated, caller)
                found.identity = len(self._frames) + 1
                self._frames[key] = found
            caller = found
        assert caller is not None
        return caller


def picked_of_frame(frame: Frame) -> tuple[Any, ...]:
    """The values of a suspended frame that matter. Its call is over: the target gets its value
    when the frame is resumed."""
    code, location, target = frame.code, frame.site.edge.target, frame.site.target
    picked = code.pick[location](frame.values)
    if target in code.kept[location]:
        place = code.kept[location].index(target)
        picked = (*picked[:place], code.blank[target], *picked[place + 1 :])
    return picked


def _with_blanks(code: Code, kept: tuple[int, ...], picked: tuple[Any, ...]) -> list[Any]:
    values = code.blank[:]
    for index, value in zip(kept, picked, strict=True):
        values[index] = value
    return values


def _exact(code: Code, kept: tuple[int, ...], picked: tuple[Any, ...]) -> tuple[Any, ...]:
    """Floats by their bits: 0.0 equals -0.0, and a NaN does not equal itself, but states do."""
    return tuple(
        struct.pack("<d", value) if index in code.floats and isinstance(value, float) else value
        for index, value in zip(kept, picked, strict=True)
    )

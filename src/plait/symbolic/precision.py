"""What is left to the engine: where else threads are interleaved, and what else is explicit."""

from __future__ import annotations

from typing import Protocol

from plait.model.program import Edge, FrameSlot, StaticObject

# What an object comes from: a declaration, or the edge that allocates it.
Maker = StaticObject | FrameSlot | Edge


class Precision(Protocol):
    """None of this can hide an execution. Threads are always interleaved at the actions that
    others can notice, and the constant values of pointers are always part of locations."""

    # Up to so many paths through a block are ways of their own; if there are more, those that end
    # alike become one way.
    @property
    def most_paths(self) -> int: ...

    # Whether bytes that are only accessed together are one variable, also where a union declares
    # them one by one, as it does for mutexes.
    @property
    def joins_bytes(self) -> bool: ...

    def is_untracked(self, maker: Maker, size: int) -> bool:
        """Whether nothing is known of an object's contents: each load gives any value, and stores
        leave no trace. That adds executions, so it is for engines that only prove."""
        ...

    def is_switch(self, edge: Edge) -> bool:
        """Whether threads are interleaved before an action that nobody else needs to notice."""
        ...

    def is_lock(self, address: int) -> bool:
        """Whether the critical sections of a cell that is used like a lock are single steps."""
        ...

    def is_explicit_place(self, maker: Maker, offset: int) -> bool:
        """Whether a constant value at a place of an object is part of the location."""
        ...

    def is_explicit_register(self, function: str, index: int) -> bool: ...

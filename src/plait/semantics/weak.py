"""What takes the place of shared memory under a weak memory model.

The machine does accesses that other threads can notice through one of these; all else that a
program does is the same in every model. Where the model leaves a choice (which write is read,
which store becomes visible), the machine chooses it as it chooses an input, so that a schedule has
it too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from plait.semantics.compile import Site
from plait.semantics.scalars import Reader, Writer

if TYPE_CHECKING:
    from plait.semantics.actions import Actions


# What is chosen, as an input is.
READS_FROM = "which write is read"
COMES_AFTER = "which write comes before"
BECOMES_VISIBLE = "which store becomes visible"
CHOICES = frozenset({READS_FROM, COMES_AFTER, BECOMES_VISIBLE})


class WeakMemory(ABC):
    """`frozen` is what a state has of it, and what `restore` takes back. `offered` are those among
    which the last choice was: stores, or writes that are read or that come right before."""

    offered: tuple[Any, ...] = ()

    def __init__(self, machine: Actions) -> None:
        self.machine = machine

    @abstractmethod
    def load(self, address: int, read: Reader, size: int, site: Site) -> Any: ...

    @abstractmethod
    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None: ...

    @abstractmethod
    def load_of_update(self, address: int, read: Reader, size: int, site: Site) -> Any:
        """The read of an update; `store_of_update` or `end_update` comes next."""

    @abstractmethod
    def store_of_update(
        self, address: int, write: Writer, size: int, value: Any, site: Site
    ) -> None: ...

    @abstractmethod
    def end_update(self) -> None:
        """The update does not write."""

    @abstractmethod
    def fence(self, site: Site) -> None: ...

    @abstractmethod
    def begin_section(self, site: Site) -> None:
        """An atomic section begins (the outermost one)."""

    @abstractmethod
    def begin_inner_section(self, site: Site) -> None:
        """An atomic section begins inside of one."""

    @abstractmethod
    def end_section(self) -> None: ...

    @abstractmethod
    def synchronise(self) -> None:
        """The running thread starts another one, frees an object or ends."""

    @abstractmethod
    def free(self, address: int, site: Site) -> None:
        """An object is about to be freed by the program."""

    @abstractmethod
    def created(self, page: int) -> None: ...

    @abstractmethod
    def destroyed(self, page: int) -> None: ...

    @abstractmethod
    def frozen(self) -> Hashable: ...

    @abstractmethod
    def restore(self, frozen: Any) -> None: ...

    def pending(self) -> tuple[int, ...]:
        """The threads that have stores which are not yet visible to others."""
        return ()

    def flush(self, thread: int) -> None:
        """One of these becomes visible."""
        raise AssertionError(f"nothing of thread {thread} waits to become visible")

    def goes_first(self, thread: int) -> bool:
        """Whether an exploration loses nothing if this thread moves, if it can, and no other."""
        return False

    def has_come_back(self, thread: int) -> bool:
        """Whether an exploration loses nothing if this thread does not move."""
        return False

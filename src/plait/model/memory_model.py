"""Memory models as data: what of the order in which a thread does its accesses others can rely on.

Each model is a row of a table, so that it can be compared with the books:

- SC: Lamport, "How to make a multiprocessor computer that correctly executes multiprocess
  programs" (IEEE Trans. Comput. 1979). Every access happens at once, in program order.
- TSO: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO" (TPHOLs 2009); SPARC V9 manual,
  appendix D. A store may become visible after later loads of its thread.
- PSO: SPARC V9 manual, appendix D. A store may also become visible after later stores of its
  thread to other places.
- C11: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11" (PLDI
  2017), called RC11: no order is kept as such. What holds follows from happens-before, which
  memory orders make, and from the axioms COHERENCE, ATOMICITY, SC and NO-THIN-AIR.

TSO and PSO are models of processors: an atomic access is a plain move there, whatever its memory
order says; only fences and atomic updates are more. In C11 it is the other way round.

Mutexes, creating and joining threads and the other primitives of the library synchronise in every
model: they order what their thread has done before against what the thread does that comes to
know of it, and under TSO and PSO they make visible all that the thread has stored.
"""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass, field
from plait.model.actions import Order


class MemoryModel(Enum):
    SC = "sc"
    TSO = "tso"
    PSO = "pso"
    C11 = "c11"


R, W = "read", "write"
Pairs = frozenset[tuple[str, str]]

_NONE: Pairs = frozenset()
_ALL: Pairs = frozenset({(R, R), (R, W), (W, R), (W, W)})
_ACQUIRE: Pairs = frozenset({(R, R), (R, W)})
_RELEASE: Pairs = frozenset({(R, W), (W, W)})

# What a fence keeps in order: membar of SPARC V9 with these pairs; lfence, sfence, mfence of x86.
_FENCES = {
    Order.RELAXED: _NONE,
    Order.CONSUME: _ACQUIRE,
    Order.ACQUIRE: _ACQUIRE,
    Order.RELEASE: _RELEASE,
    Order.ACQ_REL: _ACQUIRE | _RELEASE,
    Order.SEQ_CST: _ALL,
}


@dataclass(slots=True, frozen=True)
class Ordering:
    """`kept`: pairs of accesses to different places that others see in program order (accesses to
    one place are never reordered, but a thread reads its own stores before others do). `fences`:
    the pairs that a fence between them keeps, by its memory order. `update`: the pairs that an
    atomic update between them keeps, whether it writes or not. `has_axioms`: not these pairs but
    the axioms of C11 say which executions there are."""

    kept: Pairs
    fences: dict[Order, Pairs] = field(default_factory=dict)
    update: Pairs = _NONE
    has_axioms: bool = False

    @property
    def is_fifo(self) -> bool:
        """Whether the stores of a thread become visible in program order."""
        return (W, W) in self.kept


TABLE = {
    MemoryModel.SC: Ordering(_ALL, _FENCES, _ALL),
    MemoryModel.TSO: Ordering(_ALL - {(W, R)}, _FENCES, _ALL),
    MemoryModel.PSO: Ordering(_ALL - {(W, R), (W, W)}, _FENCES, _ALL),
    MemoryModel.C11: Ordering(_NONE, has_axioms=True),
}

# How the assumption begins that is told first where a program says more than SC looks at.
ORDERS_IGNORED = "memory orders are ignored"

# Memory orders in C11: what an access or a fence of this order is at least. Consume is acquire, as
# in every compiler. Of an update, the read has the first part and the write the second one.
ACQUIRES = frozenset({Order.CONSUME, Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST})
RELEASES = frozenset({Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST})


def order_of_read(update: Order) -> Order:
    """The memory order of the read of an update."""
    if update is Order.SEQ_CST:
        return update
    return Order.ACQUIRE if update in ACQUIRES else Order.RELAXED


def order_of_write(update: Order) -> Order:
    """The memory order of the write of an update."""
    if update is Order.SEQ_CST:
        return update
    return Order.RELEASE if update in RELEASES else Order.RELAXED


# Functions of the library whose atomic sections have a meaning under C11: what they synchronise is
# said by fences in them (c/library/plait.h, docs/weak-memory.md).
HAVE_A_MEANING_IN_C11 = frozenset(
    {
        "__plait_run_thread",
        "__plait_run_c11_thread",
        "__plait_finish",
        "__plait_use_id",
        "pthread_create",
        "pthread_exit",
        "pthread_join",
        "pthread_detach",
        "pthread_self",
        "pthread_mutex_init",
        "pthread_mutex_destroy",
        "pthread_mutex_lock",
        "pthread_mutex_timedlock",
        "pthread_mutex_unlock",
        "__plait_try_lock",
        "pthread_spin_init",
        "pthread_spin_destroy",
        "pthread_spin_lock",
        "pthread_spin_trylock",
        "pthread_spin_unlock",
        "pthread_rwlock_init",
        "pthread_rwlock_destroy",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_wrlock",
        "pthread_rwlock_unlock",
        "__plait_try_read",
        "__plait_try_write",
        "__plait_writes",
        "pthread_cond_init",
        "pthread_cond_destroy",
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_cond_signal",
        "pthread_cond_broadcast",
        "__plait_begin_wait",
        "pthread_barrier_init",
        "pthread_barrier_destroy",
        "pthread_barrier_wait",
        "pthread_once",
        "pthread_key_create",
        "pthread_key_delete",
        "pthread_setspecific",
        "__plait_destroy_values",
        "thrd_create",
        "sem_init",
        "sem_destroy",
        "sem_wait",
        "sem_post",
        "__plait_try_down",
    }
)

# Sections inside of sections that say: what the section has read is seen as it was before, if that
# is possible; or, of the second one, as it was even before that.
LOOKS_BACK, LOOKS_FAR_BACK = "__plait_looks_back", "__plait_looks_far_back"

"""The library's locks, by the functions that work on them.

A lock is trusted if it is all zeros before it is first used, if only these functions write into it
while there are several threads, and if each release is by a thread that surely holds it. Then from
an acquisition to the release by the same thread no other thread acquires it (in both modes, unless
both only read): the model of the function waits until the lock is free, and only its holder makes
it free. Whoever calls the functions otherwise (with what may be any of several locks, or a release
after trylock without a look at its result) makes the engine distrust the lock, which then protects
nothing.
"""

from __future__ import annotations

from plait.engines.modular.invariants import EXTENT
from plait.engines.modular.memory import Memory
from plait.engines.modular.objects import Objects
from plait.engines.modular.state import Lock, State
from plait.engines.modular.values import Value

# Whether the function acquires the lock to write.
_ACQUIRES = {
    "pthread_mutex_lock": ("mutex", True),
    "pthread_spin_lock": ("spin", True),
    "pthread_rwlock_wrlock": ("rwlock", True),
    "pthread_rwlock_rdlock": ("rwlock", False),
}
# These return 0 if and only if they have acquired the lock.
_TRIES = {
    "pthread_mutex_trylock": ("mutex", True),
    "pthread_mutex_timedlock": ("mutex", True),
    "pthread_spin_trylock": ("spin", True),
    "pthread_rwlock_trywrlock": ("rwlock", True),
    "pthread_rwlock_timedwrlock": ("rwlock", True),
    "pthread_rwlock_tryrdlock": ("rwlock", False),
    "pthread_rwlock_timedrdlock": ("rwlock", False),
}
_RELEASES = {
    "pthread_mutex_unlock": "mutex",
    "pthread_spin_unlock": "spin",
    "pthread_rwlock_unlock": "rwlock",
}
# Functions that write something else than 0 into locks that nobody holds.
DESTROYERS = frozenset({"pthread_mutex_destroy", "pthread_rwlock_destroy", "pthread_spin_destroy"})
# Functions that write into locks as described above.
WRITERS = frozenset(
    {*_ACQUIRES, *_RELEASES, "pthread_spin_trylock"}
    | {"__plait_try_lock", "__plait_try_read", "__plait_try_write"}
)


def lock_at(objects: Objects, address: Value, family: str) -> Lock | None:
    """The one lock that an address means."""
    if address is None or address[0] <= address[1] or len(address[2]) != 1:
        return None
    [(number, low, high, _)] = address[2]
    if low != high or not objects.is_one(number):
        return None
    return Lock(number, low, family)


def apply(memory: Memory, state: State, name: str, address: Value, target: int | None) -> None:
    """What a call of a library function, which has returned, means for locks."""
    objects = memory.objects
    if name in _ACQUIRES or name in _TRIES:
        family, writes = _ACQUIRES.get(name) or _TRIES[name]
        lock = lock_at(objects, address, family)
        if lock is None:
            _distrust_all(memory, family, address)
            return
        if not memory.invariants.is_trusted(lock):
            return
        if name in _ACQUIRES:
            memory.acquire(state, lock, writes)
        elif target is not None:
            state.tries[target] = lock, writes
    elif name in _RELEASES:
        _release(memory, state, _RELEASES[name], address)


def _release(memory: Memory, state: State, family: str, address: Value) -> None:
    lock = lock_at(memory.objects, address, family)
    if lock is None:
        _distrust_all(memory, family, address)
    elif memory.invariants.is_trusted(lock) and (lock in state.written or lock in state.read):
        memory.release(state, lock)
    else:
        memory.invariants.distrust(lock)


def _distrust_all(memory: Memory, family: str, address: Value) -> None:
    """Any of several locks is acquired or released, it is not known which."""
    for number, low, high, _ in address[2] if address is not None else ():
        memory.invariants.stray.add((number, low, high + EXTENT[family]))


def refine(memory: Memory, state: State, register: int) -> None:
    """The register is 0: the lock that it stands for is held."""
    lock, writes = state.tries.pop(register)
    memory.acquire(state, lock, writes)

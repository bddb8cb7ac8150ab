"""What calls of library functions mean to other threads: which locks are taken and given back, who
waits for whom, which thread was started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plait.evidence.result import Operation, Row

_LOCKS = {
    "pthread_mutex": ("lock", "trylock", "timedlock", "clocklock", "unlock"),
    "pthread_spin": ("lock", "trylock", "unlock"),
    "pthread_rwlock": (
        *("rdlock", "tryrdlock", "timedrdlock", "clockrdlock"),
        *("wrlock", "trywrlock", "timedwrlock", "clockwrlock", "unlock"),
    ),
    "mtx": ("lock", "trylock", "timedlock", "unlock"),
}


def _kind_of_lock(verb: str) -> str:
    if verb == "unlock":
        return "unlock"
    if verb.endswith("rdlock"):
        return "read-lock"
    if verb.endswith("wrlock"):
        return "write-lock"
    return "lock" if verb == "lock" else "trylock"


# By function: the kind of operation, and the index of the argument that it is done to.
_KINDS: dict[str, tuple[str, int | None]] = {
    **{
        f"{family}_{verb}": (_kind_of_lock(verb), 0)
        for family, verbs in _LOCKS.items()
        for verb in verbs
    },
    "pthread_create": ("create", None),
    "thrd_create": ("create", None),
    "pthread_join": ("join", None),
    "thrd_join": ("join", None),
    "pthread_tryjoin_np": ("join", None),
    "pthread_timedjoin_np": ("join", None),
    "pthread_exit": ("exit", None),
    "thrd_exit": ("exit", None),
    "pthread_cond_wait": ("wait", 0),
    "pthread_cond_timedwait": ("wait", 0),
    "pthread_cond_clockwait": ("wait", 0),
    "cnd_wait": ("wait", 0),
    "cnd_timedwait": ("wait", 0),
    "pthread_cond_signal": ("signal", 0),
    "cnd_signal": ("signal", 0),
    "pthread_cond_broadcast": ("broadcast", 0),
    "cnd_broadcast": ("broadcast", 0),
    "pthread_barrier_wait": ("barrier", 0),
    "sem_wait": ("lock", 0),
    "sem_trywait": ("trylock", 0),
    "sem_timedwait": ("trylock", 0),
    "sem_post": ("post", 0),
    "pthread_once": ("once", 0),
    "call_once": ("once", 0),
    "free": ("free", 0),
    "__VERIFIER_atomic_begin": ("begin", None),
    "__VERIFIER_atomic_end": ("end", None),
}

_SYNCHRONISING = frozenset(
    {
        *("lock", "trylock", "read-lock", "write-lock", "unlock", "wait", "wake", "signal"),
        *("broadcast", "create", "join", "post", "barrier", "once", "start"),
    }
)
_TAKING = frozenset({"lock", "trylock", "read-lock", "write-lock", "wake"})


class Names:
    """Names of the things that threads synchronise with. Two locks may be called the same, static
    ones of two functions for example: from the second one on they are numbered."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._numbers: Counter[str] = Counter()

    def __call__(self, place: tuple[int, str]) -> str:
        address, name = place
        known = known_part(name)
        if not address or not known:
            return known
        if address not in self._names:
            self._numbers[known] += 1
            number = self._numbers[known]
            self._names[address] = known if number == 1 else f"{known} ({number})"
        return self._names[address]


def operation_of(
    function: str, places: tuple[tuple[int, str], ...], names: Names
) -> Operation | None:
    """The operation that a call of a library function is, by what its arguments point to; None if
    it means nothing to other threads."""
    known = _KINDS.get(function)
    if known is None:
        return None
    kind, index = known
    is_there = index is not None and index < len(places)
    operation = Operation(kind, names(places[index]) if is_there and index is not None else "")
    if kind == "wait" and len(places) > 1:
        operation.lock = names(places[1])
    return operation


def known_part(name: str) -> str:
    """Of `queue.lock.__data.__lock` the author of the program knows `queue.lock`."""
    return name.split(".__")[0]


def is_synchronisation(operation: Operation) -> bool:
    return operation.kind in _SYNCHRONISING and operation.succeeded


class Locks:
    """Which locks each thread holds in the course of a trace. A semaphore counts as one until
    anybody posts."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.held: dict[int, list[str]] = {}
        for row in rows:
            self.follow(row)

    def follow(self, row: Row) -> None:
        operation = row.operation
        if operation is None or not operation.succeeded:
            return
        mine = self.held.setdefault(row.thread, [])
        if operation.kind in _TAKING:
            name = operation.lock or operation.object
            mine.append(name)
        elif operation.kind in ("unlock", "wait"):
            name = operation.lock or operation.object
            if name in mine:
                mine.remove(name)
        elif operation.kind == "post":
            for names in self.held.values():
                if operation.object in names:
                    names.remove(operation.object)
                    break

    def holders(self, name: str) -> list[int]:
        return [thread for thread, names in sorted(self.held.items()) if name in names]

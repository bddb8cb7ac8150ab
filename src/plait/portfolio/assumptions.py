"""What a verdict relies on beside the program's text. Printed before every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import InputError
from plait.model.memory_model import ORDERS_IGNORED, MemoryModel
from plait.model.properties import Property

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

_MEMORY = {
    MemoryModel.SC: "sequentially consistent memory",
    MemoryModel.TSO: "memory model TSO (memory orders of accesses are ignored)",
    MemoryModel.PSO: "memory model PSO (memory orders of accesses are ignored)",
    MemoryModel.C11: "memory model C11 (RC11, release sequences as in C23)",
}
_ALLOCATION = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "strdup")
# Whose models have no failure that POSIX or C allow for reasons outside of the program.
_MAY_FAIL = (
    "pthread_create",
    "thrd_create",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "mtx_init",
    "mtx_lock",
    "pthread_cond_init",
    "cnd_init",
    "pthread_rwlock_init",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_barrier_init",
    "pthread_spin_init",
    "pthread_key_create",
    "pthread_setspecific",
    "tss_create",
    "tss_set",
    "sem_init",
    "pthread_attr_init",
    "pthread_mutexattr_init",
    "pthread_condattr_init",
    "pthread_rwlockattr_init",
    "pthread_barrierattr_init",
)
_WAKE_UPS = ("pthread_cond_wait", "pthread_cond_timedwait", "cnd_wait", "cnd_timedwait")
_IDENTITIES = ("pthread_self", "pthread_equal", "thrd_current", "thrd_equal")
_VARIABLES = ("environ", "__environ")
_ENVIRONMENT = ("getenv", "secure_getenv")
_ERRORS = ("strerror", "strsignal", "hstrerror", "gai_strerror")
_MESSAGES = ("gettext", "dgettext", "dcgettext", "ngettext", "dngettext", "dcngettext")


def assumptions_of(
    program: Program,
    specification: Specification,
    *,
    spurious_wakeups: bool,
    failing_calls: bool = False,
) -> list[str]:
    """The front end's assumptions about this program, after those about all programs."""
    from plait.analysis.function_pointers import pointed_to
    from plait.model.actions import Call

    called = {
        edge.action.callee
        for function in program.functions.values()
        if not function.library
        for edge in function.all_edges()
        if isinstance(edge.action, Call)
    }

    def has(names: tuple[str, ...]) -> bool:
        return any(name in program.functions for name in names)

    found = []
    if specification.assumes_defined:
        found.append("no execution does anything undefined (--assume-defined)")
    if specification.memory_model is MemoryModel.SC and _has_weak_orders(program):
        found.insert(
            0,
            f"{ORDERS_IGNORED}: the program has relaxed, acquire or release accesses or fences,"
            " and this verdict is about sequentially consistent memory"
            " (--memory-model c11 is about C11)",
        )
    memory = _MEMORY[specification.memory_model]
    found += [f"data model {program.data_model.value}, {memory}"]
    if has(_ALLOCATION) and not failing_calls:
        found.append("memory allocation never fails")
    modelled = ("pthread_create", "thrd_create") if failing_calls else ()
    may_fail = [name for name in _MAY_FAIL if name in program.functions and name not in modelled]
    if any(name not in called for name in may_fail):  # by the library alone, or through a pointer
        called |= pointed_to(program)
    failing = [name for name in may_fail if name in called]
    if failing:
        found.append(f"no call fails for lack of resources: {', '.join(failing)}")
    if has(_WAKE_UPS):
        if not spurious_wakeups:
            found.append("condition variables wake up only when they are signalled")
        elif Property.NO_DEADLOCK in specification:
            found.append("for no-deadlock, condition variables wake up only when signalled")
    found += _about_addresses(program, specification)
    if has(_IDENTITIES):
        found.append("the identity of a thread that has ended is not given to a new one")
    if has(_ENVIRONMENT) or any(
        item.library and item.name in _VARIABLES for item in program.objects
    ):
        found.append("the environment is empty")
    if has(_ERRORS):
        found.append("messages of the system (strerror, ...) have at most 7 characters")
    if has(_MESSAGES):
        found.append("messages are not translated")
    return [*found, *program.assumptions]


def _has_weak_orders(program: Program) -> bool:
    from plait.model.actions import Fence, Load, Order, ReadModifyWrite, Store

    return any(
        isinstance(edge.action, Fence)
        or (
            isinstance(edge.action, Load | Store | ReadModifyWrite)
            and edge.action.order.is_atomic
            and edge.action.order is not Order.SEQ_CST
        )
        for function in program.functions.values()
        if not function.library
        for edge in function.all_edges()
    )


def assumptions_of_certificate(program: Program, specification: Specification) -> list[str]:
    """What a certificate does not show itself; InputError if that is not known to hold."""
    from plait.analysis.lifetimes import Lifetimes
    from plait.analysis.sharing import sharing_of

    own = [function for function in program.functions.values() if not function.library]
    if Property.VALID_ACCESS not in specification or not any(item.slots for item in own):
        return []
    for item in Lifetimes(sharing_of(program)).reused():
        raise InputError(f"no certificate shows valid-access: a pointer to {item!r} may outlive it")
    return ["no pointer outlives a local whose memory is used again (by an analysis of pointers)"]


def _about_lifetimes(program: Program) -> list[str]:
    """What may outlive its life; engines that do not check accesses do not look at that."""
    from plait.analysis.lifetimes import Lifetimes
    from plait.analysis.objects import ObjectKind
    from plait.analysis.sharing import sharing_of

    own = [function for function in program.functions.values() if not function.library]
    is_private = any(item.thread_local and not item.library for item in program.objects)
    if not is_private and not any(function.slots for function in own):
        return []
    found = []
    outliving = {item.kind for item in Lifetimes(sharing_of(program)).outliving}
    if outliving - {ObjectKind.THREAD_LOCAL}:
        found.append(
            "no pointer to a local is used after its function has returned or its block has ended"
            " (valid-access checks that)"
        )
    if ObjectKind.THREAD_LOCAL in outliving:
        found.append(
            "no pointer to a thread-local object is used after its thread has ended"
            " (valid-access checks that)"
        )
    return found


def _about_addresses(program: Program, specification: Specification) -> list[str]:
    from plait.analysis.addresses import looks_at_addresses
    from plait.model.actions import Free

    found = []
    if not specification.checks_accesses and not specification.assumes_defined:
        found += _about_lifetimes(program)
    edges = (edge for function in program.functions.values() for edge in function.all_edges())
    if any(isinstance(edge.action, Free) for edge in edges):
        found.append("memory that was freed is not handed out again: no ABA through address reuse")
    if looks_at_addresses(program):
        found.append("objects have the addresses that plait gives them: far apart from each other")
    return found

"""What a verdict relies on beside the program's text. Printed before every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.model.properties import Property

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

_ALLOCATION = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "strdup")
_WAKE_UPS = ("pthread_cond_wait", "pthread_cond_timedwait", "cnd_wait", "cnd_timedwait")


def assumptions_of(
    program: Program, specification: Specification, *, spurious_wakeups: bool
) -> list[str]:
    """The front end's assumptions about this program, after those about all programs."""
    found = [f"data model {program.data_model.value}, sequentially consistent memory"]
    if any(name in program.functions for name in _ALLOCATION):
        found.append("memory allocation never fails")
    if any(name in program.functions for name in _WAKE_UPS):
        if not spurious_wakeups:
            found.append("condition variables wake up only when they are signalled")
        elif Property.NO_DEADLOCK in specification:
            found.append("for no-deadlock, condition variables wake up only when signalled")
    return [*found, *program.assumptions]

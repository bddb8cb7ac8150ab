"""Lost memory: SV-COMP's valid-memtrack.

An object from malloc is lost if it is alive when the process ends and no pointer leads to it from a
static object, a local of a frame that is still there, or a variable of such a frame. A pointer is
any value of pointer size at an aligned offset that is the address of a byte of the object, or of
its end; if one at another offset makes the difference, there is no verdict. Objects that the model
of the C library allocates for itself are never lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.semantics.memory import HEAP
from plait.semantics.state import Status, picked_of_frame

if TYPE_CHECKING:
    from plait.semantics.actions import Actions


def lost_objects(
    machine: Actions, running: tuple[Any, ...], alignment: int | None = None
) -> list[int]:
    """The pages of the lost objects. `running` are the values that matter in the running frame,
    `alignment` is that of pointers in memory (their size if not given)."""
    heap = machine.heap
    if HEAP not in heap.values():
        return []
    pending = [page for page in machine.memory if page not in heap]
    reached = set(pending)

    def reach(value: Any) -> None:
        if isinstance(value, int) and value > 0:
            page = machine.first_page(value >> machine.page_bits)
            if page in heap and page not in reached:
                reached.add(page)
                pending.append(page)

    for values in (running, *_frames(machine)):
        for value in values:
            reach(value)
    size = machine.program.data_model.pointer.size
    while pending:
        data = machine.memory[pending.pop()]
        for offset in range(0, len(data) - size + 1, alignment or size):
            reach(int.from_bytes(data[offset : offset + size], "little"))
    return [page for page, storage in heap.items() if storage == HEAP and page not in reached]


def _frames(machine: Actions) -> list[tuple[Any, ...]]:
    """What matters of all other frames: dead values are gone in explored states, so they must not
    count in a run either."""
    found = []
    for number, thread in enumerate(machine.threads, 1):
        frame = thread.caller
        if number == machine.number:
            frame = machine.caller if machine.code is not None else None
        elif thread.code is not None and thread.status is Status.RUNNING:
            found.append(thread.code.pick[thread.location](thread.values))
        elif thread.code is not None:
            found.append(tuple(thread.values))
        while frame is not None:
            found.append(picked_of_frame(frame))
            frame = frame.caller
    return found

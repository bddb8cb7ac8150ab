"""An execution that the order graph has found, as moves for the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from plait.engines.interface import WeakMove
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling

Number = tuple[int, int]  # of an access: its thread, and how many are before it there


def moves_of(
    unrolling: Unrolling,
    schedule: Iterable[int],
    holds: Callable[[int], int],
    is_buffered: Callable[[Occurrence], bool],
    sources: Mapping[int, int],
    earlier: Mapping[int, Iterable[int]],
) -> list[WeakMove]:
    """`schedule` has the events that occur, in order; `holds` says whether a term does. Under C11
    `sources` has of each read the write that it reads, and `earlier` of each write those that come
    before it in modification order, as far as they are events."""
    numbers, made = _numbered(unrolling, holds)
    events = unrolling.events
    reads = {numbers[read]: numbers[write] for read, write in sources.items() if write in numbers}
    behind = {
        numbers[write]: frozenset(numbers[one] for one in others)
        for write, others in earlier.items()
    }
    done = dict.fromkeys(made, 0)
    moves: list[WeakMove] = []
    for number in schedule:
        if number >= len(events) or events[number].thread not in made:
            continue
        event = events[number]
        if event.kind is Access.FENCE:
            continue  # on the way to what is behind it
        thread = event.thread
        for place in range(done[thread], made[thread][number]):
            here = thread, place
            moves.append(WeakMove(thread, None, reads.get(here), behind.get(here, frozenset())))
        done[thread] = max(done[thread], made[thread][number])
        if number in unrolling.endings and not event.is_access:
            moves.append(WeakMove(thread, ends=True))
        if is_buffered(event):
            moves.append(WeakMove(thread, numbers[number][1]))
    return moves


def _numbered(
    unrolling: Unrolling, holds: Callable[[int], int]
) -> tuple[dict[int, Number], dict[int, dict[int, int]]]:
    """The numbers of the accesses that occur; and of each event of a thread, how many of its
    thread's accesses there are up to it. A section is one access."""
    numbers: dict[int, Number] = {}
    made: dict[int, dict[int, int]] = {}
    for thread in unrolling.threads:
        count = 0
        made[thread.number] = {}
        inside: int | None = None
        for event in thread.all_events:
            if event.is_access and holds(event.guard):
                begin = next((one for one, when in event.section if holds(when)), None)
                if begin is None or begin != inside:
                    count += 1
                inside = begin
            if event.cell is not None and not event.is_silent and holds(event.guard):
                numbers[event.number] = thread.number, count - 1
            if not event.is_silent:
                made[thread.number][event.number] = count
    return numbers, made

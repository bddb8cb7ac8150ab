"""TSO and PSO: which program order is left.

An event of a store is the moment at which the store becomes visible to others; that of a load is
when it is done. So the order graph is about memory that everybody sees alike, as under sequential
consistency, and its linear extensions are schedules of the abstract machine of x86-TSO (Owens,
Sarkar, Sewell 2009), in which a store leaves its thread's buffer where its event is. What is
weaker:

- Program order is kept as far as the table of the model says (`model.memory_model`).
- A load may take its value from the buffer: a store of its own thread that is not visible yet. Such
  a link orders nothing (`Link.is_internal`). All else that a link means holds all the same: no
  other store to the place becomes visible between that store and the load.
- A load takes its value from its own buffer whenever it can. So if it takes it from elsewhere, or
  from an older store, all its thread's later stores to the place before it have become visible
  before that one (`of_buffers`).

All that synchronises (atomic sections, updates, starting a thread) comes after all stores of its
thread before it have become visible. A store orders against such events, and against fences, only
where both occur: events that do not occur pass orders on (see `events`), and a fence that does not
occur must not. In all other pairs what is between does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plait.engines.orders.unrolling import Access, Occurrence, ThreadRun, Unrolling
from plait.model.memory_model import TABLE, MemoryModel, Ordering, R, W

Pair = tuple[int, int]


def kept_order(unrolling: Unrolling, model: MemoryModel) -> list[Pair]:
    """The orders that hold whatever occurs, the initial writes (numbered behind the events) before
    all others."""
    ordering = TABLE[model]
    assert (R, R) in ordering.kept and (R, W) in ordering.kept and (W, R) not in ordering.kept
    orders: list[Pair] = []
    count = len(unrolling.events)
    for thread in unrolling.threads:
        if thread.spawned_by >= 0:
            starts = [thread.spawned_by]
        else:
            starts = [count + cell for cell in range(len(unrolling.initial))]
        orders += _of_thread(_events(unrolling, thread), starts, ordering)
    return orders


def _of_thread(events: list[Occurrence], starts: list[int], ordering: Ordering) -> Iterator[Pair]:
    before = starts  # the last events that everything behind comes after
    stored: dict[tuple[int, int] | None, int] = {}
    fence = -1  # the last fence for stores
    for event in events:
        if event.kind is Access.FENCE:
            if orders_all(event, ordering):
                yield from ((one, event.number) for one in before)
                before = [event.number]
            elif orders_stores(event, ordering):
                if fence >= 0:
                    yield fence, event.number
                fence = event.number
            continue
        yield from ((one, event.number) for one in before)
        if not is_buffered(event):
            before = [event.number]
            continue
        if fence >= 0:
            yield fence, event.number
        # A store behind an earlier one to the same cell; under TSO behind every one.
        place = None if ordering.is_fifo or event.address is not None else event.cell
        if place in stored and (ordering.is_fifo or event.address is None):
            yield stored[place], event.number
        stored[place] = event.number


def of_stores(unrolling: Unrolling, model: MemoryModel) -> Iterator[Pair]:
    """Orders of a store that hold only where both events occur: before what synchronises and before
    fences."""
    ordering = TABLE[model]
    waiting = {thread.spawned_by for thread in unrolling.threads}
    waiting |= {first for first, _, _ in unrolling.sections}
    for thread in unrolling.threads:
        stores: list[int] = []
        for event in _events(unrolling, thread):
            if is_buffered(event):
                stores.append(event.number)
            elif event.number in waiting or orders_some_stores(event, ordering):
                yield from ((store, event.number) for store in stores)


def of_places(
    unrolling: Unrolling,
    model: MemoryModel,
    same_address: Callable[[Occurrence, Occurrence], int],
) -> Iterator[tuple[int, int, int]]:
    """Orders of two stores of a thread that hold where both occur, with a condition: that they are
    to the same place of a region."""
    if TABLE[model].is_fifo:
        return
    for thread in unrolling.threads:
        stores: list[Occurrence] = []
        for event in _events(unrolling, thread):
            if is_buffered(event) and event.address is not None:
                for earlier in stores:
                    if earlier.cell == event.cell:
                        yield earlier.number, event.number, same_address(earlier, event)
                stores.append(event)


def own_stores(unrolling: Unrolling) -> dict[int, list[int]]:
    """For each load that may take its value from the buffer, the buffered stores of its thread to
    its cell or region before it."""
    found: dict[int, list[int]] = {}
    for thread in unrolling.threads:
        stores: list[Occurrence] = []
        for event in _events(unrolling, thread):
            if is_buffered(event):
                stores.append(event)
            elif event.kind is Access.READ and not event.section:
                found[event.number] = [one.number for one in stores if one.cell == event.cell]
    return found


def is_buffered(event: Occurrence) -> bool:
    """Whether an event is a store that becomes visible at a moment of its own."""
    return event.kind is Access.WRITE and not event.section


def orders_some_stores(event: Occurrence, ordering: Ordering) -> bool:
    is_fence = event.kind is Access.FENCE
    return is_fence and (orders_all(event, ordering) or orders_stores(event, ordering))


def orders_all(fence: Occurrence, ordering: Ordering) -> bool:
    return (W, R) in ordering.fences[fence.order]


def orders_stores(fence: Occurrence, ordering: Ordering) -> bool:
    return (W, W) in ordering.fences[fence.order] and not ordering.is_fifo


def _events(unrolling: Unrolling, thread: ThreadRun) -> list[Occurrence]:
    return [unrolling.events[number] for number in thread.events]

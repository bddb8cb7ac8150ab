"""RC11: which execution graphs are executions of C11.

After Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11" (PLDI
2017), section 3, with their names: sb (sequenced before), rf (reads from), mo (modification
order), rb (reads before: rf^-1;mo), eco, sw, hb, scb, psc. One deviation: a release sequence goes
on through atomic updates only, as C++20 and C23 have it, and not also through later stores of its
own thread, as C11 had it. That orders less, so what holds here holds in both.

A relation is a list with a bit set for each event: bit b of `r[a]` says that (a, b) is in r.
"""

from __future__ import annotations

from plait.data import dataclass
from plait.model.actions import Order
from plait.model.memory_model import ACQUIRES, RELEASES

Relation = list[int]


@dataclass(slots=True, eq=False)
class ExecutionGraph:
    """Events by number. `orders` of fences, reads and writes; `thread_before` is sb.
    `reads_from[r]` is the write, -1 for the value at the beginning of the location.
    `modifications` has the writes of each location in mo; what a location begins with comes before
    all of them. `update_of[w]` is the read of which w is the write, in one update. `synchronised`
    are pairs that the library orders: an unlock and the next lock, for one."""

    orders: list[Order]
    is_fence: list[bool]
    locations: list[int]  # -1 for what is no access
    thread_before: Relation
    reads_from: dict[int, int]
    modifications: list[list[int]]
    update_of: dict[int, int]
    synchronised: list[tuple[int, int]]


def is_consistent(graph: ExecutionGraph) -> bool:
    return (
        has_no_value_out_of_thin_air(graph)
        and has_coherence(graph)
        and has_atomicity(graph)
        and has_order_of_sc(graph)
    )


# --- the axioms


def has_no_value_out_of_thin_air(graph: ExecutionGraph) -> bool:
    """NO-THIN-AIR: sb | rf is acyclic."""
    return is_acyclic(union(graph.thread_before, reads_from(graph)))


def has_coherence(graph: ExecutionGraph) -> bool:
    """COHERENCE: hb;eco? is irreflexive."""
    hb = happens_before(graph)
    eco = extended_coherence(graph)
    return all(
        not hb[event] >> event & 1 and not _image(eco, hb[event]) >> event & 1
        for event in range(len(hb))
    )


def has_atomicity(graph: ExecutionGraph) -> bool:
    """ATOMICITY: no write comes in mo between the two parts of an update (rmw & rb;mo is empty)."""
    rb, mo = reads_before(graph), modification_order(graph)
    return all(not _image(mo, rb[read]) >> write & 1 for write, read in graph.update_of.items())


def has_order_of_sc(graph: ExecutionGraph) -> bool:
    """SC: psc is acyclic. It relates events that are SC."""
    if Order.SEQ_CST not in graph.orders:
        return True
    return is_acyclic(partial_order_of_sc(graph))


# --- the relations


def reads_from(graph: ExecutionGraph) -> Relation:
    result = _empty(graph)
    for read, write in graph.reads_from.items():
        if write >= 0:
            result[write] |= 1 << read
    return result


def modification_order(graph: ExecutionGraph) -> Relation:
    result = _empty(graph)
    for writes in graph.modifications:
        later = 0
        for write in reversed(writes):
            result[write] = later
            later |= 1 << write
    return result


def reads_before(graph: ExecutionGraph) -> Relation:
    """rb = rf^-1;mo"""
    mo = modification_order(graph)
    result = _empty(graph)
    every = {
        graph.locations[writes[0]]: sum(1 << write for write in writes)
        for writes in graph.modifications
        if writes
    }
    for read, write in graph.reads_from.items():
        result[read] = mo[write] if write >= 0 else every.get(graph.locations[read], 0)
    return result


def extended_coherence(graph: ExecutionGraph) -> Relation:
    """eco = (rf | mo | rb)+"""
    return closure(union(union(reads_from(graph), modification_order(graph)), reads_before(graph)))


def synchronises_with(graph: ExecutionGraph) -> Relation:
    """sw = [release];([F];sb)?;rs;rf;[atomic read];(sb;[F])?;[acquire], and what the library does.

    rs, the release sequence of a write, are the write and the updates that read from it in a row.
    """
    result = _empty(graph)
    for first, second in graph.synchronised:
        result[first] |= 1 << second
    fences = [event for event, is_fence in enumerate(graph.is_fence) if is_fence]
    for read, write in graph.reads_from.items():
        if write < 0 or not graph.orders[read].is_atomic:
            continue
        acquiring = [read] if graph.orders[read] in ACQUIRES else []
        acquiring += [
            fence
            for fence in fences
            if graph.orders[fence] in ACQUIRES and graph.thread_before[read] >> fence & 1
        ]
        for head in heads_of_release_sequences(graph, write):
            releasing = [head] if graph.orders[head] in RELEASES else []
            releasing += [
                fence
                for fence in fences
                if graph.orders[fence] in RELEASES and graph.thread_before[fence] >> head & 1
            ]
            for one in releasing:
                for other in acquiring:
                    result[one] |= 1 << other
    return result


def heads_of_release_sequences(graph: ExecutionGraph, write: int) -> list[int]:
    """The atomic writes in whose release sequence a write is."""
    found = []
    while write >= 0:
        if graph.orders[write].is_atomic:
            found.append(write)
        read = graph.update_of.get(write)
        if read is None:
            break
        write = graph.reads_from[read]
    return found


def happens_before(graph: ExecutionGraph) -> Relation:
    """hb = (sb | sw)+"""
    return closure(union(graph.thread_before, synchronises_with(graph)))


def partial_order_of_sc(graph: ExecutionGraph) -> Relation:
    """psc = psc_base | psc_F, where

    scb      = sb | sb!=loc;hb;sb!=loc | hb=loc | mo | rb
    psc_base = ([E_sc] | [F_sc];hb?);scb;([E_sc] | hb?;[F_sc])
    psc_F    = [F_sc];(hb | hb;eco;hb);[F_sc]
    """
    hb = happens_before(graph)
    sb, eco = graph.thread_before, extended_coherence(graph)
    here = _same_location(graph)
    elsewhere = [row & ~same for row, same in zip(sb, here, strict=True)]
    scb = union(
        union(sb, _composed(_composed(elsewhere, hb), elsewhere)),
        union(
            [row & same for row, same in zip(hb, here, strict=True)],
            union(modification_order(graph), reads_before(graph)),
        ),
    )
    events = range(len(sb))
    sc = sum(1 << event for event in events if graph.orders[event] is Order.SEQ_CST)
    fences = sum(1 << event for event in events if graph.is_fence[event]) & sc
    hb_or_same = [row | 1 << event for event, row in enumerate(hb)]
    starts = [
        (1 << event if sc >> event & 1 else 0) | (hb_or_same[event] if fences >> event & 1 else 0)
        for event in events
    ]
    ends = [(1 << event & sc) | (hb_or_same[event] & fences) for event in events]
    base = _composed(_composed(starts, scb), ends)
    between_fences = union(hb, _composed(_composed(hb, eco), hb))
    of_fences = [between_fences[event] & fences if fences >> event & 1 else 0 for event in events]
    return union(base, of_fences)


# --- relations in general


def union(one: Relation, other: Relation) -> Relation:
    return [mine | theirs for mine, theirs in zip(one, other, strict=True)]


def closure(relation: Relation) -> Relation:
    """The transitive closure (Warshall)."""
    result = relation[:]
    for middle in range(len(result)):
        behind = result[middle]
        if behind:
            bit = 1 << middle
            for event, row in enumerate(result):
                if row & bit:
                    result[event] = row | behind
    return result


def is_acyclic(relation: Relation) -> bool:
    return all(not row >> event & 1 for event, row in enumerate(closure(relation)))


def _same_location(graph: ExecutionGraph) -> Relation:
    members: dict[int, int] = {}
    for event, location in enumerate(graph.locations):
        if location >= 0:
            members[location] = members.get(location, 0) | 1 << event
    return [members.get(location, 0) for location in graph.locations]


def _empty(graph: ExecutionGraph) -> Relation:
    return [0] * len(graph.orders)


def _image(relation: Relation, events: int) -> int:
    result = 0
    while events:
        low = events & -events
        result |= relation[low.bit_length() - 1]
        events ^= low
    return result


def _composed(one: Relation, other: Relation) -> Relation:
    return [_image(other, row) for row in one]

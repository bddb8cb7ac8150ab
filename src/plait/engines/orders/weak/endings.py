"""What does not come before the end of the object that it accesses.

The end of an object is an event. An access of its own thread that comes later in program order is
wrong wherever both occur; one of another thread where it does not come before the end. What that
means is for the memory model to say: in the order in which memory changes (TSO and PSO), or in
happens-before (C11). Ends are no writes: what is read from a dead object is arbitrary, and an
execution that does so is claimed for that access, whatever comes later.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass
from plait.engines.orders.objects import Objects
from plait.engines.orders.places import is_one_of
from plait.engines.orders.unrolling import Occurrence, Unrolling
from plait.logic.terms import Terms

DEAD = "an access that does not come before the end of its object"


@dataclass(frozen=True, slots=True)
class Ending:
    """`end` ends, where `both` holds, the object that `access` accesses, or ends, too."""

    access: Occurrence
    end: Occurrence
    both: int
    is_free: bool

    @property
    def is_wrong(self) -> bool:
        """Whatever the order of other events is."""
        is_later = self.access.number > self.end.number
        return self.is_free or (self.access.thread == self.end.thread and is_later)


class Endings:
    def __init__(self, unrolling: Unrolling, objects: Objects, terms: Terms) -> None:
        self._unrolling = unrolling
        self._objects = objects
        self._terms = terms

    def conflicts(self) -> Iterator[Ending]:
        """Events that are wrong, or wrong unless they come before the end."""
        events, terms = self._unrolling.events, self._terms
        for number, ended in self._unrolling.endings.items():
            end = events[number]
            for access in events:
                is_earlier = access.thread == end.thread and access.number < number
                if access.cell is None or is_earlier:
                    continue
                here = terms.any_of(
                    terms.and_(when, self.is_in(access, address)) for address, when in ended
                )
                yield from self._where_both_occur(access, end, here)
            for other, also_ended in self._unrolling.endings.items():
                if other < number and end.is_access and events[other].is_access:
                    here = terms.any_of(
                        terms.and_(when, also_when)
                        for address, when in ended
                        for also_address, also_when in also_ended
                        if address == also_address
                    )
                    yield from self._where_both_occur(events[other], end, here)

    def _where_both_occur(self, access: Occurrence, end: Occurrence, here: int) -> Iterator[Ending]:
        terms = self._terms
        both = terms.and_(terms.and_(access.guard, end.guard), here)
        if both != terms.false:
            yield Ending(access, end, both, access.cell is None)

    def is_in(self, event: Occurrence, address: int) -> int:
        """Whether an access is to the object that begins at an address."""
        assert event.cell is not None
        terms, objects = self._terms, self._objects

        def is_there(place: int) -> bool:
            instance = objects.at(place, 0)
            return instance is not None and instance.address == address

        if event.address is None:
            return terms.true if is_there(event.cell[0]) else terms.false
        return is_one_of(terms, event.address, [one for one in event.places if is_there(one)])

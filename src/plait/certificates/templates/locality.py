"""Rule L: what a step does as if nobody could notice, nobody can notice.

A local access of a thread is compared with all that others access from places at which they can be
while the thread stands where the step of the access begins or ends.
"""

from __future__ import annotations

from plait.certificates.outcomes import Ending
from plait.certificates.state import Access
from plait.certificates.templates.pairs import Pairs, Standing
from plait.certificates.verdicts import Rejected


def check_locality(pairs: Pairs, standing: list[Standing]) -> None:
    by_place = {(item.number, item.position): item for item in standing}
    shared = [(item, _shared(pairs, item)) for item in standing if not item.place.is_alone]
    for one in standing:
        for access, ends in local_accesses(pairs, one).items():
            for other, accesses in shared:
                if other.number == one.number and not one.template.is_multiple:
                    continue
                for another in accesses:
                    if access.conflicts_with(another) and _meet(
                        pairs, one, ends, other, another, by_place
                    ):
                        what = f"{one.words} treats an access to {access.start:#x} as local, but"
                        raise Rejected(f"{what} {other.words} notices it", origin=access.origin)


STUCK = -1  # the end of a step behind which the thread is stuck for good


def local_accesses(pairs: Pairs, one: Standing) -> dict[Access, set[int]]:
    """Local accesses to what threads share, with the places at which their steps end."""
    assert one.step is not None
    targets = {id(outcome): behind.target for outcome, behind in one.outcomes}
    found: dict[Access, set[int]] = {}
    for outcome in one.step.outcomes:
        for access in outcome.path.accesses:
            if access.is_local and pairs.addresses.is_shared(access.start):
                ends = found.setdefault(access, set())
                if outcome.ending is not Ending.MOVED:
                    continue
                target = targets[id(outcome)]
                if target is not None:
                    ends.add(target)
                elif outcome.path.is_halted:
                    ends.add(STUCK)
    return found


def _shared(pairs: Pairs, one: Standing) -> list[Access]:
    assert one.step is not None
    found = {
        (access.start, access.end, access.is_write, id(access.facts)): access
        for outcome in one.step.outcomes
        for access in outcome.path.accesses
        if pairs.addresses.is_shared(access.start)
    }
    return list(found.values())


def _meet(
    pairs: Pairs,
    one: Standing,
    ends: set[int],
    other: Standing,
    access: Access,
    by_place: dict[tuple[int, int], Standing],
) -> bool:
    """Whether the access can be made while the thread stands where its step begins or ends."""
    if STUCK in ends:
        return True
    places = [one, *(by_place[one.number, end] for end in ends if (one.number, end) in by_place)]
    return any(
        pairs.may_exist(other, place) and pairs.together(access.facts, other, place) is not None
        for place in places
    )

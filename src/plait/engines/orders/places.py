"""Symbolic addresses: which of many places an address is, without a comparison for each."""

from __future__ import annotations

from plait.logic.terms import Terms

_COMPARED_ONE_BY_ONE = 4


def is_one_of(terms: Terms, address: int, places: list[int]) -> int:
    """Whether an address is one of these places."""
    width = terms.width[address]
    if len(places) <= _COMPARED_ONE_BY_ONE or terms.is_constant(address):
        return terms.any_of(terms.eq(address, terms.constant(place, width)) for place in places)
    ordered = sorted(places)
    step = ordered[1] - ordered[0]
    first, count = ordered[0], len(ordered)
    if step & (step - 1) == 0 and ordered[-1] - first == step * (count - 1):
        offset = terms.sub(address, terms.constant(first, width))
        inside = terms.ult(offset, terms.constant(step * count, width))
        if step == 1:
            return inside
        low = step.bit_length() - 1
        return terms.and_(inside, terms.eq(terms.extract(offset, 0, low), terms.constant(0, low)))
    # The upper part is often the same for all: the page of one object.
    common = (ordered[0] ^ ordered[-1]).bit_length()
    if common == width:
        return terms.any_of(terms.eq(address, terms.constant(place, width)) for place in places)
    upper, lower = terms.extract(address, common, width - common), terms.extract(address, 0, common)
    return terms.and_(
        terms.eq(upper, terms.constant(first >> common, width - common)),
        terms.any_of(terms.eq(lower, terms.constant(place, common)) for place in ordered),
    )


def select(terms: Terms, address: int, values: list[tuple[int, int]]) -> int:
    """The value that belongs to an address, which is one of the places in `values`."""
    if len({value for _, value in values}) == 1:
        return values[0][1]
    ordered = sorted(values)
    bit = (ordered[0][0] ^ ordered[-1][0]).bit_length() - 1
    split = next(n for n, (place, _) in enumerate(ordered) if place >> bit & 1)
    return terms.ite(
        terms.extract(address, bit, 1),
        select(terms, address, ordered[split:]),
        select(terms, address, ordered[:split]),
    )


def decode(terms: Terms, address: int, places: list[int]) -> dict[int, int]:
    """For each place a term that says that the address, which is one of them, is this one."""
    found: dict[int, int] = {}
    pending = [(sorted(places), terms.true)]
    while pending:
        some, here = pending.pop()
        if len(some) == 1:
            found[some[0]] = here
            continue
        bit = (some[0] ^ some[-1]).bit_length() - 1
        split = next(n for n, place in enumerate(some) if place >> bit & 1)
        chosen = terms.extract(address, bit, 1)
        pending.append((some[split:], terms.and_(here, chosen)))
        pending.append((some[:split], terms.and_(here, terms.not_(chosen))))
    return found


def distinguishing_bits(places: list[int]) -> tuple[int, int]:
    """The lowest bit and the number of bits in which all these places differ from each other."""
    differing = 0
    for place in places:
        differing |= place ^ places[0]
    if not differing:
        return 0, 1
    low = (differing & -differing).bit_length() - 1
    for high in range(low + 1, differing.bit_length() + 1):
        if len({place >> low & (1 << high - low) - 1 for place in places}) == len(places):
            return low, high - low
    raise AssertionError("two places are the same")

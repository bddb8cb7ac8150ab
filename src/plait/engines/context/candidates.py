"""What may well be invariant: atoms over the variables of a place, implications between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plait.engines.context.variables import Variables
from plait.logic.terms import Terms

_MOST_CONSTANTS = 40


def atoms(
    terms: Terms, variables: Variables, own: Iterable[int], *, neighbours: bool
) -> Iterator[int]:
    """Comparisons of variables with constants of the program and with each other. With `neighbours`
    the constants next to those count, too, and what is odd or even."""
    everything = [*variables.shared, *sorted(own)]
    for item in everything:
        width = terms.width[item]
        if item in variables.numbers:
            # What stands for a destroyed lock, for example, is no number of a thread.
            values = variables.kinship.constants(item) - variables.thread_numbers
            for value in sorted({0, *(value for value in values if not value >> width)}):
                yield from _equalities(terms, item, terms.constant(value, width))
            # Locks are divided into bytes where that is how the program declares them.
            for start in range(0, 32, width) if width in (8, 16, 32) else ():
                myself = terms.extract(variables.myself, start, width)
                yield from _equalities(terms, item, myself)
            continue
        if item in variables.places:
            for value in sorted(variables.kinship.constants(item)):
                yield from _equalities(terms, item, terms.constant(value, width))
            continue
        if width == 1:
            yield item
            yield terms.not_(item)
            continue
        if neighbours and width > 1:
            yield terms.extract(item, 0, 1)
            yield terms.not_(terms.extract(item, 0, 1))
        for value in _constants(variables, item, width, neighbours=neighbours):
            constant = terms.constant(value, width)
            yield from _equalities(terms, item, constant)
            if not variables.is_address(value, width):
                yield from _orders(terms, variables, item, constant)
    for place, left in enumerate(everything):
        for right in everything[place + 1 :]:
            if terms.width[left] != terms.width[right] or terms.width[left] == 1:
                continue
            if left in variables.places or right in variables.places:
                continue
            are_numbers = {left, right} & variables.numbers
            if not are_numbers and not variables.kinship.are_alike(left, right):
                continue
            if len(are_numbers) == 1:
                continue  # what looks like the number of a thread need not be one
            yield from _equalities(terms, left, right)
            if not are_numbers:
                yield from _orders(terms, variables, left, right)


def _constants(variables: Variables, item: int, width: int, *, neighbours: bool) -> list[int]:
    mask = (1 << width) - 1
    found = {0, *(value for value in variables.kinship.constants(item) if value <= mask)}
    if neighbours:
        found = {
            (value + step) & mask
            for value in found
            for step in ((0,) if variables.is_address(value, width) else (-2, -1, 0, 1, 2))
        }
    return sorted(found)[:_MOST_CONSTANTS]


def _equalities(terms: Terms, left: int, right: int) -> Iterator[int]:
    equal = terms.eq(left, right)
    yield equal
    yield terms.not_(equal)


def _orders(terms: Terms, variables: Variables, left: int, right: int) -> Iterator[int]:
    yield terms.ult(left, right)
    yield terms.ult(right, left)
    yield terms.ule(left, right)
    yield terms.ule(right, left)
    if terms.width[left] in variables.signed:
        yield terms.slt(left, right)
        yield terms.slt(right, left)
        yield terms.sle(left, right)
        yield terms.sle(right, left)


def differences(terms: Terms, variables: Variables, own: Iterable[int]) -> Iterator[int]:
    """Which variables are one more than others, or at most that."""
    everything = [*variables.shared, *sorted(own)]
    for left in everything:
        width = terms.width[left]
        for right in everything:
            if left == right or terms.width[right] != width or width == 1:
                continue
            if {left, right} & (variables.numbers | variables.places):
                continue
            if not variables.kinship.are_alike(left, right):
                continue
            more = terms.add(right, terms.constant(1, width))
            yield terms.eq(left, more)
            if width in variables.signed:
                yield terms.sle(left, more)
            else:
                yield terms.ule(left, more)


def implications(
    terms: Terms, variables: Variables, own: Iterable[int], facts: set[int]
) -> Iterator[int]:
    """Atoms that need not hold, but do where a flag has some value; and once more the atoms, which
    may follow from that."""
    own = sorted(own)
    conclusions = [
        item
        for item in atoms(terms, variables, own, neighbours=False)
        if item not in facts and variables.counters.isdisjoint(variables.vocabulary(item))
    ]
    yield from conclusions
    for flag in (*variables.shared, *own):
        for value in variables.flags.get(flag, ()):
            condition = terms.eq(flag, terms.constant(value, terms.width[flag]))
            if condition in facts or terms.not_(condition) in facts:
                continue
            for item in conclusions:
                yield terms.implies(condition, item)

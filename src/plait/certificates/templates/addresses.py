"""Addresses of what a thread has of its own, whichever thread of its template it is.

A place gives addresses as those of one thread, in whose arena they stand for the addresses of the
others. What a thread calculates with is not these numbers: the beginning of its arena is a
variable, `arena`, and so is the first address of each object that it has allocated. So nothing has
to be said of what programs do with addresses: whatever holds, holds for all values of these.

Objects from malloc do not keep their distance from the beginning of the arena, since threads
have blocks that places do not mention any more. Locals and thread-local objects do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.certificates.world import World
from plait.logic.terms import Terms


class Addresses:
    """`limit` is the first address that is not one of a static object or a function."""

    def __init__(self, world: World, terms: Terms, sizes: Mapping[int, int]) -> None:
        """`sizes` are those of shared blocks, by their pages."""
        self._world = world
        self._sizes = sizes
        self._terms = terms
        self.bits = world.page_bits
        self.pointer_bits = world.pointer_bits
        self.limit = world.space.arena(1)[0] << self.bits
        self.arena = self.variable("arena")
        self.blocks = {page: self.variable(f"block {page}") for page in sizes}

    def variable(self, name: str) -> int:
        return self._terms.variable(name, self.pointer_bits)

    def object(self, page: int) -> int:
        """The first address of an object that a place has at a page."""
        return self.blocks.get(page) or self.variable(f"object {page}")

    def new(self) -> int:
        return self._terms.fresh("allocated", self.pointer_bits)

    def is_shared(self, address: int) -> bool:
        """Whether an address of a place is in a static object or a shared block."""
        return address < self.limit or self.is_in_block(address)

    def is_in_block(self, address: int) -> bool:
        return self.block_at(address) is not None

    def block_at(self, address: int) -> int | None:
        """The first page of the shared block in which an address is."""
        for page, size in self._sizes.items():
            if self.is_inside(address, page, size):
                return page
        return None

    def is_apart(self, page: int, size: int) -> bool:
        """Whether an object has no page in common with any shared block."""
        end = page + self._world.pages_taken(size)
        return all(
            end <= first or first + self._world.pages_taken(taken) <= page
            for first, taken in self._sizes.items()
        )

    def is_inside(self, address: int, page: int, size: int) -> bool:
        first = page << self.bits
        return first <= address < first + (self._world.pages_taken(size) << self.bits)

    def meant(
        self,
        value: int,
        width: int,
        number: int,
        heap: Mapping[int, tuple[int, str]],
        bases: Mapping[int, int],
        arena: int | None = None,
    ) -> int:
        """The term for a value of a place of thread `number`, which may be an address of what is
        its own. `bases` has the first addresses of the objects of `heap`."""
        terms = self._terms
        if width == self.pointer_bits and value >= self.limit:
            own = {page: size for page, (size, _) in heap.items()}
            for page, size in {**own, **self._sizes}.items():
                if self.is_inside(value, page, size):
                    base = self.blocks[page] if page in self.blocks else bases[page]
                    offset = value - (page << self.bits)
                    return terms.add(base, terms.constant(offset, width))
            first, last = self._world.space.arena(number)
            if first << self.bits <= value < last << self.bits:
                offset = terms.constant(value - (first << self.bits), width)
                return terms.add(self.arena if arena is None else arena, offset)
        return terms.constant(value, width)

    def truths(self, base: int, pages: int) -> Iterator[int]:
        """What holds of the first address of something that has so many pages in an arena."""
        terms, width = self._terms, self.pointer_bits
        last = (self._world.last_page - pages) << self.bits
        yield terms.eq(terms.extract(base, 0, self.bits), terms.constant(0, self.bits))
        yield terms.ule(terms.constant(self.limit, width), base)
        yield terms.ule(base, terms.constant(last, width))

    def truths_of_arena(self, base: int) -> Iterator[int]:
        return self.truths(base, self._world.space.arena_pages)

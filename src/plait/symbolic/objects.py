"""The objects that live during a run: where they are, and which of them an address may mean."""

from __future__ import annotations

from plait.logic.operators import ITE
from plait.logic.terms import Terms
from plait.model.expressions import Expr
from plait.model.program import StaticObject
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.precision import Maker
from plait.symbolic.run import Run
from plait.symbolic.surroundings import Item

_MOST_PLACES = 64
_MOST_LEAVES = 12
_MOST_CHOICES = 64

# A condition and an address: an access goes there where the condition holds.
GuardedAddress = tuple[int, int]


class Objects:
    def __init__(self, knowledge: Knowledge, terms: Terms) -> None:
        self.knowledge = knowledge
        self.terms = terms
        self._statics = _static_items(knowledge)
        self._static_at = {
            page: item
            for first, item in self._statics.items()
            for page in range(first, first + knowledge.pages_of(item.size))
        }
        self._largest = 1  # pages of an object that any run has begun

    def begin(self, run: Run, item: Item) -> None:
        run.begun[item.address >> self.knowledge.page_bits] = item
        self._largest = max(self._largest, self.knowledge.pages_of(item.size))

    def end(self, run: Run, address: int, size: int) -> None:
        run.begun.pop(address >> self.knowledge.page_bits, None)
        run.ended[address] = max(size, run.ended.get(address, 0))

    def static_at(self, address: int) -> Item | None:
        return self._static_at.get(address >> self.knowledge.page_bits)

    def at(self, run: Run, address: int) -> Item | None:
        """The live object in whose pages an address is."""
        page = address >> self.knowledge.page_bits
        if page < self.knowledge.program.first_free_page:
            return self._static_at.get(page)
        for back in range(self._largest):
            found = run.begun.get(page - back)
            if found is not None:
                if back < self.knowledge.pages_of(found.size):
                    return found
                break
        found = run.surroundings.object_at(page)
        return None if found is None or found.address in run.ended else found

    def is_in_pages(self, run: Run, base: int, result: int) -> int:
        """Whether a moved pointer is still in the pages of the object it pointed to."""
        terms, bits, last = self.terms, self.knowledge.page_bits, self.knowledge.last_page
        width = terms.width[base] - bits
        value = terms.value(base)
        high = terms.extract(result, bits, width)
        if value is None:
            page = terms.extract(base, bits, width)
            is_number = [terms.eq(page, terms.constant(item, width)) for item in (0, last)]
            pairs = [terms.extract(item, 1, width - 1) for item in (high, page)]
            return terms.any_of([*is_number, terms.eq(*pairs)])
        if value >> bits in (0, last):
            return terms.true
        first = value >> bits | 1
        count = 1
        item = self.at(run, first << bits)
        if item is not None:
            first, count = item.address >> bits, self.knowledge.pages_of(item.size)
        if count == 1:
            pair = terms.constant(first >> 1, width - 1)
            return terms.eq(terms.extract(high, 1, width - 1), pair)
        distance = terms.sub(high, terms.constant(first - 1, width))
        return terms.ult(distance, terms.constant(count + 1, width))

    def constants_in(self, term: int) -> list[int] | None:
        """The values that a choice between constants can have; None for other terms."""
        terms = self.terms
        found: dict[int, None] = {}
        pending = [term]
        seen = set(pending)
        while pending:
            item = pending.pop()
            value = terms.value(item)
            if value is not None:
                found[value] = None
            elif terms.operator[item] == ITE:
                for part in terms.operands[item][1:]:
                    if part not in seen:
                        seen.add(part)
                        pending.append(part)
            else:
                return None
            if len(found) > _MOST_LEAVES or len(seen) > _MOST_CHOICES:
                return None
        return list(found)

    def candidates(
        self,
        run: Run,
        expr: Expr,
        address: int,
        size: int,
        expected: frozenset[Maker | str],
    ) -> list[GuardedAddress] | None:
        """Where a symbolic address may lead in the objects that are expected, as the analyses say;
        None: too many places."""
        terms = self.terms
        found: dict[int, int] = {}
        for abstract, offset in self.knowledge.places(run.frame.shape.function.name, expr):
            maker = abstract.static or abstract.slot or abstract.edge
            if maker is None or maker not in expected:
                continue
            for item in self._made_by(run, maker):
                if self.knowledge.is_untracked(maker, item.size):
                    inside = self._is_inside(address, item, size)
                    if inside != terms.false:
                        found[item.address] = inside
                    continue
                if offset is not None:
                    places: list[int] = [offset]
                else:
                    divided = self.knowledge.cells_of(maker, item.size) or ()
                    places = [start for start, width in divided if width == size]
                    if not places:
                        places = list(range(0, item.size - size + 1, size))
                for place in places:
                    if 0 <= place <= item.size - size:
                        value = item.address + place
                        if value not in found:
                            constant = terms.constant(value, terms.width[address])
                            condition = terms.eq(address, constant)
                            if condition != terms.false:
                                found[value] = condition
                if len(found) > _MOST_PLACES:
                    return None
        return [(condition, value) for value, condition in found.items()]

    def _is_inside(self, address: int, item: Item, size: int) -> int:
        """Whether an access is inside of an object."""
        terms = self.terms
        if size > item.size:
            return terms.false
        width = terms.width[address]
        distance = terms.sub(address, terms.constant(item.address, width))
        return terms.ule(distance, terms.constant(item.size - size, width))

    def _made_by(self, run: Run, maker: Maker) -> list[Item]:
        if isinstance(maker, StaticObject) and not maker.thread_local:
            return [self._statics[maker.page]]
        found = [item for item in run.begun.values() if item.maker is maker]
        found += [item for item in run.surroundings.made_by(maker) if item.address not in run.ended]
        if isinstance(maker, StaticObject):
            found.append(self._statics[maker.page])
        return found


def _static_items(knowledge: Knowledge) -> dict[int, Item]:
    found: dict[int, Item] = {}
    for item in knowledge.program.objects:
        contents = None if item.indeterminate else item.contents
        address = item.page << knowledge.page_bits
        found[item.page] = Item(item, address, item.size, item.read_only, contents)
    return found

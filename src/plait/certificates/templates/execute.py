"""Steps of a thread of which it is not said which one it is, and that knows no others.

Everything is as in the execution of steps at nodes, but that the thread's number and the addresses
of its own objects are variables (`addresses`), and that a new thread gets any number. Memory is
still looked up at the places that the certificate gives to objects. What comes to no object of the
thread itself, no static object and no shared block is trouble, as is an address that is
calculated from those of objects in any other way than by an offset.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.certificates.decide import Decider, Facts
from plait.certificates.document import Location, Status, Thread
from plait.certificates.execute import Executor
from plait.certificates.memory import Cells
from plait.certificates.outcomes import Lost, Step, Trouble
from plait.certificates.pointers import Move
from plait.certificates.state import Path, Situation
from plait.certificates.templates.addresses import Addresses
from plait.certificates.templates.blocks import shared_blocks
from plait.certificates.templates.document import NUMBER_BITS, Place, Template, TemplateCertificate
from plait.certificates.world import World
from plait.logic.operators import ADD, ITE, SUB
from plait.logic.translate import Place as Name
from plait.model.actions import Allocate, Free, Load, Spawn, Store
from plait.model.expressions import CurrentThread, FrameAddress, PointerAdd, StaticAddress
from plait.model.program import Edge
from plait.model.properties import Specification

_LARGE = 256  # bytes
_NOBODY = Thread(Status.ENDED, 0, 0, 0, ())


class PlaceSituation(Situation):
    """A place of a template, as execution starts from it. `bases` are the first addresses of the
    objects there."""

    def __init__(
        self,
        world: World,
        certificate: TemplateCertificate,
        cells: Cells,
        addresses: Addresses,
        template: Template,
        place: Place,
    ) -> None:
        threads = (*([_NOBODY] * (template.number - 1)), place.thread)
        self.place = place
        self.number = template.number
        self.initial = certificate.initial
        self._addresses = addresses
        self.bases = {page: addresses.object(page) for page in place.heap}
        location = Location(threads, place.heap, place.cells)
        super().__init__(world, certificate.terms, cells, location, certificate.initial)

    def known_value(self, value: int, bits: int) -> int:
        return self._addresses.meant(value, bits, self.number, self.place.heap, self.bases)


class TemplateExecutor(Executor):
    def __init__(
        self,
        world: World,
        specification: Specification,
        certificate: TemplateCertificate,
        addresses: Addresses,
        decider: Decider,
    ) -> None:
        super().__init__(world, specification, certificate.switch_points, decider)
        self._blocks = shared_blocks(certificate)
        self._own = addresses
        self.myself = self._terms.variable("self", NUMBER_BITS)

    def step_from(self, situation: PlaceSituation, facts: Facts) -> Step:
        return self.step(situation, situation.number, facts, alone=situation.place.is_alone)

    # --- addresses

    def _bases(self, path: Path) -> dict[int, int]:
        """The first addresses of objects by their pages. Nothing is remembered of paths that are
        not this one: a path changes its bases by replacing them."""
        assert isinstance(path.situation, PlaceSituation)
        return path.bases or path.situation.bases

    def _rebase(self, path: Path, page: int, base: int) -> None:
        path.bases = {**self._bases(path), page: base}

    def _addresses(self, path: Path) -> Callable[[Name], int]:
        plain = super()._addresses(path)
        terms = self._terms

        def address_of(name: Name) -> int:
            if isinstance(name, CurrentThread):
                return self._number(path, name.type.bits)
            found = plain(name)
            if isinstance(name, FrameAddress | StaticAddress):
                value = terms.value(found)
                assert value is not None
                first = self._world.space.arena(path.thread)[0] << self._own.bits
                if value >= self._own.limit:
                    offset = terms.constant(value - first, terms.width[found])
                    return terms.add(self._own.arena, offset)
            return found

        return address_of

    def _number(self, path: Path, bits: int) -> int:
        terms = self._terms
        if path.thread == 1:
            return terms.constant(1, bits)
        if bits <= NUMBER_BITS:
            return terms.extract(self.myself, 0, bits)
        return terms.zero_extend(self.myself, bits)

    def _at_each_place(
        self, path: Path, term: int, then: Callable[[Path, int], list[Path]]
    ) -> list[Path]:
        terms = self._terms
        term = self._resolved(path, term)
        choice = self._choice(path, term)
        if choice is not None:
            condition, one, other = choice
            successors: list[Path] = []
            for truth, chosen in ((condition, one), (terms.not_(condition), other)):
                facts = path.facts.with_(truth)
                if facts is not None:
                    successors += self._at_each_place(path.fork(facts), chosen, then)
            return successors
        page = self._page_of_base(path, term)
        somewhere = self._somewhere(path, self._placed(path, term), page)
        if somewhere is not None:
            return somewhere

        def inside(chosen: Path, address: int) -> list[Path]:
            if not self._belongs(chosen, address, page):
                raise Trouble(f"access at {address:#x}, which is in no object of the thread")
            return then(chosen, address)

        return self._for_each(path, self._placed(path, term), inside)

    def _choice(self, path: Path, pointer: int) -> tuple[int, int, int] | None:
        """The condition on which a pointer is calculated from one thing or from another, and both
        of what it can be. A number must not be taken for the place of an object."""
        if not self._is_based(path, pointer):
            return None
        terms = self._terms
        operator, operands = terms.operator[pointer], terms.operands[pointer]
        if operator == ITE:
            condition, one, other = operands
            return condition, one, other
        if operator not in (ADD, SUB):
            return None
        base, offset = operands
        if operator == ADD and self._is_based(path, offset):
            base, offset = offset, base
        choice = self._choice(path, base)
        if choice is None:
            return None
        condition, one, other = choice
        make = terms.add if operator == ADD else terms.sub
        return condition, make(one, offset), make(other, offset)

    def _somewhere(self, path: Path, place: int, base: int | None) -> list[Path] | None:
        """An access to some part of a large object: what is read there is any value, and what is
        there after a write is. None for what is not such an access."""
        edge = path.frame.function.edges[path.frame.location][0]
        action, terms = edge.action, self._terms
        if terms.value(place) is not None or not isinstance(action, Load | Store):
            return None
        scalar = action.target.type if isinstance(action, Load) else action.value.type
        first = self._world.first_page(path.live, path.facts.model.value(place) >> self._own.bits)
        size = 0 if first is None else path.live.get(first)
        if first is None or size is None or size <= _LARGE:
            return None
        start = first << self._own.bits
        last = start + size - scalar.size
        low, high = (terms.constant(value, terms.width[place]) for value in (start, last))
        is_inside = terms.and_(terms.ule(low, place), terms.ule(place, high))
        if not self._belongs(path, start, base) or not path.facts.imply(is_inside):
            return None
        if isinstance(action, Load):
            self._note(path, start, size, is_write=False, is_access=True)
            path.frame.registers[action.target.index] = self._arbitrary(scalar, "somewhere")
            return self._go(path, edge)
        self._value(path, action.value)
        self._note(path, start, size, is_write=True, is_access=True)
        if first in self._world.constants:
            raise Trouble("write to a read-only object")
        path.memory.create(start, size, None)
        path.wrote = True
        return self._go(path, edge)

    def _resolved(self, path: Path, pointer: int) -> int:
        """A value that is known to be an address in an object, said as such."""
        terms, model = self._terms, path.facts.model
        if terms.value(pointer) is not None or self._is_based(path, pointer):
            return pointer
        for page, base in self._bases(path).items():
            offset = model.value(pointer) - model.value(base)
            if page in path.heap and 0 <= offset <= path.heap[page][0]:
                here = terms.add(base, terms.constant(offset, terms.width[pointer]))
                if path.facts.imply(terms.eq(pointer, here)):
                    return here
        return pointer

    def _belongs(self, path: Path, address: int, page: int | None) -> bool:
        """Whether an address is one of those that a base stands for: -1 is the arena, None nothing
        but numbers."""
        own, heap = self._own, path.heap
        if page is None:
            return address < own.limit
        if page >= 0:
            return page in heap and own.is_inside(address, page, heap[page][0])
        first, last = self._world.space.arena(path.thread)
        return first << own.bits <= address < last << own.bits and not any(
            own.is_inside(address, other, size) for other, (size, _) in heap.items()
        )

    def _variables(self, path: Path) -> dict[int, int]:
        """The variables for first addresses, with the pages; -1 for the arena."""
        found = {base: page for page, base in self._bases(path).items()}
        found[self._own.arena] = -1
        return found

    def _is_based(self, path: Path, term: int) -> bool:
        vocabulary = self._decider.vocabulary(term)
        return not vocabulary.isdisjoint(self._variables(path))

    def _page_of_base(self, path: Path, term: int) -> int | None:
        variables = self._variables(path)
        found = [variables[item] for item in self._decider.vocabulary(term) if item in variables]
        if len(found) > 1:
            raise Lost("an address that is calculated from those of several objects")
        return found[0] if found else None

    def _placed(self, path: Path, pointer: int) -> int:
        terms = self._terms
        pointer = self._resolved(path, pointer)
        variables = self._variables(path)
        if pointer in variables:
            page = variables[pointer]
            if page < 0:
                page = self._world.space.arena(path.thread)[0]
            return terms.constant(page << self._own.bits, terms.width[pointer])
        if not self._is_based(path, pointer):
            return pointer
        operator, operands = terms.operator[pointer], terms.operands[pointer]
        if operator == ITE and not self._is_based(path, operands[0]):
            condition, one, other = operands
            return terms.ite(condition, self._placed(path, one), self._placed(path, other))
        if operator in (ADD, SUB):
            one, other = operands
            if operator == ADD and self._is_based(path, other):
                one, other = other, one
            if not self._is_based(path, other):
                make = terms.add if operator == ADD else terms.sub
                return make(self._placed(path, one), other)
        raise Lost("an address that is calculated from others, but not by an offset")

    def _check_move(self, path: Path, move: Move) -> None:
        """A number could look like the place of an object here."""
        if isinstance(move.expr, PointerAdd):
            for part in self._numbers_in(path, self._translated(path, move.expr.base)):
                limit = self._terms.constant(self._own.limit, self._terms.width[part])
                if path.facts.with_(self._terms.ule(limit, part)) is not None:
                    raise Lost("arithmetic on a pointer that may be that of another thread")
        super()._check_move(path, move)

    def _numbers_in(self, path: Path, pointer: int) -> list[int]:
        """What a pointer may be that is not calculated from a first address."""
        pointer = self._resolved(path, pointer)
        if not self._is_based(path, pointer):
            return [pointer]
        if self._terms.operator[pointer] != ITE:
            return []
        _, one, other = self._terms.operands[pointer]
        return [*self._numbers_in(path, one), *self._numbers_in(path, other)]

    # --- objects

    def _create(self, path: Path, page: int, size: int, data: bytes | None) -> None:
        """Nothing comes to life where something else is: shared blocks, the thread's own objects,
        and what it has handed over, which a new thread has behind the step."""
        is_allocated = page in path.heap and page < path.heap_page
        is_block = is_allocated and path.heap[page] == self._blocks.get(page)
        if not is_block and not self._own.is_apart(page, size):
            raise Lost("an object would be where a shared block is, or one of another size")
        others = {
            key: item for key, item in path.heap.items() if not (is_allocated and key == page)
        }
        if path.handed is not None:
            others[path.handed[0]] = path.handed[1]
        end = page + self._world.pages_taken(size)
        for other, (length, _) in others.items():
            if page < other + self._world.pages_taken(length) and other < end:
                raise Lost("an object would be where another one is")
        super()._create(path, page, size, data)

    def _allocate(self, path: Path, action: Allocate, size: int) -> None:
        page = path.heap_page
        last = page + self._world.pages_taken(max(size, 0))
        taken = [
            (other, other + self._world.pages_taken(length))
            for other, (length, _) in path.heap.items()
        ]
        super()._allocate(path, action, size)
        index = action.target.index
        if action.storage == "stack":
            first = self._world.space.arena(path.thread)[0]
            offset = (path.stack_page - first) << self._own.bits
            bits = action.target.type.bits
            here = self._terms.constant(offset, bits)
            path.frame.registers[index] = self._terms.add(self._own.arena, here)
            return
        if any(page < end and start < last for start, end in taken):
            raise Lost("an object would be where another one is")
        base = self._own.blocks.get(page)
        if base is None:
            base = self._own.new()
            facts = path.facts.with_all(self._own.truths(base, last - page))
            assert facts is not None
            path.facts = facts
        self._rebase(path, page, base)
        path.frame.registers[index] = base

    def _freed(self, path: Path, edge: Edge, action: Free, address: int) -> list[Path]:
        if address >> self._own.bits in self._blocks:
            raise Lost("the end of the life of a shared block")
        return super()._freed(path, edge, action, address)

    # --- threads

    def _spawn(
        self, path: Path, edge: Edge, action: Spawn, address: int, argument: int
    ) -> list[Path]:
        """The new thread gets the object that it is handed; the thread that starts it has no part
        in that any more."""
        if path.spawned:
            raise Lost("a step that starts several threads")
        function = self._function_at(address)
        frame = self._new_frame(function, 0, ())
        if function.parameters:
            target = function.registers[0].type
            frame.registers[0] = self._reinterpreted(argument, action.argument.type, target)
        path.spawned.append(frame)
        path.wrote = True
        if path.alone:
            path.alone = False
            path.section_is_free = path.depth > 0
        path.handed = None
        for page, base in self._bases(path).items():
            if base == argument and page in path.heap and page not in self._blocks:
                path.handed = page, path.heap[page]
                path.live.destroy(page)
                path.heap = {key: value for key, value in path.heap.items() if key != page}
        path.frame.registers[action.target.index] = self._terms.fresh(
            "number of the new thread", action.target.type.bits
        )
        return self._go(path, edge)

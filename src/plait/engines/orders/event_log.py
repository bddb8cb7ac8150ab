"""What the thread that is being unrolled does, written down: events, sections, claims."""

from __future__ import annotations

from plait.engines.interface import OutOfTime
from plait.engines.orders.bounds import Key
from plait.engines.orders.contents import Contents
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.objects import Instance
from plait.engines.orders.paths import Path, Section
from plait.engines.orders.places import distinguishing_bits
from plait.engines.orders.unrolling import (
    Access,
    Claim,
    InputUse,
    Occurrence,
    ThreadRun,
    Unrolling,
    UnsetUse,
)
from plait.engines.orders.unrolling_facts import Cell
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import Order, Origin
from plait.model.program import Program
from plait.model.types import Scalar
from plait.model.unset import Maker

MOST_EVENTS = 200_000


class EventLog:
    """`run` is the thread and `function` where it is; `is_alone` until another one is started.
    `order` is the memory order of what is being unrolled."""

    def __init__(self, program: Program, terms: Terms, knowledge: Knowledge) -> None:
        self.program = program
        self.terms = terms
        self.knowledge = knowledge
        self.result = Unrolling(unset_bytes=knowledge.unset_bytes)
        self.contents = Contents(terms, knowledge.objects, knowledge.unset_bytes)
        self.run = ThreadRun(0, -1, -1, terms.true)
        self.function = program.functions[program.entry]
        self.is_alone = True
        self.order = Order.PLAIN
        self.library_call: Origin | None = None  # of the program, while the library runs

    def shown(self, origin: Origin) -> Origin:
        """Where something happens for a user: what the library does, at the call of it."""
        return origin if self.library_call is None else self.library_call

    def under(self, path: Path, condition: int) -> Path | None:
        if condition == self.terms.false:
            return None
        path.condition = path.condition.with_part(self.terms, condition)
        return path

    def claim(
        self, claims: list[Claim], path: Path, what: str, message: str, origin: Origin
    ) -> None:
        condition = path.condition.either_term(self.terms)
        if condition == self.terms.false:
            return
        if path.section is not None:  # nobody comes between its begin and this
            self.close_section(path.section[0], path, origin)
        shown = self.shown(origin)
        claims.append(Claim(condition, self.run.number, what, message, origin, shown=shown))

    def cut(self, path: Path, exceeded: Key, origin: Origin) -> None:
        """Executions that come here are not unrolled any further."""
        known = len(self.result.cuts)
        self.claim(self.result.cuts, path, "bound", "", origin)
        for claim in self.result.cuts[known:]:
            claim.exceeded = exceeded

    def claim_invalid(self, path: Path, message: str, origin: Origin) -> None:
        """An invalid access or free: a violation if that is asked for, else undefined."""
        if self.knowledge.checks_memory:
            self.claim(self.result.violations, path, "valid-memsafety", message, origin)
        else:
            self.claim(self.result.troubles, path, "undefined behaviour", message, origin)

    def outside(self, path: Path, address: int, size: int, origin: Origin) -> Path | None:
        """Where an access, free or call at none of the places that were looked at is undefined.
        Some may be missing there: if executions that do something undefined are left out, then
        only those where the address is no place at all."""
        if not self.knowledge.assumes_defined:
            return path
        is_invalid = self._is_no_place(address, size)
        other = self.under(path.copy(), self.terms.not_(is_invalid))
        if other is not None:
            what = "an access to a place that is not examined"
            self.claim(self.result.troubles, other, "limit", what, origin)
        return self.under(path, is_invalid)

    def _is_no_place(self, address: int, size: int) -> int:
        """Whether an address is null, or behind the end of an object on its last page, of one that
        the model has all of."""
        terms, bits = self.terms, self.program.data_model.page_bits
        width = terms.width[address]
        page = terms.extract(address, bits, width - bits)
        found = [terms.eq(page, terms.constant(0, width - bits))]
        for number, instance in self.knowledge.objects.pages():
            if instance.ends_early:
                continue
            last = terms.constant(instance.address + instance.size - size, width)
            is_behind = terms.true if size > instance.size else terms.ult(last, address)
            here = terms.eq(page, terms.constant(number, width - bits))
            found.append(terms.and_(here, is_behind))
        return terms.any_of(found)

    def unknown(self, name: str, type_: Scalar, guard: int) -> int:
        """A value that nothing determines, asked for where the guard holds."""
        term = self.terms.fresh("input", type_.bits)
        self.result.inputs.append(InputUse(self.run.number, name, type_, term, guard))
        return term

    def unset(self, maker: Maker, bits: int, path: Path) -> int:
        """A value that nobody has set."""
        term = self.terms.fresh("unset", bits)
        guard = path.condition.term
        self.result.unset.append(UnsetUse(self.run.number, maker, guard, term))
        return term

    def unset_object(self, maker: Maker, instance: Instance, path: Path) -> None:
        """An object begins without contents."""
        size = instance.size_term(self.terms, self.program.data_model.pointer.bits)
        use = UnsetUse(self.run.number, maker, path.condition.term, None, instance.address, size)
        self.result.unset.append(use)

    def section_from(self, begin: int) -> Section:
        return ((begin, self.result.events[begin].guard),), 1

    def close_section(
        self, begins: tuple[tuple[int, int], ...], path: Path, origin: Origin
    ) -> None:
        last = self.mark(path, origin)
        self.result.sections += [
            (first, last, self.terms.and_(when, path.condition.term)) for first, when in begins
        ]

    def event(
        self,
        kind: Access,
        cell: Cell,
        here: int,
        value: int,
        path: Path,
        origin: Origin,
        is_access: bool = True,
    ) -> Occurrence:
        guard = self.terms.and_(path.condition.term, here)
        event = self._add(kind, cell, guard, value, path, origin)
        event.is_access = is_access
        return event

    def silent(self, path: Path, here: int, origin: Origin) -> None:
        """An access that needs no event."""
        guard = self.terms.and_(path.condition.term, here)
        if guard != self.terms.false:
            event = self._add(Access.MARK, None, guard, 0, path, origin)
            event.is_access = event.is_silent = True

    def _add(
        self,
        kind: Access,
        cell: Cell | None,
        guard: int,
        value: int,
        path: Path,
        origin: Origin,
    ) -> Occurrence:
        number = len(self.result.events)
        if number >= MOST_EVENTS:
            raise UnsupportedCode(f"more than {MOST_EVENTS} events")
        if number % 256 == 0 and self.knowledge.is_out_of_time():
            raise OutOfTime
        section = () if path.section is None else path.section[0]
        event = Occurrence(
            number, self.run.number, kind, cell, guard, value, section, cell is not None, origin
        )
        event.order = self.order
        if path.locks:
            event.locks = path.locks.copy()
        self.result.events.append(event)
        self.run.events.append(number)
        is_access = kind in (Access.READ, Access.WRITE)
        if is_access and cell is not None and cell not in self.result.initial:
            self.result.initial[cell] = self.contents.of(*cell)
            root = self.knowledge.layout.root(cell)
            if root is not None:
                places = self.knowledge.layout.members(root)
                self.result.regions[cell] = distinguishing_bits(places)
        return event

    def fence(self, path: Path, origin: Origin) -> None:
        self._add(Access.FENCE, None, path.condition.term, 0, path, origin)

    def mark(self, path: Path, origin: Origin, is_access: bool = False) -> int:
        event = self._add(Access.MARK, None, path.condition.term, 0, path, origin)
        event.is_access = is_access
        return event.number

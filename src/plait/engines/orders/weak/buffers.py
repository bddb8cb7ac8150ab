"""TSO and PSO: the abstraction, with links and orders that know of store buffers."""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import replace
from plait.engines.interface import WeakMove
from plait.engines.orders.encode import Encoder
from plait.engines.orders.events import CriticalSection, Event, EventStructure, Link, Order
from plait.engines.orders.learning import Learned
from plait.engines.orders.unrolling import Claim
from plait.engines.orders.weak.endings import DEAD, Endings
from plait.engines.orders.weak.kept_order import is_buffered, of_places, of_stores, own_stores
from plait.engines.orders.weak.moves import moves_of
from plait.logic.solver import Solver
from plait.model.actions import CheckKind
from plait.model.memory_model import MemoryModel


class BufferEncoder(Encoder):
    def __init__(self, learned: Learned, solver: Solver, model: MemoryModel) -> None:
        super().__init__(learned, solver)
        self._model = model
        self._endings = Endings(learned.unrolling, learned.objects, solver.terms)
        self._both: dict[tuple[int, int], int] = {}

    def _structure(
        self,
        events: list[Event],
        links: list[Link],
        conditional: list[Order],
        sections: list[CriticalSection],
        guards: list[int],
    ) -> EventStructure:
        unrolling, orders = self._unrolling, self._orders
        hits = {(alias.write, alias.read): alias.literal for alias in self._aliases}
        for store, other in of_stores(unrolling, self._model):
            conditional.append(Order(store, other, self._all_of(guards[store], guards[other])))
        for one, other, same in of_places(unrolling, self._model, orders.same_address):
            if same != self._terms.false:
                holds = self._all_of(guards[one], guards[other], self._guard(same))
                conditional.append(Order(one, other, holds))
        own = own_stores(unrolling)
        made = []
        for link in links:
            before = own.get(link.read, [])
            if link.write in before and not orders.after[link.write] >> link.read & 1:
                made.append(replace(link, is_internal=True))
            else:
                made.append(link)
            for store in before:
                if store == link.write or orders.after[store] >> link.write & 1:
                    continue
                is_in_region = unrolling.events[store].address is not None
                hit = hits.get((store, link.read)) if is_in_region else guards[store]
                if hit is not None:  # else never at the address of the load
                    holds = self._all_of(link.literal, hit)
                    conditional.append(Order(store, link.write, holds))
        conditional += self._uses_of_dead_objects()
        return super()._structure(events, made, conditional, sections, guards)

    def _uses_of_dead_objects(self) -> list[Order]:
        """Claim each, with the order that it means."""
        solver, terms, unrolling = self._solver, self._terms, self._unrolling
        found: list[Order] = []
        for item in self._endings.conflicts():
            condition = item.both
            if not item.is_wrong:
                condition = terms.fresh("dead", 1)
                literal = solver.literal_of(condition)
                if item.both != terms.true:
                    solver.add_clause([-literal, solver.literal_of(item.both)])
                found.append(Order(item.end.number, item.access.number, literal))
            access = item.access
            kind = CheckKind.UNDEFINED.value
            claim = Claim(condition, access.thread, kind, DEAD, access.origin)
            unrolling.troubles.append(claim)
        return found

    def moves(self, schedule: Iterable[int]) -> list[WeakMove]:
        holds = self._solver.model_value
        return moves_of(self._unrolling, schedule, holds, is_buffered, {}, {})

    def _all_of(self, *literals: int) -> int:
        """A literal that holds if these do; 0 stands for true."""
        needed = [literal for literal in literals if literal]
        if len(needed) < 2:
            return needed[0] if needed else 0
        found = needed[0]
        for literal in needed[1:]:
            found = self._both_of(*sorted((found, literal)))
        return found

    def _both_of(self, one: int, other: int) -> int:
        known = self._both.get((one, other))
        if known is None:
            known = self._both[one, other] = self._solver.new_literal()
            self._solver.add_clause([-known, one])
            self._solver.add_clause([-known, other])
            self._solver.add_clause([known, -one, -other])
        return known

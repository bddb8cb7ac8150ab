"""Loads, stores and read-modify-writes: where they go, and what they do there."""

from __future__ import annotations

from plait.errors import UnsupportedCode
from plait.logic.translate import is_not_zero
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.expressions import Expr
from plait.model.program import Edge
from plait.symbolic.blocks import Manner
from plait.symbolic.ends import Ends, library_call
from plait.symbolic.locks import Locks
from plait.symbolic.memory import Memory
from plait.symbolic.objects import GuardedAddress
from plait.symbolic.precision import Maker
from plait.symbolic.run import Run, RunIsOver, Trouble
from plait.symbolic.values import Values


class Accesses:
    def __init__(self, memory: Memory, values: Values, ends: Ends, locks: Locks) -> None:
        self._locks = locks
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._values = values
        self._ends = ends

    def load(self, run: Run, edge: Edge, action: Load) -> None:
        address = self._values.checked(run, action.address, edge)
        self._everywhere(run, edge, action.address, address, action.target.type.size)

    def store(self, run: Run, edge: Edge, action: Store) -> None:
        address = self._values.checked(run, action.address, edge)
        self._everywhere(run, edge, action.address, address, action.value.type.size)

    def read_modify_write(self, run: Run, edge: Edge, action: ReadModifyWrite) -> None:
        moves = self._knowledge.moves((action.address,), id(edge))
        self._values.keep_moves_in_objects(run, moves, action.origin)
        address = self._values.of(run, action.address)
        self._everywhere(run, edge, action.address, address, action.old.type.size)

    def _everywhere(self, run: Run, edge: Edge, expr: Expr, address: int, size: int) -> None:
        """The access of an edge, at each place where it can go; the runs go on behind it."""
        is_over = True
        runs = self._resolved(run, edge, expr, address, size)
        for fork, places in runs:
            if self._is_performed(fork, edge, places, size):
                fork.follow(edge)
                fork.may_meet = len(runs) > 1
                if fork is run:
                    is_over = False
                else:
                    self._ends.frontier.add(fork)
        if is_over:
            raise RunIsOver

    def _is_performed(self, run: Run, edge: Edge, places: list[GuardedAddress], size: int) -> bool:
        """Whether the run goes on; what happens to it must not touch others."""
        action = edge.action
        if _is_write(edge) and self._knowledge.is_noticed(edge):
            run.noticed_writes.update((address, size) for _, address in places)
        try:
            match action:
                case Load():
                    value = self._memory.load(run, places, size)
                    loaded = self._values.loaded(value, action.target.type)
                    run.frame.registers[action.target.index] = loaded
                case Store():
                    self._memory.store(run, places, size, self._values.of(run, action.value))
                    self._locks.look_for_release(run)
                case ReadModifyWrite():
                    self._modify(run, places, size, action)
                    self._locks.look_for_release(run)
        except Trouble as trouble:
            self._ends.trouble(run, trouble.message, trouble.origin)
            return False
        except UnsupportedCode as error:
            self._ends.trouble(run, str(error), action.origin)
            return False
        return True

    def _modify(
        self, run: Run, places: list[GuardedAddress], size: int, action: ReadModifyWrite
    ) -> None:
        old = self._memory.load(run, places, size)
        run.frame.registers[action.old.index] = self._values.loaded(old, action.old.type)
        # `new` and `guard` see what was loaded, and so does their pointer arithmetic.
        exprs = (action.new,) if action.guard is None else (action.new, action.guard)
        moves = self._knowledge.moves(exprs, id(action))
        self._values.keep_moves_in_objects(run, moves, action.origin)
        new = self._values.of(run, action.new)
        if action.guard is not None:
            happens = is_not_zero(self._terms, self._values.of(run, action.guard))
            new = self._terms.ite(happens, new, old)
        self._memory.store(run, places, size, new)

    # --- where an access goes

    def _resolved(
        self, run: Run, edge: Edge, expr: Expr, address: int, size: int
    ) -> list[tuple[Run, list[GuardedAddress]]]:
        """Runs with places of which one holds in each. Runs whose access is invalid are dealt
        with; the given run is among the results unless it is one of those."""
        leaves = self._memory.objects.constants_in(address)
        if leaves is None:
            return [(run, self._candidates(run, edge, expr, address, size))]
        terms = self._terms
        runs: list[tuple[Run, list[GuardedAddress]]] = []
        leaves = self._possible(run, address, leaves)
        for leaf in (*leaves[1:], leaves[0]):
            fork = run if leaf == leaves[0] else run.copy()
            if len(leaves) > 1:
                constant = terms.constant(leaf, terms.width[address])
                fork.assume(terms.eq(address, constant), terms)
            try:
                self._require_valid(fork, edge, expr, leaf, size)
            except Trouble as trouble:
                self._ends.trouble(fork, trouble.message, trouble.origin)
                continue
            fork.note_access(leaf, size, _is_write(edge), None, _manner(edge))
            runs.append((fork, [(terms.true, leaf)]))
        return runs

    def _possible(self, run: Run, address: int, leaves: list[int]) -> list[int]:
        """An access through a pointer that the run has used before goes where that one went."""
        terms = self._terms
        for leaf in leaves if len(leaves) > 1 else ():
            condition = terms.eq(address, terms.constant(leaf, terms.width[address]))
            if condition in run.conditions:
                return [leaf]
        return leaves

    def _candidates(
        self, run: Run, edge: Edge, expr: Expr, address: int, size: int
    ) -> list[GuardedAddress]:
        origin = edge.action.origin
        places = self._memory.objects.candidates(
            run, expr, address, size, self._expected(run, edge, expr)
        )
        if places is None:
            raise Trouble("an address that could be too many places", origin)
        inside = self._terms.any_of(condition for condition, _ in places)
        self._ends.require(run, inside, "an access outside of its object", origin)
        for condition, place in places:
            self._require_valid(run, edge, expr, place, size)
            run.note_access(place, size, _is_write(edge), condition, _manner(edge))
        return places

    def _expected(self, run: Run, edge: Edge, expr: Expr) -> frozenset[Maker | str]:
        """The objects that the analyses expect an access to go to, after the calls of the run."""
        function = run.frame.shape.function
        context = library_call(self._knowledge, run) if function.library else None
        return self._knowledge.expected(function.name, edge, expr, context)

    def _require_valid(self, run: Run, edge: Edge, expr: Expr, address: int, size: int) -> None:
        knowledge, origin = self._knowledge, edge.action.origin
        item = self._memory.objects.at(run, address)
        if item is None or address - item.address + size > item.size:
            raise Trouble(f"an access to no object (address {address:#x})", origin)
        if _is_write(edge) and item.read_only:
            raise Trouble("a write to a read-only object", origin)
        if item.maker not in self._expected(run, edge, expr):
            raise Trouble("a pointer whose origin is not known", origin)
        if knowledge.cells_of(item.maker, item.size) is None:
            raise Trouble("an object of too many parts", origin)


def _is_write(edge: Edge) -> bool:
    return not isinstance(edge.action, Load)


def _manner(edge: Edge) -> Manner:
    action = edge.action
    assert isinstance(action, Load | Store | ReadModifyWrite)
    return Manner.ATOMIC if action.order.is_atomic else Manner.PLAIN

"""Loads, stores and frees of the unrolled program: where an access goes, and what is there.

Objects that one thread alone accesses are part of its symbolic state, and cut where an access needs
it (`private`); the cells of the others are read and written by events (`shared`). An object that
may die has a life that is looked at first (`lives`).
"""

from __future__ import annotations

from plait.engines.orders.event_log import EventLog
from plait.engines.orders.lives import ObjectLives
from plait.engines.orders.paths import Path
from plait.engines.orders.places import decode, select
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.private import write_cell
from plait.engines.orders.shared import SharedMemory, Target, is_at
from plait.errors import UnsupportedCode
from plait.logic.progression import progression
from plait.model.actions import Origin
from plait.model.expressions import Expr
from plait.model.types import Scalar

MOST_PLACES = 4096  # places that an access by a symbolic address may have


class UnrolledMemory:
    """Memory as the thread that is being unrolled sees it."""

    def __init__(
        self, log: EventLog, values: PossibleValues, shared: SharedMemory, lives: ObjectLives
    ) -> None:
        self._terms = log.terms
        self._knowledge = log.knowledge
        self._objects = log.knowledge.objects
        self._contents = log.contents
        self._log = log
        self._values = values
        self._shared = shared
        self._lives = lives

    def load(self, address: int, expr: Expr, type_: Scalar, path: Path, origin: Origin) -> int:
        size = type_.size
        targets = self._targets(address, expr, size, path, origin)
        shared = [target for target in targets if target[1].is_shared]
        private = [target for target in targets if not target[1].is_shared]
        result: int | None = None
        if private:
            values = [(place, self._contents.private(place, size, path)) for place, _ in private]
            result = select(self._terms, address, values)
        if shared:
            here = is_at(self._terms, address, shared) if private else self._terms.true
            value = self._shared.read(address, shared, size, here, path, origin)
            result = value if result is None else self._terms.ite(here, value, result)
        if result is None:
            return self._terms.fresh("nowhere", 8 * size)
        if type_.is_bool:  # whatever the byte is
            is_zero = self._terms.eq(result, self._terms.constant(0, 8 * size))
            result = self._terms.zero_extend(self._terms.not_(is_zero), 8 * size)
        return result

    def store(
        self, address: int, expr: Expr, value: int, type_: Scalar, path: Path, origin: Origin
    ) -> None:
        size = type_.size
        targets = self._targets(address, expr, size, path, origin)
        forbidden = [target for target in targets if target[1].read_only]
        if forbidden:
            bad = path.copy()
            here = is_at(self._terms, address, forbidden)
            if self._log.under(bad, here) is not None:
                message = f"write to read-only {forbidden[0][1].name}"
                self._log.claim_invalid(bad, message, origin)
            path.condition = path.condition.with_part(self._terms, self._terms.not_(here))
        targets = [target for target in targets if not target[1].read_only]
        shared = [target for target in targets if target[1].is_shared]
        private = [place for place, instance in targets if not instance.is_shared]
        if shared:
            here = is_at(self._terms, address, shared) if private else self._terms.true
            self._shared.write(address, shared, size, value, here, path, origin)
        if private:
            here = self._terms.not_(is_at(self._terms, address, shared))
            for place, chosen in decode(self._terms, address, private).items():
                old_or_new = value
                happens = self._terms.and_(here, chosen)
                if happens != self._terms.true:
                    old = self._contents.private(place, size, path)
                    old_or_new = self._terms.ite(happens, value, old)
                write_cell(self._terms, path.memory, place, size, old_or_new)

    def free(self, address: int, expr: Expr, path: Path, origin: Origin) -> None:
        """The end of a heap object's life, in one step that counts as an access."""
        terms = self._terms
        is_null = terms.eq(address, terms.constant(0, terms.width[address]))
        found = self._heap_targets(address, expr, is_null, path, origin)
        for _, instance in found:
            self._knowledge.lives.watch(instance)
        if not found or path.condition.either_term(terms) == terms.false:
            return
        here = terms.not_(is_null)
        is_alone = path.section is None
        if is_alone:
            path.section = self._log.section_from(self._log.mark(path, origin))
        self._lives.require(address, found, "free of a dead object", path, origin, here)
        life, lives = self._lives.of(address, found)
        self._shared.is_plain = False
        self._shared.write(life, lives, 1, terms.constant(0, 8), here, path, origin)
        if is_alone:
            self._shared.end_parts(path, origin)

    def object_size(self, address: int, expr: Expr, bits: int, path: Path, origin: Origin) -> int:
        found = self._heap_targets(address, expr, self._terms.false, path, origin)
        self._lives.require(address, found, "the size of a dead object", path, origin)
        self._log.mark(path, origin, is_access=True)
        if not found:
            return self._terms.fresh("nowhere", bits)
        sizes = [(place, item.size_term(self._terms, bits)) for place, item in found]
        return select(self._terms, address, sizes)

    def _targets(
        self, address: int, expr: Expr, size: int, path: Path, origin: Origin
    ) -> list[Target]:
        """The places that a pointer can point to here; the path goes on only for these."""
        values = self._values.leaves(address)
        if values is None:
            steps = progression(self._terms, address)
            name = self._log.function.name
            values = self._objects.addresses(name, expr, size, steps, MOST_PLACES)
        if values is None:
            raise UnsupportedCode("an access through a pointer that may point to many places")
        found: list[Target] = []
        for value in values:
            instance = self._objects.at(value, size)
            if instance is not None and instance.owner in (0, self._log.run.number):
                if not self._objects.is_expected(self._log.function.name, expr, instance):
                    raise UnsupportedCode("an access through a pointer made from a number")
                found.append((value, instance))
        covered = is_at(self._terms, address, found)
        outside = self._log.under(path.copy(), self._terms.not_(covered))
        outside = outside and self._log.outside(outside, address, size, origin)
        if outside is not None:
            self._log.claim_invalid(outside, "access to no live object", origin)
        path.condition = path.condition.with_part(self._terms, covered)
        self._keep_inside_open(address, size, found, path, origin)
        self._lives.require(address, found, "access to no live object", path, origin)
        return found

    def _keep_inside_open(
        self, address: int, size: int, targets: list[Target], path: Path, origin: Origin
    ) -> None:
        """An access to an object whose size is a term ends before that."""
        terms, width = self._terms, self._terms.width[address]
        is_well = terms.true
        for instance in dict.fromkeys(item for _, item in targets if item.is_open):
            places = [target for target in targets if target[1] is instance]
            end = terms.sub(address, terms.constant(instance.address - size, width))
            is_inside = terms.ule(end, instance.size_term(terms, width))
            here = is_at(terms, address, places)
            is_well = terms.and_(is_well, terms.implies(here, is_inside))
        outside = path.copy()
        if self._log.under(outside, terms.not_(is_well)) is not None:
            self._log.claim_invalid(outside, "access to no live object", origin)
        path.condition = path.condition.with_part(terms, is_well)

    def _heap_targets(
        self, address: int, expr: Expr, allowed: int, path: Path, origin: Origin
    ) -> list[Target]:
        """The heap objects whose start a pointer may be; the path goes on only for these, or where
        `allowed` holds."""
        terms = self._terms
        values = self._values.leaves(address)
        if values is None:
            page = 1 << self._log.program.data_model.page_bits
            name = self._log.function.name
            values = self._objects.addresses(name, expr, 0, (0, page), MOST_PLACES)
        if values is None:
            raise UnsupportedCode("a pointer to many places that is freed")
        found = [
            (value, instance)
            for value in values
            if (instance := self._objects.at(value, 0)) is not None
            and instance.from_heap
            and instance.address == value
        ]
        covered = terms.or_(allowed, is_at(self._terms, address, found))
        outside = self._log.under(path.copy(), terms.not_(covered))
        outside = outside and self._log.outside(outside, address, 0, origin)
        if outside is not None:
            message = "free of a pointer that is not the start of a live heap object"
            self._log.claim_invalid(outside, message, origin)
        path.condition = path.condition.with_part(terms, covered)
        return found

"""Loads, stores and frees of the unrolled program: where an access goes, and what is there.

Objects that one thread alone accesses are part of its symbolic state, and cut where an access needs
it (`private`); the cells of the others are read and written by events (`shared`). An object that
may die has a life that is looked at first (`lives`).
"""

from __future__ import annotations

from plait.engines.orders.bounds import Bounds, arrays_of, places_of
from plait.engines.orders.evaluate import Evaluator
from plait.engines.orders.event_log import EventLog
from plait.engines.orders.lives import ObjectLives
from plait.engines.orders.paths import Path
from plait.engines.orders.places import decode, is_one_of, select
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.private import write_cell
from plait.engines.orders.shared import FEW_PLACES, SharedMemory, Target, is_at
from plait.errors import UnsupportedCode
from plait.model.actions import Free, ObjectSize, Origin
from plait.model.expressions import Expr, PointerAdd
from plait.model.machine import may_end
from plait.model.types import Scalar

MOST_PLACES = 4096  # places that an access by a symbolic address may have
_PLACES = 32  # of those in an object that has more, for each round of a loop
_MOST_OF_EACH = 512


class UnrolledMemory:
    """Memory as the thread that is being unrolled sees it."""

    def __init__(
        self,
        log: EventLog,
        values: PossibleValues,
        shared: SharedMemory,
        lives: ObjectLives,
        evaluator: Evaluator,
        bounds: Bounds,
    ) -> None:
        self._evaluator = evaluator
        self._bounds = bounds
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
            self._count(address, targets, self._terms.true, path, origin)
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
            self._count(address, targets, self._terms.true, path, origin)
            here = self._terms.not_(is_at(self._terms, address, shared))
            for place, chosen in decode(self._terms, address, private).items():
                old_or_new = value
                happens = self._terms.and_(here, chosen)
                if happens != self._terms.true:
                    old = self._contents.private(place, size, path)
                    old_or_new = self._terms.ite(happens, value, old)
                write_cell(self._terms, path.memory, place, size, old_or_new)

    def free(self, address: int, action: Free, path: Path) -> None:
        """The end of an allocated object's life, in one step that counts as an access."""
        terms, origin = self._terms, action.origin
        is_null = terms.eq(address, terms.constant(0, terms.width[address]))
        found = self._allocated(address, action, is_null, path)
        for _, instance in found:
            self._lives.watch(instance)
        if not found or path.condition.either_term(terms) == terms.false:
            return
        here = terms.not_(is_null)
        is_alone = path.section is None and any(item.is_shared for _, item in found)
        if is_alone:
            path.section = self._log.section_from(self._log.mark(path, origin))
        self._lives.require(address, found, "free of a dead object", path, origin, here)
        self._lives.end(address, found, here, path, origin)
        self._count(address, found, here, path, origin)
        if is_alone:
            self._shared.end_parts(path, origin)

    def _count(
        self, address: int, targets: list[Target], here: int, path: Path, origin: Origin
    ) -> None:
        """The replay counts all accesses to the heap, also those that nobody else sees."""
        private = [item for item in targets if item[1].storage and not item[1].is_shared]
        if private:
            if len(private) < len(targets):
                here = self._terms.and_(here, is_at(self._terms, address, private))
            self._log.silent(path, here, origin)

    def object_size(self, address: int, action: ObjectSize, path: Path) -> int:
        bits = action.target.type.bits
        found = self._allocated(address, action, self._terms.false, path)
        if self._knowledge.is_weak and any(item.is_shared for _, item in found):
            raise UnsupportedCode("the size of a shared object, in weak memory")
        self._lives.require(address, found, "the size of a dead object", path, action.origin)
        self._log.mark(path, action.origin, is_access=True)
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
            values = self._places(address, expr, size)
        if values is None:
            values = self._first_places(address, expr, size, path, origin)
        if len(values) > FEW_PLACES:
            values = self._inside_array(values, address, expr, size, path, origin)
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

    def _places(
        self, address: int, expr: Expr, size: int, of_each: int | None = None
    ) -> list[int] | None:
        """Where an address may be that is not one of a few: at any index of an array, or wherever
        the analysis of pointers says."""
        values: list[int] | None = None
        pointers = self._values.moved_pointers(address)
        if pointers is not None:
            values = self._objects.places_from(pointers, size, MOST_PLACES, of_each)
        if values is None:
            steps = self._values.progressions.of(address)
            name = self._log.function.name
            values = self._objects.addresses(name, expr, size, steps, MOST_PLACES, of_each)
        return values

    def _first_places(
        self, address: int, expr: Expr, size: int, path: Path, origin: Origin
    ) -> list[int]:
        """Of too many places those at the beginning of each object. That an execution goes further
        is noticed as if it were a loop bound."""
        key = places_of(self._log.function.name)
        count = min(_PLACES * self._bounds.of(key), _MOST_OF_EACH)
        values = self._places(address, expr, size, count)
        if values is None:
            raise UnsupportedCode("an access through a pointer that may point to many places")
        is_there = is_one_of(self._terms, address, values)
        beyond = self._log.under(path.copy(), self._terms.not_(is_there))
        if beyond is not None:
            self._log.cut(beyond, key, origin)
        path.condition = path.condition.with_part(self._terms, is_there)
        return values

    def _inside_array(
        self, values: list[int], address: int, expr: Expr, size: int, path: Path, origin: Origin
    ) -> list[int]:
        """Of the places that an access by an index may go to, those in the array. What is beside
        it in a structure, a lock for example, is not accessed so in most programs: if it is,
        this is noticed as if it were a loop bound."""
        key = arrays_of(self._log.function.name)
        if (
            not isinstance(expr, PointerAdd)
            or expr.array is None
            or key in self._bounds.open_arrays
        ):
            return values
        starts = self._values.leaves(self._evaluator.value(expr.base, path))
        inside: list[int] = []
        for start in starts or ():
            instance = self._objects.at(start, 0)
            if instance is not None:
                end = start + expr.array if expr.array else instance.address + instance.size
                inside += [value for value in values if start <= value <= end - size]
        if not inside or len(inside) == len(values):
            return values
        is_inside = is_one_of(self._terms, address, inside)
        outside = self._log.under(path.copy(), self._terms.not_(is_inside))
        if outside is not None:
            self._log.cut(outside, key, origin)
        path.condition = path.condition.with_part(self._terms, is_inside)
        return inside

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

    def _allocated(
        self, address: int, action: Free | ObjectSize, allowed: int, path: Path
    ) -> list[Target]:
        """The objects whose start a pointer may be and that may be freed so; the path goes on only
        for these, or where `allowed` holds."""
        terms = self._terms
        values = self._values.leaves(address)
        if values is None:
            page = 1 << self._log.program.data_model.page_bits
            name = self._log.function.name
            values = self._objects.addresses(name, action.address, 0, (0, page), MOST_PLACES)
        if values is None:
            raise UnsupportedCode("a pointer to many places that is freed")
        found = [
            (value, instance)
            for value in values
            if (instance := self._objects.at(value, 0)) is not None
            and may_end(action.storage, instance.storage)
            and instance.address == value
        ]
        covered = terms.or_(allowed, is_at(self._terms, address, found))
        outside = self._log.under(path.copy(), terms.not_(covered))
        outside = outside and self._log.outside(outside, address, 0, action.origin)
        if outside is not None:
            message = "free of a pointer that is not the start of a live heap object"
            self._log.claim_invalid(outside, message, action.origin)
        path.condition = path.condition.with_part(terms, covered)
        return found

"""Memory of the unrolled program: private cells in the symbolic state, shared ones as events."""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.orders.lessons import Cell, Lessons, Surprise
from plait.engines.orders.objects import Instance, Objects
from plait.engines.orders.paths import Held, Path
from plait.engines.orders.unrolling import Access, Claim, Occurrence, ThreadRun, Unrolling
from plait.errors import UnsupportedCode
from plait.logic.operators import ADD, ITE, VARIABLE
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.expressions import Expr
from plait.model.program import Program
from plait.model.types import Scalar

MOST_CANDIDATES = 256
MOST_EVENTS = 200_000


class UnrolledMemory:
    """Loads and stores of the thread that is being unrolled, in the function `_current`."""

    def __init__(
        self, program: Program, terms: Terms, bound: int, lessons: Lessons
    ) -> None:
        self.lessons = lessons
        self.program = program
        self.terms = terms
        self.bound = bound
        self.objects = Objects(program)
        self.result = Unrolling()
        self._run = ThreadRun(0, -1, -1, terms.true)
        self._current = program.functions[program.entry]
        self._unknown: dict[tuple[int, int], int] = {}
        # What a read can give, as far as it is known when a pointer is used: the cells of each
        # variable that stands for a read, and the values written to them. A value that is missing
        # here makes the access one to no known object, which leaves the verdict open.
        self._cells_of: dict[int, list[tuple[int, int]]] = {}
        self._written: dict[tuple[int, int], set[int]] = {}

    def _under(self, path: Path, condition: int) -> Path | None:
        if condition == self.terms.false:
            return None
        path.condition = path.condition.with_part(self.terms, condition)
        return path

    def _claim(
        self, claims: list[Claim], path: Path, what: str, message: str, origin: Origin
    ) -> None:
        if path.condition.term == self.terms.false:
            return
        if path.section is not None:  # nobody comes between its begin and this
            self._close_section(path.section[0], path, origin)
        claims.append(Claim(path.condition.term, self._run.number, what, message, origin))

    def _close_section(
        self, begins: tuple[tuple[int, int], ...], path: Path, origin: Origin
    ) -> None:
        last = self._mark(path, origin)
        self.result.sections += [
            (first, last, self.terms.and_(when, path.condition.term)) for first, when in begins
        ]

    def _initial(self, address: int, size: int) -> int:
        """The contents of a cell that nobody has written."""
        instance = self.objects.at(address, size)
        assert instance is not None
        if instance.contents is not None:
            offset = address - instance.address
            data = instance.contents[offset : offset + size]
            return self.terms.constant(int.from_bytes(data, "little"), 8 * size)
        known = self._unknown.get((address, size))
        if known is None:
            known = self._unknown[address, size] = self.terms.fresh("unknown", 8 * size)
        return known

    def _candidates(
        self, address: int, expr: Expr, size: int, path: Path, origin: Origin
    ) -> list[tuple[int, int, Instance]]:
        """The addresses that a pointer can have here, each with the condition for it."""
        values = self._leaves(address)
        if values is None:
            name = self._current.name
            values = self.objects.addresses(name, expr, size, MOST_CANDIDATES)
        if values is None:
            raise UnsupportedCode("an access through a pointer that may point to many places")
        found = []
        covered = self.terms.false
        for value in values:
            instance = self.objects.at(value, size)
            here = self.terms.eq(address, self.terms.constant(value, self.terms.width[address]))
            if instance is not None:
                found.append((value, here, instance))
                covered = self.terms.or_(covered, here)
        outside = path.copy()
        if self._under(outside, self.terms.not_(covered)) is not None:
            message = "access to no live object"
            self._claim(self.result.troubles, outside, "undefined behaviour", message, origin)
        path.condition = path.condition.with_part(self.terms, covered)
        return found

    def _leaves(self, term: int) -> list[int] | None:
        """The values that a term of constants, choices and reads is known to take."""
        terms = self.terms
        found: dict[int, None] = {}
        seen: set[tuple[int, int]] = set()
        pending = [(term, 0)]
        mask = (1 << terms.width[term]) - 1
        while pending:
            item, added = pending.pop()
            if (item, added) in seen:
                continue
            seen.add((item, added))
            value = terms.value(item)
            operator = terms.operator[item]
            if value is not None:
                found[(value + added) & mask] = None
            elif operator == ITE:
                pending += [(choice, added) for choice in terms.operands[item][1:]]
            elif operator == ADD and terms.is_constant(terms.operands[item][1]):
                left, right = terms.operands[item]
                pending.append((left, added + (terms.value(right) or 0)))
            elif item in self._cells_of:
                for cell in self._cells_of[item]:
                    for written in self._values_of(cell):
                        pending.append((written, added))
            elif operator != VARIABLE:
                return None
            if len(found) + len(pending) > MOST_CANDIDATES:
                return None
        return list(found)

    def _values_of(self, cell: Cell) -> list[int]:
        initial = self.result.initial.get(cell)
        written = list(self._written.get(cell, ()))
        return [*([] if initial is None else [initial]), *written]

    def _load(self, address: int, expr: Expr, type_: Scalar, path: Path, origin: Origin) -> int:
        size = type_.size
        candidates = self._candidates(address, expr, size, path, origin)
        shared: dict[Cell, int] = {}
        result: int | None = None
        for place, here, instance in candidates:
            cell = place, size
            if not instance.is_shared:
                known = self._private(place, size, path)
            elif cell in self.lessons.constant:
                self._silent(path, here, origin)
                known = self.lessons.constant[cell]
            elif cell in self.lessons.locks:
                known = self._load_lock(cell, here, path, origin)
            elif self._is_held(cell, path):
                known = self._load_held(cell, here, path, origin)
            else:
                self._give_up(cell, path, origin)
                shared[cell] = here
                continue
            result = known if result is None else self.terms.ite(here, known, result)
        if shared:
            value = self.terms.fresh("read", 8 * size)
            self._cells_of[value] = list(shared)
            for cell, here in shared.items():
                self._event(Access.READ, cell, here, value, path, origin)
            elsewhere = self._any(shared.values())
            result = value if result is None else self.terms.ite(elsewhere, value, result)
        if result is None:
            result = self.terms.fresh("nowhere", 8 * size)
        return result

    def _any(self, conditions: Iterable[int]) -> int:
        result = self.terms.false
        for condition in conditions:
            result = self.terms.or_(result, condition)
        return result

    def _private(self, address: int, size: int, path: Path) -> int:
        cell = path.memory.get(address)
        if cell is not None and cell[0] == size:
            return cell[1]
        self._refuse_overlaps(address, size, path)
        return self._initial(address, size)

    def _refuse_overlaps(self, address: int, size: int, path: Path) -> None:
        for place in range(address - 15, address + size):
            cell = path.memory.get(place)
            if (
                cell is not None
                and place + cell[0] > address
                and (place, cell[0]) != (address, size)
            ):
                raise UnsupportedCode("private memory accessed in different sizes")

    def _store(
        self, address: int, expr: Expr, value: int, type_: Scalar, path: Path, origin: Origin
    ) -> None:
        size = type_.size
        candidates = self._candidates(address, expr, size, path, origin)
        for place, here, instance in candidates:
            if instance.read_only:
                bad = path.copy()
                if self._under(bad, here) is not None:
                    message = f"write to read-only {instance.name}"
                    self._claim(self.result.troubles, bad, "undefined behaviour", message, origin)
                path.condition = path.condition.with_part(self.terms, self.terms.not_(here))
                continue
            if instance.is_shared:
                self._store_shared((place, size), here, value, path, origin)
                continue
            new = value
            if here != self.terms.true:
                new = self.terms.ite(here, value, self._private(place, size, path))
            else:
                self._refuse_overlaps(place, size, path)
            path.memory[place] = (size, new)

    # In an atomic section nobody sees what happens in between, so each cell is read at most once,
    # and written at most once, at the end. The same goes for cells that a lock protects, as long
    # as the thread holds it.

    def _is_held(self, cell: Cell, path: Path) -> bool:
        return path.section is not None or self._lock_of(cell, path)

    def _lock_of(self, cell: Cell, path: Path) -> bool:
        """Whether the thread surely holds the lock that protects the cell."""
        lock = self.lessons.protected.get(cell)
        return lock is not None and path.locks.get(lock) is not None

    def _load_lock(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        """Who acquires a lock finds 0, who releases it finds the value that it has written: if it
        is not known which of the two this is, what the section requires decides."""
        self._silent(path, here, origin)
        value = path.locks.get(cell, 0)
        if value is None:
            return self.terms.fresh("lock", 8 * cell[1])
        return self.terms.constant(value, 8 * cell[1])

    def _load_held(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        terms = self.terms
        held = path.held.get(cell)
        if held is not None and held.known == terms.true:
            self._silent(path, here, origin)
            return held.value
        value = terms.fresh("read", 8 * cell[1])
        self._cells_of[value] = [cell]
        if held is None:
            self._event(Access.READ, cell, here, value, path, origin)
            path.held[cell] = Held(value, here, terms.false)
            return value
        is_new = terms.and_(here, terms.not_(held.known))
        self._silent(path, here, origin)
        if is_new == terms.false:
            return held.value
        self._event(Access.READ, cell, is_new, value, path, origin, False)
        value = terms.ite(held.known, held.value, value)
        path.held[cell] = Held(value, terms.or_(held.known, here), held.written)
        return value

    def _store_shared(
        self, cell: Cell, here: int, value: int, path: Path, origin: Origin
    ) -> None:
        if cell in self.lessons.constant:
            if value != self.lessons.constant[cell]:
                raise Surprise
            self._silent(path, here, origin)
            return
        if cell in self.lessons.locks:
            self._note_lock(cell, here, value, path)
        if self._is_held(cell, path):
            self._silent(path, here, origin)
            self._store_held(cell, here, value, path)
        elif cell in self.lessons.locks:
            self._store_held(cell, here, value, path)
            self._flush(path, origin, is_access=True)
        else:
            self._give_up(cell, path, origin)
            self._event(Access.WRITE, cell, here, value, path, origin)

    def _note_lock(self, cell: Cell, here: int, value: int, path: Path) -> None:
        known = self.terms.value(value)
        if known is None or here != self.terms.true:
            raise Surprise
        if known:
            names = () if path.section is None else path.section[0]
            keys = {self.result.section_keys.get(name) for name, _ in names}
            if not names or keys & self.lessons.unblocked:
                raise Surprise  # the thread could not stop in front of it
            path.locks[cell] = known
        else:
            path.locks.pop(cell, None)

    def _store_held(self, cell: Cell, here: int, value: int, path: Path) -> None:
        terms = self.terms
        self._written.setdefault(cell, set()).add(value)
        held = path.held.get(cell)
        if held is None or here == terms.true:
            path.held[cell] = Held(value, here, here)
            return
        path.held[cell] = Held(
            terms.ite(here, value, held.value),
            terms.or_(held.known, here),
            terms.or_(held.written, here),
        )

    def _give_up(self, cell: Cell, path: Path, origin: Origin) -> None:
        """Forget what is known of a cell that is not held any more on all paths here."""
        if cell in path.held:
            self._write_held(cell, path, origin, is_access=False)
            del path.held[cell]

    def _flush(self, path: Path, origin: Origin, is_access: bool = False) -> None:
        """Write what others may see from here on: first what was written to other cells, then
        what was done to locks."""
        seen = [cell for cell in path.held if not self._lock_of(cell, path)]
        for cell in seen:
            if cell not in self.lessons.locks:
                self._write_held(cell, path, origin, is_access=False)
        for cell in seen:
            if cell in self.lessons.locks:
                self._write_held(cell, path, origin, is_access)
            del path.held[cell]

    def _write_held(self, cell: Cell, path: Path, origin: Origin, is_access: bool) -> None:
        held = path.held[cell]
        if held.written == self.terms.false:
            return
        kind = Access.WRITE
        if cell in self.lessons.locks:
            value = self.terms.value(held.value)
            if value is None:
                raise Surprise
            kind = Access.ACQUIRE if value else Access.RELEASE
        self._event(kind, cell, held.written, held.value, path, origin, is_access)

    def _event(
        self,
        kind: Access,
        cell: Cell,
        here: int,
        value: int,
        path: Path,
        origin: Origin,
        is_access: bool = True,
    ) -> None:
        guard = self.terms.and_(path.condition.term, here)
        number = self._add_event(kind, cell, guard, value, path, origin)
        self.result.events[number].is_access = is_access

    def _silent(self, path: Path, here: int, origin: Origin) -> None:
        """An access that needs no event."""
        guard = self.terms.and_(path.condition.term, here)
        if guard != self.terms.false:
            number = self._add_event(Access.MARK, None, guard, 0, path, origin)
            event = self.result.events[number]
            event.is_access = event.is_silent = True

    def _add_event(
        self,
        kind: Access,
        cell: Cell | None,
        guard: int,
        value: int,
        path: Path,
        origin: Origin,
    ) -> int:
        number = len(self.result.events)
        if number >= MOST_EVENTS:
            raise UnsupportedCode(f"more than {MOST_EVENTS} events")
        section = () if path.section is None else path.section[0]
        event = Occurrence(
            number, self._run.number, kind, cell, guard, value, section, cell is not None, origin
        )
        self.result.events.append(event)
        self._run.events.append(number)
        if kind in (Access.READ, Access.WRITE) and cell is not None:
            if cell not in self.result.initial:
                self.result.initial[cell] = self._initial(*cell)
            if kind is Access.WRITE:
                self._written.setdefault(cell, set()).add(value)
        return number

    def _mark(self, path: Path, origin: Origin, is_access: bool = False) -> int:
        number = self._add_event(Access.MARK, None, path.condition.term, 0, path, origin)
        self.result.events[number].is_access = is_access
        return number
